#!/bin/bash
# TCP: services of this machine that are none of the session, and who may reach it.
. "$(dirname "$0")/lib.sh"

program net
# Ports that nobody has; each run has its own, as those of the run before are not free at once.
next=$((20000 + RANDOM % 9000))
before() {
	next=$((next + 4))
	export WANTED=$next SHARED=$((next + 1)) OPEN=$((next + 2)) JOINED=$((next + 3))
	coproc SERVER { exec "$build/net" serve 2>&1; }
	server=$SERVER_PID
	read -r PORT LAN <&"${SERVER[0]}"
	export PORT LAN
}
after() {
	[ -n "${server:-}" ] || return 0
	kill -9 -- "-$server" 2>/dev/null
	wait "$server" 2>/dev/null
	server=
}
for a in plain flip_thread flip_shared flip_fd fast_open second swap swap_race reuseport reuseport_race interfaces; do
	attack "network: $a" net $a
done
sections=$'[network]\nlocal_binding = any'
attack 'network: joined' net joined
sections=
