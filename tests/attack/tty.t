#!/bin/bash
# Terminals of others: what is typed there, and what is shown.
. "$(dirname "$0")/lib.sh"

program tty
serve=''
before() {
	coproc SERVER { exec setsid "$build/tty" serve $serve 2>&1; }
	export VICTIM=$SERVER_PID
	read -r TTY <&"${SERVER[0]}"
	export TTY
}
after() {
	[ -z "${VICTIM:-}" ] || kill -9 "$VICTIM" 2>/dev/null
	wait 2>/dev/null
	VICTIM=
}
for a in write dirfd pin proc link node chmod control hangup reach; do attack "a terminal of others: $a" tty $a; done
policy="deny_read = $OUT/secret"
for a in read control reach; do attack "a terminal of others, reads decided by the supervisor: $a" tty $a; done
serve=own
attack 'a terminal of others: steal' tty steal
