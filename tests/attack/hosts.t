#!/bin/bash
# The system's files about names, where the policy lets the session write them: an allowed name at an address of one's choice,
# a server of one's choice. In a mount and network namespace of its own, with a copy of /etc.
if [ -z "${ATTACK_HOSTS:-}" ]; then
	export ATTACK_HOSTS=1
	for way in 'unshare -mn' 'unshare -Urmn'; do
		# shellcheck disable=SC2086
		if $way ip link set lo up 2>/dev/null; then exec $way --propagation private "$0"; fi
	done
	echo '1..0 # SKIP no mount and network namespace of its own'
	exit 0
fi
. "$(dirname "$0")/lib.sh"

ip link set lo up
cp -a /etc "$work/etc" 2>/dev/null
rm -f "$work/etc/hosts" "$work/etc/resolv.conf"
mount --bind "$work/etc" /etc || { echo 'Bail out! /etc'; exit 1; }

program dns
server=
before() {
	coproc SERVER { exec "$build/dns" serve; }
	server=$SERVER_PID
	read -r PORT _ <&"${SERVER[0]}"
	export PORT
}
after() {
	[ -n "$server" ] || return 0
	kill -- "-$server" 2>/dev/null
	wait "$server" 2>/dev/null
	server=
}
# Nobody is at that server.
setup() {
	rm -f /etc/hosts* /etc/resolv.conf
	echo '127.0.0.1 localhost' >"${hosts:-/etc/hosts}"
	echo 'nameserver 127.53.0.2' >"${resolv:-/etc/resolv.conf}"
	[ -z "$hosts" ] || ln -s "$hosts" /etc/hosts
	[ -z "$resolv" ] || ln -s "$resolv" /etc/resolv.conf
}
sections='[network]
allow_domain = open.test
allow_domain = *.open.test'

hosts='' resolv=''
# The last by its other name.
for policy in 'allow_write = /etc' 'allow_write = /' "allow_write = $work/etc"; do
	for a in hosts_write hosts_replace server_write; do attack "${policy/$work/...}: $a" dns $a; done
done
policy='allow_write = /etc/hosts
allow_write = /etc/resolv.conf'
for a in hosts_write server_write; do attack "the file: $a" dns $a; done
# shellcheck disable=SC2034
policy=''
hosts=$IN/hosts resolv=$IN/resolv.conf
for a in hosts_linked hosts_relinked server_linked; do attack "$a" dns $a; done
hosts='' resolv=''
rm -f /etc/hosts
exec 3>>/etc/hosts
setup() {
	rm -f /etc/resolv.conf
	echo '127.0.0.1 localhost' >/etc/hosts
	echo 'nameserver 127.53.0.2' >/etc/resolv.conf
}
flags=(--keep-fd 3)
attack 'hosts_handed' dns hosts_handed
