#!/bin/bash
# Names as programs resolve them: each way gets what a rule says, what a server says, and an address of its own for a refused name.
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/live/dns.sh
. "$here/dns.sh"

policy main 'allow_domain = fixed.test' "resolve = fixed.test:80:127.0.0.1:$ONE" "allow_ip = 127.0.0.1:$ONE"
known() { command -v "$1" >/dev/null; }

# resolves WHAT COMMAND...: the command prints the IPv4 addresses of the name that is its last word
resolves() {
	local what=$1 name wanted
	shift
	while read -r name wanted; do
		out=$(inside "$@" "$name" 2>"$work/err" | grep -oE '\b(127\.0\.0\.1|198\.51\.100\.[0-9]+|240\.0\.0\.[0-9]+)\b' | sort -u | paste -sd' ')
		if [ "$out" = "$wanted" ]; then pass "$what: $name"; else fail "$what: $name" "$out, not $wanted: $(head -5 "$work/err")"; fi
	done <<-END
		fixed.test 127.0.0.1
		both.up.test 198.51.100.1
		alias.up.test 198.51.100.2
		no.example.test 240.0.0.1
	END
}

# --- libc ---
build names "$cc" -- "$here/names.c" || { echo 'Bail out! names does not build'; exit 1; }
build names-static "$cc" -static -- "$here/names.c" 2>/dev/null
if known musl-gcc; then
	build names-musl musl-gcc -- "$here/names.c"
	build names-musl-static musl-gcc -static -- "$here/names.c"
fi
for variant in names names-static names-musl names-musl-static; do
	if [ -x "$LIVE_BUILD/$variant" ] && "$LIVE_BUILD/$variant" >/dev/null 2>&1; then
		resolves "$variant" "$LIVE_BUILD/$variant"
		same "$variant: both families" 'both.up.test 198.51.100.1 2001:db8::1' \
			"$(inside "$LIVE_BUILD/$variant" both.up.test 2>/dev/null | tr ' ' '\n' | sort -u | awk '{ a[NR] = $0 } END { print a[3], a[1], a[2] }')"
		same "$variant: no such name" 'gone.up.test error -2' "$(inside "$LIVE_BUILD/$variant" gone.up.test)"
		for what in local interfaces; do
			same "$variant: $what, as outside" "$("$LIVE_BUILD/$variant" $what)" "$(inside "$LIVE_BUILD/$variant" $what 2>"$work/err")"
		done
	else
		skip "$variant" 'cannot be built or run here'
	fi
done
resolves 'glibc by TCP' env RES_OPTIONS=use-vc "$LIVE_BUILD/names"
resolves 'glibc with EDNS' env RES_OPTIONS=edns0 "$LIVE_BUILD/names"
resolves 'glibc, one question at a time' env RES_OPTIONS='single-request-reopen' "$LIVE_BUILD/names"
same 'glibc: many addresses' 32 "$(inside "$LIVE_BUILD/names" many.up.test 2>/dev/null | tr ' ' '\n' | grep -c '^198')"

# --- Programs ---
# Without -A it finds nothing where loopback is the only interface.
if getent -A ahostsv4 localhost >/dev/null 2>&1; then resolves getent getent -A ahostsv4; else skip getent 'has no -A'; fi
resolves 'python socket' "$python" -c 'import socket, sys; print(socket.gethostbyname(sys.argv[1]))'
resolves 'python asyncio' "$python" -c '
import asyncio, sys
async def main(): print(await asyncio.get_running_loop().getaddrinfo(sys.argv[1], 80))
asyncio.run(main())'
if known node; then
	resolves 'node dns.lookup' node -e 'require("dns").lookup(process.argv[1], {all: true}, (e, a) => console.log(e || a))'
	resolves 'node dns.resolve4' node -e 'require("dns").resolve4(process.argv[1], (e, a) => console.log(e || a))'
	same 'node: other types have no data' ENODATA \
		"$(inside node -e 'require("dns").resolveTxt("both.up.test", e => console.log(e.code))' 2>/dev/null)"
else
	skip 'node' 'is not installed'
fi
if known busybox && busybox --list | grep -qx nslookup; then
	# It shows the server, too, which may be one of these.
	resolves 'busybox nslookup' sh -c 'busybox nslookup "$1" | sed "1,/^$/d"' sh
else
	skip 'busybox nslookup' 'is not installed'
fi
for tool in dig host nslookup; do
	if ! known $tool; then
		skip "$tool" 'is not installed'
		continue
	fi
	case $tool in
	dig) resolves 'dig' dig +short +tries=1; resolves 'dig +tcp' dig +short +tcp ;;
	*) resolves $tool sh -c "$tool "'"$1" | sed "1,2{/[Ss]erver\|Address.*#/d}"' sh ;;
	esac
done
if known perl; then resolves 'perl' perl -MSocket -e 'print join ".", unpack "C4", scalar gethostbyname $ARGV[0]'; fi
if known java && known javac; then
	cat >"$work/Resolve.java" <<-END
		public class Resolve {
			public static void main(String[] names) throws Exception {
				for (var a : java.net.InetAddress.getAllByName(names[0])) System.out.println(a.getHostAddress());
			}
		}
	END
	javac -d "$work/w" "$work/Resolve.java" >"$work/javac" 2>&1
	resolves 'java' java -Xshare:auto -cp "$work/w" Resolve
else
	skip 'java' 'is not installed'
fi
if known go; then
	cat >"$work/resolve.go" <<-END
		package main
		import ("fmt"; "net"; "os")
		func main() { a, e := net.LookupHost(os.Args[1]); fmt.Println(a, e) }
	END
	if (cd "$work" && GOCACHE=${GOCACHE:-$work/go} GOFLAGS=-mod=mod CGO_ENABLED=0 timeout 200 go build -o w/resolve resolve.go) >"$work/go.log" 2>&1; then
		resolves "go's own resolver" env GODEBUG=netdns=go "$work/w/resolve"
	else
		skip "go's own resolver" "$(head -1 "$work/go.log")"
	fi
else
	skip "go's own resolver" 'is not installed'
fi
if known curl; then
	# What answers there is no HTTP server: that it was reached is all.
	has 'curl, a name of a rule' "Connected to fixed.test (127.0.0.1) port 80" inside curl -sv -m 3 http://fixed.test/
	has 'curl, a name of a server' "Connected to to-127-0-0-1.up.test (127.0.0.1) port $ONE" inside curl -sv -m 3 "http://to-127-0-0-1.up.test:$ONE/"
	has 'curl, a refused name' 'Connection blocked by network allowlist: no.example.test:80 (no allow_domain matches)' \
		inside curl -s -m 20 http://no.example.test/
else
	skip 'curl' 'is not installed'
fi
unasked 'a refused name' no.example.test
finish
