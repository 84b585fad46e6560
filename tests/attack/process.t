#!/bin/bash
# Processes outside the session, the supervisor among them: not signalled, not traced, not tuned, not looked into.
. "$(dirname "$0")/lib.sh"

before() {
	perl -e 'setpgrp(0, 0); exec "sleep", "100"' </dev/null >/dev/null 2>&1 &
	export VICTIM=$!
	until [ "$(cat "/proc/$VICTIM/comm")" = sleep ]; do sleep 0.01; done
	ADDRESS=$(sed -n '2s/-.*//p' "/proc/$VICTIM/maps")
	export ADDRESS
	unset CONFINED
	[ "$1" != inside ] || export CONFINED=1
}
after() {
	kill -CONT "$VICTIM" 2>/dev/null
	kill -9 "$VICTIM" 2>/dev/null
	wait "$VICTIM" 2>/dev/null >&2
}

for a in kill kill_group tkill tgkill sigqueue tgsigqueue pidfd_open pidfd_proc setown setown_ex fiosetown siocspgrp setown_group seize \
	attach vm_read kcmp robust_list prlimit affinity scheduler param sched_attr nice nice_group ioprio pidfd_getfd proc proc_dirfd; do
	attack "on strangers: $a" process on $a
done
# shellcheck disable=SC2034
policy="deny_read = $OUT/secret"
for a in proc proc_dirfd; do attack "on strangers, reads decided by the supervisor: $a" process on $a; done
policy=''
attack "kill(0) while the group changes" process kill_race
attack "pidfd_send_signal while the descriptor changes" process pidfd_race
attack "setpriority of a group while it changes" process nice_race
(ulimit -c unlimited) 2>/dev/null && ulimit -c unlimited
attack 'a core file outside' process core_file
# shellcheck disable=SC2034
policy='core_files = yes'
"$CORDON" -v true 2>&1 | grep -q 'Landlock ABI [1-9]' &&
	attack 'a core file outside where such files are wanted' process core_file
policy=''
attack 'typing into a terminal' process tty_input
