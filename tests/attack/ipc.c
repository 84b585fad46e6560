/*
 * Objects of System V and POSIX that another process of the same user made: shared memory, semaphores, message queues. With
 * "victim" as first argument this is that process: it makes them, says so in $IN/ready, and waits.
 */
#include "attack.h"

#include <dirent.h>
#include <mqueue.h>
#include <semaphore.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>

#define SECRET "the victim's secret"
#define NAME   "/cordon-attack-victim"

struct message {
	long type;
	char text[64];
};

static key_t victims_key(void)
{
	return (key_t)strtol(getenv("KEY"), NULL, 0);
}

static int victim(void)
{
	key_t key = victims_key();
	int shm = shmget(key, 4096, IPC_CREAT | 0600), sem = semget(key, 1, IPC_CREAT | 0600);
	int msg = msgget(key, IPC_CREAT | 0600), fd = shm_open(NAME, O_RDWR | O_CREAT, 0600);
	mqd_t q = mq_open(NAME, O_RDWR | O_CREAT, 0600, NULL);
	struct message m = {1, SECRET};
	char *p = shmat(shm, NULL, 0);

	if (shm < 0 || sem < 0 || msg < 0 || fd < 0 || q < 0 || p == (void *)-1)
		broken("victim");
	strcpy(p, SECRET);
	semctl(sem, 0, SETVAL, 1);
	msgsnd(msg, &m, sizeof(SECRET), 0);
	mq_send(q, SECRET, sizeof(SECRET), 1);
	if (write(fd, SECRET, sizeof(SECRET)) < 0 || !write_file("ready", "ready"))
		broken("victim");
	for (;;)
		pause();
}

/* What a victim outside leaves behind. */
static int clean(void)
{
	key_t key = victims_key();

	shmctl(shmget(key, 0, 0), IPC_RMID, NULL);
	semctl(semget(key, 0, 0), 0, IPC_RMID);
	msgctl(msgget(key, 0), IPC_RMID, NULL);
	mq_unlink(NAME);
	shm_unlink(NAME);
	return 0;
}

/* Calls fn with each id of the kind that the kernel shows to all. */
static bool each_id(const char *kind, bool (*fn)(int id))
{
	char name[64], line[512];
	bool won = false;
	FILE *f;
	int id;

	snprintf(name, sizeof(name), "/proc/sysvipc/%s", kind);
	f = fopen(name, "r");
	while (f && !won && fgets(line, sizeof(line), f))
		won = sscanf(line, "%*d %d", &id) == 1 && fn(id);
	if (f)
		fclose(f);
	return won;
}

static bool read_shm(int id)
{
	char *p = shmat(id, NULL, SHM_RDONLY);

	return p != (void *)-1 && strcmp(p, SECRET) == 0;
}

static bool shm_facts(int id)
{
	struct shmid_ds ds;

	return shmctl(id, IPC_STAT, &ds) == 0 && ds.shm_segsz == 4096;
}

static bool write_shm(int id)
{
	char *p = shmat(id, NULL, 0);

	if (p != (void *)-1 && strcmp(p, SECRET) == 0)
		return strcpy(p, "attacked"), true;
	return false;
}

static bool change_mode(int id)
{
	struct shmid_ds ds = {.shm_perm = {.mode = 0666, .uid = geteuid(), .gid = getegid()}};

	return shmctl(id, IPC_SET, &ds) == 0;
}

static bool take_sem(int id)
{
	struct sembuf op = {0, -1, IPC_NOWAIT};
	struct timespec t = {0, 1000};

	return semop(id, &op, 1) == 0 || semtimedop(id, &op, 1, &t) == 0;
}

static bool set_sem(int id)
{
	return semctl(id, 0, SETVAL, 9) == 0;
}

static bool steal_message(int id)
{
	struct message m;

	return msgrcv(id, &m, sizeof(m.text), 0, IPC_NOWAIT | MSG_NOERROR) >= 0 &&
	       strcmp(m.text, SECRET) == 0;
}

static bool put_message(int id)
{
	struct message m = {1, "attacked"};

	return msgsnd(id, &m, 9, IPC_NOWAIT) == 0;
}

static bool remove_shm(int id)
{
	return shmctl(id, IPC_RMID, NULL) == 0;
}

static bool remove_sem(int id)
{
	return semctl(id, 0, IPC_RMID) == 0;
}

static bool remove_msg(int id)
{
	return msgctl(id, IPC_RMID, NULL) == 0;
}

#define BY_ID(name, kind, fn)                                                                                \
	static bool name(void)                                                                               \
	{                                                                                                    \
		return each_id(kind, fn);                                                                    \
	}
BY_ID(by_read, "shm", read_shm)
BY_ID(by_stat, "shm", shm_facts)
BY_ID(by_write, "shm", write_shm)
BY_ID(by_mode, "shm", change_mode)
BY_ID(by_rmshm, "shm", remove_shm)
BY_ID(by_semop, "sem", take_sem)
BY_ID(by_setval, "sem", set_sem)
BY_ID(by_rmsem, "sem", remove_sem)
BY_ID(by_receive, "msg", steal_message)
BY_ID(by_send, "msg", put_message)
BY_ID(by_rmmsg, "msg", remove_msg)

