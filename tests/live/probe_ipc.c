/*
 * System V objects and POSIX message queues of a session's own. Keys and names are taken from the process, since outside all
 * share them.
 */
#include <linux/capability.h>
#include <mqueue.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>

#include "probe_calls.h"

union semun {
	int val;
	struct semid_ds *buf;
	unsigned short *array;
};

struct message {
	long type;
	char text[32];
};

static key_t key_of(int n)
{
	return (key_t)(0x50000000 + getpid() * 64 + n);
}

/* An id is printed as whether it is the one that is known. */
static void say_id(int id, int known)
{
	if (id < 0)
		result(id);
	else
		say(" = %s", id == known ? "same" : "new");
}

static void say_shm(int id)
{
	struct shmid_ds ds;

	if (result(shmctl(id, IPC_STAT, &ds)) == 0)
		say(" mode %o size %zu attached %d uid %d/%d", ds.shm_perm.mode, ds.shm_segsz,
		    (int)ds.shm_nattch, (int)ds.shm_perm.uid, (int)ds.shm_perm.cuid);
}

static const int get_flags[] = {
	0,    IPC_CREAT,       IPC_CREAT | IPC_EXCL, IPC_EXCL, 0600, IPC_CREAT | 0600, IPC_CREAT | 0666,
	0777, IPC_CREAT | 0007};

static void say_flags(int flags)
{
	say(" flags %s%s%03o", flags & IPC_CREAT ? "C" : "", flags & IPC_EXCL ? "X" : "", flags & 0777);
}

/* What each combination of flags and size gives, when there is an object and when there is none. */
static void shm_gets(void)
{
	static const size_t sizes[] = {0, 1, 4096, 5000, 5001, (size_t)-1};

	for (int there = 0; there < 2; there++)
		for (size_t f = 0; f < N(get_flags); f++)
			for (size_t s = 0; s < N(sizes); s++) {
				int known = there ? shmget(key_of(0), 5000, IPC_CREAT | 0640) : -1, id;

				say("shmget %s size %zd", there ? "existing" : "absent", sizes[s]);
				say_flags(get_flags[f]);
				id = shmget(key_of(0), sizes[s], get_flags[f]);
				say_id(id, known);
				if (id >= 0)
					say_shm(id), result(shmctl(id, IPC_RMID, NULL));
				else if (known >= 0)
					shmctl(known, IPC_RMID, NULL);
				done();
			}
}

static void sem_gets(void)
{
	static const int sizes[] = {-1, 0, 1, 3, 4, 40000};

	for (int there = 0; there < 2; there++)
		for (size_t f = 0; f < N(get_flags); f++)
			for (size_t s = 0; s < N(sizes); s++) {
				int known = there ? semget(key_of(0), 3, IPC_CREAT | 0640) : -1, id;

				say("semget %s number %d", there ? "existing" : "absent", sizes[s]);
				say_flags(get_flags[f]);
				id = semget(key_of(0), sizes[s], get_flags[f]);
				say_id(id, known);
				if (id >= 0)
					result(semctl(id, 0, IPC_RMID));
				else if (known >= 0)
					semctl(known, 0, IPC_RMID);
				done();
			}
}

