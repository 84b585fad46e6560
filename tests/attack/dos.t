#!/bin/bash
# The supervisor under load and abuse: the session goes on, memory and descriptors stay bounded, records stay readable.
# Runs alone.
. "$(dirname "$0")/lib.sh"

export SHARED=$work/shared
policy="deny_write = $IN/q/**/secret
allow_own = $SHARED"
setup() { mkdir -p "$SHARED" && echo x >"$OUT/file"; }
program dos
prefix=()

survives() {
	local what=$1 rc
	shift
	fresh
	write_policy
	"${prefix[@]}" timeout -k 5 60 "$CORDON" -q -p "$work/policy.ini" -- "$build/dos" "$@" >"$work/log" 2>&1
	rc=$?
	[ $rc = 0 ] || sed 's/^#* */# /' "$work/log" | head -5
	if [ $rc = 0 ]; then ok "$what"; else not_ok "$what: ended with $rc"; fi
}
survives '512 threads hang in opens of 8 FIFOs' fifos
survives '10,000 descriptors, then 16' many_descriptors
survives 'a storm of signals' signal_storm
survives 'callers killed at any moment' killed_callers
survives 'rubbish as arguments of every call' garbage
survives 'long paths, deep directories, rings of links' long_paths
if [ "$(id -u)" = 0 ]; then
	skip 'no more processes' 'root has no limit'
else
	threads=$(ps -eLo uid= | grep -c "^ *$(id -u)$")
	prefix=(prlimit "--nproc=$((threads + 60))")
	survives 'no more processes' no_processes
fi

# Memory and descriptors of the supervisor, after some work and after much.
fresh
write_policy
mkfifo "$work/step"
# shellcheck disable=SC2016
"$CORDON" -q -p "$work/policy.ini" -a "$work/audit.json" -- bash -c '
	"$0" busy 4000; read -r _ <"$1/step"; "$0" busy 100000; read -r _ <"$1/step"' "$build/dos" "$work" &
front=$!
measure() {
	local supervisor
	exec 9>"$work/step" # waits for the reader
	read -r supervisor _ <"/proc/$front/task/$front/children"
	awk '/^VmRSS|^FDSize|^Threads/ {print $2}' "/proc/$supervisor/status"
	stat -Lc %s "/proc/$supervisor/fd" 2>/dev/null
	echo >&9
	exec 9>&-
}
first=$(measure)
second=$(measure)
wait $front
read -rd '' size1 rss1 _ fds1 <<<"$first"
read -rd '' size2 rss2 _ fds2 <<<"$second"
echo "# FDSize, RSS, threads, descriptors:" $first "then" $second
if grep -q __asan_init "$CORDON"; then
	skip 'memory stays bounded' 'the address sanitizer keeps freed memory'
elif [ "${rss2:-999999}" -lt $((${rss1:-0} + 4096)) ]; then ok 'memory stays bounded'; else not_ok "memory grows: $rss1 to $rss2 kB"; fi
if [ "${size2:-999999}" -le "${size1:-0}" ] && [ "${fds2:-0}" -le $((${fds1:-0} + 4)) ]; then ok 'descriptors do not grow'; else not_ok "descriptors grow: $fds1 to $fds2"; fi

# Messages and records.
fresh
write_policy
rm -f "$work/audit.json"
"$CORDON" -p "$work/policy.ini" -a "$work/audit.json" -- "$build/dos" flood 20000 2>"$work/stderr"
lines=$(wc -l <"$work/stderr")
size=$(stat -c %s "$work/stderr")
if [ "$lines" -gt 0 ] && [ "$size" -lt 200000 ]; then ok "messages stay bounded ($lines lines)"; else not_ok "messages: $lines lines, $size bytes"; fi
if LC_ALL=C grep -q $'[\001-\010\013-\037\177]' "$work/stderr" || grep -q '^break' "$work/stderr"; then
	not_ok 'messages hold control characters of the program'
else
	ok 'messages hold no control characters'
fi
if ! command -v jq >/dev/null; then
	skip 'records' 'no jq'
elif jq -e . <"$work/audit.json" >/dev/null 2>"$work/log" && iconv -f UTF-8 -t UTF-8 <"$work/audit.json" >/dev/null &&
	[ "$(wc -l <"$work/audit.json")" = "$(jq -c . <"$work/audit.json" | wc -l)" ] &&
	[ "$(jq -c 'select(.verdict == "allow")' <"$work/audit.json" | wc -l)" = 0 ]; then
	ok "records are JSON, one a line ($(wc -l <"$work/audit.json"))"
else
	head -3 "$work/log" | sed 's/^/# /'
	not_ok 'records'
fi