/* The victim's own key, and those that /proc/sysvipc shows. */
static bool read_key(key_t key)
{
	int id = shmget(key, 0, 0);

	return id >= 0 && read_shm(id);
}

static bool by_key(void)
{
	FILE *f = fopen("/proc/sysvipc/shm", "r");
	bool won = read_key(victims_key());
	char line[512];
	long key;

	while (f && !won && fgets(line, sizeof(line), f))
		won = sscanf(line, "%ld", &key) == 1 && key && read_key((key_t)key);
	return won;
}

/* By index a stranger's object is found even without its id. */
static bool by_index(void)
{
	struct shmid_ds ds;

	for (int i = 0; i < 4096; i++)
		if (shmctl(i, 13 /* SHM_STAT */, &ds) >= 0 || shmctl(i, 15 /* SHM_STAT_ANY */, &ds) >= 0)
			return true;
	return false;
}

/* An id that was judged, while another thread makes the number mean another's: the register is what counts. */
static volatile int foreign = -1;
static volatile int current;
static bool note_foreign(int id)
{
	foreign = id;
	return false;
}

static void flip(void *arg)
{
	current = current == foreign ? *(int *)arg : foreign;
}

static bool by_race(void)
{
	double end = seconds() + patience();
	struct flipper f;
	int own, won = 0;

	each_id("shm", note_foreign);
	own = shmget(IPC_PRIVATE, 4096, 0600);
	if (own < 0 || foreign < 0)
		broken("no segments");
	flipper_start(&f, flip, &own);
	while (!won && seconds() < end) {
		char *p = shmat(current, NULL, SHM_RDONLY);

		if (p != (void *)-1) {
			won = strcmp(p, SECRET) == 0;
			shmdt(p);
		}
	}
	flipper_end(&f);
	shmctl(own, IPC_RMID, NULL);
	return won;
}

static bool by_queue(void)
{
	mqd_t q = mq_open(NAME, O_RDONLY | O_NONBLOCK);
	char buf[8192];

	return mq_unlink(NAME) == 0 || (q >= 0 && mq_receive(q, buf, sizeof(buf), NULL) > 0);
}

/* The files that the kernel shows of them: opened for reading they are good for more. */
static bool each_queue(bool (*fn)(int fd))
{
	DIR *d = opendir("/dev/mqueue");
	struct dirent *e;
	bool won = false;

	while (d && !won && (e = readdir(d))) {
		int fd = e->d_name[0] == '.' ? -1 : openat(dirfd(d), e->d_name, O_RDONLY);

		won = fd >= 0 && fn(fd);
		if (fd >= 0)
			close(fd);
	}
	if (d)
		closedir(d);
	return won;
}

static bool take_from_queue(int fd)
{
	struct mq_attr attr = {.mq_flags = O_NONBLOCK};
	char buf[8192];

	return mq_setattr(fd, &attr, NULL) == 0 && mq_receive(fd, buf, sizeof(buf), NULL) > 0;
}

static bool be_notified(int fd)
{
	struct sigevent ev = {.sigev_notify = SIGEV_NONE};

	return syscall(SYS_mq_notify, fd, &ev) == 0;
}

static bool by_queue_file(void)
{
	return each_queue(take_from_queue);
}

static bool by_queue_notify(void)
{
	return each_queue(be_notified);
}

static bool by_posix(void)
{
	int fd = shm_open(NAME, O_RDWR, 0);

	return (fd >= 0 && write(fd, "attacked", 8) == 8) || truncate("/dev/shm" NAME, 0) == 0 ||
	       rename("/dev/shm" NAME, "/dev/shm" NAME "-moved") == 0 || shm_unlink(NAME) == 0;
}

static const struct attempt list[] = {
	{"read", by_read},
	{"stat", by_stat},
	{"write", by_write},
	{"mode", by_mode},
	{"rmshm", by_rmshm},
	{"semop", by_semop},
	{"setval", by_setval},
	{"rmsem", by_rmsem},
	{"receive", by_receive},
	{"send", by_send},
	{"rmmsg", by_rmmsg},
	{"key", by_key},
	{"index", by_index},
	{"race_id", by_race},
	{"queue", by_queue},
	{"queue_file", by_queue_file},
	{"queue_notify", by_queue_notify},
	{"posix", by_posix},
};

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc == 2 && strcmp(argv[1], "victim") == 0)
		return victim();
	if (argc == 2 && strcmp(argv[1], "clean") == 0)
		return clean();
	for (size_t i = 0; argc == 2 && i < sizeof(list) / sizeof(*list); i++)
		if (strcmp(list[i].name, argv[1]) == 0)
			return list[i].fn() ? WON : LOST;
	return BROKEN;
}
