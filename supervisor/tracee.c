#include "supervisor/tracee.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/uio.h>

#include "supervisor/caps.h"
#include "supervisor/compat.h"
#include "supervisor/dumpable.h"
#include "supervisor/idchange.h"
#include "supervisor/ident.h"
#include "supervisor/lockdown.h"
#include "supervisor/maps.h"
#include "supervisor/member.h"
#include "supervisor/notify.h"
#include "supervisor/pins.h"
#include "supervisor/resolve.h"

OWN_CALLS(OWN_SUPERVISOR, OWN(openat), OWN(close), OWN(read), OWN(readlinkat), OWN(pread64), OWN(pwrite64),
	  OWN(process_vm_readv), OWN(process_vm_writev), OWN(newfstatat), OWN(statx));

/* Set once process_vm_readv was refused outright (older Docker profiles): then /proc/TID/mem is tried first. */
static atomic_bool vm_calls_refused;

/*
 * Opens something below /proc/TID, as the caller; if that is refused, with all that this thread may raise. What still is
 * refused nobody here may look at: -EPERM.
 */
static int try_proc(struct call *c, const char *name, int flags)
{
	int fd = openat(c->s->proc, name, flags | O_CLOEXEC);
	int err = errno;

	if (fd < 0 && (err == EACCES || err == EPERM)) {
		err = EPERM;
		if (ident_look_begin()) {
			fd = openat(c->s->proc, name, flags | O_CLOEXEC);
			err = errno == EACCES ? EPERM : errno;
			ident_look_end();
		}
	}
	return fd < 0 ? -err : fd;
}

/* Another thread of the process may be changing its user just now, and will open it again. */
static int open_proc(struct call *c, const char *name, int flags)
{
	int fd = try_proc(c, name, flags);

	if (fd == -EPERM) {
		idchange_wait(c->s, c->tid);
		fd = try_proc(c, name, flags);
	}
	c->unreadable = fd == -EPERM;
	return fd;
}

/* Also what is shown only to those who may look. */
static bool pin_owner(const struct session *s, pid_t tgid, struct pin_owner *o)
{
	struct member_stat st;

	if (!dumpable_look(s, tgid, &st))
		return false;
	*o = (struct pin_owner){
		.tgid = tgid, .start = st.start, .forked = st.flags & MEMBER_FORKED, .stack = st.stack};
	return true;
}

static int open_pinned(struct call *c)
{
	struct tracee_status st;
	struct pin_owner o;

	if (tracee_status(c->s, c->tid, &st) < 0 || !pin_owner(c->s, st.tgid, &o))
		return -EPERM;
	return pins_get(c->s->pins, &o);
}

static int open_mem(struct call *c, int flags, bool *pinned)
{
	char name[32];
	int fd;

	snprintf(name, sizeof(name), "%d/mem", c->tid);
	fd = open_proc(c, name, flags);
	*pinned = fd == -EPERM;
	if (*pinned)
		fd = open_pinned(c);
	c->unreadable = fd < 0;
	return fd == -ENOENT && *pinned ? -EPERM : fd;
}

/* It is the owner's memory if that was there before and after it was opened, as the same program. */
static void pin(struct call *c, pid_t tgid)
{
	struct pin_owner before, after;
	char name[32];
	int mem;

	if (!pin_owner(c->s, tgid, &before))
		return;
	snprintf(name, sizeof(name), "%d/mem", tgid);
	mem = try_proc(c, name, O_RDWR);
	if (mem < 0)
		return;
	if (pin_owner(c->s, tgid, &after) && pins_is_same(&before, &after) && tracee_check(c) == 0)
		pins_put(c->s->pins, &after, mem);
	else
		close(mem);
}

void tracee_pin(struct call *c, const struct tracee_status *st)
{
	pin(c, st->tgid);
	/* A child of vfork shuts its parent's memory with its own, as they are one. */
	if (member_is(c->s, st->ppid))
		pin(c, st->ppid);
}

/* Closes mem and gives the errno of an address: one beyond what a file can have is EINVAL here. */
static ssize_t mem_end(int fd, ssize_t n)
{
	close(fd);
	return n == -EIO || n == -EINVAL ? -EFAULT : n;
}

static ssize_t mem_read(struct call *c, uint64_t addr, void *buf, size_t len, bool *pinned)
{
	int fd = open_mem(c, O_RDONLY, pinned);
	ssize_t n;

	if (fd < 0)
		return fd;
	n = pread(fd, buf, len, (off_t)addr);
	n = n < 0 ? -errno : n;
	if (n == 0 && *pinned) {
		c->unreadable = true; /* the memory that was pinned is gone: this is another program's */
		n = -EPERM;
	}
	return mem_end(fd, n);
}

