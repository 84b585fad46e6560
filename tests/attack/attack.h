/*
 * What the attack programs share. Each is called "PROGRAM ATTACK [ARGUMENT...]" in a directory that the policy allows, with
 * the forbidden directory in $OUT, and ends with WON when the attack worked, LOST when it was refused, SKIP when
 * this machine has not what it needs. Outside the sandbox every attack must end with WON.
 */
#ifndef ATTACK_H
#define ATTACK_H

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { WON = 0, LOST = 1, BROKEN = 2, SKIP = 77 };

struct attack {
	const char *name;
	int (*run)(int argc, char **argv);
};

/* Ends the program: the attack could not even be set up. */
static inline void __attribute__((noreturn, format(printf, 1, 2))) broken(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	printf("# ");
	vprintf(fmt, ap);
	printf(": %s\n", strerror(errno));
	va_end(ap);
	exit(BROKEN);
}

static inline int attack_main(const struct attack *list, size_t n, int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (size_t i = 0; argc > 1 && i < n; i++)
		if (strcmp(list[i].name, argv[1]) == 0)
			return list[i].run(argc - 1, argv + 1);
	printf("# no such attack\n");
	return BROKEN;
}
#define ATTACK_MAIN(list)                                                                                    \
	int main(int argc, char **argv)                                                                      \
	{                                                                                                    \
		return attack_main(list, sizeof(list) / sizeof(*(list)), argc, argv);                        \
	}

/* An attack that is a single act: it returns whether it worked, with errno when not. */
struct attempt {
	const char *name;
	bool (*fn)(void);
};

/* Outside, a machine may lack what an act needs. */
static inline bool attack_is_impossible(int err)
{
	static const int list[] = {EPERM,  EACCES, ENOSYS, EOPNOTSUPP, ENOTTY, EINVAL,	    EROFS,
				   ENODEV, ENOENT, ENXIO,  EBADF,      EIO,    ENOPROTOOPT, EXDEV};

	for (size_t i = 0; i < sizeof(list) / sizeof(*list); i++)
		if (list[i] == err)
			return !getenv("CONFINED");
	return false;
}

static inline int attack_attempt(const struct attempt *list, size_t n, const char *name)
{
	for (size_t i = 0; name && i < n; i++) {
		if (strcmp(list[i].name, name) != 0)
			continue;
		errno = 0;
		if (list[i].fn())
			return WON;
		printf("# %s\n", strerror(errno));
		return attack_is_impossible(errno) ? SKIP : LOST;
	}
	printf("# no such attack\n");
	return BROKEN;
}
#define ATTEMPT_MAIN(list)                                                                                   \
	int main(int argc, char **argv)                                                                      \
	{                                                                                                    \
		setvbuf(stdout, NULL, _IOLBF, 0);                                                            \
		return attack_attempt(list, sizeof(list) / sizeof(*(list)), argv[1]);                        \
	}

/* $OUT/name */
static inline const char *out(const char *name)
{
	static _Thread_local char buf[8][2 * PATH_MAX];
	static _Thread_local int next;
	char *b = buf[next++ % 8];

	snprintf(b, 2 * PATH_MAX, "%s/%.4000s", getenv("OUT") ? getenv("OUT") : "/nowhere", name);
	return b;
}

static inline bool there(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0;
}

static inline bool write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	ssize_t n;

	if (fd < 0)
		return false;
	n = write(fd, text, strlen(text));
	close(fd);
	return n == (ssize_t)strlen(text);
}

static inline bool file_has(const char *path, const char *text)
{
	char buf[4096];
	int fd = open(path, O_RDONLY | O_NONBLOCK);
	ssize_t n = fd < 0 ? -1 : read(fd, buf, sizeof(buf) - 1);

	if (fd >= 0)
		close(fd);
	buf[n > 0 ? n : 0] = '\0';
	return strstr(buf, text) != NULL;
}

static inline double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* How long a race is tried. */
static inline double patience(void)
{
	return getenv("ATTACK_SECONDS") ? atof(getenv("ATTACK_SECONDS")) : 0.6;
}

/* Whether a race is to be tried once more, after so many tries; inside not before there were $ATTACK_TRIES. */
static inline bool goes_on(double end, long tries)
{
	const char *least = getenv("CONFINED") ? getenv("ATTACK_TRIES") : NULL;

	return seconds() < end || (least && tries < atol(least));
}

/* The test adds these up. */
static inline void tell_tries(const char *way, bool won, long tries)
{
	printf("# %s: %s after %ld tries\n", way, won ? "won" : "not", tries);
}

/* A thread that does fn(arg) over and over until stopped. */
struct flipper {
	pthread_t thread;
	void (*fn)(void *arg);
	void *arg;
	volatile bool stop;
};

static inline void *flipper_main(void *arg)
{
	struct flipper *f = arg;

	while (!f->stop)
		f->fn(f->arg);
	return NULL;
}

static inline void flipper_start(struct flipper *f, void (*fn)(void *), void *arg)
{
	f->fn = fn;
	f->arg = arg;
	f->stop = false;
	if (pthread_create(&f->thread, NULL, flipper_main, f) != 0)
		broken("thread");
}

static inline void flipper_end(struct flipper *f)
{
	f->stop = true;
	pthread_join(f->thread, NULL);
}

#endif