static void shm_lives(void)
{
	struct shmid_ds ds;
	int id = shmget(key_of(1), 8192, IPC_CREAT | IPC_EXCL | 0600), other;
	char *p = shmat(id, NULL, 0), *q = shmat(id, NULL, SHM_RDONLY);

	strcpy(p, "shared");
	say("attach '%s'", q), say_shm(id), done();
	say("attach at a crooked address"), result(shmat(id, (void *)1, 0) == (void *)-1 ? -1 : 0), done();
	say("IPC_SET"), shmctl(id, IPC_STAT, &ds), ds.shm_perm.mode = 0444;
	result(shmctl(id, IPC_SET, &ds)), say_shm(id), done();
	say("lock"), result(shmctl(id, SHM_LOCK, NULL)), result(shmctl(id, SHM_UNLOCK, NULL)), done();
	say("remove"), result(shmctl(id, IPC_RMID, NULL)), say_shm(id);
	say(" by key"), result(shmget(key_of(1), 0, 0)), done();
	say("made again"), other = shmget(key_of(1), 4096, IPC_CREAT | 0600), say_id(other, id);
	say_shm(other), result(shmctl(other, IPC_RMID, NULL)), say_shm(other), done();
	say("attach removed"), result(shmat(id, NULL, 0) == (void *)-1 ? -1 : 0), say_shm(id), done();
	say("remove twice"), result(shmctl(id, IPC_RMID, NULL)), done();
	shmdt(q), shmdt(p);
	say("command 99"), result(shmctl(id, 99, NULL)), done();
	say("id -1"), result(shmctl(-1, IPC_STAT, &ds)), result(shmat(-1, NULL, 0) == (void *)-1 ? -1 : 0);
	done();
}

static void take(void *arg)
{
	struct sembuf op = {0, -1, SEM_UNDO};

	result(semop(*(int *)arg, &op, 1));
}

static void give_later(void *arg)
{
	struct sembuf op = {1, 2, 0};

	nap_ms(60);
	semop(*(int *)arg, &op, 1);
}

static void nothing(int sig)
{
	(void)sig;
}

static void sem_lives(void)
{
	int id = semget(key_of(2), 3, IPC_CREAT | IPC_EXCL | 0600);
	struct sembuf op = {0, -1, IPC_NOWAIT}, many[600] = {{0}};
	struct timespec soon = {0, 50 * 1000 * 1000};
	struct sigaction sa = {.sa_handler = nothing};
	unsigned short values[3] = {1, 0, 7};
	pid_t pid;

	say("SETALL"), result(semctl(id, 0, SETALL, (union semun){.array = values}));
	say(" GETVAL"), result(semctl(id, 2, GETVAL)), result(semctl(id, 3, GETVAL)), done();
	say("child takes with undo"), in_child(take, &id), say(" after it"), result(semctl(id, 0, GETVAL)),
		done();
	say("take"), result(semop(id, &op, 1)), say(" again"), result(semop(id, &op, 1)), done();
	op.sem_flg = 0;
	say("semtimedop"), result(semtimedop(id, &op, 1, &soon)), done();
	sigaction(SIGALRM, &sa, NULL);
	say("interrupted"), ualarm(50 * 1000, 0), result(semop(id, &op, 1)), done();
	fflush(stdout);
	pid = fork();
	if (pid == 0)
		give_later(&id), _exit(0);
	op = (struct sembuf){1, -2, 0};
	say("woken"), result(semop(id, &op, 1)), done();
	waitpid(pid, NULL, 0);
	say("no operations"), result(semop(id, &op, 0)), say(" too many"), result(semop(id, many, 600));
	say(" from nowhere"), result(semop(id, NULL, 1)), done();
	say("remove"), result(semctl(id, 0, IPC_RMID)), say(" gone"), result(semop(id, &op, 1));
	result(semctl(id, 0, IPC_RMID)), done();
}

