#!/bin/bash
# TCP: servers of another session, an allowed name's address at a port that is another's, and decisions under wear.
. "$(dirname "$0")/lib.sh"

program reach
server='' served=outside
# The service runs outside; or, for what is tried inside, in a session of its own.
before() {
	local how=()
	[ "$served/$1" != session/inside ] || how=("$CORDON" -q -p "$work/policy.ini" --)
	coproc SERVER { exec "${how[@]}" "$build/reach" serve; }
	server=$SERVER_PID
	read -r PORT <&"${SERVER[0]}"
	export PORT
	# shellcheck disable=SC2016
	sections=${network//PORT/$PORT}
	[ "$1" != inside ] || write_policy
	# The one of a session, too, is there for others.
	[ "$served/$1" != session/inside ] || env -u CONFINED "$build/reach" other_session ||
		not_ok 'the server of the other session answers outside'
}
after() {
	[ -n "$server" ] || return 0
	kill "$server" 2>/dev/null
	wait "$server" 2>/dev/null
	server=
}
network=
served=session attack 'TCP: a server of another session' reach other_session

# a.test is at 127.0.0.1, where the service is, but not allowed at its port; b.test is, at another address.
network='[network]
allow_domain = a.test:1
allow_domain = b.test:PORT
resolve = a.test:1:127.0.0.1
resolve = b.test:PORT:127.0.0.2'
attack 'TCP: the address of a name, at a port of another' reach other_port
# b.test is allowed at all ports, and at 127.0.0.1 for one of them only.
network='[network]
allow_domain = b.test
allow_domain = a.test:1
resolve = a.test:1:127.0.0.1
resolve = b.test:1:127.0.0.1
resolve = b.test:PORT:127.0.0.2'
attack "TCP: a name's address for another port" reach other_address

network=
attack 'TCP: 10,000 sockets that are kept' reach kept
# The hard limit holds for the supervisor as well.
confined() { (ulimit -n 100 && timeout -k 5 60 "$CORDON" -q -p "$work/policy.ini" -- "$@"); }
attack 'TCP: a supervisor without descriptors' reach exhausted
