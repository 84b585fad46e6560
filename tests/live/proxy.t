#!/bin/bash
# The proxy of proxy_env: programs that find it by variables, its answers, and other proxies behind it. All servers are on loopback.
. "$(dirname "$0")/lib.sh"

if ! python3 -c 'import ssl' 2>/dev/null; then
	echo '1..0 # SKIP python3 is not installed'
	exit 0
fi
# A wrapper such as pyenv's looks for its files in another HOME.
python=$(python3 -c 'import sys; print(sys.executable)')
PATH=$(dirname "$python"):$PATH
# What the user reaches out by is none of the test's.
for name in http https all ftp no grpc; do unset "${name}_proxy" "$(echo "$name" | tr a-z A-Z)_PROXY"; done
unset RSYNC_PROXY NODE_USE_ENV_PROXY GIT_CONFIG_COUNT

mkdir "$work/s" "$work/s/www" "$work/w"
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout "$work/s/key.pem" -out "$work/s/cert.pem" \
	-days 30 -subj /CN=web.test -addext 'subjectAltName=DNS:web.test' >/dev/null 2>&1 || rm -f "$work/s"/*.pem
python3 "$here/proxy_servers.py" "$work/s" >"$work/servers.log" 2>&1 &
servers=$!
mkdir "$work/dns"
python3 "$here/dns.py" "$work/dns" >"$work/dns.log" 2>&1 &
dns=$!
trap 'kill $servers $dns 2>/dev/null; cleanup' EXIT
for ((i = 0; i < 200; i++)); do [ ! -e "$work/s/ports" ] || [ ! -s "$work/dns/port" ] || break; sleep 0.1; done
. "$work/s/ports" || { echo 'Bail out! no servers'; exit 1; }

policy() { # policy NAME LINE...
	local name=$1
	shift
	{
		printf '[filesystem]\nallow_write = %s\n[network]\n' "$work/w"
		printf 'allow_domain = %s.test\n' web echo talk hold dead port:80
		printf 'resolve = %s\n' "web.test:80:127.0.0.1:$WEB" "echo.test:7:127.0.0.1:$ECHO" "talk.test:8:127.0.0.1:$TALK" \
			"hold.test:9:127.0.0.1:$HOLD" "port.test:80:127.0.0.4:$WEB" dead.test:80:127.0.0.2:1
		[ -z "${TLS:-}" ] || echo "resolve = web.test:443:127.0.0.1:$TLS"
		printf 'deny_domain = why.test\ndeny_reason = why.test ask \342\200\256the "team"\n'
		printf '%s\n' "$@"
	} | sed 's/port:80.test/port.test:80/' >"$work/$name.ini"
}
policy on 'proxy_env = yes'
inside() { (cd "$work/w" && timeout 120 "$CORDON" -q ${extra-} -p "$work/${ini:-on}.ini" -- "$@"); }
needs() { # needs WHAT TOOL
	command -v "$2" >/dev/null && return
	skip "$1" "$2 is not installed"
	return 1
}
# has WHAT TEXT COMMAND...: it prints the text
has() {
	local what=$1 text=$2 out
	shift 2
	out=$("$@" 2>&1)
	if [[ $out = *"$text"* ]]; then pass "$what"; else fail "$what" "$(echo "$* : $out" | cut -c1-300 | head -12)"; fi
}

# --- Variables ---
inside env >"$work/env" 2>&1
url=$(sed -n 's/^HTTP_PROXY=//p' "$work/env")
if [[ $url =~ ^http://cordon:[0-9a-f]{32}@127\.0\.0\.1:[0-9]+$ ]]; then pass 'HTTP_PROXY'; else fail 'HTTP_PROXY' "$(cat "$work/env")"; fi
for name in http_proxy HTTPS_PROXY https_proxy ALL_PROXY all_proxy GRPC_PROXY grpc_proxy DOCKER_HTTP_PROXY DOCKER_HTTPS_PROXY; do
	same "$name" "$url" "$(sed -n "s/^$name=//p" "$work/env")"
done
same FTP_PROXY "socks5h${url#http}" "$(sed -n 's/^FTP_PROXY=//p' "$work/env")"
same RSYNC_PROXY "${url#http://}" "$(sed -n 's/^RSYNC_PROXY=//p' "$work/env")"
same NO_PROXY localhost,127.0.0.1,::1,169.254.0.0/16,10.0.0.0/8,172.16.0.0/12,192.168.0.0/16 "$(sed -n 's/^NO_PROXY=//p' "$work/env")"
same 'CLOUDSDK, NODE, GIT' 'http 127.0.0.1 1 1 http.proxyAuthMethod basic' \
	"$(for n in CLOUDSDK_PROXY_TYPE CLOUDSDK_PROXY_ADDRESS NODE_USE_ENV_PROXY GIT_CONFIG_COUNT GIT_CONFIG_KEY_0 GIT_CONFIG_VALUE_0; do sed -n "s/^$n=//p" "$work/env"; done | paste -sd' ')"
same 'git settings that were there stay' '2 user.name http.proxyAuthMethod' \
	"$(GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=user.name GIT_CONFIG_VALUE_0=x inside sh -c 'echo $GIT_CONFIG_COUNT $GIT_CONFIG_KEY_0 $GIT_CONFIG_KEY_1')"
policy env 'proxy_env = yes' '[environment]' 'set = HTTP_PROXY=mine' 'unset = *_proxy'
ini='env'
same '[environment] goes last' 'mine ' "$(inside sh -c 'echo $HTTP_PROXY $http_proxy') "
ini=on
policy off
same 'no proxy of its own accord' '' "$(ini=off inside env | grep -i _proxy)"

# --- By hand ---
for part in heads forward tunnels socks slow python; do
	CERT=${TLS:+$work/s/cert.pem} inside python3 "$here/proxy_client.py" $part >"$work/$part.out" 2>"$work/$part.err"
	rc=$?
	while IFS= read -r line; do
		case $line in
		'ok '*) pass "$part: ${line#ok }" ;;
		*) fail "$part: ${line#not ok }" ;;
		esac
	done <"$work/$part.out"
	if [ $rc = 0 ] && [ -s "$work/$part.out" ]; then pass "$part: to its end"; else fail "$part: to its end" "$rc $(cat "$work/$part.err")"; fi
done

# --- Programs ---
if needs curl curl; then
	has 'curl' 'GET /c HTTP/1.1' inside curl -sS http://web.test/c
	has 'curl by CONNECT' 'GET /c HTTP/1.1' inside curl -sS -p http://web.test/c
	has 'curl by SOCKS' 'GET /c HTTP/1.1' inside sh -c 'curl -sS -x "socks5h${HTTP_PROXY#http}" http://web.test/c'
	extra='--log-only --deny-domain web.test'
	has 'curl, a refused name, with --log-only' 'GET /c HTTP/1.1' inside curl -sS http://web.test/c
	extra=
	has 'curl, a refused name' 'Connection blocked by network allowlist: no.test:80' inside curl -sS http://no.test/
	has 'curl, a refused CONNECT' '403' inside curl -sS -p http://no.test/
	has 'curl asks for the login first' 'GET /c HTTP/1.1' inside curl -sS --proxy-anyauth http://web.test/c
	has 'curl, an upload' 'body 3000000' inside sh -c 'head -c 3000000 /dev/zero | curl -sS -T - http://web.test/up'
	has 'curl, two in one run' '2' inside sh -c 'curl -sS http://web.test/c http://web.test/d | grep -c GET'
	has 'NO_PROXY: 127.0.0.1 is not asked of the proxy' 'x-not-by-proxy' inside sh -c \
		"python3 -m http.server -b 127.0.0.1 8099 >/dev/null 2>&1 & p=\$!; mkdir -p x-not-by-proxy; for i in 1 2 3 4 5 6 7 8 9; do sleep 0.5; curl -s http://127.0.0.1:8099/ && break; done; kill \$p"
	if [ -n "${TLS:-}" ]; then
		has 'curl with TLS' 'GET /t HTTP/1.1' inside curl -sS --cacert "$work/s/cert.pem" https://web.test/t
	else
		skip 'curl with TLS' 'no openssl'
	fi
fi
if needs wget wget; then
	has 'wget' 'GET /w HTTP/1.1' inside wget -qO- http://web.test/w
	has 'wget, a refused name' '403' inside wget -O- http://no.test/
	if [ -n "${TLS:-}" ]; then has 'wget with TLS' 'GET /w HTTP/1.1' inside wget -qO- --ca-certificate="$work/s/cert.pem" https://web.test/w; fi
fi
if needs git git; then
	(
		cd "$work" && git init -q --bare s/www/repo.git && git init -q src && cd src &&
			git -c user.name=x -c user.email=x@y commit -q --allow-empty -m hello && git push -q ../s/www/repo.git HEAD:refs/heads/main &&
			cd ../s/www/repo.git && git symbolic-ref HEAD refs/heads/main && git update-server-info
	) >"$work/git.log" 2>&1 || cat "$work/git.log"
	has 'git clone' 'hello' inside sh -c 'git clone -q http://web.test/repo.git clone && git -C clone log'
	has 'git, a refused name' '403' inside git ls-remote http://no.test/repo.git
fi
if needs node node; then
	if node -e 'process.exit(Number(process.versions.node.split(".")[0]) >= 24 ? 0 : 1)'; then
		has 'node fetch' 'GET /n HTTP/1.1' inside node -e 'fetch("http://web.test/n").then(r => r.text()).then(console.log)'
	else
		skip 'node fetch' 'this node does not know NODE_USE_ENV_PROXY'
	fi
	has 'node http.request with the proxy' 'GET /n HTTP/1.1' inside node -e '
		const u = new URL(process.env.HTTP_PROXY)
		require("http").get({host: u.hostname, port: u.port, path: "http://web.test/n",
			headers: {"Proxy-Authorization": "Basic " + Buffer.from(u.username + ":" + u.password).toString("base64")}}, r => r.pipe(process.stdout))'
fi

# --- Records ---
policy record 'proxy_env = yes' '[audit]' "file = $work/trail" 'level = all'
(cd "$work/w" && "$CORDON" -p "$work/record.ini" -- python3 -c '
import urllib.request
for u in "http://web.test/", "http://no.test/", "http://no.test/", "http://why.test/":
	try: urllib.request.urlopen(u)
	except OSError: pass') >"$work/out" 2>&1
has 'a refusal is said' 'Connection blocked by network allowlist: no.test:80 (no allow_domain matches)' cat "$work/out"
same 'once' 1 "$(grep -c 'no.test:80' "$work/out")"
# line WHAT TEXT...: a record that has them all
line() {
	local what=$1 text lines
	shift
	lines=$(cat "$work/trail")
	for text; do lines=$(grep -F -- "$text" <<<"$lines"); done
	if [ -n "$lines" ]; then pass "$what"; else fail "$what" "$(grep -F '"connect"' "$work/trail" | cut -c1-400)"; fi
}
line 'and recorded' '"op":"connect","host":"no.test","port":80,"verdict":"deny"'
line 'with its rule' '"host":"why.test"' '"rule":"deny_domain = why.test"'
line 'what is allowed is, too' '"op":"connect","host":"web.test","ip":"127.0.0.1","port":80,"verdict":"allow","rule":"allow_domain = web.test"'

# --- Others ---
inside sleep 60 &
sleeper=$!
port=
for ((i = 0; i < 100; i++)); do
	for pid in $(pgrep -x sleep); do
		port=$(tr '\0' '\n' <"/proc/$pid/environ" 2>/dev/null | sed -n "s/^CLOUDSDK_PROXY_PORT=//p")
		[ -z "$port" ] || break 2
	done
	sleep 0.1
done
policy other "allow_ip = 127.0.0.1:$port"
request='import socket,sys; s=socket.create_connection(("127.0.0.1",int(sys.argv[1]))); s.sendall(b"GET http://web.test/ HTTP/1.1\r\n\r\n"); print(s.recv(100))'
has 'another session does not get to the port' 'PermissionError' env ini=off bash -c "cd '$work/w'; '$CORDON' -q -p '$work/off.ini' -- python3 -c '$request' $port"
has 'and with the port allowed needs the token' '407' bash -c "cd '$work/w'; '$CORDON' -q -p '$work/other.ini' -- python3 -c '$request' $port"
kill $sleeper
wait $sleeper 2>/dev/null

# --- Where names lead ---
here_='to-127-0-0-1.dns.test'
policy dns 'proxy_env = yes' 'allow_domain = *.dns.test' "dns_server = 127.0.0.1:$(cat "$work/dns/port")" "allow_ip = 127.0.0.1:$WEB" \
	'deny_domain = 198.51.100.9' 'deny_reason = 198.51.100.9 not that one'
ini=dns
get='import urllib.request,urllib.error,sys
try: print(urllib.request.urlopen(sys.argv[1]).read().decode())
except urllib.error.HTTPError as e: print(e.code, e.reason, e.headers["X-Proxy-Error"], e.read().decode())'
has 'a name that a server resolves' "Host: $here_:$WEB" inside python3 -c "$get" "http://$here_:$WEB/"
has 'one that leads to loopback' "403 Forbidden blocked-by-sandbox-runtime Connection blocked by network allowlist: $here_:81 (resolved to a loopback address)" \
	inside python3 -c "$get" "http://$here_:81/"
has 'one that leads to an address in deny_domain' '403 not that one blocked-by-sandbox-runtime' inside python3 -c "$get" http://a-198-51-100-9.dns.test/
has 'one that leads to a server of metadata' '403 Forbidden blocked-by-sandbox-runtime' inside python3 -c "$get" http://to-169-254-169-254.dns.test/
has 'one that does not exist' '502 Bad Gateway None' inside python3 -c "$get" http://gone.dns.test/
# Questions to DNS are the stub's to answer.
policy stub 'proxy_env = yes' 'allow_domain = *.dns.test' "dns_server = 127.0.0.1:$(cat "$work/dns/port")" 'allow_ip = 127.0.0.0/8'
ini=stub
for to in 127.0.0.1 "$here_"; do
	has "no way past the stub to a server of names: $to" "HTTP/1.1 403 Forbidden" inside sh -c "curl -sS -i -p --noproxy '' http://$to:53/ 2>&1"
	has "it is said: $to" "$to:53 (questions to DNS are answered by cordon unless an allow_ip names the address with port 53)" inside sh -c "curl -sS -i --noproxy '' http://$to:53/ 2>&1"
done
policy stub 'proxy_env = yes' 'allow_ip = 127.0.0.1:53'
has 'one that allow_ip names with port 53 is asked' '502 Bad Gateway' inside curl -sS -i --noproxy '' http://127.0.0.1:53/
policy parent-name "parent_proxy = http://$here_:$PARENT" 'allow_domain = *.far.test' "dns_server = 127.0.0.1:$(cat "$work/dns/port")"
ini=parent-name
has 'another proxy by name, whose address is not checked' 'GET /p HTTP/1.1' inside python3 -c "$get" http://x.far.test/p
rm "$work/s/parent.log"

# --- Another proxy ---
get='import urllib.request,sys; print(urllib.request.urlopen(sys.argv[1]).read().decode())'
policy parent "parent_proxy = http://me:my%20word@127.0.0.1:$PARENT" 'allow_domain = *.far.test' 'allow_domain = *.near.test' \
	"resolve = fixed.near.test:80:127.0.0.1:$WEB"
ini=parent
has 'parent_proxy' 'GET /p?q HTTP/1.1' inside python3 -c "$get" 'http://a.far.test/p?q'
same 'it gets the host and the login' 'GET http://a.far.test/p?q HTTP/1.1 host=a.far.test login=me:my word' "$(tail -1 "$work/s/parent.log")"
has 'the name is checked before' '403' inside python3 -c "$get" http://far.test/
same 'and not asked of the parent' 1 "$(wc -l <"$work/s/parent.log")"
has 'what has a fixed address is reached directly' 'GET /d HTTP/1.1' inside python3 -c "$get" http://fixed.near.test/d
has 'NO_PROXY keeps hosts from it' '502' env NO_PROXY=.near.test bash -c ". /dev/null; cd '$work/w'; '$CORDON' -q -p '$work/parent.ini' -- python3 -c '$get' http://a.near.test/"
same 'which it is not asked for' 1 "$(wc -l <"$work/s/parent.log")"
if needs 'curl through it' curl; then
	has 'CONNECT through it' 'GET /t HTTP/1.1' inside curl -sS -p http://b.far.test/t
	same 'it is asked by CONNECT' 'CONNECT b.far.test:80 HTTP/1.1 host=b.far.test:80 login=me:my word' "$(tail -1 "$work/s/parent.log")"
	has 'SOCKS through it' 'GET /s HTTP/1.1' inside sh -c 'curl -sS -x "socks5h${HTTP_PROXY#http}" http://c.far.test/s'
	[ -z "${TLS:-}" ] || has 'TLS through it' 'GET /t HTTP/1.1' inside curl -sSk https://d.far.test/t
	has 'what it refuses' 'the parent proxy 127.0.0.1:'"$PARENT"' answered 403 Not \xe2\x80\xaehere' inside sh -c 'printf "CONNECT forbidden.far.test:443 HTTP/1.1\r\nProxy-Authorization: Basic %s\r\n\r\n" "$(printf %s "cordon:$CLOUDSDK_PROXY_PASSWORD" | base64)" | curl -s -m 20 "telnet://127.0.0.1:$CLOUDSDK_PROXY_PORT"'
	has 'one that is none' '502' inside curl -sS -p http://garbage.far.test/
fi
policy dead-parent 'parent_proxy = http://127.0.0.2:1' 'allow_domain = *.far.test'
ini=dead-parent
has 'one that is not there' '502' inside python3 -c "$get" http://a.far.test/
policy auto 'allow_domain = *.far.test'
ini=auto
has 'an inherited proxy is chained to' 'GET /i HTTP/1.1' env HTTP_PROXY=http://127.0.0.1:$PARENT bash -c "cd '$work/w'; '$CORDON' -q -p '$work/auto.ini' -- python3 -c '$get' http://i.far.test/i"
has 'and cannot be reached itself' 'PermissionError' env HTTP_PROXY=http://127.0.0.1:$PARENT bash -c "cd '$work/w'; '$CORDON' -q -p '$work/auto.ini' -- python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", $PARENT))'"
has 'which is said' 'HTTPS_PROXY is set: programs get a proxy of the session' env HTTPS_PROXY=http://127.0.0.1:$PARENT "$CORDON" -p "$work/auto.ini" -- true
policy no 'proxy_env = no'
has 'proxy_env = no leaves the variables' "http://x:1" env HTTP_PROXY=http://x:1 "$CORDON" -q -p "$work/no.ini" -- sh -c 'echo $HTTP_PROXY'
has 'and says what that means' 'HTTP_PROXY is set, and there is no proxy' env HTTP_PROXY=http://x:1 "$CORDON" -p "$work/no.ini" -- true
has 'a SOCKS proxy is not chained to' 'ALL_PROXY: a SOCKS proxy cannot be chained to' env ALL_PROXY=socks5://127.0.0.1:1 "$CORDON" -p "$work/auto.ini" -- true
env ALL_PROXY=socks5://127.0.0.1:1 "$CORDON" -q -p "$work/on.ini" -- true 2>/dev/null
same 'and refused with proxy_env = yes' 125 $?
has 'a password is not shown' 'HTTP_PROXY: only a proxy of http:// can be chained to' env HTTP_PROXY=https://u:secret@x:1 "$CORDON" -p "$work/auto.ini" -- true
finish