static void msg_lives(void)
{
	int id = msgget(key_of(3), IPC_CREAT | IPC_EXCL | 0600), other;
	struct message m = {3, "three"}, got;
	struct msqid_ds ds;

	say("existing"), result(msgget(key_of(3), IPC_CREAT | IPC_EXCL | 0600));
	say_id(msgget(key_of(3), IPC_CREAT | 0600), id), say_id(msgget(key_of(3), 0), id), done();
	say("send"), result(msgsnd(id, &m, 6, 0)), m.type = 1, strcpy(m.text, "one");
	result(msgsnd(id, &m, 4, 0)), m.type = 0, result(msgsnd(id, &m, 4, 0)), done();
	say("receive"), result(msgrcv(id, &got, sizeof(got.text), 1, 0)), say(" '%s'", got.text);
	result(msgrcv(id, &got, 2, 0, 0)), result(msgrcv(id, &got, sizeof(got.text), -5, 0));
	say(" '%s'", got.text), result(msgrcv(id, &got, sizeof(got.text), 0, IPC_NOWAIT)), done();
	say("IPC_STAT"), result(msgctl(id, IPC_STAT, &ds)), say(" %o %d", ds.msg_perm.mode, (int)ds.msg_qnum);
	ds.msg_qbytes = 64, say(" IPC_SET"), result(msgctl(id, IPC_SET, &ds)), done();
	say("full"), m.type = 1;
	while (msgsnd(id, &m, 32, IPC_NOWAIT) == 0)
		say(" sent");
	result(-1), done();
	say("private"), other = msgget(IPC_PRIVATE, 0600), say_id(other, id),
			result(msgctl(other, IPC_RMID, NULL));
	done();
	say("remove"), result(msgctl(id, IPC_RMID, NULL)), result(msgsnd(id, &m, 4, 0)), done();
}

/* Inside, root has no more than these: ids, files' owners and kill. */
static void as_inside(void)
{
	struct __user_cap_header_struct h = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct d[2];

	if (syscall(SYS_capget, &h, d) < 0)
		die("capget");
	d[0].effective &= 0x200004fb, d[0].permitted &= 0x200004fb, d[0].inheritable = 0;
	memset(&d[1], 0, sizeof(d[1]));
	if (syscall(SYS_capset, &h, d) < 0)
		die("capset");
}

static void sysv(void)
{
	key_t key = ftok(".", 'k');
	int id;

	as_inside();
	id = shmget(key, 100, IPC_CREAT | 0600);
	say("ftok"), say_id(shmget(ftok(".", 'k'), 100, 0600), id), result(shmctl(id, IPC_RMID, NULL)),
		done();
	shm_gets();
	sem_gets();
	shm_lives();
	sem_lives();
	msg_lives();
}

/* As another user: what the mode bits and the owner say. */
struct shared {
	int shm, sem, msg;
	key_t key;
};

static void as_other(void *arg)
{
	const struct shared *s = arg;
	struct sembuf op = {0, 1, 0};
	struct message m = {1, "x"};
	int own;

	if (setgid(12345) < 0 || setuid(12345) < 0)
		die("setuid");
	say(" shmget"), result(shmget(s->key, 0, 0600) < 0 ? -1 : 0);
	say(" read"), result(shmat(s->shm, NULL, SHM_RDONLY) == (void *)-1 ? -1 : 0);
	say(" write"), result(shmat(s->shm, NULL, 0) == (void *)-1 ? -1 : 0);
	say(" semop"), result(semop(s->sem, &op, 1)), say(" GETVAL"), result(semctl(s->sem, 0, GETVAL));
	say(" msgsnd"), result(msgsnd(s->msg, &m, 1, IPC_NOWAIT));
	say(" msgrcv"), result(msgrcv(s->msg, &m, 32, 0, IPC_NOWAIT));
	say(" remove"), result(shmctl(s->shm, IPC_RMID, NULL)), result(semctl(s->sem, 0, IPC_RMID));
	own = shmget(IPC_PRIVATE, 10, 0600);
	say(" own"), say_shm(own), result(shmctl(own, IPC_RMID, NULL)), done();
}

static void sysv_users(void)
{
	static const int modes[] = {0600, 0644, 0666, 0622, 0660, 0606};

	as_inside();
	for (size_t i = 0; i < N(modes); i++) {
		struct shared s = {.key = key_of(8)};

		s.shm = shmget(s.key, 4096, IPC_CREAT | IPC_EXCL | modes[i]);
		s.sem = semget(s.key, 1, IPC_CREAT | modes[i]);
		s.msg = msgget(s.key, IPC_CREAT | modes[i]);
		say("mode %03o", modes[i]), in_child(as_other, &s);
		shmctl(s.shm, IPC_RMID, NULL), semctl(s.sem, 0, IPC_RMID), msgctl(s.msg, IPC_RMID, NULL);
	}
}

