/*
 * Unix stream and seqpacket sockets. They reach what the session itself bound, and what allow_unix_socket names.
 */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "supervisor/change.h"
#include "supervisor/compat.h"
#include "supervisor/crew.h"
#include "supervisor/idset.h"
#include "supervisor/lockdown.h"
#include "supervisor/path.h"
#include "supervisor/pending.h"
#include "supervisor/refusal.h"
#include "supervisor/settle.h"
#include "supervisor/sockcall.h"
#include "supervisor/sockdiag.h"
#include "supervisor/sockets.h"
#include "supervisor/tracee.h"

OWN_CALLS(OWN_SUPERVISOR, OWN(geteuid), OWN(getegid), OWN(connect), OWN(bind), OWN(listen), OWN(shutdown),
	  OWN(getsockname), OWN(getsockopt), OWN(fstat), OWN(fchmod), OWN_RENAMEAT2,
	  OWN_OLD(unlink, unlinkat), OWN(statx));

#define PATH_OFFSET offsetof(struct sockaddr_un, sun_path)

static void make_unix(struct call *c)
{
	int kind = call_int(c, 1) & SOCKCALL_TYPE_MASK;

	if (kind == SOCK_STREAM || kind == SOCK_SEQPACKET)
		sockcall_make(c, SOCKETS_UNIX);
	else /* It could reach any socket by name. No message: this is how syslog() begins, and it gives up quietly. */
		sockcall_refuse(c, "socket", EPROTONOSUPPORT, NULL);
}

/* Takes the path out of a Unix address that names a file. */
static int copy_sun_path(struct call *c, const struct sockaddr_un *a, int len)
{
	size_t n = strnlen(a->sun_path, (size_t)len - PATH_OFFSET);

	if ((size_t)len > sizeof(*a))
		return -EINVAL;
	memcpy(c->path[0], a->sun_path, n);
	c->path[0][n] = '\0';
	return 0;
}

/* Who connects or listens, for the other side's SO_PEERCRED. */
static void note_self(struct call *c, uint64_t inode)
{
	struct ucred self = {.uid = geteuid(), .gid = getegid()};
	struct tracee_status st;

	if (tracee_status(c->s, c->tid, &st) < 0)
		return;
	self.pid = st.tgid;
	sockets_set_cred(c->s, inode, SOCKETS_SELF, &self);
}

/* connect() to path (the supervisor's way to it) on our duplicate, and the answer. */
struct destination {
	const struct sockaddr_un *to, *named; /* the supervisor's way, and as the program wrote it */
	socklen_t to_len, named_len;
	uint64_t listener;
	bool stranger; /* allowed by allow_unix_socket */
};

/* True when fd is connected to a socket of the session: who listens is noted by the kernel at listen(), which for the
 * session's own is the supervisor's call. */
static bool is_own_listener(int fd)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0 && peer.pid == getpid();
}

/* Of one who is none of the session the kernel tells the truth. */
static void note_stranger(struct call *c, int fd, uint64_t inode)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0)
		sockets_set_cred(c->s, inode, SOCKETS_OTHER, &peer);
}

/* What may wait for a limited time only (SO_SNDTIMEO) is not begun again after a signal: the time would begin again, too. */
static bool is_limited(int fd)
{
	struct timeval tv = {0};
	socklen_t len = sizeof(tv);

	return getsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &tv, &len) == 0 && (tv.tv_sec || tv.tv_usec);
}

static void perform_connect(struct call *c, int fd, uint64_t inode, const struct destination *d)
{
	enum crew_wake wake;
	int rc;

	note_self(c, inode);
	/* Whether it may block is for the program to change at any moment, so it always may. */
	if (!crew_block_begin(c)) {
		call_error(c, EAGAIN);
		return;
	}
	rc = connect(fd, (const struct sockaddr *)d->to, d->to_len) < 0 ? -errno : 0;
	wake = crew_block_end(c);
	if (rc == 0 && !d->stranger && !is_own_listener(fd)) {
		/* Another took the name after it was looked at. */
		shutdown(fd, SHUT_RDWR);
		rc = -EPERM;
	}
	if (rc == 0) {
		if (d->stranger)
			note_stranger(c, fd, inode);
		else
			sockets_set_name(c->s, inode, SOCKETS_PEER, d->named, d->named_len);
		sockets_connected(c->s, inode, d->listener);
		sockets_release(c->s, inode);
	}
	if (wake == CREW_GONE)
		call_gone(c);
	else if (rc == -EINTR && wake == CREW_SIGNAL && !is_limited(fd))
		pending_restart(c);
	else
		call_result(c, rc);
}

