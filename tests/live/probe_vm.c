/*
 * Reading another process's memory: every way to say what and whereto, with holes on both sides.
 */
#include <signal.h>
#include <sys/mman.h>

#include "probe.h"

#define PAGES 64
#define SIZE  (PAGES * 4096UL)
#define MOST  1024 /* the kernel's limit for buffers */

static unsigned char *theirs, *ours;
static pid_t pid;

static unsigned next_random(void)
{
	static unsigned state = 12345;

	state = state * 1103515245 + 12345;
	return state >> 8;
}

static unsigned sum(const unsigned char *p, size_t n)
{
	unsigned s = 0;

	for (size_t i = 0; i < n; i++)
		s = s * 31 + p[i];
	return s;
}

/* What stands where: holes are skipped, as they cannot be read. */
static void result_and_sum(long rc)
{
	result(rc);
	say(" %x", sum(ours, 16 * 4096) + sum(ours + 17 * 4096, SIZE - 17 * 4096)), done();
	memset(ours, 0, 16 * 4096), memset(ours + 17 * 4096, 0, SIZE - 17 * 4096);
}

static long readv_raw(long who, const void *l, unsigned long nl, const void *r, unsigned long nr,
		      unsigned long flags)
{
	return syscall(SYS_process_vm_readv, who, l, nl, r, nr, flags);
}

static void one(const char *what, void *to, size_t n, void *from, size_t m)
{
	struct iovec l = {to, n}, r = {from, m};

	say("%s", what), result_and_sum(readv_raw(pid, &l, 1, &r, 1, 0));
}

static void ranges(void)
{
	one("a word", ours, 8, theirs, 8);
	one("odd", ours + 1, 4097, theirs + 4095, 4097);
	one("short local", ours, 5, theirs, 50);
	one("short remote", ours, 50, theirs, 5);
	one("nothing here", ours, 0, theirs, 50);
	one("nothing there", ours, 50, theirs, 0);
	one("much", ours, 16 * 4096, theirs + 33 * 4096, 16 * 4096);
	one("more than one piece", ours + 17 * 4096, 40 * 4096, theirs + 17 * 4096, 40 * 4096);
	one("into a hole there", ours, 10 * 4096, theirs + 30 * 4096 + 100, 10 * 4096);
	one("out of a hole there", ours, 100, theirs + 32 * 4096, 8192);
	one("into a hole here", ours + 14 * 4096 + 7, 8 * 4096, theirs, 8 * 4096);
	one("out of a hole here", ours + 16 * 4096, 8192, theirs, 8192);
	one("beyond all there", ours, 4096, (void *)-4096L, 4096);
	one("beyond all here", (void *)-8192L, 4096, theirs, 4096);
	one("address 0 there", ours, 16, NULL, 16);
	one("address 0 here", NULL, 16, theirs, 16);
	one("a negative length", ours, (size_t)-1, theirs, 16);
	one("a negative length there", ours, 16, theirs, (size_t)-1);
	one("more than there is", ours + 17 * 4096, 1UL << 40, theirs + 33 * 4096, 1UL << 41);
	one("the program's own text", ours, 4000, (void *)((uintptr_t)ranges & ~4095UL), 4000);
}

