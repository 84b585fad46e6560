#!/bin/bash
# The supervisor under load and abuse: the session goes on, memory and descriptors stay bounded, records stay readable.
# Runs alone.
. "$(dirname "$0")/lib.sh"

export SHARED=$work/shared
policy="deny_write = $IN/q/**/secret
allow_own = $SHARED"
setup() { mkdir -p "$SHARED" && echo x >"$OUT/file"; }
program dos load
prefix=()

# The most memory that a supervisor had so far, in kB: what it has with 256 workers, and some.
most=98304
grep -qE '__[at]san_init' "$CORDON" && most=1500000
# watch_memory FRONT: the peak of its supervisor, looked at until it ends
watch_memory() {
	local supervisor='' peak=0 now
	while kill -0 "$1" 2>/dev/null; do
		[ -n "$supervisor" ] || read -r supervisor _ <"/proc/$1/task/$1/children"
		now=$(awk '/^VmHWM/ { print $2 }' "/proc/$supervisor/status")
		peak=${now:-$peak}
		sleep 0.05
	done 2>/dev/null
	echo "$peak" >"$work/peak"
}

survives() {
	local what=$1 rc front
	shift
	fresh
	write_policy
	"${prefix[@]}" "$CORDON" -q -p "$work/policy.ini" "${options[@]}" -- timeout -k 5 60 "$build/$attack" "$@" >"$work/log" 2>&1 &
	front=$!
	watch_memory $front
	wait $front
	rc=$?
	[ $rc = 0 ] || sed 's/^#* */# /' "$work/log" | head -5
	if [ $rc = 0 ] && [ "$(cat "$work/peak")" -lt $most ]; then
		ok "$what ($(cat "$work/peak") kB)"
	else
		not_ok "$what: ended with $rc, $(cat "$work/peak") kB"
	fi
}
options=() attack=dos
survives '512 threads hang in opens of 8 FIFOs' fifos
survives '10,000 descriptors, then 16' many_descriptors
prefix=(prlimit --nofile=512)
survives '2,000 dead sockets beside a process that cannot be looked at' dead_sockets
prefix=()
survives 'a storm of signals' signal_storm
survives 'callers killed at any moment' killed_callers
survives 'rubbish as arguments of every call' garbage
survives 'long paths, deep directories, rings of links' long_paths
survives 'long lists of arguments' long_arguments

attack=datagram
program datagram
survives 'receiving while descriptors and room change' race_receive
survives 'answers that nobody reads' full_channel
survives '10,800 stand-ins for datagram sockets' many

# Where root has no SYS_PTRACE, a caller that changes its user is held for that moment.
attack=spoil what='callers that never come to the end of a change of their user'
may_trace() { ((0x$(sed -n 's/^CapPrm:\t//p' /proc/self/status) >> 19 & 1)); }
# shellcheck disable=SC2016 # expands inside
! may_trace || prefix=(capsh --drop=cap_sys_ptrace -- -c 'exec "$0" "$@"')
if [ "$(id -u)" != 0 ]; then
	skip "$what" 'needs root'
elif [ "$(uname -m)" != x86_64 ]; then
	skip "$what" 'on this architecture nothing is run in a caller'
