#!/bin/bash
# Ways through the proxy to a host that the policy does not allow. A way has worked when that server was asked for anything, or
# another for that host.
. "$(dirname "$0")/lib.sh"

python=$(python3 -c 'import sys; print(sys.executable)' 2>/dev/null)
if [ -z "$python" ]; then
	skip 'ways through the proxy' 'python3 is not installed'
	exit 0
fi
for name in http https all no; do unset "${name}_proxy" "$(echo "$name" | tr a-z A-Z)_PROXY"; done
"$python" "$here/proxy.py" serve "$work/ports" "$work/hits" >"$work/serve.log" 2>&1 &
server=$!
after() { [ "${1:-}" ] || kill $server 2>/dev/null; }
for ((i = 0; i < 200; i++)); do [ ! -e "$work/ports" ] || break; sleep 0.1; done
. "$work/ports" || { echo 'Bail out! no servers'; exit 1; }
open="[network]
proxy_env = yes
allow_domain = open.test
allow_domain = lax.test
resolve = open.test:80:127.0.0.1:$OPEN
resolve = lax.test:80:127.0.0.2:$LAX
resolve = shut.test:80:127.0.0.9:$SHUT"

# reach WAY BYTES [TOKEN]
reach() {
	local way=$1
	shift
	: >"$work/hits"
	if [ "$way" = outside ]; then "$python" "$here/proxy.py" direct "$SHUT"
	else confined "$python" "$here/proxy.py" send "$@"; fi
	grep . "$work/hits"
}
# Through another proxy, which is the lax server.
chained() {
	sections="$open
allow_domain = far.test
parent_proxy = http://127.0.0.2:$LAX"
	write_policy
	reach "$@"
}
try() {
	local name=$1 what=$2
	fresh
	sections=$open
	if ! "try_$name" outside >"$work/log" 2>&1; then
		sed 's/^/# /' "$work/log"
		not_ok "$what: does not even work outside"
		return
	fi
	fresh
	write_policy
	if "try_$name" inside >"$work/log" 2>&1; then
		sed 's/^/# /' "$work/log" | head -20
		not_ok "$what: SUCCEEDS INSIDE"
	else
		ok "$what"
	fi
}

