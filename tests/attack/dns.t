#!/bin/bash
# DNS as a way out: secrets in names, servers of one's choice; and strangers who ask the session's own.
. "$(dirname "$0")/lib.sh"

program dns
server=
before() {
	coproc SERVER { exec "$build/dns" serve; }
	server=$SERVER_PID
	read -r PORT AT53 <&"${SERVER[0]}"
	export PORT AT53
	sections="[network]
allow_domain = open.test
dns_server = 127.0.0.1:$PORT"
	write_policy
}
after() {
	[ -n "$server" ] || return 0
	kill -- "-$server" 2>/dev/null
	wait "$server" 2>/dev/null
	server=
}
for a in tunnel smuggle other_server; do
	attack "DNS: $a" dns $a
done

# Listeners of loopback, and whether one of these answers a question about a name of one label.
listeners() { awk '$2 ~ /^0100007F:/ && $4 == "0A" { sub(/.*:/, "", $2); print $2 }' /proc/net/tcp | sort -u; }
asked() {
	local port
	for port; do
		exec 8<>"/dev/tcp/127.0.0.1/$((16#$port))" || continue
		printf '\0\30\1\2\1\0\0\1\0\0\0\0\0\0\6single\0\0\1\0\1' >&8
		[ -z "$(timeout 5 head -c 1 <&8 | od -An -tx1)" ] || { echo answered; return 0; }
	done 2>/dev/null
	return 1
}
# Those that come with a session: its process begins between two looks.
try_outsider() {
	local was new
	if [ "$1" = outside ]; then
		asked "$(printf %04X "$PORT")"
		return
	fi
	was=$(listeners)
	"$CORDON" -q -p "$work/policy.ini" -- sleep 20 &
	session=$!
	sleep 1
	new=$(comm -13 <(echo "$was") <(listeners))
	[ -n "$new" ] || echo 'no listener'
	# shellcheck disable=SC2086
	asked $new
	rc=$?
	kill $session
	wait $session 2>/dev/null
	return $rc
}
fresh
before
if ! try_outsider outside >/dev/null; then
	not_ok 'DNS: outsider: does not even work outside'
elif try_outsider inside >"$work/log"; then
	not_ok 'DNS: outsider is answered'
elif grep -q . "$work/log"; then
	not_ok "DNS: outsider: $(cat "$work/log")"
else
	ok 'DNS: outsider'
fi
after
