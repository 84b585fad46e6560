#!/bin/bash
# The stub: what the session's questions to DNS are answered, what servers are asked for, and what is said of it.
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/live/dns.sh
. "$here/dns.sh"

policy main 'allow_domain = fixed.test' 'allow_domain = localhost' "resolve = fixed.test:80:127.0.0.1:$ONE" \
	'resolve = fixed.test:81:198.51.100.80' 'resolve = fixed.test:82:[2001:db8::82]'

# --- Answers ---
for how in udp tcp; do
	answers "addresses by $how" $how:a-1-2-3-4.up.test:A 'NOERROR 1.2.3.4' $how:a-1-2-3-4.up.test:AAAA NOERROR \
		$how:six.up.test:A NOERROR $how:six.up.test:AAAA 'NOERROR 2001:db8::6' \
		$how:both.up.test:A 'NOERROR 198.51.100.1' $how:both.up.test:AAAA 'NOERROR 2001:db8::1'
	answers "aliases by $how" $how:alias.up.test:A 'NOERROR CNAME=CDN.up.test CNAME=edge.up.test 198.51.100.2' \
		$how:alias.up.test:AAAA 'NOERROR CNAME=CDN.up.test CNAME=edge.up.test'
	answers "no such name by $how" $how:gone.up.test:A NXDOMAIN $how:gone.up.test:AAAA NXDOMAIN
	answers "rules by $how" $how:fixed.test:A 'NOERROR 127.0.0.1 198.51.100.80' $how:fixed.test:AAAA 'NOERROR 2001:db8::82'
	answers "localhost by $how" $how:localhost:A 'NOERROR 127.0.0.1'
done
unasked 'rules' fixed.test
unasked 'localhost' localhost
answers 'upper case' udp:A-1-2-3-4.UP.Test:A 'NOERROR 1.2.3.4' tcp:FIXED.TEST:A 'NOERROR 127.0.0.1 198.51.100.80'
answers 'EDNS' udp:a-1-2-3-4.up.test:A:edns 'NOERROR OPT 1.2.3.4' tcp:gone.up.test:A:edns 'NXDOMAIN OPT'
answers 'ANY is for addresses' udp:both.up.test:ANY 'NOERROR 198.51.100.1'
answers 'a server cuts what it sends by UDP, and is asked by TCP' udp:cut.up.test:A 'NOERROR 198.51.100.3'
same 'it was' 1 "$(grep -c '^tcp cut.up.test A$' "$work/one/asked")"
ask udp:many.up.test:A udp:many.up.test:A:edns tcp:many.up.test:A >"$work/many"
same 'many addresses: cut to 512 bytes, whole with EDNS and by TCP' 'NOERROR TC 198.51.100.0|NOERROR OPT 198.51.100.0|NOERROR 198.51.100.0' \
	"$(sed 's/ 198.51.100.1 .*//' "$work/many" | paste -sd'|')"
same 'all that are kept' '32 32' "$(sed 1d "$work/many" | awk '{ gsub("OPT ", ""); print NF - 1 }' | paste -sd' ')"

: >"$work/one/asked"
answers 'other types have no data' udp:a-1-2-3-4.up.test:TXT NOERROR udp:a-1-2-3-4.up.test:HTTPS NOERROR \
	udp:a-1-2-3-4.up.test:MX NOERROR tcp:_x._tcp.up.test:SRV NOERROR udp:4.3.2.1.in-addr.arpa:PTR NOERROR \
	udp:a-1-2-3-4.up.test:CNAME NOERROR
same 'and no server is asked for them' '' "$(cat "$work/one/asked")"
same 'questions on one TCP connection' '30 30' "$(ask pipeline)"
same 'what is malformed' "goes on ['NOERROR', '1.2.3.4'] ['NOERROR', '1.2.3.4']" "$(ask malformed)"

# --- Refused names ---
answers 'a refused name has an address of its own' udp:a.no.test:A 'NOERROR 240.0.0.1' udp:b.no.test:A 'NOERROR 240.0.0.2' \
	tcp:A.NO.test:A 'NOERROR 240.0.0.1' udp:a.no.test:AAAA NOERROR udp:a.no.test:TXT NOERROR udp:up.test:A 'NOERROR 240.0.0.3'