CL='Content-Length: '
CHUNKED='Transfer-Encoding: chunked\r\n'
second='GET http://shut.test/ HTTP/1.1\r\nHost: shut.test\r\n\r\n'
try_plain() { reach "$1" "GET http://shut.test/ HTTP/1.1\r\n{login}\r\n"; }
try_connect() { reach "$1" "CONNECT shut.test:80 HTTP/1.1\r\n{login}\r\n"; }
try_host_field() { reach "$1" "GET http://open.test/ HTTP/1.1\r\nHost: shut.test\r\n{login}\r\n"; }
try_connect_host() { reach "$1" "CONNECT shut.test:80 HTTP/1.1\r\nHost: open.test:80\r\n{login}\r\n"; }
try_two_hosts() { reach "$1" "GET http://open.test/ HTTP/1.1\r\nHost: open.test\r\nHost: shut.test\r\n{login}\r\n"; }
try_folded_host() { reach "$1" "GET http://open.test/ HTTP/1.1\r\nA: b\r\n Host: shut.test\r\n{login}\r\n"; }
try_spaced_host() { reach "$1" "GET http://open.test/ HTTP/1.1\r\nHost : shut.test\r\n{login}\r\n"; }
try_bare_lf() { reach "$1" "GET http://open.test/ HTTP/1.1\r\nA: b\nHost: shut.test\r\n{login}\r\n"; }
try_bare_cr() { reach "$1" "GET http://open.test/ HTTP/1.1\r\nA: b\rHost: shut.test\r\n{login}\r\n"; }
try_userinfo() { reach "$1" "GET http://open.test@shut.test/ HTTP/1.1\r\n{login}\r\n"; }
try_backslash() { reach "$1" 'GET http://shut.test\\\\@open.test/ HTTP/1.1\r\n{login}\r\n'; }
try_fragment() { reach "$1" "GET http://shut.test#@open.test/ HTTP/1.1\r\n{login}\r\n"; }
try_crlf_name() { reach "$1" "GET http://open.test%0d%0aHost:%20shut.test/ HTTP/1.1\r\n{login}\r\n"; }
try_crlf_path() { reach "$1" "GET http://open.test/\r\nHost: shut.test\r\nA: HTTP/1.1\r\n{login}\r\n"; }
try_origin_form() { reach "$1" "GET / HTTP/1.1\r\nHost: shut.test\r\n{login}\r\n"; }
try_loopback() { reach "$1" "CONNECT 127.0.0.9:$SHUT HTTP/1.1\r\n{login}\r\n\r\nGET / HTTP/1.1\r\n\r\n"; }
try_short() { reach "$1" "CONNECT 127.9:$SHUT HTTP/1.1\r\n{login}\r\nGET / HTTP/1.1\r\n\r\n"; }
try_hexadecimal() { reach "$1" "CONNECT 0x7f000009:$SHUT HTTP/1.1\r\n{login}\r\nGET / HTTP/1.1\r\n\r\n"; }
try_octal() { reach "$1" "CONNECT 0177.0.0.011:$SHUT HTTP/1.1\r\n{login}\r\nGET / HTTP/1.1\r\n\r\n"; }
try_decimal() { reach "$1" "CONNECT 2130706441:$SHUT HTTP/1.1\r\n{login}\r\nGET / HTTP/1.1\r\n\r\n"; }
try_mapped() { reach "$1" "CONNECT [::ffff:127.0.0.9]:$SHUT HTTP/1.1\r\n{login}\r\nGET / HTTP/1.1\r\n\r\n"; }
try_compatible() { reach "$1" "CONNECT [::127.0.0.9]:$SHUT HTTP/1.1\r\n{login}\r\nGET / HTTP/1.1\r\n\r\n"; }
try_zero() { reach "$1" "CONNECT 0:$SHUT HTTP/1.1\r\n{login}\r\nGET / HTTP/1.1\r\n\r\n"; }
try_port() { reach "$1" "CONNECT open.test:$SHUT HTTP/1.1\r\n{login}\r\nGET / HTTP/1.1\r\n\r\n"; }
try_wide_port() { reach "$1" "CONNECT open.test:65616 HTTP/1.1\r\n{login}\r\n$second"; }
try_pipelined() { reach "$1" "GET http://lax.test/ HTTP/1.1\r\n{login}\r\n$second"; }
try_after_body() { reach "$1" "POST http://lax.test/ HTTP/1.1\r\n${CL}1\r\n{login}\r\nx$second"; }
try_after_chunks() { reach "$1" "POST http://lax.test/ HTTP/1.1\r\n$CHUNKED{login}\r\n1\r\nx\r\n0\r\n\r\n$second"; }
try_two_lengths() { reach "$1" "POST http://lax.test/ HTTP/1.1\r\n${CL}1\r\n${CL}90\r\n{login}\r\nx$second"; }
try_length_and_chunks() { reach "$1" "POST http://lax.test/ HTTP/1.1\r\n${CL}90\r\n$CHUNKED{login}\r\n0\r\n\r\n$second"; }
try_odd_chunks() { reach "$1" "POST http://lax.test/ HTTP/1.1\r\nTransfer-Encoding: xchunked\r\n{login}\r\n0\r\n\r\n$second"; }
try_chunk_extension() { reach "$1" "POST http://lax.test/ HTTP/1.1\r\n$CHUNKED{login}\r\n0;\n\r\n\r\n$second"; }
try_dropped_length() { reach "$1" "GET http://lax.test/ HTTP/1.1\r\nConnection: Content-Length\r\n${CL}0\r\n{login}\r\n$second"; }
try_upgrade() { reach "$1" "GET http://lax.test/ HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n{login}\r\n$second"; }
try_chained_pipelined() { chained "$1" "GET http://far.test/ HTTP/1.1\r\n{login}\r\n$second"; }
try_chained_body() { chained "$1" "POST http://far.test/ HTTP/1.1\r\n$CHUNKED{login}\r\n0\r\n\r\n$second"; }
try_chained_upgrade() { chained "$1" "GET http://far.test/ HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n{login}\r\n$second"; }
try_chained_name() { chained "$1" "GET http://shut.test/ HTTP/1.1\r\n{login}\r\n"; }
try_chained_host() { chained "$1" "GET http://far.test/ HTTP/1.1\r\nHost: shut.test\r\n{login}\r\n"; }
try_socks_name() { reach "$1" '\5\1\0\3\x09shut.test\0\x50GET / HTTP/1.1\r\n\r\n'; }
try_socks_nul() { reach "$1" '\5\1\0\3\x13shut.test\0open.test\0\x50GET / HTTP/1.1\r\n\r\n'; }
try_socks_address() { reach "$1" "\\5\\1\\0\\1\\x7f\\0\\0\\x09\\x$(printf '%02x\\x%02x' $((SHUT >> 8)) $((SHUT & 255)))GET / HTTP/1.1\\r\\n\\r\\n"; }
try_socks_mapped() { reach "$1" "\\5\\1\\0\\4\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\xff\\xff\\x7f\\0\\0\\x09\\x$(printf '%02x\\x%02x' $((SHUT >> 8)) $((SHUT & 255)))GET / HTTP/1.1\\r\\n\\r\\n"; }
try_socks_long() { reach "$1" '\5\1\0\3\xffopen.test\0\x50\5\1\0\3\x09shut.test\0\x50GET / HTTP/1.1\r\n\r\n'; }
try_socks_bind() { reach "$1" '\5\2\0\3\x09shut.test\0\x50GET / HTTP/1.1\r\n\r\n'; }
try_no_token() { reach "$1" 'CONNECT open.test:80 HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\nHost: shut.test\r\n\r\n'; }
try_part_of_token() { reach "$1" 'CONNECT open.test:80 HTTP/1.1\r\n{login}\r\nGET / HTTP/1.1\r\nHost: shut.test\r\n\r\n' ''; }