static ssize_t write_checked(struct call *c, int mem, int maps, uint64_t addr, const void *buf, size_t len)
{
	ssize_t n = tracee_check(c);

	if (n == 0 && maps >= 0)
		n = maps_writable(maps, addr, len);
	else if (maps >= 0)
		close(maps);
	else if (n == 0)
		n = (ssize_t)len;
	if (n <= 0)
		return n;
	n = pwrite(mem, buf, (size_t)n, (off_t)addr);
	return n < 0 ? -errno : n;
}

/*
 * The descriptors hold the caller's memory. Once it is known that the caller still waited when they were opened, it
 * does not matter whose its number is. A program that is shut shows no maps: there what is mapped can be written.
 */
static ssize_t mem_write(struct call *c, uint64_t addr, const void *buf, size_t len)
{
	char name[32];
	bool pinned;
	int mem = open_mem(c, O_WRONLY, &pinned), maps = -1;

	if (mem < 0)
		return mem;
	if (!pinned) {
		snprintf(name, sizeof(name), "%d/maps", c->tid);
		maps = try_proc(c, name, O_RDONLY);
		if (maps < 0)
			return mem_end(mem, maps);
	}
	return mem_end(mem, write_checked(c, mem, maps, addr, buf, len));
}

/* Reads up to len bytes that lie in one page. */
static ssize_t read_some(struct call *c, uint64_t addr, void *buf, size_t len)
{
	struct iovec local = {buf, len}, remote = {(void *)(uintptr_t)addr, len};
	bool pinned;
	ssize_t n;

	if (!atomic_load_explicit(&vm_calls_refused, memory_order_relaxed)) {
		n = process_vm_readv(c->tid, &local, 1, &remote, 1, 0);
		n = n < 0 ? -errno : n;
		if (n == -EPERM && ident_look_begin()) {
			n = process_vm_readv(c->tid, &local, 1, &remote, 1, 0);
			n = n < 0 ? -errno : n;
			ident_look_end();
		}
		if (n != -EPERM && n != -ENOSYS)
			return n;
		n = mem_read(c, addr, buf, len, &pinned);
		if (n >= 0 && !pinned)
			atomic_store(&vm_calls_refused, true);
		return n;
	}
	return mem_read(c, addr, buf, len, &pinned);
}

/* Pointers of arm64 programs may carry a tag in the top byte. */
static uint64_t untagged(uint64_t addr)
{
#ifdef __aarch64__
	return addr & 0x00ffffffffffffffULL;
#else
	return addr;
#endif
}

static size_t left_in_page(uint64_t addr)
{
	return 4096 - (addr & 4095);
}

int tracee_read(struct call *c, uint64_t addr, void *buf, size_t len)
{
	char *to = buf;

	addr = untagged(addr);
	while (len > 0) {
		size_t want = len < left_in_page(addr) ? len : left_in_page(addr);
		ssize_t n = read_some(c, addr, to, want);

		if (n < 0)
			return (int)n;
		if (n == 0)
			return -EFAULT;
		to += n;
		addr += (uint64_t)n;
		len -= (size_t)n;
	}
	return 0;
}

/*
 * Where /proc is mounted read-only there is only the number. One that waits dies by SIGKILL alone; its number would have to
 * be another's before the next line runs.
 */
static ssize_t vm_write(struct call *c, uint64_t addr, const void *buf, size_t len)
{
	struct iovec local = {(void *)(uintptr_t)buf, len}, remote = {(void *)(uintptr_t)addr, len};
	ssize_t n = tracee_check(c);

	if (n < 0)
		return n;
	n = process_vm_writev(c->tid, &local, 1, &remote, 1, 0);
	return n < 0 ? -errno : n;
}

int tracee_read_struct(struct call *c, uint64_t addr, uint64_t size, void *known, size_t known_size)
{
	unsigned char raw[4096];
	int rc;

	if (size < known_size)
		return -EINVAL;
	if (size > sizeof(raw))
		return -E2BIG;
	rc = tracee_read(c, addr, raw, size);
	if (rc < 0)
		return rc;
	for (size_t i = known_size; i < size; i++)
		if (raw[i])
			return -E2BIG;
	memcpy(known, raw, known_size);
	return 0;
}

int tracee_write(struct call *c, uint64_t addr, const void *buf, size_t len)
{
	ssize_t n = 0;

	addr = untagged(addr);
	if (len > 0)
		n = mem_write(c, addr, buf, len);
	if (n == -EROFS)
		n = vm_write(c, addr, buf, len);
	if (n < 0)
		return (int)n;
	return (size_t)n == len ? 0 : -EFAULT;
}

/* Copies up to the NUL, page by page. too_long is the errno for a string without one in size bytes. */
static int copy_string(struct call *c, uint64_t addr, char *buf, size_t size, int too_long)
{
	size_t have = 0;

	addr = untagged(addr);
	while (have < size) {
		size_t want = left_in_page(addr + have);
		ssize_t n;
		char *end;

		if (want > size - have)
			want = size - have;
		n = read_some(c, addr + have, buf + have, want);
		if (n <= 0)
			return n == 0 ? -EFAULT : (int)n;
		end = memchr(buf + have, '\0', (size_t)n);
		if (end)
			return (int)(end - buf);
		have += (size_t)n;
	}
	return -too_long;
}

