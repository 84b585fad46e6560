#!/bin/bash
# Processes outside, by descriptors and by seldom calls.
. "$(dirname "$0")/lib.sh"

before() {
	perl -e 'setpgrp(0, 0); exec "sleep", "100"' </dev/null >/dev/null 2>&1 &
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
for a in peer pair message credentials thread signal_scope signal_group namespace info setns setns_file own_namespace getfd madvise mrelease \
	vm_write kcmp_file move_pages migrate_pages perf core_cookie share_cookie fanotify key key_of_user; do
	attack "by descriptors and seldom calls: $a" pidfd $a
done
