#!/bin/bash
# /etc/hosts and /etc/resolv.conf: what their lines do, and that changes are followed where they are others'. In a mount and
# network namespace of its own, where servers can be at port 53 and the files be any.
if [ -z "${LIVE_RESOLV:-}" ]; then
	export LIVE_RESOLV=1
	for way in 'unshare -mn' 'unshare -Urmn'; do
		# shellcheck disable=SC2086
		if $way ip link set lo up 2>/dev/null; then exec $way --propagation private "$0"; fi
	done
	echo '1..0 # SKIP no mount and network namespace of its own'
	exit 0
fi
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/live/dns.sh
. "$here/dns.sh"

ip link set lo up
mkdir "$work/three" "$work/four"
touch "$work/hosts" "$work/resolv.conf"
mount --bind "$work/hosts" /etc/hosts && mount --bind "$work/resolv.conf" /etc/resolv.conf || { echo 'Bail out! no mounts'; exit 1; }

# serve DIR ADDRESS [well]: at port 53
serve() {
	DNS_ADDRESS=$2 "$python" "$here/dns.py" "$work/$1" 53 "${@:3}" >"$work/$1/log" 2>&1 &
	servers="$servers $!"
	for ((i = 0; i < 100; i++)); do [ ! -e "$work/$1/port" ] || return 0; sleep 0.1; done
	return 1
}
serve three 127.0.0.3 well && serve four 127.0.0.4 || { echo 'Bail out! no servers'; exit 1; }
# policy_of NAME LINE...: the servers are those of the file
policy_of() {
	policy "$@" 'x = dns_server'
	sed -i '/^x = /d' "$work/$1.ini"
}
resolv() { printf '%s\n' "$@" >"$work/resolv.conf"; }
asked() { sort "$work/three/asked" "$work/four/asked"; }
forget() { : >"$work/three/asked"; : >"$work/four/asked"; }

# --- Options ---
policy_of main "allow_ip = 127.0.0.1:$ONE"
resolv 'nameserver 127.0.0.3' 'nameserver 127.0.0.4'
answers 'servers of the file' udp:a-1-2-3-4.up.test:A 'NOERROR 1.2.3.4'
same 'the first is asked, by UDP' 'udp a-1-2-3-4.up.test A' "$(asked)"
names=()
for i in 1 2 3 4 5 6 7 8; do names+=("udp:a-1-1-1-$i.up.test:A"); done
forget
ask "${names[@]}" >/dev/null
same 'and no other' 0 "$(wc -l <"$work/four/asked")"
resolv 'nameserver 127.0.0.3' 'nameserver 127.0.0.4' 'options ndots:2 rotate'
forget
ask "${names[@]}" >/dev/null
same 'rotate: both are' '4 4' "$(wc -l <"$work/three/asked") $(wc -l <"$work/four/asked")"
resolv 'nameserver 127.0.0.3' 'options use-vc'
forget
answers 'use-vc' udp:a-1-2-3-4.up.test:A 'NOERROR 1.2.3.4'
same 'use-vc: by TCP' 'tcp a-1-2-3-4.up.test A' "$(asked)"
resolv 'nameserver 127.0.0.4' 'options attempts:2 timeout:1'
forget
answers 'attempts' udp:silent.up.test:A SERVFAIL
same 'attempts: so often' 2 "$(asked | grep -c silent)"
resolv 'nameserver 127.0.0.4' 'options attempts:1'
answers 'not waited for' udp:slow.up.test:A SERVFAIL
resolv 'nameserver 127.0.0.4' 'options attempts:1 timeout:20'
answers 'timeout' udp:slow.up.test:A 'NOERROR 198.51.100.1'
forget
policy with "dns_server = 127.0.0.1:$ONE"
resolv 'nameserver 127.0.0.3' 'options use-vc'
: >"$work/one/asked"
ini=with answers 'options, with dns_server' udp:a-1-2-3-4.up.test:A 'NOERROR 1.2.3.4'
same 'are for that one, too' 'tcp a-1-2-3-4.up.test A' "$(cat "$work/one/asked" "$work/three/asked")"

