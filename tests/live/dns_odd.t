#!/bin/bash
# The stub against odd servers and odd questions: what is no answer is none, and it goes on answering others.
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/live/dns.sh
. "$here/dns.sh"

policy main 'deny_domain = denied.up.test'
# One server, which makes waiting shorter.
policy alone "dns_server = 127.0.0.1:$ONE" 'deny_domain = denied.up.test'

# --- Aliases ---
answers 'a chain of 11 aliases' udp:chain-11.up.test:A:edns \
	"NOERROR OPT $(printf 'CNAME=c%d.up.test ' 0 1 2 3 4 5 6 7 8 9 10)198.51.100.20"
for name in chain-12 chain-40; do answers "a longer one ($name)" udp:$name.up.test:A SERVFAIL; done
answers 'a loop' udp:loop.up.test:A SERVFAIL tcp:loop.up.test:AAAA SERVFAIL
answers 'an address of another name' udp:stray.up.test:A NOERROR
answers 'a name whose alias is denied' udp:todenied.up.test:A 'NOERROR CNAME=denied.up.test 198.51.100.30' \
	udp:denied.up.test:A 'NOERROR 240.0.0.1'
: >"$work/one/asked"
: >"$work/two/asked"
answers 'a denied name' udp:denied.up.test:A 'NOERROR 240.0.0.1' udp:x.denied.up.test:A NXDOMAIN
same 'it is not asked for, what is beneath it is' 'udp x.denied.up.test A' "$(cat "$work/one/asked" "$work/two/asked")"

# --- Names ---
label=$(printf 'x%.0s' $(seq 63))
long=$label.$label.$label.${label:0:53}.up.test
: >"$work/one/asked"
answers 'labels of 63, a name of 253' "udp:$label.up.test:A" NXDOMAIN "tcp:$long:A" NXDOMAIN
same 'as they were asked for' "udp $label.up.test A|udp $long A" "$(paste -sd'|' "$work/one/asked")"
answers 'a name of 254' "udp:x$long:A" FORMERR
unasked 'a name of 254' "x$long"
same 'a TTL of 0 is handed on, others as well' '0|30' "$(ask ttl nottl.up.test a-1-2-3-4.up.test | paste -sd'|')"

# --- Servers ---
answers 'forged from other ports and addresses' udp:otherport.up.test:A 'NOERROR 198.51.100.1'
answers 'an answer of 65,535 bytes' udp:big.up.test:A 'NOERROR 198.51.100.50'
same 'by TCP' 1 "$(grep -c '^tcp big.up.test A$' "$work/one/asked")"
ini=alone
for name in closes mute drip; do
	inside "$python" "$here/dns_client.py" "udp:$name.up.test:A" udp:a-1-2-3-4.up.test:A >"$work/out.$name" 2>"$work/err.$name" &
done
same 'only the asker waits for it' '2.2.2.2 quick' "$(ask slow | cut -d' ' -f1,2)"
for name in closes mute drip; do
	for ((i = 0; i < 400; i++)); do [ "$(wc -l <"$work/out.$name")" -lt 2 ] || break; sleep 0.1; done
	same "cut, and by TCP it $name" 'SERVFAIL|NOERROR 1.2.3.4' "$(paste -sd'|' "$work/out.$name")"
done

# --- Questions ---
ini=main
same '10,000 questions at once' "NOERROR NXDOMAIN|answered ['NOERROR', '1.2.3.4']" "$(ask flood | paste -sd'|')"
same 'the gateway is still there' '' "$(grep gateway "$work/err")"
same 'long and slow questions by TCP' 'closed|closed|closed|NOERROR 1.2.3.4' "$(ask long | paste -sd'|')"
finish
