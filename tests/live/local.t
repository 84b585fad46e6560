#!/bin/bash
# Services of this machine that are none of the session, over Unix sockets and TCP, and where the session itself may listen:
# allow_unix_socket, allow_domain and allow_ip of loopback, local_binding; what is said and recorded of each.
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/lib.sh"
if ! python3 -c '' 2>/dev/null; then
	echo '1..0 # SKIP python3 is not installed'
	exit 0
fi
# A wrapper such as pyenv's looks for its files in another HOME.
python=$(python3 -c 'import sys; print(sys.executable)')
client=$here/local_client.py
mkdir "$work/w" "$work/run" "$work/run/deep"
name=cordon-test-$$-$RANDOM

# The services outside: each says "outside" to whoever comes.
"$python" - "$work/run" "$name" <<'EOF' &
import os, selectors, socket, sys
run, name = sys.argv[1:]
servers = [socket.create_server(("127.0.0.1", 0))]
for path in ["a.sock", "b.sock", "c.other", "deep/d.sock", "\0" + name, "\0" + name + "-no"]:
    s = socket.socket(socket.AF_UNIX)
    s.bind(path if path[0] == "\0" else run + "/" + path)
    s.listen(20)
    servers.append(s)
with open(run + "/port.new", "w") as f:
    f.write(str(servers[0].getsockname()[1]))
os.rename(run + "/port.new", run + "/port")
ready = selectors.DefaultSelector()
for s in servers:
    ready.register(s, selectors.EVENT_READ)
while True:
    for key, _ in ready.select():
        c = key.fileobj.accept()[0]
        try:
            c.sendall(b"outside")
        except OSError:
            pass
        c.close()
EOF
server=$!
# shellcheck disable=SC2317
stop() {
	kill "$server" 2>/dev/null
	wait "$server" 2>/dev/null
	cleanup
}
trap stop EXIT
for ((i = 0; i < 200; i++)); do [ ! -e "$work/run/port" ] || break; sleep 0.1; done
port=$(cat "$work/run/port") || { echo 'Bail out! no servers'; exit 1; }
ln -s a.sock "$work/run/to-a"
ln -s c.other "$work/run/to-c.sock"

# session LINE... -- QUESTION...: under these lines of [network]; the answers, joined by '|'. Stderr is in $work/err, the records
# in $work/trail.
extra=
session() {
	printf '[filesystem]\nallow_write = %s\n[audit]\nfile = %s\nlevel = all\n[network]\nproxy_env = no\n' "$work/w" "$work/trail" >"$work/p.ini"
	while [ "$1" != -- ]; do
		echo "$1" >>"$work/p.ini"
		shift
	done
	shift
	rm -f "$work/trail"
	(cd "${from:-$work/w}" && timeout 120 "$CORDON" $extra -p "$work/p.ini" -- "$python" "$client" "$@" 2>"$work/err") | paste -sd'|'
}
# said WHAT TEXT, unsaid WHAT: of the latest session
said() {
	if grep -qF -- "$2" "$work/err"; then pass "$1"; else fail "$1" "not said: $2
$(cat "$work/err")"; fi
}
unsaid() { same "$1" '' "$(cat "$work/err")"; }
# record WHAT TEXT...: one record has them all
record() {
	local what=$1 lines text
	shift
	lines=$(cat "$work/trail")
	for text; do lines=$(grep -F -- "$text" <<<"$lines"); done
	if [ -n "$lines" ]; then pass "$what"; else fail "$what" "no record with: $*
$(grep -E '"op":"(connect|bind)"' "$work/trail" | tail -5)"; fi
}

# --- allow_unix_socket ---
run=$work/run
same 'a path' "unix:$run/a.sock ok" "$(session "allow_unix_socket = $run/a.sock" -- "unix:$run/a.sock")"
unsaid 'nothing is said of it'
record 'its rule is recorded' '"op":"connect"' "\"path\":\"$run/a.sock\"" '"verdict":"allow"' "\"rule\":\"allow_unix_socket = $run/a.sock\""
same 'a glob' "unix:$run/a.sock ok|unix:$run/b.sock ok|unix:$run/c.other EPERM|unix:$run/deep/d.sock EPERM" \
	"$(session "allow_unix_socket = $run/*.sock" -- "unix:$run/a.sock" "unix:$run/b.sock" "unix:$run/c.other" "unix:$run/deep/d.sock")"
same 'a glob over folders' "unix:$run/deep/d.sock ok" "$(session "allow_unix_socket = $run/**/d.sock" -- "unix:$run/deep/d.sock")"
same 'an abstract name' "unix:@$name ok|unix:@$name-no EPERM" \
	"$(session "allow_unix_socket = @$name" -- "unix:@$name" "unix:@$name-no")"