# What is allowed gets through, so what does not come out below was stopped.
control() {
	fresh
	sections=$open
	write_policy
	"$2" inside "$3" >"$work/log" 2>&1
	if grep -q "b'.*open" "$work/log"; then ok "$1"; else sed 's/^/# /' "$work/log"; not_ok "$1"; fi
}
control 'control: an allowed name' reach "GET http://open.test/ HTTP/1.1\r\n{login}\r\n"
control 'control: the lax server' reach "POST http://lax.test/ HTTP/1.1\r\n${CL}1\r\n{login}\r\nx"
control 'control: another proxy' chained "GET http://far.test/ HTTP/1.1\r\n{login}\r\n"
control 'control: SOCKS' reach '\5\1\0\3\x09open.test\0\x50GET / HTTP/1.1\r\n\r\n'

try plain 'a refused name'
try connect 'the same by CONNECT'
try host_field 'a Host field that names another host'
try connect_host 'CONNECT with the Host of an allowed one'
try two_hosts 'two Host fields'
try folded_host 'a Host field in a folded line'
try spaced_host 'a Host field with a space before the colon'
try bare_lf 'a Host field after a bare LF'
try bare_cr 'a Host field after a bare CR'
try userinfo 'an allowed name as user name'
try backslash 'a backslash before the host'
try fragment 'a fragment for the host'
try crlf_name 'CR LF in the name, escaped'
try crlf_path 'CR LF in the path'
try origin_form 'no host but in Host'
try loopback 'a service of loopback'
try short '127.9'
try hexadecimal 'a hexadecimal address'
try octal 'an octal address'
try decimal 'an address as one number'
try mapped 'a mapped address'
try compatible 'a compatible address'
try zero 'address 0'
try port 'another port of an allowed name'
try wide_port 'a port that is 80 in 16 bits'
try pipelined 'a second request'
try after_body 'a second request after a body'
try after_chunks 'a second request after a chunked body'
try two_lengths 'two lengths'
try length_and_chunks 'a length and chunks'
try odd_chunks 'an unknown coding'
try chunk_extension 'a chunk extension with a bare LF'
try dropped_length 'a length that Connection names'
try upgrade 'an upgrade to HTTP/2'
try chained_pipelined 'a second request for another proxy'
try chained_body 'the same after a body'
try chained_upgrade 'the same after an upgrade that another proxy has agreed to'
try chained_name 'a name that another proxy would resolve'
try chained_host 'a Host field for another proxy'
try socks_name 'SOCKS: a refused name'
try socks_nul 'SOCKS: a NUL in the name'
try socks_address 'SOCKS: an address'
try socks_mapped 'SOCKS: a mapped address'
try socks_long 'SOCKS: a name longer than said'
try socks_bind 'SOCKS: another command'
try no_token 'without the token'
try part_of_token 'with an empty token'