/* libc takes the slash away, and does it differently; the kernel wants the name without. */
#define mqopen(name, flags, mode, attr) ((int)syscall(SYS_mq_open, name, flags, mode, attr))
#define mqunlink(name)			((int)syscall(SYS_mq_unlink, name))
#define mqsend(q, text, n, prio, t)	((int)syscall(SYS_mq_timedsend, q, text, n, prio, t))
#define mqreceive(q, buf, n, prio, t)	((int)syscall(SYS_mq_timedreceive, q, buf, n, prio, t))
#define mqattr(q, new, old)		result(syscall(SYS_mq_getsetattr, q, new, old))

static const char *queue_name(int n)
{
	static char name[32];

	snprintf(name, sizeof(name), "probe-%d-%d", (int)getpid(), n);
	return name;
}

static void mq_names(void)
{
	static char longest[NAME_MAX + 2], longer[5000];
	const char *const names[] = {"",   "/",	    ".",	 "..",	 "a/b", "/a",
				     "a/", longest, longest + 1, longer, NULL};

	memset(longest, 'x', NAME_MAX + 1), memset(longer, 'y', sizeof(longer) - 1);
	for (size_t i = 0; i < N(names); i++) {
		say("name %zu", i), result(mqopen(names[i], O_RDWR, 0, NULL));
		say(" create"), result(mqopen(names[i], O_RDWR | O_CREAT, 0600, NULL) < 0 ? -1 : 0);
		say(" unlink"), result(mqunlink(names[i])), done();
	}
}

static void mq_opens(void)
{
	static const int flags[] = {O_RDONLY, O_WRONLY | O_CREAT, O_RDWR | O_CREAT | O_EXCL,
				    O_RDWR | O_NONBLOCK};
	static const long sizes[][2] = {{0, 8}, {-1, 8}, {1, 0}, {3, 16}, {1L << 40, 8}, {2, 1L << 40}};
	struct mq_attr attr, got;
	struct stat st;
	int q;

	for (int there = 0; there < 2; there++)
		for (size_t f = 0; f < N(flags); f++)
			for (int mask = 0; mask < 2; mask++) {
				if (there)
					close(mqopen(queue_name(0), O_RDWR | O_CREAT, 0600, NULL));
				umask(mask ? 027 : 0);
				say("mq_open %s flags %#x", there ? "existing" : "absent", flags[f]);
				q = mqopen(queue_name(0), flags[f], 0666, NULL);
				umask(022);
				if (result(q < 0 ? -1 : 0) == 0 && fstat(q, &st) == 0)
					say(" %06o uid %d flags %#x/%d", st.st_mode, (int)st.st_uid,
					    fcntl(q, F_GETFL), fcntl(q, F_GETFD));
				say(" unlink"), result(mqunlink(queue_name(0))), close(q), done();
			}
	for (size_t i = 0; i < N(sizes); i++) {
		attr = (struct mq_attr){.mq_maxmsg = sizes[i][0], .mq_msgsize = sizes[i][1]};
		say("attributes %ld %ld", sizes[i][0], sizes[i][1]);
		q = mqopen(queue_name(0), O_RDWR | O_CREAT, 0600, &attr);
		if (result(q < 0 ? -1 : 0) == 0)
			mqattr(q, NULL, &got), say(" %ld %ld", got.mq_maxmsg, got.mq_msgsize);
		close(q), result(mqunlink(queue_name(0))), done();
	}
	say("attributes from nowhere"), result(mqopen(queue_name(0), O_CREAT, 0600, (void *)8)), done();
}

