/* Base64 with its padding, as in the Authorization fields of HTTP. Pure. */
#ifndef CORDON_BASE64_H
#define CORDON_BASE64_H

#include <stddef.h>

/* How many bytes were written to out, or -1: malformed, or more than size. Only the one usual spelling is taken. */
int base64_decode(const char *text, size_t len, char *out, size_t size);
/* Terminates it. The text's length, or -1: it does not fit. */
int base64_encode(const char *bytes, size_t len, char *out, size_t size);

#endif
