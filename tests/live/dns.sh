# shellcheck shell=bash disable=SC2154
# The fake DNS servers of tests/live/dns.py, and a session that asks them. Sourced after lib.sh.

if ! python3 -c '' 2>/dev/null; then
	echo '1..0 # SKIP python3 is not installed'
	exit 0
fi
# A wrapper such as pyenv's looks for its files in another HOME.
python=$(python3 -c 'import sys; print(sys.executable)')
PATH=$(dirname "$python"):$PATH
for name in http https all ftp no grpc; do unset "${name}_proxy" "$(echo "$name" | tr a-z A-Z)_PROXY"; done

mkdir "$work/one" "$work/two" "$work/w"
"$python" "$here/dns.py" "$work/one" 0 >"$work/one/log" 2>&1 &
servers=$!
"$python" "$here/dns.py" "$work/two" 0 well >"$work/two/log" 2>&1 &
servers="$servers $!"
# shellcheck disable=SC2086
trap 'kill $servers 2>/dev/null; wait $servers 2>/dev/null; cleanup' EXIT
for ((i = 0; i < 200; i++)); do [ ! -e "$work/one/port" ] || [ ! -e "$work/two/port" ] || break; sleep 0.1; done
# These are TCP servers, too, to which something may connect.
ONE=$(cat "$work/one/port") && TWO=$(cat "$work/two/port") || { echo 'Bail out! no servers'; exit 1; }

# policy NAME LINE...: names of up.test are asked of the servers, the rest of the lines is of [network], too
policy() {
	local name=$1
	shift
	{
		printf '[filesystem]\nallow_write = %s\n' "$work/w"
		printf '[audit]\nfile = %s\nlevel = all\n[network]\nproxy_env = no\nallow_domain = *.up.test\n' "$work/trail"
		[[ "$*" = *dns_server* ]] || printf 'dns_server = 127.0.0.1:%s\n' "$ONE" "$TWO"
		printf '%s\n' "$@"
	} >"$work/$name.ini"
}
ini=main extra=
inside() { (cd "$work/w" && timeout 120 "$CORDON" $extra -p "$work/$ini.ini" -- "$@"); }
ask() { inside "$python" "$here/dns_client.py" "$@" 2>"$work/err"; }

# answers WHAT QUESTION ANSWER [QUESTION ANSWER]...: in one session
answers() {
	local what=$1 questions=() wanted=
	shift
	while [ $# -gt 0 ]; do
		questions+=("$1")
		wanted+=${wanted:+$'\n'}$2
		shift 2
	done
	same "$what" "$wanted" "$(ask "${questions[@]}")"
}
# has WHAT TEXT COMMAND...: it prints the text
has() {
	local what=$1 text=$2 out
	shift 2
	out=$("$@" 2>&1)
	if [[ $out = *"$text"* ]]; then pass "$what"; else fail "$what" "$(echo "$* : $out" | cut -c1-300 | head -12)"; fi
}
# record WHAT TEXT...: one record has them all
record() {
	local what=$1 text lines
	shift
	lines=$(cat "$work/trail")
	for text; do lines=$(grep -F -- "$text" <<<"$lines"); done
	if [ -n "$lines" ]; then pass "$what"; else fail "$what" "$* : $(grep -E '"op":"(connect|resolve)"' "$work/trail" | cut -c1-400)"; fi
}
# unasked WHAT TEXT: no server heard of it
unasked() { same "$1: no server is asked" '' "$(grep -ihF -- "$2" "$work/one/asked" "$work/two/asked")"; }
