/*
 * Programs that spoil what is run in them while they change their user: another thread replaces the instruction that asks the
 * kernel, so that they never come to where they are waited for. What others change meanwhile must not suffer.
 */
#include "attack.h"

#include <sys/mman.h>

/* setresuid(r15d, r15d, r15d): after "syscall", which is to be replaced by a jump to itself. */
static const unsigned char code[] = {
	0xb8, SYS_setresuid, 0, 0, 0, /* mov $SYS_setresuid, %eax */
	0x0f, 0x05,		      /* syscall */
	0xc3,			      /* ret */
};
#define AT_CALL 5

#define SPOILERS 32

static volatile pid_t changer;

static void *change(void *arg)
{
	long (*call)(unsigned, unsigned, unsigned) = (long (*)(unsigned, unsigned, unsigned))arg;

	changer = gettid();
	call(1234, 1234, 1234);
	return NULL;
}

static char state_of(int stat)
{
	char buf[256];
	ssize_t n = pread(stat, buf, sizeof(buf) - 1, 0);
	char *p;

	buf[n > 0 ? n : 0] = '\0';
	p = strrchr(buf, ')');
	return p ? p[2] : 'R';
}

/* Its own call is under way when it runs no more. */
static void spoil(void)
{
	unsigned char *page =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	double until = seconds() + 1;
	pthread_t thread;
	char name[64];
	int stat;

	if (page == MAP_FAILED)
		_exit(SKIP);
	memcpy(page, code, sizeof(code));
	pthread_create(&thread, NULL, change, page);
	while (!changer)
		;
	snprintf(name, sizeof(name), "/proc/self/task/%d/stat", changer);
	stat = open(name, O_RDONLY);
	while (state_of(stat) == 'R' && seconds() < until)
		;
	*(volatile uint16_t *)(page + AT_CALL) = 0xfeeb;
	pthread_join(thread, NULL);
	_exit(0);
}

/* As servers do: to another user without exec, and then a relative name, for which somebody has to look into the process. */
static int serve(void)
{
	int fd;

	if (setresgid(1234, 1234, 1234) < 0 || setresuid(1234, 1234, 1234) < 0)
		return 1;
	fd = open("everybody/file", O_WRONLY | O_CREAT, 0666);
	if (fd < 0)
		printf("# after its change of user: %s\n", strerror(errno));
	return fd < 0;
}

static pid_t start(bool spoils)
{
	pid_t pid = fork();

	if (pid == 0 && spoils)
		spoil();
	if (pid == 0) {
		execl("/proc/self/exe", "spoil", "changes", "serve", NULL);
		_exit(1);
	}
	return pid;
}

static int changes(int argc, char **argv)
{
	double until = seconds() + 6;
	pid_t spoiler[SPOILERS] = {0};
	int bad = 0, n = 0, stuck = 0;

	if (argc > 1)
		return serve();
	mkdir("everybody", 0777);
	chmod("everybody", 0777);
	for (; seconds() < until; n++) {
		pid_t *slot = &spoiler[n % SPOILERS];
		int status;

		if (*slot == 0)
			*slot = start(true);
		else if (waitpid(*slot, &status, WNOHANG) == *slot)
			*slot = 0;
		waitpid(start(false), &status, 0);
		bad += status != 0;
	}
	for (int i = 0; i < SPOILERS; i++) {
		if (spoiler[i] == 0 || waitpid(spoiler[i], NULL, WNOHANG) != 0)
			continue;
		stuck++;
		kill(spoiler[i], SIGKILL);
		waitpid(spoiler[i], NULL, 0);
	}
	printf("# %d changes, %d of them failed, beside %d that were stuck\n", n, bad, stuck);
	return bad == 0 && n > 2 ? 0 : 1;
}

static const struct attack list[] = {
	{"changes", changes},
};
ATTACK_MAIN(list)
