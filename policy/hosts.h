/*
 * The text of /etc/hosts: which names stand for which addresses there. Programs read that file themselves, so such a name is
 * never asked for; what an address may be called is found here. Pure; the caller reads the file.
 *
 * What is no address, or no host name, is left out, as is what follows the bounds. Immutable once made: any number of threads
 * may ask.
 */
#ifndef CORDON_HOSTS_H
#define CORDON_HOSTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/host.h"

#define HOSTS_BYTES_MAX (4u << 20)
#define HOSTS_PAIRS_MAX 65536
/* Lists against advertisements give thousands of names to one address. */
#define HOSTS_NAMES_MAX 256

struct hosts;

/* NULL when out of memory. The bytes are not needed afterwards. */
struct hosts *hosts_parse(const char *bytes, size_t len);
void hosts_free(struct hosts *h);

/* Calls fn for the names of the address in the order of the file, the first HOSTS_NAMES_MAX, until it returns true.
 * Returns whether it did. h NULL: there are none. */
bool hosts_each_name(const struct hosts *h, const uint8_t addr[16],
		     bool (*fn)(const struct host_name *name, void *arg), void *arg);
/* The same for the addresses of a name. */
bool hosts_each_addr(const struct hosts *h, const struct host_name *name,
		     bool (*fn)(const uint8_t addr[16], void *arg), void *arg);

#endif
