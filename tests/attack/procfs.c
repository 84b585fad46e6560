/*
 * Files of /proc and /sys, one attack each: those of a process outside ($VICTIM), which must not be opened, and with
 * $CONFINED those of the supervisor and of what the user started; and those of the machine, which must not be written.
 */
#include "attack.h"

static pid_t parent_of(pid_t pid)
{
	char name[32], buf[512], *p;
	int fd, ppid = 0;
	ssize_t n;

	snprintf(name, sizeof(name), "/proc/%d/stat", pid);
	fd = open(name, O_RDONLY);
	n = read(fd, buf, sizeof(buf) - 1);
	close(fd);
	buf[n > 0 ? n : 0] = '\0';
	p = strrchr(buf, ')');
	if (p)
		sscanf(p + 1, " %*c %d", &ppid);
	return ppid;
}

/* Something of it can be seen: bytes, or names in a directory. */
static bool can_read(const char *path)
{
	char buf[4096];
	int fd = open(path, O_RDONLY | O_NONBLOCK), err;
	ssize_t n;

	if (fd < 0)
		return false;
	n = read(fd, buf, sizeof(buf));
	if (n < 0 && errno == EIO && getenv("ADDRESS"))
		n = pread(fd, buf, 16, (off_t)strtoul(getenv("ADDRESS"), NULL, 16));
	if (n < 0 && errno == EISDIR) {
		n = syscall(SYS_getdents64, fd, buf, sizeof(buf));
		n = n > 48 ? n : 0; /* "." and ".." */
	}
	err = errno;
	close(fd);
	errno = n ? err : ENOENT; /* an empty one tells nothing */
	return n > 0;
}

static bool can_write(const char *path)
{
	int fd = open(path, O_WRONLY | O_NONBLOCK);

	if (fd < 0)
		return false;
	close(fd);
	return true;
}

static bool can_enter(const char *path)
{
	char name[PATH_MAX];
	int fd;

	snprintf(name, sizeof(name), "%s/tmp", path);
	fd = open(name, O_RDONLY | O_DIRECTORY);
	if (fd < 0)
		return false;
	close(fd);
	return true;
}

static const struct {
	const char *name;
	const char *path; /* of /proc/PID unless absolute; %d: its number again */
	bool (*fn)(const char *path);
} list[] = {
	{"read_environ", "environ", can_read},
	{"read_mem", "mem", can_read},
	{"read_maps", "maps", can_read},
	{"read_smaps", "smaps", can_read},
	{"read_smaps_rollup", "smaps_rollup", can_read},
	{"read_numa_maps", "numa_maps", can_read},
	{"read_pagemap", "pagemap", can_read},
	{"read_auxv", "auxv", can_read},
	{"read_syscall", "syscall", can_read},
	{"read_stack", "stack", can_read},
	{"read_personality", "personality", can_read},
	{"read_io", "io", can_read},
	{"read_exe", "exe", can_read},
	{"read_fd", "fd/0", can_read},
	{"list_fd", "fd", can_read},
	{"list_fdinfo", "fdinfo", can_read},
	{"read_fdinfo", "fdinfo/0", can_read},
	{"list_map_files", "map_files", can_read},
	{"list_cwd", "cwd", can_read},
	{"list_root", "root", can_read},
	{"enter_root", "root", can_enter},
	{"read_mountinfo", "mountinfo", can_read},
	{"read_timers", "timers", can_read},
	{"read_task_environ", "task/%d/environ", can_read},
	{"read_task_mem", "task/%d/mem", can_read},
	{"list_task_fd", "task/%d/fd", can_read},
	{"write_mem", "mem", can_write},
	{"write_comm", "comm", can_write},
	{"write_task_comm", "task/%d/comm", can_write},
	{"write_oom_score_adj", "oom_score_adj", can_write},
	{"write_oom_adj", "oom_adj", can_write},
	{"write_coredump_filter", "coredump_filter", can_write},
	{"write_timerslack", "timerslack_ns", can_write},
	{"write_clear_refs", "clear_refs", can_write},
	{"write_sched", "sched", can_write},
	{"write_autogroup", "autogroup", can_write},
	{"write_attr_current", "attr/current", can_write},
	{"write_attr_exec", "attr/exec", can_write},
	{"write_attr_fscreate", "attr/fscreate", can_write},
	{"write_loginuid", "loginuid", can_write},
	{"write_uid_map", "uid_map", can_write},
	{"write_gid_map", "gid_map", can_write},
	{"write_setgroups", "setgroups", can_write},
	{"write_projid_map", "projid_map", can_write},
	{"write_fd", "fd/0", can_write},
	{"sysctl_core_pattern", "/proc/sys/kernel/core_pattern", can_write},
	{"sysctl_hostname", "/proc/sys/kernel/hostname", can_write},
	{"sysctl_modprobe", "/proc/sys/kernel/modprobe", can_write},
	{"sysctl_pid_max", "/proc/sys/kernel/ns_last_pid", can_write},
	{"sysctl_binfmt", "/proc/sys/fs/binfmt_misc/register", can_write},
	{"sysctl_net", "/proc/sys/net/ipv4/ip_forward", can_write},
	{"sysrq", "/proc/sysrq-trigger", can_write},
	{"irq", "/proc/irq/default_smp_affinity", can_write},
	{"sys_block", "/sys/kernel/uevent_helper", can_write},
	{"sys_power", "/sys/power/state", can_write},
	{"sys_cgroup_procs", "/sys/fs/cgroup/cgroup.procs", can_write},
	{"sys_cgroup_control", "/sys/fs/cgroup/cgroup.subtree_control", can_write},
	{"kcore", "/proc/kcore", can_read},
	{"kmsg_write", "/dev/kmsg", can_write},
	{"mem_device", "/dev/mem", can_write},
};
#define N (sizeof(list) / sizeof(*list))

static bool works(size_t i, pid_t pid)
{
	char leaf[64], path[PATH_MAX];

	snprintf(leaf, sizeof(leaf), list[i].path, pid);
	snprintf(path, sizeof(path), "/proc/%d/%s", pid, leaf);
	errno = 0;
	if (!list[i].fn(list[i].path[0] == '/' ? list[i].path : path))
		return false;
	printf("# %s\n", path);
	return true;
}

int main(int argc, char **argv)
{
	pid_t victim = atoi(getenv("VICTIM"));
	int won = 0, err;

	for (size_t i = 0; argc > 1 && i < N; i++) {
		if (strcmp(list[i].name, argv[1]) != 0)
			continue;
		won = works(i, victim);
		err = errno;
		if (getenv("CONFINED") && list[i].path[0] != '/')
			won += works(i, getppid()) + works(i, parent_of(getppid()));
		if (!won)
			printf("# %s\n", strerror(err));
		return won ? WON : attack_is_impossible(err) ? SKIP : LOST;
	}
	printf("# no such attack\n");
	return BROKEN;
}
