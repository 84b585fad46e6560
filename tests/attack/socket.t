#!/bin/bash
# Sockets of others, and sockets where nothing may be made.
. "$(dirname "$0")/lib.sh"

program socket
n=0
before() {
	n=$((n + 1))
	export ABSTRACT=@a$$.$n ABSTRACT_NUL=@n$$.$n@x
	coproc SERVER { exec "$build/socket" serve 2>&1; }
	server=$SERVER_PID
	read -r PORT <&"${SERVER[0]}"
	export PORT
}
after() {
	[ -n "${server:-}" ] || return 0
	kill -9 -- "-$server" 2>/dev/null
	wait "$server" 2>/dev/null
	server=
}
for a in plain bind_race other_type forged_line confused_name address_race datagrams inet families bind_elsewhere; do
	attack "sockets: $a" socket $a
done