/* With no number left for a descriptor. Nothing may be left behind. */
static void mq_without_number(void)
{
	static char longer[5000];
	const char *const names[] = {queue_name(2), "a/b", "", longer, NULL};
	struct rlimit limit, none;
	int next = dup(0);

	close(next);
	memset(longer, 'y', sizeof(longer) - 1);
	getrlimit(RLIMIT_NOFILE, &limit);
	none = (struct rlimit){(rlim_t)next, limit.rlim_max};
	setrlimit(RLIMIT_NOFILE, &none);
	for (size_t i = 0; i < N(names); i++)
		say("no number, name %zu", i), result(mqopen(names[i], O_RDWR | O_CREAT, 0600, NULL)),
			result(mqopen(names[i], O_RDWR, 0600, NULL)), done();
	say("no number, attributes from nowhere"), result(mqopen(names[0], O_CREAT, 0600, (void *)8)), done();
	setrlimit(RLIMIT_NOFILE, &limit);
	say("what is left"), result(mqopen(names[0], O_RDWR, 0, NULL)), done();
}

static volatile sig_atomic_t notified;
static void on_notify(int sig, siginfo_t *info, void *context)
{
	(void)context;
	notified = sig == SIGUSR2 ? info->si_value.sival_int : -1;
}

static void mq_lives(void)
{
	struct mq_attr attr = {.mq_maxmsg = 2, .mq_msgsize = 16}, old;
	struct timespec past = {1, 0}, bad = {1, -1}, soon;
	int q = mqopen(queue_name(1), O_RDWR | O_CREAT | O_EXCL, 0600, &attr), r, none = dup(0);
	pid_t pid;
	char buf[16];
	unsigned prio;

	say("send"), result(mqsend(q, "low", 4, 1, NULL)), result(mqsend(q, "high", 5, 9, NULL));
	say(" full"), result(mqsend(q, "x", 1, 1, &past)), result(mqsend(q, "x", 1, 1, &bad));
	say(" long"), result(mqsend(q, buf, 17, 1, NULL)), result(mqsend(q, "x", 1, 40000, NULL)), done();
	say("receive"), result(mqreceive(q, buf, 16, &prio, NULL)), say(" '%s' %u", buf, prio);
	result(mqreceive(q, buf, 16, NULL, NULL)), say(" '%s'", buf),
		result(mqreceive(q, buf, 8, NULL, NULL));
	say(" empty"), result(mqreceive(q, buf, 16, NULL, &past)), done();
	clock_gettime(CLOCK_REALTIME, &soon), soon.tv_nsec += 50 * 1000 * 1000;
	if (soon.tv_nsec >= 1000000000)
		soon.tv_sec++, soon.tv_nsec -= 1000000000;
	say("timed"), result(mqreceive(q, buf, 16, NULL, &soon)), done();
	attr.mq_flags = O_NONBLOCK;
	say("nonblocking"), mqattr(q, &attr, &old), say(" %ld", old.mq_flags);
	result(mqreceive(q, buf, 16, NULL, NULL)), say(" flags %#x", fcntl(q, F_GETFL)), done();
	say("one for later"), result(mqsend(q, "news", 5, 0, NULL)), done();
	attr.mq_flags = 0, mqattr(q, &attr, NULL), r = mqopen(queue_name(1), O_RDONLY, 0, NULL);
	say("read only"), result(mqsend(r, "x", 1, 0, NULL)), result(mqreceive(r, buf, 16, NULL, NULL)),
		done();
	say("no queue"), result(mqsend(none, "x", 1, 0, NULL)), result(mqreceive(-1, buf, 16, NULL, NULL));
	mqattr(none, NULL, &old), done();
	say("interrupted"), sigaction(SIGALRM, &(struct sigaction){.sa_handler = nothing}, NULL);
	ualarm(50 * 1000, 0), result(mqreceive(q, buf, 16, NULL, NULL)), done();
	say("woken"), fflush(stdout), pid = fork();
	if (pid == 0)
		nap_ms(60), _exit(mqsend(q, "now", 4, 0, NULL) < 0);
	result(mqreceive(r, buf, 16, NULL, NULL)), say(" '%s'", buf), waitpid(pid, NULL, 0), done();
	say("to nowhere"), result(mqsend(q, "lost", 5, 0, NULL)),
		result(mqreceive(r, (char *)8, 16, NULL, NULL));
	result(mqsend(q, (char *)8, 16, 0, NULL)), result(mqreceive(q, buf, 16, NULL, &past)), done();
	say("unlinked"), result(mqunlink(queue_name(1))), result(mqunlink(queue_name(1)));
	result(mqsend(q, "still", 6, 0, NULL)), result(mqreceive(r, buf, 16, NULL, NULL)), say(" '%s'", buf);
	result(mqopen(queue_name(1), O_RDWR, 0, NULL)), done();
	close(q), close(r), close(none);
}