# --- Whom an answer is from ---
told='cordon: more than 64 datagram sockets in one process, or a limit of less than 1024 descriptors'
resolv 'nameserver 127.0.0.3'
same 'whom an answer is from, not connected' "{('127.0.0.3', 53)} ('127.0.0.3', 53)" "$(ask from 64)"
same 'nothing is said' '' "$(grep -F "$told" "$work/err")"
same 'whom, with more sockets than numbers for them' "{('127.0.0.3', 53)} ('127.0.0.3', 53)" "$(ask from 200)"
same 'that is said once' 1 "$(grep -cF "$told" "$work/err")"
same 'whom, with a lower limit' "{('127.0.0.3', 53)} None" "$(ulimit -n 500; ask from 3)"
same 'that is said as well' 1 "$(grep -cF "$told" "$work/err")"

# --- A scope ---
mkdir "$work/five"
if ip addr add fe80::53/64 dev lo nodad 2>/dev/null && serve five fe80::53%lo; then
	for scope in lo 1; do
		resolv "nameserver fe80::53%$scope"
		answers "a server with the scope $scope" udp:six.up.test:AAAA 'NOERROR 2001:db8::6' tcp:a-1-2-3-4.up.test:A 'NOERROR 1.2.3.4'
		same "whom an answer is from, with the scope $scope" "('fe80::53', 53, 0, 1)" "$(inside "$python" -c '
import socket
s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
s.sendto(b"\0\1\1\0\0\1\0\0\0\0\0\0\6single\0\0\1\0\1", ("2001:db8::53", 53))
a = s.recvfrom(512)[1]
print((a[0].split("%")[0],) + a[1:])' 2>/dev/null)"
	done
	resolv 'nameserver fe80::53%nosuch' 'nameserver 127.0.0.3'
	answers 'a server with a scope that is none' udp:a-1-2-3-4.up.test:A 'NOERROR 1.2.3.4'
else
	skip 'a server with a scope' 'no IPv6'
fi

# --- /etc/hosts ---
resolv 'nameserver 127.0.0.3'
cat >"$work/hosts" <<-END
	127.0.0.1 localhost loop.up.test
	169.254.169.254 meta.up.test
	10.9.9.9 inner.up.test
	198.51.100.66 two.up.test
	127.0.0.1 two.up.test
END
policy_of strict
ini=strict answers 'special addresses of /etc/hosts are left out' udp:loop.up.test:A NOERROR udp:meta.up.test:A NOERROR \
	udp:inner.up.test:A 'NOERROR 10.9.9.9' udp:two.up.test:A 'NOERROR 198.51.100.66'
same 'no server is asked for what is there' '' "$(asked | grep -E 'loop|meta|inner|two')"
ini=strict inside "$python" "$here/dns_client.py" connect "loop.up.test:$ONE" meta.up.test:80 >"$work/out" 2>"$work/err"
same 'nor do they open an address for who reads the file' "loop.up.test:$ONE EPERM|meta.up.test:80 EPERM" "$(paste -sd'|' "$work/out")"
has 'why' "up.test:$ONE (it leads to a loopback address)" cat "$work/err"
has 'why, of metadata' 'meta.up.test:80 (it leads to a cloud metadata address' cat "$work/err"

# --- Names and the addresses that they led to ---
# one_session WORD...: questions and HOST:PORTs to connect to, in this order
one_session() {
	inside sh -c 'client=$1; shift; for i; do case $i in udp:*) "$0" "$client" "$i" ;; *) "$0" "$client" connect "$i" ;; esac; done' \
		"$python" "$here/dns_client.py" "$@" 2>/dev/null | sed 's/.* \(E[A-Z]*\)$/\1/' | paste -sd' '
}
echo '127.0.0.1 localhost' >"$work/hosts"
ini=strict
same 'an address that nobody has asked for' EPERM "$(one_session 198.51.100.7:80)"
same 'a name led elsewhere before: that stays open, the new one is not handed out and not open' \
	'NOERROR 198.51.100.7 ENETUNREACH NOERROR ENETUNREACH EPERM' \
	"$(one_session udp:rebind.up.test:A 198.51.100.7:80 udp:rebind.up.test:A 198.51.100.7:80 "127.0.0.1:$ONE")"