elif [ ${#prefix[@]} != 0 ] && ! command -v capsh >/dev/null; then
	skip "$what" 'no capsh'
else
	program spoil
	survives "$what" changes
fi
prefix=()

# The trail has no room, or nobody reads it: all goes on, and what is lost is counted.
ulimit -S -f unlimited 2>/dev/null
attack=load
options=(-a "$work/trail")
prefix=(prlimit --fsize=100000)
survives 'the trail reaches the limit of file sizes' flood 20000
prefix=()
mkfifo "$work/pipe"
sleep 1000 <>"$work/pipe" &
reader=$!
options=(-a "$work/pipe")
survives 'nobody reads the trail' flood 20000
{ kill $reader && wait $reader; } 2>/dev/null
mkdir "$work/small"
options=(-a "$work/small/trail")
# shellcheck disable=SC2016 # expands inside
prefix=(unshare -m sh -c 'mount -t tmpfs -o size=128k none "$0" && "$@"' "$work/small")
if "${prefix[@]}" true 2>/dev/null; then
	# The front is a child there: memory is not looked at.
	survives 'the disk of the trail is full' flood 20000
else
	skip 'the disk of the trail is full' 'no mount namespace can be made'
fi
prefix=() options=() attack=dos

# A front that is stopped: only it waits.
fresh
write_policy
"$CORDON" -q -p "$work/policy.ini" -- sh -c 'echo $$ >pid; until [ -e go ]; do sleep 0.05; done; mkdir d && rmdir d && echo done >result' 2>/dev/null &
front=$!
until [ -s pid ]; do sleep 0.05; done
kill -STOP $front
touch go
for ((i = 0; i < 100; i++)); do
	[ ! -s result ] || break
	sleep 0.05
done
kill -CONT $front
wait $front
if [ $? = 0 ] && [ -s result ]; then ok 'the session goes on while the front is stopped'; else not_ok 'the session waits for a stopped front'; fi
if [ "$(id -u)" = 0 ]; then
	skip 'no more processes' 'root has no limit'
else
	threads=$(ps -eLo uid= | grep -c "^ *$(id -u)$")
	prefix=(prlimit "--nproc=$((threads + 60))")
	survives 'no more processes' no_processes
fi
# pids.max holds for root, too, and counts the supervisor's threads.
limited=''
for limited in /sys/fs/cgroup/pids/cordon-$$ /sys/fs/cgroup/cordon-$$ ''; do
	[ -n "$limited" ] && mkdir "$limited" 2>/dev/null || continue
	[ ! -e "$limited/pids.max" ] || ! echo 60 >"$limited/pids.max" || break
	rmdir "$limited"
done 2>/dev/null
if [ -z "$limited" ]; then
	skip 'pids.max' 'no control group can be made'
else
	# shellcheck disable=SC2016 # expands inside
	prefix=(sh -c 'echo $$ >"$0/cgroup.procs"; exec "$@"' "$limited")
	survives 'pids.max' no_processes
	[ "$(sed -n 's/^max //p' "$limited/pids.events")" -gt 0 ] || not_ok 'pids.max was not reached'
	rmdir "$limited"
fi
# Signals that wait take room of their own, for all processes of a user.
prefix=(prlimit --sigpending=0)
survives 'no more signals that wait' no_signals
prefix=()

# Memory and descriptors of the supervisor, after some work and after much. 64 to 128 sockets may wait to be swept, and a
# machine that is slow gets more workers, with what each needs.
fresh
write_policy
mkfifo "$work/first" "$work/second" # a reader of one alone could still have it open when the next is waited for
# shellcheck disable=SC2016
"$CORDON" -q -p "$work/policy.ini" -a "$work/audit.json" -- bash -c '
	"$0" busy 4000; read -r _ <"$1/first"; "$0" busy 100000; read -r _ <"$1/second"' "$build/load" "$work" &
front=$!
measure() { # measure FIFO
	local supervisor
	exec 9>"$work/$1" # waits for the reader
	read -r supervisor _ <"/proc/$front/task/$front/children"
	awk '/^VmRSS|^FDSize|^Threads/ {print $2}' "/proc/$supervisor/status"
	stat -Lc %s "/proc/$supervisor/fd" 2>/dev/null
	echo >&9
	exec 9>&-
}
first=$(measure first)
second=$(measure second)
wait $front
read -rd '' _ rss1 threads1 fds1 <<<"$first"
read -rd '' size2 rss2 threads2 fds2 <<<"$second"
echo "# FDSize, RSS, threads, descriptors:" $first "then" $second
more=$((${threads2:-0} > ${threads1:-0} ? threads2 - threads1 : 0))
if grep -q __asan_init "$CORDON"; then
	skip 'memory stays bounded' 'the address sanitizer keeps freed memory'
elif [ "${rss2:-999999}" -lt $((${rss1:-0} + 4096 + more * 128)) ]; then
	ok 'memory stays bounded'
else
	not_ok "memory grows: $rss1 to $rss2 kB, threads: $threads1 to $threads2"
fi
# Before Linux 6.2 the kernel only tells how many there is room for: a power of two that never shrinks. 256 workers need less than 1024.
if [ "${fds1:-0}" = 0 ]; then fds1=960 fds2=${size2:-999999}; fi
if [ "$fds2" -le $((fds1 + 64 + more * 4)) ]; then ok 'descriptors do not grow'; else not_ok "descriptors grow: $fds1 to $fds2"; fi

# Messages and records.
fresh
write_policy
rm -f "$work/audit.json"
"$CORDON" -p "$work/policy.ini" -a "$work/audit.json" -- "$build/load" flood 20000 2>"$work/stderr"
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
