#!/bin/bash
# Two sessions of one user at the same time: nothing crosses from the second to the first. Outside, the same between two plain
# processes.
. "$(dirname "$0")/lib.sh"

program crossing
export SHARED=$work/shared
policy="allow_own = $SHARED
allow_own = /dev/shm"
mutable=true
setup() {
	rm -rf "$SHARED" "$work/tmp"
	mkdir "$SHARED" "$work/tmp"
}
# The first session writes in what the second one may only read.
before() {
	local first=()
	if [ "$1" = inside ]; then
		printf '[filesystem]\nallow_write = %s\nallow_own = %s\nallow_own = /dev/shm\n' "$OUT" "$SHARED" >"$work/first.ini"
		first=("$CORDON" -q -p "$work/first.ini" --)
	fi
	coproc FIRST { exec setsid env TMPDIR="$work/tmp" "${first[@]}" "$build/crossing" serve 2>&1; }
	session=$FIRST_PID
	read -r A_PID A_SUPERVISOR A_FRONT ADDRESS TTY A_TMP ABSTRACT <&"${FIRST[0]}"
	export A_PID A_SUPERVISOR A_FRONT ADDRESS TTY A_TMP ABSTRACT
}
after() {
	[ -z "${session:-}" ] || {
		kill -TERM "$session" 2>/dev/null
		# Still what it was, but for what was made or taken away in the plain run.
		wait "$session" 2>/dev/null
		rm -f "/dev/shm/attack.$A_PID"
	}
	session=
}
for a in kill kill_group tgkill queue pidfd own trace read limit pin nice compare environ mem fd cwd root oom shared_write \
	shared_chmod shared_unlink shared_rename shared_replace shared_link shared_directory shm_write shm_unlink tmp_write tmp_new \
	tmp_rename workspace socket shared_socket abstract_socket socket_name terminal; do
	attack "from session to session: $a" crossing $a
done
