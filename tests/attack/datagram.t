#!/bin/bash
# Datagrams that leave the session, and what wears down the stand-ins of datagram sockets (tests/attack/dos.t has that).
. "$(dirname "$0")/lib.sh"

program datagram
server=
before() {
	coproc SERVER { exec "$build/datagram" serve; }
	server=$SERVER_PID
	read -r PORT <&"${SERVER[0]}"
	export PORT
}
after() {
	[ -n "$server" ] || return 0
	kill "$server" 2>/dev/null
	wait "$server" 2>/dev/null
	server=
}
for a in sendto sendmsg sendmmsg pktinfo connected second mapped; do
	attack "datagrams: $a" datagram $a
done
