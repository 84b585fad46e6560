#!/bin/bash
# /proc of processes outside, and what belongs to the machine.
. "$(dirname "$0")/lib.sh"

setup() { echo x >"$OUT/file"; }
before() {
	(cd "$OUT" && exec perl -e 'setpgrp(0, 0); exec "sleep", "100"' </dev/zero >/dev/null 2>&1) &
	export VICTIM=$!
	until [ "$(cat "/proc/$VICTIM/comm")" = sleep ]; do sleep 0.01; done
	ADDRESS=$(sed -n '2s/-.*//p' "/proc/$VICTIM/maps")
	export ADDRESS
}
after() {
	[ -z "${VICTIM:-}" ] || kill -9 "$VICTIM" 2>/dev/null
	wait 2>/dev/null
	VICTIM=
}
strangers='read_environ read_mem read_maps read_smaps read_smaps_rollup read_numa_maps read_pagemap read_auxv read_syscall read_stack
	read_personality read_io read_exe read_fd list_fd list_fdinfo read_fdinfo list_map_files list_cwd list_root enter_root
	read_mountinfo read_timers read_task_environ read_task_mem list_task_fd write_mem write_comm write_task_comm
	write_oom_score_adj write_oom_adj write_coredump_filter write_timerslack write_clear_refs write_sched write_autogroup
	write_attr_current write_attr_exec write_attr_fscreate write_loginuid write_uid_map write_gid_map write_setgroups
	write_projid_map write_fd'
machine='sysctl_core_pattern sysctl_hostname sysctl_modprobe sysctl_pid_max sysctl_binfmt sysctl_net sysrq irq sys_block sys_power
	sys_cgroup_procs sys_cgroup_control kcore kmsg_write mem_device'
for a in $strangers $machine; do
	# With this rule the supervisor decides on reads, whatever else the machine has; process.t tries it without.
	policy="deny_read = $OUT/secret"
	attack "/proc: $a" procfs $a
done