static void connect_file(struct call *c, int fd, uint64_t inode, const struct sockaddr_un *a, int len)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	struct object o;
	int rc = copy_sun_path(c, a, len);
	bool own;

	if (rc == 0)
		rc = resolve_object(c, 0, AT_FDCWD, 0, 0, &o);
	if (rc < 0) {
		call_error(c, -rc);
		return;
	}
	own = sockets_is_own_file(c->s, &o.st);
	c->event.path = (struct bytes){o.name, o.len};
	if (!S_ISSOCK(o.st.stx_mode))
		rc = ECONNREFUSED;
	else if (!own)
		rc = judge_object(c, ACCESS_CONNECT_UNIX, &o, O_RDWR);
	else
		rc = tracee_check(c) < 0 ? JUDGE_GONE : 0;
	if (rc == 0) {
		c->event.op = "connect";
		path_proc(o.fd, to.sun_path);
		perform_connect(c, fd, inode,
				&(struct destination){&to, a, sizeof(to), (socklen_t)len,
						      own ? sockets_file_owner(c->s, &o.st) : 0, !own});
	} else {
		judge_answer(c, rc);
	}
	object_close(&o);
}

/* One that is none of the session: 0, or an errno after a record. */
static int judge_abstract(struct call *c, const struct sockaddr_un *a, int len)
{
	size_t n = (size_t)len - PATH_OFFSET;
	struct request q = {.access = ACCESS_CONNECT_UNIX, .type = OBJ_OTHER, .path = c->path[0], .len = n};
	struct verdict v;

	memcpy(c->path[0], a->sun_path, n);
	c->path[0][0] = '@';
	c->path[0][n] = '\0';
	v = policy_decide(c->s->policy, &q);
	c->event.rule = v.rule;
	if (v.decision == VERDICT_ALLOW)
		return 0;
	c->event.op = "connect";
	if (sockdiag_has_abstract(a, (socklen_t)len))
		return judge_refuse_by(c, &q, &v, 0);
	/* As the kernel says. */
	return refusal_firm(c, "connect", "default", ECONNREFUSED, NULL);
}

static void connect_abstract(struct call *c, int fd, uint64_t inode, const struct sockaddr_un *a, int len)
{
	uint64_t owner = sockets_abstract_owner(c->s, fd, a, (socklen_t)len);
	int rc;

	c->event.path = (struct bytes){a->sun_path, (size_t)len - PATH_OFFSET};
	rc = owner ? 0 : judge_abstract(c, a, len);
	if (rc == 0 && tracee_check(c) < 0)
		rc = JUDGE_GONE;
	if (rc) {
		judge_answer(c, rc);
		return;
	}
	c->event.op = "connect";
	perform_connect(c, fd, inode,
			&(struct destination){a, a, (socklen_t)len, (socklen_t)len, owner, !owner});
}

/* The new file gets the socket inode's mode, masked by the umask of whoever binds, which is 0 here. Other than for files,
 * the kernel takes the umask also where the directory has a default ACL. */
static int bind_with_mode(struct call *c, int fd, const struct sockaddr_un *to)
{
	struct tracee_status caller;
	struct stat st;
	int rc = tracee_status(c->s, c->tid, &caller);

	if (rc < 0)
		return rc;
	if (fstat(fd, &st) < 0 || fchmod(fd, st.st_mode & 07777 & ~caller.umask) < 0)
		return -errno;
	rc = bind(fd, (const struct sockaddr *)to, sizeof(*to)) < 0 ? -errno : 0;
	fchmod(fd, st.st_mode & 07777);
	return rc;
}

static int bind_entry(struct call *c, int fd, uint64_t inode, struct entry *e)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	char proc[PATH_PROC_SIZE];
	struct statx st;
	int n, rc;

	n = snprintf(to.sun_path, sizeof(to.sun_path), "%s/%s", path_proc(e->dir.fd, proc), e->leaf);
	if (n >= (int)sizeof(to.sun_path) || strchr(e->leaf, '\n')) {
		/* Too long by our way to the directory, or not to be shown by the kernel's list: bind beside it and
		 * rename. */
		snprintf(to.sun_path, sizeof(to.sun_path), "%s/.cordon-%d-%llx", proc, c->tid,
			 (unsigned long long)c->id);
		rc = bind_with_mode(c, fd, &to);
		if (rc == 0 && renameat2(AT_FDCWD, to.sun_path, e->dir.fd, e->leaf, RENAME_NOREPLACE) < 0) {
			/* ENOTDIR: there is nothing, and the name ends in '/'. */
			rc = errno == EEXIST ? -EADDRINUSE : errno == ENOTDIR ? -ENOENT : -errno;
			unlink(to.sun_path);
		}
	} else {
		rc = bind_with_mode(c, fd, &to);
	}
	if (rc == 0 && statx(e->dir.fd, e->leaf, AT_SYMLINK_NOFOLLOW, IDSET_STATX, &st) == 0)
		sockets_note_file(c->s, inode, &st);
	return rc;
}

