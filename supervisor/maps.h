/*
 * What a process may do to its own memory, from its /proc/PID/maps. Thread-safe.
 */
#ifndef CORDON_MAPS_H
#define CORDON_MAPS_H

#include <stdint.h>
#include <sys/types.h>

/*
 * How much of len bytes from addr on comes before the first page that the process may not write. Where nothing is mapped is
 * not looked at: no way to write there exists. Takes over maps. Or -errno.
 */
ssize_t maps_writable(int maps, uint64_t addr, size_t len);

#endif