enum { RECEIVERS = 4 };

static void *receive_one(void *queue)
{
	char buf[16];
	long r = mqreceive(*(int *)queue, buf, 16, NULL, NULL);

	return (void *)(r < 0 ? -(long)errno : r);
}

/* A signal to the process is one thread's; the others go on waiting. */
static void mq_signals(void)
{
	struct mq_attr attr = {.mq_maxmsg = RECEIVERS, .mq_msgsize = 16};
	int q = mqopen(queue_name(2), O_RDWR | O_CREAT | O_EXCL, 0600, &attr), got[3] = {0};
	pthread_t t[RECEIVERS];
	sigset_t alarm;
	void *r;

	sigaction(SIGALRM, &(struct sigaction){.sa_handler = nothing}, NULL);
	sigemptyset(&alarm), sigaddset(&alarm, SIGALRM);
	for (int i = 0; i < RECEIVERS; i++)
		pthread_create(&t[i], NULL, receive_one, &q);
	pthread_sigmask(SIG_BLOCK, &alarm, NULL);
	nap_ms(200), kill(getpid(), SIGALRM), nap_ms(300);
	for (int i = 0; i < RECEIVERS; i++)
		if (mqsend(q, "m", 1, 0, NULL) < 0)
			die("mqsend");
	for (int i = 0; i < RECEIVERS; i++) {
		pthread_join(t[i], &r);
		got[(long)r == 1 ? 0 : (long)r == -EINTR ? 1 : 2]++;
	}
	pthread_sigmask(SIG_UNBLOCK, &alarm, NULL);
	say("of %d received %d, interrupted %d, other %d", RECEIVERS, got[0], got[1], got[2]);
	result(mqunlink(queue_name(2))), close(q), done();
}

static void mq_notify_all(void)
{
	struct sigevent ev = {
		.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR2, .sigev_value.sival_int = 42};
	struct sigaction sa = {.sa_sigaction = on_notify, .sa_flags = SA_SIGINFO};
	int q = mqopen(queue_name(1), O_RDWR | O_CREAT | O_EXCL, 0600, NULL);

	sigaction(SIGUSR2, &sa, NULL);
	say("notify"), result((int)syscall(SYS_mq_notify, q, &ev)),
		result((int)syscall(SYS_mq_notify, q, &ev));
	result(mqsend(q, "news", 5, 0, NULL)), say(" got %d", notified);
	result((int)syscall(SYS_mq_notify, 0, &ev)), result(mqunlink(queue_name(1))), done();
}

static void queues(void)
{
	as_inside();
	mq_names();
	mq_opens();
	mq_without_number();
	mq_lives();
	mq_signals();
}

const struct section ipc_sections[] = {{"sysv", sysv},
				       {"sysvusers", sysv_users},
				       {"queues", queues},
				       {"mqnotify", mq_notify_all},
				       {NULL, NULL}};