answers 'one of one label is not there' udp:single:A NXDOMAIN udp:single:AAAA NXDOMAIN
unasked 'a refused name' no.test
unasked 'one of one label' single
record 'it is recorded' '"op":"resolve","host":"a.no.test","verdict":"deny"' '"suggestion":"allow_domain = a.no.test:PORT"'
inside "$python" "$here/dns_client.py" connect a.no.test:443 a.no.test:443 a.no.test:80 b.no.test:443 single:80 >"$work/out" 2>"$work/err"
same 'a connect to it is refused' 'a.no.test:443 EPERM|a.no.test:443 EPERM|a.no.test:80 EPERM|b.no.test:443 EPERM|single:80 no name' \
	"$(paste -sd'|' "$work/out")"
line='cordon: Connection blocked by network allowlist:'
for name in a.no.test:443 a.no.test:80 b.no.test:443 single; do
	port=
	[[ $name = *:* ]] || port=:PORT
	same "$name: said once, with what would allow it" \
		"$line $name (no allow_domain matches) (to allow: allow_domain = $name$port)" "$(grep -F " $name " "$work/err")"
done
record 'the record of the connect' '"op":"connect","host":"a.no.test","ip":"240.0.0.1","port":443,"verdict":"deny"' '"errno":"EPERM"'

# --- Allowed names ---
ini=local
policy local 'allow_domain = fixed.test' "resolve = fixed.test:80:127.0.0.1:$ONE" "allow_ip = 127.0.0.1:$TWO"
inside "$python" "$here/dns_client.py" connect fixed.test:80 "to-127-0-0-1.up.test:$TWO" "to-127-0-0-1.up.test:$ONE" \
	>"$work/out" 2>"$work/err"
same 'connects by name' "fixed.test:80 ok|to-127-0-0-1.up.test:$TWO ok|to-127-0-0-1.up.test:$ONE EPERM" "$(paste -sd'|' "$work/out")"
record 'the record of a rule' '"op":"connect","host":"fixed.test"' '"port":80,"verdict":"allow","rule":"allow_domain = fixed.test"'
record 'the record of a name' '"op":"resolve","host":"to-127-0-0-1.up.test","ip":"127.0.0.1","verdict":"allow","rule":"allow_domain = *.up.test"'

# --- Where a name may lead ---
ini=main
answers 'a name that changes its address' udp:rebind.up.test:A 'NOERROR 198.51.100.7' udp:rebind.up.test:A NOERROR
has 'the class is said' "$line rebind.up.test (resolved to a loopback address) (to allow: allow_ip = 127.0.0.1:PORT)" cat "$work/err"
record 'and recorded' '"op":"resolve","host":"rebind.up.test","ip":"127.0.0.1","verdict":"deny"'
answers 'what is left of mixed ones' udp:mixed.up.test:A 'NOERROR 198.51.100.7'
while read -r addr class; do
	answers "$addr is not handed out" "udp:to-${addr//./-}.up.test:A" NOERROR
	has "as $class" "(resolved to $class) (to allow: allow_ip = $addr:PORT)" cat "$work/err"
done <<-END
	169.254.169.254 a cloud metadata address, where machines are told their secrets
	169.254.1.1 a link-local address
	127.0.0.2 a loopback address
	0.0.0.0 an unspecified address
	224.0.0.1 a multicast address
	240.0.0.1 a reserved address
	255.255.255.255 the broadcast address
END
inside "$python" "$here/dns_client.py" connect "to-127-0-0-1.up.test:$ONE" >"$work/out" 2>&1
has 'no connect comes of it' "to-127-0-0-1.up.test:$ONE no name" cat "$work/out"

# --- Servers ---
answers 'wrong ids are left out' udp:wrongid.up.test:A 'NOERROR 198.51.100.1'
answers 'a server that fails' udp:servfail.up.test:A 'NOERROR 198.51.100.9'
answers 'a server that is silent' udp:silent.up.test:A 'NOERROR 198.51.100.9'
same 'only the asker waits for it' '2.2.2.2 quick' "$(ask slow | cut -d' ' -f1,2)"
policy down 'dns_server = 127.0.0.2:9' "dns_server = 127.0.0.1:$TWO"
ini=down answers 'a server that is not there' udp:a-1-2-3-4.up.test:A 'NOERROR 1.2.3.4'
policy dead 'dns_server = 127.0.0.2:9' 'allow_domain = fixed.test' 'resolve = fixed.test:80:127.0.0.1:80'
ini=dead answers 'none at all' udp:a-1-2-3-4.up.test:A SERVFAIL udp:fixed.test:A 'NOERROR 127.0.0.1'
policy alone "dns_server = 127.0.0.1:$ONE"
ini=alone answers 'one that only fails' udp:servfail.up.test:A SERVFAIL tcp:servfail.up.test:A SERVFAIL
for name in other garbage; do
	out=$(DNS_CLIENT_WAIT=3 ask "udp:$name.up.test:A")
	case $out in
	*[0-9].[0-9]*) fail "an answer that is none ($name)" "$out" ;;
	*) pass "an answer that is none ($name)" ;;
	esac