said 'the line that would allow the other' "allow_unix_socket = @$name-no"
record 'its rule is recorded' '"op":"connect"' '"verdict":"allow"' "\"rule\":\"allow_unix_socket = @$name\""
same 'a relative path' 'unix:a.sock ok|unix:deep/../a.sock ok|unix:b.sock EPERM' \
	"$(from=$run session "allow_unix_socket = $run/a.sock" -- unix:a.sock unix:deep/../a.sock unix:b.sock)"
said 'of a relative path the whole one is told' "allow_unix_socket = $run/b.sock"
same 'links are followed: what they lead to decides' "unix:$run/to-a ok|unix:$run/to-c.sock EPERM" \
	"$(session "allow_unix_socket = $run/*.sock" "allow_unix_socket = $run/a.sock" -- "unix:$run/to-a" "unix:$run/to-c.sock")"
same 'none' "unix:$run/a.sock EPERM" "$(session -- "unix:$run/a.sock")"
said 'the line that would allow it' "allow_unix_socket = $run/a.sock"
record 'the refusal is recorded' '"op":"connect"' "\"path\":\"$run/a.sock\"" '"verdict":"deny"' '"errno":"EPERM"' \
	"\"suggestion\":\"allow_unix_socket = $run/a.sock\""
same 'one that is not there' "unix:$run/none ENOENT" "$(session -- "unix:$run/none")"

# --- A service on loopback ---
same 'refused' "tcp:127.0.0.1:$port EPERM|tcp:localhost:$port EPERM" "$(session -- "tcp:127.0.0.1:$port" "tcp:localhost:$port")"
said 'the line that would allow it' "localhost:$port (no allow_domain matches) (to allow: allow_domain = localhost:$port)"
record 'the refusal is recorded' '"op":"connect"' '"ip":"127.0.0.1"' "\"port\":$port" '"verdict":"deny"' '"errno":"EPERM"'
same 'localhost' "tcp:localhost:$port ok" "$(session "allow_domain = localhost:$port" -- "tcp:localhost:$port")"
record 'its rule is recorded' '"op":"connect"' '"host":"localhost"' '"verdict":"allow"' "\"rule\":\"allow_domain = localhost:$port\""
same 'localhost at another port' "tcp:localhost:$port EPERM" "$(session "allow_domain = localhost:1" -- "tcp:localhost:$port")"
same 'an address' "tcp:127.0.0.1:$port ok" "$(session "allow_ip = 127.0.0.1:$port" -- "tcp:127.0.0.1:$port")"
record 'its rule is recorded' '"op":"connect"' '"verdict":"allow"' "\"rule\":\"allow_ip = 127.0.0.1:$port\""
if grep -q '^127\.0\.0\.1[[:space:]].*\<localhost\>' /etc/hosts; then
	same 'an address, by a name of /etc/hosts' "tcp:localhost:$port ok" "$(session "allow_ip = 127.0.0.1:$port" -- "tcp:localhost:$port")"
	same 'explain says the same' "allowed connect localhost:$port
  rule: allow_ip = 127.0.0.1:$port ($work/p.ini:8)
  note: /etc/hosts gives it the address 127.0.0.1" "$("$CORDON" -p "$work/p.ini" explain connect "localhost:$port")"
else
	skip 'an address, by a name of /etc/hosts' 'localhost is not in it'
fi

# Rules take a port of 0 for any.
same 'port 0 is no port of a rule' "tcp:127.0.0.1:0 ECONNREFUSED" "$(session "allow_ip = 127.0.0.1:$port" -- tcp:127.0.0.1:0)"
same 'nor one that a name leads to' 'tcp:api.test:80 ECONNREFUSED|tcp:127.0.0.1:443 ECONNREFUSED|tcp:127.0.0.1:0 ECONNREFUSED' \
	"$(session 'allow_domain = api.test:80' "resolve = api.test:443:127.0.0.1:$port" 'resolve = api.test:80:127.0.0.1:1' -- \
		tcp:api.test:80 tcp:127.0.0.1:443 tcp:127.0.0.1:0)"
same 'elsewhere it is refused' 'tcp:192.0.2.1:0 EPERM' "$(session 'allow_ip = 192.0.2.1:443' -- tcp:192.0.2.1:0)"

# --- --log-only ---
extra=--log-only
same '--log-only: connects' "tcp:127.0.0.1:$port ok|tcp:localhost:$port ok|unix:$run/a.sock ok" \
	"$(session 'deny_domain = localhost' -- "tcp:127.0.0.1:$port" "tcp:localhost:$port" "unix:$run/a.sock")"
said 'that they would be refused' "Connection would be blocked by network policy: localhost:$port (deny_domain = localhost"
record 'the record is that of a refusal' '"op":"connect"' "\"port\":$port" '"verdict":"deny"' '"errno":"EPERM"'
same '--log-only: where a session may listen' 'bind:127.0.0.1:0 ok|listen:127.0.0.1:0 ok|listen ok' \
	"$(session 'local_binding = none' -- bind:127.0.0.1:0 listen:127.0.0.1:0 listen)"
said 'that it would be refused' 'would be refused by local_binding = none'
extra=

# --- A name that leads to another port, which is denied ---
lines=('allow_domain = api.test' "resolve = api.test:443:127.0.0.1:$port" "deny_domain = 127.0.0.1:$port")
same 'a denied second port of a name' 'tcp:api.test:443 EPERM' "$(session "${lines[@]}" -- tcp:api.test:443)"
said 'its rule is said' "api.test:443 (deny_domain = 127.0.0.1:$port"
record 'and recorded' '"op":"connect"' '"host":"api.test"' '"port":443' '"verdict":"deny"' "\"rule\":\"deny_domain = 127.0.0.1:$port\""
said_by=$("$CORDON" explain -p "$work/p.ini" connect api.test:443 2>&1)
if [[ $said_by = *"rule: deny_domain = 127.0.0.1:$port"* ]]; then pass 'explain names it'; else fail 'explain names it' "$said_by"; fi
same 'the same name, and nothing denied' 'tcp:api.test:443 ok' "$(session "${lines[@]:0:2}" -- tcp:api.test:443)"

# --- local_binding ---
same 'none' 'bind:127.0.0.1:0 ok|bind:127.0.0.1:18080 EPERM|bind-unspec:18080 EPERM|listen:127.0.0.1:0 EPERM|listen EPERM' \
	"$(session 'local_binding = none' -- bind:127.0.0.1:0 bind:127.0.0.1:18080 bind-unspec:18080 listen:127.0.0.1:0 listen)"
said 'what refuses, and the line that would allow it' 'listening at port 18080 refused by local_binding = none (to allow: local_binding = loopback)'
record 'the refusal is recorded' '"op":"bind"' '"port":18080' '"verdict":"deny"' '"rule":"local_binding = none"' \
	'"suggestion":"local_binding = loopback"'
for how in loopback any; do
	same "$how" 'bind:127.0.0.1:0 ok|listen:127.0.0.1:0 ok|listen:0.0.0.0:0 ok|listen ok' \
		"$(session "local_binding = $how" -- bind:127.0.0.1:0 listen:127.0.0.1:0 listen:0.0.0.0:0 listen)"
	unsaid "nothing is said of $how"
	record "$how is recorded" '"op":"bind"' '"syscall":"listen"' '"verdict":"allow"'
done

# Which clients outside reach a server inside: by loopback, and by an address of another interface.
lan=$(ip -4 -o addr show up scope global 2>/dev/null | awk '{ sub(/\/.*/, "", $4); print $4; exit }')
# reaches HOW ADDRESS: what a client at that address of this machine gets
reaches() {
	local how=$1 address=$2 inside i
	rm -f "$work/w/port"
	session "local_binding = $how" -- serve:port >/dev/null &
	inside=$!
	for ((i = 0; i < 200; i++)); do [ ! -e "$work/w/port" ] || break; sleep 0.1; done
	"$python" -c '
import socket, sys
def get(address, wait):
	try: return socket.create_connection((address, int(sys.argv[2])), wait).recv(9).decode()
	except OSError: return "nothing"
got = get(sys.argv[1], 20); print(got)
if got == "nothing": get("127.0.0.1", 20)' "$address" "$(cat "$work/w/port")"
	wait "$inside"
}
same 'loopback reaches a server of "loopback"' inside "$(reaches loopback 127.0.0.1)"
same 'loopback reaches a server of "any"' inside "$(reaches any 127.0.0.1)"
if [ -n "$lan" ]; then
	same "this machine's other address reaches a server of \"any\"" inside "$(reaches any "$lan")"
else
	skip "this machine's other address reaches a server of \"any\"" 'it has none'
fi
finish