same 'a TTL of 0 as well' 'NOERROR 198.51.100.40 ENETUNREACH' "$(one_session udp:nottl.up.test:A 198.51.100.40:80)"
same 'to private networks' 'NOERROR 10.0.0.7 ENETUNREACH' "$(one_session udp:to-10-0-0-7.up.test:A 10.0.0.7:80)"
same 'to a metadata service' 'NOERROR EPERM' "$(one_session udp:to-169-254-169-254.up.test:A 169.254.169.254:80)"
policy_of denied 'deny_domain = denied.up.test'
ini=denied
same 'the alias of an allowed name is denied: it is asked for by the name that is allowed' \
	'EPERM NOERROR CNAME=denied.up.test 198.51.100.30 ENETUNREACH' \
	"$(one_session denied.up.test:80 udp:todenied.up.test:A 198.51.100.30:80)"
policy_of denied 'deny_domain = 198.51.100.30'
ini=denied
same 'its address is denied' 'NOERROR EPERM' "$(one_session udp:todenied.up.test:A 198.51.100.30:80)"
ini=main

# --- Changes by others ---
# changes COMMAND...: what the session sees before and after the command changes the files
changes() {
	inside sh -c 'a() { "$0" "$1" udp:filed.up.test:A udp:a-1-2-3-4.up.test:A; "$0" -c "
import socket, errno
for a in \"198.51.100.21\", \"198.51.100.22\":
    s = socket.socket(); s.settimeout(3)
    print(errno.errorcode[s.connect_ex((a, 80))])"; }
a "$@"; touch ready; while [ ! -e changed ]; do sleep 0.1; done; sleep 1.2; a "$@"' "$python" "$here/dns_client.py" 2>/dev/null >"$work/out" &
	local session=$!
	for ((i = 0; i < 300; i++)); do [ ! -e "$work/w/ready" ] || break; sleep 0.1; done
	"$@"
	touch "$work/w/changed"
	wait $session
	rm -f "$work/w/ready" "$work/w/changed"
}
other_lines() {
	echo '198.51.100.22 filed.up.test' >"$work/hosts"
	resolv 'nameserver 127.0.0.4'
}
forget
echo '198.51.100.21 filed.up.test' >"$work/hosts"
ini=main changes other_lines
same 'changes are followed' \
	'NOERROR 198.51.100.21|NOERROR 1.2.3.4|ENETUNREACH|EPERM|NOERROR 198.51.100.22|NOERROR 1.2.3.4|ENETUNREACH|ENETUNREACH' \
	"$(paste -sd'|' "$work/out")"
same 'so is another server' '1 1' "$(grep -c a-1-2-3-4 "$work/three/asked") $(grep -c a-1-2-3-4 "$work/four/asked")"
resolv 'nameserver 127.0.0.3'
forget
echo '198.51.100.21 filed.up.test' >"$work/hosts"
policy_of open '[filesystem]' 'allow_write = /etc'
has '-v tells what is held' 'the command may change /etc/hosts: names go by what it says now' "$CORDON" -v -p "$work/open.ini" true
ini=open changes other_lines
same 'changes are not, where the session could make them' \
	'NOERROR 198.51.100.21|NOERROR 1.2.3.4|ENETUNREACH|EPERM|NOERROR 198.51.100.21|NOERROR 1.2.3.4|ENETUNREACH|EPERM' \
	"$(paste -sd'|' "$work/out")"
same 'nor is another server' '2 0' "$(grep -c a-1-2-3-4 "$work/three/asked") $(grep -c a-1-2-3-4 "$work/four/asked")"
finish
