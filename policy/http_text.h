/* Pieces of HTTP heads, for http*.c only. Names compare blind to case, as HTTP has it. */
#ifndef CORDON_HTTP_TEXT_H
#define CORDON_HTTP_TEXT_H

#include "policy/http.h"

bool http_text_equals(struct http_text t, const char *word);
bool http_text_begins(struct http_text t, const char *word);
/* Is the word one of a list with commas? */
bool http_text_lists(struct http_text list, const char *word);
bool http_text_is_token(struct http_text t);
/* Takes one "NAME: VALUE" CR LF from the front. NULL, or what is wrong with it. */
const char *http_text_field(struct http_text *rest, struct http_text *name, struct http_text *value);

#endif
