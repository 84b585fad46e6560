#include "supervisor/sysv.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/random.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <unistd.h>

#include "supervisor/ident.h"
#include "supervisor/lockdown.h"

OWN_CALLS(OWN_SUPERVISOR, OWN(geteuid), OWN(getrandom), OWN(shmget), OWN(semget), OWN(msgget));
OWN_CALLS(OWN_BOTH, OWN_IF(shmctl, ARG_IS(1, SHM_STAT_ANY)), OWN_IF(semctl, ARG_IS(2, SEM_STAT_ANY)),
	  OWN_IF(msgctl, ARG_IS(1, MSG_STAT_ANY)), OWN_IF(shmctl, ARG_IS(1, IPC_RMID)),
	  OWN_IF(semctl, ARG_IS(2, IPC_RMID)), OWN_IF(msgctl, ARG_IS(1, IPC_RMID)));

/* The kernel's limit of objects of a kind (IPCMNI): the low bits of an id are its place in the kernel's table, and here. */
#define PLACES 32768

struct object {
	key_t made;  /* the kernel's; 0: nothing here */
	key_t asked; /* the program's; IPC_PRIVATE: none, or no longer */
	int id;
	uid_t maker;
};

struct sysv {
	pthread_mutex_t lock;
	pid_t supervisor;
	bool closed;
	int used[SYSV_KINDS]; /* places beyond are empty */
	struct object objects[SYSV_KINDS][PLACES];
};