int tracee_path(struct call *c, uint64_t addr, char *buf)
{
	return copy_string(c, addr, buf, PATH_MAX, ENAMETOOLONG);
}

int tracee_string(struct call *c, uint64_t addr, char *buf, size_t size)
{
	return copy_string(c, addr, buf, size, ERANGE);
}

int tracee_exe(struct call *c)
{
	char name[32];

	snprintf(name, sizeof(name), "%d/exe", c->tid);
	return open_proc(c, name, O_PATH);
}

bool tracee_runs(struct call *c, const struct statx *st)
{
	struct statx exe;
	char name[32];

	snprintf(name, sizeof(name), "%d/exe", c->tid);
	return statx(c->s->proc, name, AT_STATX_DONT_SYNC, STATX_INO, &exe) == 0 && object_is_same(&exe, st);
}

int tracee_maps(struct call *c)
{
	char name[32];

	snprintf(name, sizeof(name), "%d/maps", c->tid);
	return open_proc(c, name, O_RDONLY);
}

int tracee_execfn(struct call *c, char *buf)
{
	struct {
		uint64_t key, value;
	} aux[64];
	char name[32];
	ssize_t n;
	int fd;

	snprintf(name, sizeof(name), "%d/auxv", c->tid);
	fd = open_proc(c, name, O_RDONLY);
	if (fd < 0)
		return fd;
	n = read(fd, aux, sizeof(aux));
	close(fd);
	for (ssize_t i = 0; i < n / (ssize_t)sizeof(*aux); i++)
		if (aux[i].key == AT_EXECFN)
			return tracee_path(c, aux[i].value, buf);
	return -ENOENT;
}

int tracee_cwd(struct call *c)
{
	char name[32];

	snprintf(name, sizeof(name), "%d/cwd", c->tid);
	return open_proc(c, name, O_PATH | O_DIRECTORY);
}

int tracee_fd(struct call *c, int fd)
{
	char name[48];
	int pin;

	if (fd < 0)
		return -EBADF;
	snprintf(name, sizeof(name), "%d/fd/%d", c->tid, fd);
	pin = open_proc(c, name, O_PATH);
	return pin == -ENOENT ? -EBADF : pin;
}

/* Takes over fd. */
static ssize_t read_all(int fd, char *buf, size_t size)
{
	size_t have = 0;
	ssize_t n;

	while ((n = read(fd, buf + have, size - 1 - have)) > 0)
		have += (size_t)n;
	n = n < 0 ? -errno : (ssize_t)have;
	close(fd);
	buf[have] = '\0';
	return n;
}

int tracee_fd_info(struct call *c, int fd, char *buf, size_t size)
{
	char name[48];
	ssize_t n;
	int info;

	if (fd < 0)
		return -EBADF;
	snprintf(name, sizeof(name), "%d/fdinfo/%d", c->tid, fd);
	info = open_proc(c, name, O_RDONLY);
	n = info < 0 ? info : read_all(info, buf, size);
	return n == -ENOENT ? -EBADF : n < 0 ? (int)n : 0;
}

int tracee_info_flags(const char *info)
{
	const char *p = strstr(info, "flags:");

	return p ? (int)strtol(p + 6, NULL, 8) : -EIO;
}

int tracee_fd_flags(struct call *c, int fd)
{
	char info[4096];
	int rc = tracee_fd_info(c, fd, info, sizeof(info));

	return rc < 0 ? rc : tracee_info_flags(info);
}

static ssize_t try_link(struct call *c, const char *name, char *link, size_t size)
{
	ssize_t n = readlinkat(c->s->proc, name, link, size);

	if (n < 0 && errno == EACCES && ident_look_begin()) {
		n = readlinkat(c->s->proc, name, link, size);
		ident_look_end();
	}
	return n;
}

uint64_t tracee_socket_inode(struct call *c, int fd)
{
	char name[48], link[64];
	ssize_t n;

	if (fd < 0)
		return 0;
	snprintf(name, sizeof(name), "%d/fd/%d", c->tid, fd);
	n = try_link(c, name, link, sizeof(link) - 1);
	if (n < 0) {
		idchange_wait(c->s, c->tid);
		n = try_link(c, name, link, sizeof(link) - 1);
	}
	if (n < 9 || strncmp(link, "socket:[", 8) != 0)
		return 0;
	link[n] = '\0';
	return strtoull(link + 8, NULL, 10);
}

int tracee_check(struct call *c)
{
	return c->s->asking || c->held || notify_valid(c->s->listener, c->id) ? 0 : -ESRCH;
}
