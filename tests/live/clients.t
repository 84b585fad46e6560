#!/bin/bash
# Clients inside that know nothing of cordon, and servers outside of it on loopback: reached by the one name that is allowed,
# and under the same name refused where it is not. Then servers and clients together in one session.
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/lib.sh"

cd "$work" || exit 1
servers=()
# shellcheck disable=SC2317
stop() {
	[ ${#servers[@]} = 0 ] || kill "${servers[@]}" 2>/dev/null
	wait 2>/dev/null
	cleanup
}
trap stop EXIT
has() { command -v "$1" >/dev/null; }

free_port() {
	python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}
listens() { # listens PORT: waits for it
	for _ in $(seq 100); do
		(exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null && return
		sleep 0.1
	done
	return 1
}

# client WHAT PORT WANTED COMMAND...: the same output with the name allowed, a refusal with its name without.
client() {
	local what=$1 port=$2 wanted=$3 got name=server.test
	shift 3
	got=$(timeout 150 "$CORDON" --allow-domain "$name:$port" --resolve "$name:$port:127.0.0.1" -- "$@" 2>&1)
	case $got in
	*$wanted*) pass "$what" ;;
	*) fail "$what" "$got" ;;
	esac
	got=$(timeout 150 "$CORDON" --resolve "$name:$port:127.0.0.1" -- "$@" 2>&1)
	case $got in
	*"$wanted"*) fail "$what, where the name is not allowed" "$got" ;;
	*"cordon: Connection blocked by network allowlist: $name:$port ("*) pass "$what, where the name is not allowed: refused by name" ;;
	*) fail "$what, where the name is not allowed: no word of it" "$got" ;;
	esac
}

# --- HTTPS, with a CA of its own ---
openssl req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.pem -days 2 -subj /CN=test-ca 2>/dev/null
openssl req -newkey rsa:2048 -nodes -keyout server.key -out server.csr -subj /CN=server.test 2>/dev/null
echo 'subjectAltName=DNS:server.test' >san
openssl x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile san -out server.pem 2>/dev/null
mkdir web
echo 'a page by tls' >web/page
https=$(free_port)
(cd web && exec openssl s_server -quiet -WWW -accept "127.0.0.1:$https" -cert ../server.pem -key ../server.key) >/dev/null 2>&1 &
servers+=($!)
if listens "$https"; then
	url=https://server.test:$https/page
	! has curl || client 'curl by TLS' "$https" 'a page by tls' curl -sS --cacert ca.pem "$url"
	! has wget || client 'wget by TLS' "$https" 'a page by tls' wget -qO- --tries=1 --ca-certificate=ca.pem "$url"
	client 'python urllib and ssl' "$https" 'a page by tls' python3 -c "
import ssl, urllib.request
print(urllib.request.urlopen('$url', context=ssl.create_default_context(cafile='ca.pem')).read().decode())"
	client 'python asyncio and ssl' "$https" 'a page by tls' python3 -c "
import asyncio, ssl
async def main():
    r, w = await asyncio.open_connection('server.test', $https, ssl=ssl.create_default_context(cafile='ca.pem'))
    w.write(b'GET /page HTTP/1.0\r\n\r\n')
    print((await r.read()).decode())
asyncio.run(main())"
	! has node || client 'node https' "$https" 'a page by tls' env NODE_EXTRA_CA_CERTS="$work/ca.pem" node -e "
require('https').get('$url', r => r.on('data', d => process.stdout.write(d))).on('error', e => console.log(e.code))"
	client 'openssl s_client' "$https" 'Verification: OK' sh -c "openssl s_client -connect server.test:$https -CAfile ca.pem </dev/null"
else
	fail 'a server for TLS' 'it does not start'
fi

# --- HTTP: other clients, and git ---
http=$(free_port)
git init -q --bare repo.git 2>/dev/null
git init -q src && git -C src -c user.name=t -c user.email=t@t commit -q --allow-empty -m 'the first' && git -C src push -q ../repo.git HEAD:refs/heads/main
git -C repo.git symbolic-ref HEAD refs/heads/main
git -C repo.git update-server-info
touch repo.git/git-daemon-export-ok
echo 'a page' >page
python3 -m http.server -b 127.0.0.1 "$http" >/dev/null 2>&1 &
servers+=($!)
if listens "$http"; then
	url=http://server.test:$http/page
	! has node || client 'node fetch' "$http" 'a page' node -e "fetch('$url').then(r => r.text()).then(console.log, e => console.log(e.cause.code))"
	! has busybox || client 'busybox wget' "$http" 'a page' busybox wget -qO- "$url"
	client 'bash /dev/tcp' "$http" '200 OK' bash -c "exec 3<>/dev/tcp/server.test/$http; printf 'GET /page HTTP/1.0\r\n\r\n' >&3; cat <&3"
	client 'git clone by http' "$http" 'the first' sh -c "git clone -q http://server.test:$http/repo.git clone-http && git -C clone-http log; rm -rf clone-http"
	if has java && has javac; then
		cat >Get.java <<'X'