struct sysv *sysv_new(void)
{
	struct sysv *t = mmap(NULL, sizeof(*t), PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (t == MAP_FAILED)
		return NULL;
	pthread_mutex_init(&t->lock, NULL);
	return t;
}

/* glibc leaves this union to its users. */
union semun {
	int val;
	struct semid_ds *buf;
};

static int kernel_get(enum sysv_kind kind, key_t key, uint64_t size, int flags)
{
	int id = -1;

	switch (kind) {
	case SYSV_SHM:
		id = shmget(key, size, flags);
		break;
	case SYSV_SEM:
		id = semget(key, (int)(uint32_t)size, flags);
		break;
	case SYSV_MSG:
		id = msgget(key, flags);
		break;
	case SYSV_KINDS:
		errno = ENOSYS;
		break;
	}
	return id < 0 ? -errno : id;
}

static int kernel_remove(enum sysv_kind kind, int id)
{
	int rc = -1;

	switch (kind) {
	case SYSV_SHM:
		rc = shmctl(id, IPC_RMID, NULL);
		break;
	case SYSV_SEM:
		rc = semctl(id, 0, IPC_RMID, (union semun){.buf = NULL});
		break;
	case SYSV_MSG:
		rc = msgctl(id, IPC_RMID, NULL);
		break;
	case SYSV_KINDS:
		errno = ENOSYS;
		break;
	}
	return rc < 0 ? -errno : 0;
}

struct facts {
	key_t key;
	pid_t creator; /* of shared memory only */
};

/* What everybody may read in /proc/sysvipc: no permission is asked for. The id of what is there, or -errno. */
static int kernel_look(enum sysv_kind kind, int index, struct facts *f)
{
	struct shmid_ds shm;
	struct semid_ds sem;
	struct msqid_ds msg;
	int id = -1;

	*f = (struct facts){0};
	switch (kind) {
	case SYSV_SHM:
		id = shmctl(index, SHM_STAT_ANY, &shm);
		if (id >= 0)
			*f = (struct facts){shm.shm_perm.__key, shm.shm_cpid};
		break;
	case SYSV_SEM:
		id = semctl(index, 0, SEM_STAT_ANY, (union semun){.buf = &sem});
		if (id >= 0)
			f->key = sem.sem_perm.__key;
		break;
	case SYSV_MSG:
		id = msgctl(index, MSG_STAT_ANY, &msg);
		if (id >= 0)
			f->key = msg.msg_perm.__key;
		break;
	case SYSV_KINDS:
		errno = ENOSYS;
		break;
	}
	return id < 0 ? -errno : id;
}

int sysv_at(enum sysv_kind kind, int index)
{
	struct facts f;

	return kernel_look(kind, index, &f);
}

/*
 * Is what is now behind the id what the session made? Shared memory that is removed while it is attached loses its key
 * and lives on; it is known by who made it.
 */
static bool is_still(const struct sysv *t, enum sysv_kind kind, const struct object *o)
{
	struct facts f;

	return o->made && kernel_look(kind, o->id, &f) == o->id &&
	       (f.key == o->made || (kind == SYSV_SHM && f.creator == t->supervisor));
}

/* As above, with the key by which it was asked for. */
static bool has_key(enum sysv_kind kind, const struct object *o)
{
	struct facts f;

	return kernel_look(kind, o->id, &f) == o->id && f.key == o->made;
}

static struct object *place_of(struct sysv *t, enum sysv_kind kind, int id)
{
	return &t->objects[kind][(unsigned)id % PLACES];
}

static struct object *find_key(struct sysv *t, enum sysv_kind kind, key_t key)
{
	for (int i = 0; i < t->used[kind]; i++) {
		struct object *o = &t->objects[kind][i];

		if (!o->made || o->asked != key)
			continue;
		if (has_key(kind, o))
			return o;
		o->asked = IPC_PRIVATE; /* removed, and not by the session */
	}
	return NULL;
}

/* 0 is IPC_PRIVATE. */
static key_t random_key(void)
{
	key_t key = 0;

	while (key == 0)
		if (getrandom(&key, sizeof(key), 0) != sizeof(key))
			abort();
	return key;
}

static int note(struct sysv *t, enum sysv_kind kind, int id, key_t made, key_t asked)
{
	struct object *o = place_of(t, kind, id);
	int i = (int)(o - t->objects[kind]);

	/* With ipcmni_extend the kernel has more places than there are here. */
	if (o->made && o->id != id && is_still(t, kind, o)) {
		kernel_remove(kind, id);
		return -ENOSPC;
	}
	*o = (struct object){made, asked, id, geteuid()};
	t->supervisor = getpid();
	if (i >= t->used[kind])
		t->used[kind] = i + 1;
	return id;
}

static int make(struct sysv *t, enum sysv_kind kind, key_t asked, uint64_t size, int flags)
{
	for (;;) {
		key_t made = random_key();
		int id = kernel_get(kind, made, size, flags | IPC_CREAT | IPC_EXCL);

		if (id >= 0)
			return note(t, kind, id, made, asked);
		if (id != -EEXIST)
			return id;
	}
}

/* The kernel's answer for a key that there is not. By a chance of one in four thousand million it is somebody's. */
static int absent(enum sysv_kind kind, uint64_t size, int flags)
{
	int rc = kernel_get(kind, random_key(), size, flags);

	return rc >= 0 || rc == -EACCES ? -ENOENT : rc;
}

/* It may have been removed since it was looked at, and then be made anew. */
static int again(struct sysv *t, enum sysv_kind kind, const struct object *o, uint64_t size, int flags)
{
	int id = kernel_get(kind, o->made, size, flags);

	return id < 0 || id == o->id ? id : note(t, kind, id, o->made, o->asked);
}

int sysv_get(struct sysv *t, enum sysv_kind kind, key_t key, uint64_t size, int flags)
{
	struct object *o = NULL;
	int rc;

	pthread_mutex_lock(&t->lock);
	if (key != IPC_PRIVATE)
		o = find_key(t, kind, key);
	if (t->closed)
		rc = -ENOSPC;
	else if (o)
		rc = again(t, kind, o, size, flags);
	else if (key == IPC_PRIVATE || flags & IPC_CREAT)
		rc = make(t, kind, key, size, flags);
	else
		rc = absent(kind, size, flags);
	pthread_mutex_unlock(&t->lock);
	return rc;
}

bool sysv_is_own(struct sysv *t, enum sysv_kind kind, int id)
{
	struct object *o = place_of(t, kind, id);
	bool own;

	if (id < 0)
		return false;
	pthread_mutex_lock(&t->lock);
	own = o->made && o->id == id && is_still(t, kind, o);
	pthread_mutex_unlock(&t->lock);
	return own;
}

int sysv_remove(struct sysv *t, enum sysv_kind kind, int id)
{
	struct object *o = place_of(t, kind, id);
	int rc = -EINVAL;

	if (id < 0)
		return rc;
	pthread_mutex_lock(&t->lock);
	if (o->made && o->id == id && is_still(t, kind, o))
		rc = kernel_remove(kind, id);
	if (rc == 0)
		o->asked = IPC_PRIVATE;
	pthread_mutex_unlock(&t->lock);
	return rc;
}

static int remove_one(enum sysv_kind kind, const struct object *o)
{
	int rc = kernel_remove(kind, o->id);

	/* Made by a process that had become another user, and root without CAP_SYS_ADMIN may not. */
	if (rc == -EPERM && ident_begin_user(o->maker)) {
		rc = kernel_remove(kind, o->id);
		ident_end_user();
	}
	return rc;
}

void sysv_close(struct sysv *t)
{
	pthread_mutex_lock(&t->lock);
	t->closed = true;
	pthread_mutex_unlock(&t->lock);
}

void sysv_end(struct sysv *t)
{
	for (enum sysv_kind kind = 0; kind < SYSV_KINDS; kind++)
		for (int i = 0; i < t->used[kind]; i++)
			if (is_still(t, kind, &t->objects[kind][i]))
				remove_one(kind, &t->objects[kind][i]);
}