/* This and bind_abstract(): 0, an errno or JUDGE_GONE. */
static int bind_file(struct call *c, int fd, uint64_t inode, const struct sockaddr_un *a, int len)
{
	struct entry_verdict ev;
	struct entry e;
	int rc = copy_sun_path(c, a, len);

	if (rc == 0)
		rc = resolve_entry(c, 0, AT_FDCWD, 0, &e);
	if (rc < 0)
		return -rc;
	/* Exclusive, so that what is found by the name afterwards is what was bound. */
	rc = e.special ? EEXIST : change_judge(c, ACCESS_CREATE, &e, &ev, true, change_check_absent, 0);
	if (rc == 0) {
		rc = -bind_entry(c, fd, inode, &e);
		if (rc == 0)
			rc = settle_made(c, ACCESS_CREATE, &e, &ev);
		if (rc == 0)
			judge_note_created(c, &e, &ev);
		change_unlock(c);
	}
	entry_close(&e);
	return rc == EEXIST ? EADDRINUSE : rc;
}

static int bind_abstract(struct call *c, int fd, const struct sockaddr_un *a, int len)
{
	c->event.op = "bind";
	c->event.path = (struct bytes){a->sun_path, (size_t)len - PATH_OFFSET};
	if (memchr(a->sun_path, '\n', (size_t)len - PATH_OFFSET)) /* see sockets_abstract_owner() */
		return refusal_firm(c, "bind", SOCKCALL_RULE, EPERM,
				    "a socket name with a line break was refused");
	if (bind(fd, (const struct sockaddr *)a, (socklen_t)len) == 0)
		return 0;
	if (errno != EADDRINUSE)
		return errno;
	/* Perhaps only our own duplicate still holds it. */
	sockets_sweep(c->s);
	return bind(fd, (const struct sockaddr *)a, (socklen_t)len) < 0 ? errno : 0;
}

/* The name that the socket has now. len 0: an abstract one, perhaps of the kernel's own choice. */
static void note_name(struct call *c, uint64_t inode, int fd, struct sockaddr_un *a, socklen_t len)
{
	if (len == 0) {
		len = sizeof(*a);
		if (getsockname(fd, (struct sockaddr *)a, &len) < 0)
			return;
	}
	sockets_set_name(c->s, inode, SOCKETS_LOCAL, a, len);
}

static void connect_unix(struct sockcall *sc)
{
	const struct sockaddr_un *a = &sc->addr.un;
	int len = (int)sc->len;

	if (sc->fd < 0)
		call_error(sc->c, EISCONN);
	else if ((size_t)len <= PATH_OFFSET || len > (int)sizeof(*a) || a->sun_family != AF_UNIX)
		call_error(sc->c, EINVAL);
	else if (a->sun_path[0] == '\0')
		connect_abstract(sc->c, sc->fd, sc->inode, a, len);
	else
		connect_file(sc->c, sc->fd, sc->inode, a, len);
}

static void bind_unix(struct sockcall *sc)
{
	struct sockaddr_un *a = &sc->addr.un;
	struct call *c = sc->c;
	bool file = false;
	int len = (int)sc->len, rc;

	if (sc->fd < 0 || (size_t)len < PATH_OFFSET || len > (int)sizeof(*a) || a->sun_family != AF_UNIX) {
		rc = EINVAL;
	} else if (tracee_check(c) < 0) {
		rc = JUDGE_GONE;
	} else {
		file = (size_t)len > PATH_OFFSET && a->sun_path[0];
		rc = file ? bind_file(c, sc->fd, sc->inode, a, len) : bind_abstract(c, sc->fd, a, len);
	}
	if (rc == 0)
		note_name(c, sc->inode, sc->fd, a, file ? (socklen_t)len : 0);
	if (rc)
		judge_answer(c, rc);
	else
		call_return(c, 0);
}

static void listen_unix(struct sockcall *sc)
{
	struct call *c = sc->c;
	int rc;

	if (sc->fd < 0) {
		call_result(c, sockets_listens(c->s, sc->inode) ? 0 : -EINVAL);
		return;
	}
	if (tracee_check(c) < 0) {
		call_gone(c);
		return;
	}
	note_self(c, sc->inode);
	rc = listen(sc->fd, call_int(c, 1)) < 0 ? -errno : 0;
	if (rc == 0) {
		sockets_note_listening(c->s, sc->inode, sc->fd);
		sockcall_release(sc);
	}
	call_result(c, rc);
}

const struct sockkind sockkind_unix = {make_unix, connect_unix, bind_unix, listen_unix};