import java.net.URI; import java.net.http.*;
public class Get {
	public static void main(String[] a) throws Exception {
		System.out.println(HttpClient.newHttpClient().send(HttpRequest.newBuilder(URI.create(a[0])).build(), HttpResponse.BodyHandlers.ofString()).body());
	}
}
X
		client 'java HttpClient' "$http" 'a page' java Get.java "$url"
	else
		skip 'java HttpClient' 'java is not here'
	fi
else
	fail 'a server for HTTP' 'it does not start'
fi

gitd=$(free_port)
git daemon --reuseaddr --base-path="$work" --listen=127.0.0.1 --port="$gitd" >/dev/null 2>&1 &
servers+=($!)
if listens "$gitd"; then
	client 'git clone by git://' "$gitd" 'the first' sh -c "git clone -q git://server.test:$gitd/repo.git clone-git && git -C clone-git log; rm -rf clone-git"
else
	skip 'git clone by git://' 'git daemon is not here'
fi

# --- SSH: up to and with a login ---
sshd=$(PATH=$PATH:/usr/sbin command -v sshd)
if [ -n "$sshd" ] && is_root && mkdir -p /run/sshd 2>/dev/null; then
	ssh_port=$(free_port)
	ssh-keygen -q -t ed25519 -N '' -f host_key && ssh-keygen -q -t ed25519 -N '' -f user_key
	chmod 600 host_key
	"$sshd" -D -e -f /dev/null -h "$work/host_key" -o "ListenAddress=127.0.0.1:$ssh_port" -o PidFile=none -o UsePAM=no -o StrictModes=no \
		-o "AuthorizedKeysFile=$work/user_key.pub" -o PermitRootLogin=yes >sshd.log 2>&1 &
	servers+=($!)
	if listens "$ssh_port"; then
		client 'ssh' "$ssh_port" 'logged in' ssh -F none -i user_key -p "$ssh_port" -o StrictHostKeyChecking=no -o UserKnownHostsFile="$work/known" -o BatchMode=yes \
			root@server.test echo logged in
		client 'git clone by ssh' "$ssh_port" 'the first' sh -c "GIT_SSH_COMMAND='ssh -F none -i user_key -o StrictHostKeyChecking=no -o UserKnownHostsFile=$work/known -o BatchMode=yes' \
			git clone -q ssh://root@server.test:$ssh_port$work/repo.git clone-ssh && git -C clone-ssh log; rm -rf clone-ssh"
	else
		skip 'ssh' "sshd does not start: $(tail -n 1 sshd.log)"
	fi
else
	skip 'ssh' 'no sshd that could be started'
fi

# --- Servers and clients of one session ---
together() { # together WHAT WANTED SCRIPT
	local got
	got=$(timeout 120 "$CORDON" -- bash -c "$3" 2>&1)
	case $got in
	*"$2"*) pass "$1" ;;
	*) fail "$1" "$got" ;;
	esac
}
if has redis-server; then
	redis=$(free_port)
	together 'redis over TCP and a Unix socket' 'PONG PONG bar' "
mkdir -p r; redis-server --port $redis --unixsocket $work/r/s --dir r --save '' --daemonize no >r/log & p=\$!
for i in \$(seq 300); do redis-cli -s r/s ping >/dev/null 2>&1 && break; sleep 0.1; done
redis-cli -s r/s set foo bar >/dev/null; echo \$(redis-cli -s r/s ping) \$(redis-cli -p $redis ping) \$(redis-cli -p $redis get foo); kill \$p; wait"
else
	skip 'redis over TCP and a Unix socket' 'redis-server is not here'
fi
pg=$(compgen -G '/usr/lib/postgresql/*/bin' | tail -n 1)
if [ -n "$pg" ]; then
	as=''
	! is_root || as='setpriv --reuid 1000 --regid 1000 --clear-groups --inh-caps=-all'
	together 'postgres over TCP and a Unix socket' '42 43' "
mkdir -p pg; chmod 777 pg; cd pg; export PATH=$pg:\$PATH HOME=\$PWD; port=$(free_port)
$as initdb -D data -A trust -U me --no-sync >log 2>&1 || cat log
$as pg_ctl -D data -w -l log2 -o \"-p \$port -k \$PWD\" start >log3 2>&1 || cat log2 log3
echo \$(psql -h \$PWD -p \$port -U me -Atc 'select 42' postgres) \$(psql -h 127.0.0.1 -p \$port -U me -Atc 'select 43' postgres)
$as pg_ctl -D data -m fast stop >/dev/null"
else
	skip 'postgres over TCP and a Unix socket' 'postgres is not here'
fi
finish
