#!/bin/bash
# What is for this machine and leaves it by another device. In a network namespace of its own, with two devices whose far ends nobody
# has: what goes out there is seen.
if [ -z "${ATTACK_DEVICE:-}" ]; then
	export ATTACK_DEVICE=1
	for way in 'unshare -n' 'unshare -Urn'; do
		# shellcheck disable=SC2086
		if $way ip link add d0 type veth peer name e0 2>/dev/null; then exec $way "$0"; fi
	done
	echo '1..0 # SKIP no network namespace of its own'
	exit 0
fi
. "$(dirname "$0")/lib.sh"

# New ones for each run: what the run before sent would be sent again by them, long after its end.
devices() {
	local d
	ip link set lo up
	for d in 0 1; do
		ip link del d$d 2>/dev/null
		ip link add d$d type veth peer name e$d
		ip link set e$d up
		ip link set d$d arp off up
	done
	ip -6 addr replace fd99::1/128 dev lo nodad
	ip -6 addr add fd77::1/64 dev d0 nodad
	ip -6 addr add fe80::77:1/64 dev d0 nodad
	ip -6 route add default dev d0
}
if ! devices 2>/dev/null; then
	skip 'devices' 'no IPv6'
	exit 0
fi

program device
before() {
	devices
	coproc WATCH { cd "$IN" && exec "$build/device" watch; }
	watch=$WATCH_PID
	read -r _ <&"${WATCH[0]}"
}
after() {
	[ -n "${watch:-}" ] || return 0
	kill -9 "$watch" 2>/dev/null
	wait "$watch" 2>/dev/null
	watch=
}
for a in connected tied link_bound scope race; do
	sections=$'[network]\nlocal_binding = any'
	attack "a device: $a" device $a
done
for a in connected listening; do
	sections=$'[network]\nlocal_binding = loopback'
	attack "a device, listening at loopback only: $a" device $a
done
