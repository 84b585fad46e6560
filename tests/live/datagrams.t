#!/bin/bash
# What is neither TCP nor a question to DNS: not passed, and not lost without a word. One record and one line for each address.
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/lib.sh"
if ! python3 -c '' 2>/dev/null; then
	echo '1..0 # SKIP python3 is not installed'
	exit 0
fi
python=$(python3 -c 'import sys; print(sys.executable)')
cat >"$work/ask.py" <<'EOT'
import errno, os, socket, sys
other = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
udp = socket.socket(socket.AF_INET6 if sys.argv[1] == "6" else socket.AF_INET, socket.SOCK_DGRAM)
for line in sys.argv[2:]:
    try:
        print(eval(line))
    except OSError as e:
        print(errno.errorcode[e.errno])
EOT
# says WANTED TOLD WHAT FAMILY LINE...: what the lines come to, joined by '|', and what cordon says
says() {
	local wanted=$1 told=$2 what=$3 got
	shift 3
	got=$(cd "$work" && "$CORDON" $extra -a "$work/trail" "$python" "$work/ask.py" "$@" 2>"$work/err" </dev/null)
	same "$what" "$wanted / $told" "${got//$'\n'/|} / $(sed 's/^cordon: //; /^--log-only/d' "$work/err" | paste -sd '|')"
}
# recorded WHAT WANTED: the denials, one each
recorded() {
	same "$1" "$2" "$("$python" -c '
import json, sys
seen = {}
for r in map(json.loads, open(sys.argv[1])):
    if r.get("verdict") == "deny":
        key = " ".join(str(r.get(k)) for k in ("op", "ip", "port", "target", "rule", "errno") if r.get(k))
        seen[key] = seen.get(key, 0) + r.get("repeat", 1)
print("; ".join("%s x%d" % i for i in seen.items()))' "$work/trail")"
	rm -f "$work/trail"
}
extra=
only='refused: only TCP and questions to name servers are passed'
rule='datagrams carry questions to DNS only (built-in)'

says 'EPERM|EPERM|EPERM' "UDP to 192.0.2.1:123 $only|UDP to 192.0.2.2:443 $only" 'sendto and sendmsg of one that is not connected' 4 \
	'udp.sendto(b"x", ("192.0.2.1", 123))' 'udp.sendto(b"x", ("192.0.2.1", 123))' 'udp.sendmsg([b"x"], [], 0, ("192.0.2.2", 443))'
recorded 'each is on record, with address and port' "send 192.0.2.1 123 $rule EPERM x2; send 192.0.2.2 443 $rule EPERM x1"
says 'None|EPERM|EPERM' "UDP to 127.0.0.1:5000 $only" 'send and sendmsg of a connected one' 4 \
	'udp.connect(("127.0.0.1", 5000))' 'udp.send(b"x")' 'udp.sendmsg([b"x"])'
recorded 'that, too' "send 127.0.0.1 5000 $rule EPERM x2"
says '1|None|1' '' 'what goes to a name server is nobody else'"'"'s' 4 'udp.sendto(b"x", ("192.0.2.1", 53))' 'udp.connect(("192.0.2.1", 53))' 'udp.send(b"x")'
recorded 'nothing of it is a denial' ''
# What is written is seen by who answers questions, in the order of writing: the answer to one comes after.
question='(other.send(b"\1\2\1\0\0\1\0\0\0\0\0\0\6single\0\0\1\0\1"), other.recv(512)[3] & 15)'
says "None|1|1|None|(24, 3)" "UDP to 127.0.0.1:5000 $only|Connection blocked by network allowlist: single (no allow_domain matches) (to allow: allow_domain = single:PORT)" \
	'what is written to a connected one is lost, and told' 4 'udp.connect(("127.0.0.1", 5000))' 'os.write(udp.fileno(), b"x")' \
	'os.write(udp.fileno(), b"x")' 'other.connect(("192.0.2.1", 53))' "$question"
same 'both records name the process' 'python python' "$(grep -E '"op":"(send|resolve)"' "$work/trail" | sed -nE 's/.*"pid":[0-9]+,.*"comm":"(python)[0-9.]*".*/\1/p' | paste -sd' ')"
recorded 'with address and port' "send 127.0.0.1 5000 $rule x1; resolve default EPERM x1"
if [ -e /proc/net/if_inet6 ]; then
	says 'EPERM' "UDP to [2001:db8::1]:123 $only" 'an IPv6 address' 6 'udp.sendto(b"x", ("2001:db8::1", 123))'
	rm -f "$work/trail"
else
	skip 'an IPv6 address' 'no IPv6'
fi
extra=--log-only
says 'EPERM' "UDP to 192.0.2.1:123 $only" '--log-only cannot pass them' 4 'udp.sendto(b"x", ("192.0.2.1", 123))'
extra=
rm -f "$work/trail"

says 'EAFNOSUPPORT|EAFNOSUPPORT' "ICMP socket $only|raw socket $only" 'raw sockets' 4 \
	'socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)' 'socket.socket(socket.AF_INET, socket.SOCK_RAW, 255)'
recorded 'their kind is on record' "socket family 2, type 3, protocol 1 sockets (built-in) EAFNOSUPPORT x1; \
socket family 2, type 3, protocol 255 sockets (built-in) EAFNOSUPPORT x1"
says 'EPROTONOSUPPORT' "UDP-Lite socket $only" 'other datagrams' 4 'socket.socket(socket.AF_INET, socket.SOCK_DGRAM, 136)'
finish