static void arguments(void)
{
	static struct iovec l[MOST + 1], r[MOST + 1];
	struct iovec bad[2] = {{ours, 8}, {(void *)-8192L, 8}};

	for (int i = 0; i <= MOST; i++) {
		l[i] = (struct iovec){ours + 17 * 4096 + 7 * i, 7};
		r[i] = (struct iovec){theirs + 3 * i, i % 5};
	}
	say("flags"), result_and_sum(readv_raw(pid, l, 1, r, 1, 1));
	say("high flags"), result_and_sum(readv_raw(pid, l, 1, r, 1, 1UL << 40));
	say("most"), result_and_sum(readv_raw(pid, l, MOST, r, MOST, 0));
	say("one more"), result_and_sum(readv_raw(pid, l, MOST + 1, r, MOST, 0));
	say("one more there"), result_and_sum(readv_raw(pid, l, MOST, r, MOST + 1, 0));
	say("none here, too many there"), result_and_sum(readv_raw(pid, l, 0, r, MOST + 1, 0));
	say("none there"), result_and_sum(readv_raw(pid, l, 3, r, 0, 0));
	say("none, of none"), result_and_sum(readv_raw(pid, NULL, 0, NULL, 0, 0));
	say("no list here"), result_and_sum(readv_raw(pid, NULL, 2, r, 2, 0));
	say("no list there"), result_and_sum(readv_raw(pid, l, 2, (void *)8, 2, 0));
	say("a bad second"), result_and_sum(readv_raw(pid, bad, 2, r, MOST, 0));
	bad[1].iov_base = ours + 16 * 4096;
	say("a hole as second"), result_and_sum(readv_raw(pid, bad, 2, r + 50, MOST - 50, 0));
	say("a list in its last page"),
		result_and_sum(readv_raw(pid, ours + SIZE - 16, 1, theirs + 16 * 4096 - 16, 1, 0));
	say("of oneself"), result_and_sum(readv_raw(getpid(), l, 2, &(struct iovec){ours, 16}, 1, 0));
	say("of nobody"), result_and_sum(readv_raw(0x3ffffff0, l, 2, r, 2, 0));
	say("of number 0"), result_and_sum(readv_raw(0, l, 2, r, 2, 0));
	say("of number -1"), result_and_sum(readv_raw(-1, l, 2, r, 2, 0));
}

static void at_random(void)
{
	struct iovec l[40], r[40];

	for (int i = 0; i < 60; i++) {
		unsigned nl = next_random() % 40, nr = next_random() % 40;

		for (unsigned k = 0; k < nl; k++)
			l[k] = (struct iovec){ours + 17 * 4096 + k * 4096 + next_random() % 64,
					      next_random() % 4000};
		if (nl > 30)
			l[30].iov_base = ours + 15 * 4096 + next_random() % 4096;
		for (unsigned k = 0; k < nr; k++)
			r[k] = (struct iovec){theirs + next_random() % (SIZE - 9000), next_random() % 9000};
		say("random %d", i), result_and_sum(readv_raw(pid, l, nl, r, nr, 0));
	}
}

static void by_descriptor(void)
{
	char name[64], buf[64];
	int fd;

	snprintf(name, sizeof(name), "/proc/%d/mem", pid);
	fd = open(name, O_RDWR);
	say("mem"), result(fd < 0 ? -1 : 0), result(pread(fd, buf, 64, (off_t)(uintptr_t)theirs)),
		say(" %x", sum((unsigned char *)buf, 64)), done();
	say("mem written"), result(pwrite(fd, "x", 1, (off_t)(uintptr_t)theirs)), done();
	one("mem read back", ours, 8, theirs, 8);
	close(fd);
	snprintf(name, sizeof(name), "/proc/%d/task/%d/mem", pid, pid);
	fd = open(name, O_RDONLY);
	say("task's mem"), result(fd < 0 ? -1 : 0), result(pread(fd, buf, 64, (off_t)(uintptr_t)theirs)),
		done();
	kill(pid, SIGKILL), waitpid(pid, NULL, 0);
	say("of the dead"), result(pread(fd, buf, 64, (off_t)(uintptr_t)theirs)), done();
	close(fd);
	fd = open("/proc/self/mem", O_RDONLY);
	say("own mem"), result(fd < 0 ? -1 : 0), result(pread(fd, buf, 64, (off_t)(uintptr_t)ours)), done();
	close(fd);
}

static unsigned char *map(void)
{
	/* With a page behind it that is nobody's. */
	unsigned char *p = mmap(NULL, SIZE + 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED || mprotect(p, SIZE, PROT_READ | PROT_WRITE) < 0)
		die("mmap");
	return p;
}

static void vmreads(void)
{
	theirs = map(), ours = map();
	for (size_t i = 0; i < SIZE; i++)
		theirs[i] = (unsigned char)(i * 7 + i / 4096);
	munmap(ours + 16 * 4096, 4096);
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		munmap(theirs + 32 * 4096, 4096);
		for (;;)
			pause();
	}
	while (readv_raw(pid, &(struct iovec){ours, 1}, 1, &(struct iovec){theirs + 32 * 4096, 1}, 1, 0) == 1)
		nap_ms(1);
	ranges();
	arguments();
	at_random();
	by_descriptor();
	one("of the dead", ours, 8, theirs, 8);
	munmap(theirs, SIZE + 4096);
	munmap(ours, SIZE + 4096);
}

const struct section vm_sections[] = {{"vmreads", vmreads}, {NULL, NULL}};