done

# --- /etc/hosts and search lists: files of its own need a mount namespace ---
cat >"$work/hosts" <<-END
	127.0.0.1 localhost
	198.51.100.44 Filed.Test short filed.here.test
	2001:db8::44 filed.test
END
printf 'nameserver 192.0.2.1\nsearch ns.svc.test svc.test\noptions ndots:5\n' >"$work/resolv.conf"
ways=('unshare -m' 'unshare -Urm')
unshared=
for way in "${ways[@]}"; do
	if $way sh -c "mount --bind '$work/hosts' /etc/hosts && mount --bind '$work/resolv.conf' /etc/resolv.conf" 2>/dev/null; then
		unshared=$way
		break
	fi
done
if [ -n "$unshared" ]; then
	policy filed 'allow_domain = filed.test' 'allow_domain = short' 'allow_domain = app.ns.svc.test' 'resolve = app.ns.svc.test:80:127.0.0.1:80'
	# shellcheck disable=SC2086
	filed() {
		(cd "$work/w" && timeout 60 $unshared sh -c "mount --bind '$work/hosts' /etc/hosts && mount --bind '$work/resolv.conf' /etc/resolv.conf &&
			exec \"\$@\"" sh "$CORDON" -p "$work/filed.ini" -- "$@") 2>"$work/err"
	}
	same '/etc/hosts is asked first' 'NOERROR 198.51.100.44|NOERROR 2001:db8::44|NOERROR 198.51.100.44|NOERROR 240.0.0.1' \
		"$(filed "$python" "$here/dns_client.py" udp:filed.test:A udp:FILED.test:AAAA udp:short:A udp:filed.here.test:A | paste -sd'|')"
	same 'a search list goes on to its next' 'NXDOMAIN|NXDOMAIN|NXDOMAIN|NOERROR 127.0.0.1|NXDOMAIN' \
		"$(filed "$python" "$here/dns_client.py" udp:a.up.test.ns.svc.test:A udp:a.up.test.svc.test:A udp:no.svc.test:A \
			udp:app.ns.svc.test:A udp:www.no.test.ns.svc.test:A | paste -sd'|')"
	unasked 'a search list' svc.test
	same 'libc finds names by it' '198.51.100.1|127.0.0.1' "$(filed "$python" -c '
import socket
for name in "both.up.test", "app": print(socket.gethostbyname(name))' | paste -sd'|')"
	same 'nothing is said of complete names with a suffix' '' "$(cat "$work/err")"
else
	skip '/etc/hosts is asked first, search lists' 'no mount namespace of its own'
fi
# --- --log-only: what is refused is looked up, and connected to ---
policy would 'deny_domain = to-127-0-0-1.up.test'
ini=would extra=--log-only
inside "$python" "$here/dns_client.py" connect "to-127-0-0-1.up.test:$TWO" >"$work/out" 2>"$work/err"
same '--log-only: a refused name' "to-127-0-0-1.up.test:$TWO ok" "$(cat "$work/out")"
has 'that it would be is said' "Connection would be blocked by network policy: to-127-0-0-1.up.test:$TWO (deny_domain = to-127-0-0-1.up.test" cat "$work/err"
record 'the lookup is recorded' '"op":"resolve","host":"to-127-0-0-1.up.test"' '"verdict":"deny"'
record 'and the connect' '"op":"connect","host":"to-127-0-0-1.up.test","ip":"127.0.0.1"' '"verdict":"deny"'
policy would
inside "$python" "$here/dns_client.py" connect "to-127-0-0-1.up.test:$TWO" >"$work/out" 2>"$work/err"
same '--log-only: a name that may not lead there' "to-127-0-0-1.up.test:$TWO ok" "$(cat "$work/out")"
has 'that it would not is said' "Connection would be blocked by network allowlist: to-127-0-0-1.up.test:$TWO (it leads to a loopback address)" cat "$work/err"
finish
