/*
 * Runs a command as under an older kernel or a stricter container: a seccomp filter makes calls, or flags of calls, fail
 * as they do there.
 *
 *     oldkernel LACK[,LACK...] COMMAND [ARGUMENT...]
 *
 * Without arguments it lists what can be lacking.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/netlink.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define WAIT_KILLABLE_RECV (1U << 5)
#define NOTIF_SET_FLAGS	   SECCOMP_IOW(4, __u64)

/* The call fails when (argument & mask) == value. */
#define IS_ADDRESS 0, 0 /* 4 GiB or more, which no place in a file is */
static const struct lack {
	const char *name;
	int nr;
	int arg; /* -1: always */
	uint32_t mask, value;
	int err;
	const char *text;
} lacks[] = {
	{"openat2", SYS_openat2, -1, 0, 0, ENOSYS, "before Linux 5.6"},
	{"killable", SYS_seccomp, 1, WAIT_KILLABLE_RECV, WAIT_KILLABLE_RECV, EINVAL, "before 5.19"},
	{"sendfd", SYS_ioctl, 1, ~0U, SECCOMP_IOCTL_NOTIF_ADDFD, EINVAL, "before 5.14"},
	{"syncwake", SYS_ioctl, 1, ~0U, (uint32_t)NOTIF_SET_FLAGS, EINVAL, "before 6.6"},
	{"listener", SYS_seccomp, 1, SECCOMP_FILTER_FLAG_NEW_LISTENER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
	 EINVAL, "before 5.0"},
	{"seccomp", SYS_seccomp, -1, 0, 0, ENOSYS, "a kernel without seccomp filters"},
	{"vm", SYS_process_vm_readv, -1, 0, 0, ENOSYS, "a kernel without CROSS_MEMORY_ATTACH"},
	{"vm", SYS_process_vm_writev, -1, 0, 0, ENOSYS, NULL},
	{"vm-refused", SYS_process_vm_readv, -1, 0, 0, EPERM, "Docker before 23.0"},
	{"vm-refused", SYS_process_vm_writev, -1, 0, 0, EPERM, NULL},
	{"mem", SYS_pread64, 3, IS_ADDRESS, EIO, "/proc/PID/mem may not be read"},
	{"landlock", SYS_landlock_create_ruleset, -1, 0, 0, ENOSYS, "before 5.13, or not built in"},
	{"landlock-off", SYS_landlock_create_ruleset, -1, 0, 0, EOPNOTSUPP,
	 "built in but not booted with it"},
	{"landlock-refused", SYS_landlock_create_ruleset, -1, 0, 0, EPERM, "Docker before 20.10.18"},
	{"landlock-stuck", SYS_landlock_restrict_self, -1, 0, 0, E2BIG, "sixteen domains above"},
	{"diag", SYS_socket, 2, ~0U, NETLINK_SOCK_DIAG, EPROTONOSUPPORT,
	 "without CONFIG_INET_DIAG, or netlink is filtered"},
	{"ptrace", SYS_ptrace, -1, 0, 0, EPERM, "Docker 18.09"},
};
#define N_LACKS (sizeof(lacks) / sizeof(*lacks))

static struct sock_filter code[8 * N_LACKS + 1];
static unsigned short n_code;

static void add(struct sock_filter f)
{
	code[n_code++] = f;
}

#define LOAD(offset)	  ((struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)(offset)))
#define SKIP_UNLESS(k, n) ((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(k), 0, n))

static void add_lack(const struct lack *l)
{
	/* The low half comes first on the machines that cordon runs on. */
	size_t at = offsetof(struct seccomp_data, args) + 8 * (size_t)l->arg;

	add(LOAD(offsetof(struct seccomp_data, nr)));
	add(SKIP_UNLESS(l->nr, l->arg < 0 ? 1 : l->mask ? 4 : 3));
	if (l->arg >= 0 && l->mask) {
		add(LOAD(at));
		add((struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K, l->mask));
		add(SKIP_UNLESS(l->value, 1));
	} else if (l->arg >= 0) {
		add(LOAD(at + 4));
		add((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0));
	}
	add((struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (uint32_t)l->err));
}

static int add_by_name(const char *name, size_t len)
{
	int found = 0;

	for (size_t i = 0; i < N_LACKS; i++)
		if (strlen(lacks[i].name) == len && strncmp(lacks[i].name, name, len) == 0) {
			add_lack(&lacks[i]);
			found = 1;
		}
	return found;
}

int main(int argc, char **argv)
{
	struct sock_fprog program = {.filter = code};

	if (argc < 3) {
		for (size_t i = 0; i < N_LACKS; i++)
			if (lacks[i].text)
				printf("%-16s %s\n", lacks[i].name, lacks[i].text);
		return 125;
	}
	for (const char *p = argv[1]; *p; p += strcspn(p, ","), p += *p == ',')
		if (!add_by_name(p, strcspn(p, ","))) {
			fprintf(stderr, "oldkernel: what is %s?\n", p);
			return 125;
		}
	add((struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
	program.len = n_code;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) < 0) {
		perror("oldkernel");
		return 125;
	}
	execvp(argv[2], argv + 2);
	perror(argv[2]);
	return 127;
}
