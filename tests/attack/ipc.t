#!/bin/bash
# Objects of another session of the same user: System V, POSIX message queues, /dev/shm.
. "$(dirname "$0")/lib.sh"
export ATTACK_SECONDS=${ATTACK_SECONDS:-0.4}

# Several of these tests may run at once.
export KEY=$((0x51000000 + $$))
policy="allow_own = /dev/shm"
mutable=true
program ipc

# Outside, the victim is a plain process; inside it is another session, and in the second round a plain process too.
other=session
before() {
	rm -f "$work/in/ready"
	cd "$IN" || exit 1
	if [ "$1" = inside ] && [ $other = session ]; then
		exec timeout -k 5 60 "$CORDON" -q -p "$work/policy.ini" -- "$build/ipc" victim >"$work/victim.log" 2>&1 &
	else
		"$build/ipc" victim >"$work/victim.log" 2>&1 &
	fi
	victim=$!
	for ((i = 0; i < 400; i++)); do
		[ -e "$IN/ready" ] && return
		sleep 0.02
	done
	sed 's/^/# victim: /' "$work/victim.log"
	echo "Bail out! no victim"
	exit 1
}
after() {
	[ -z "${victim:-}" ] || kill -TERM "$victim" 2>/dev/null
	wait 2>/dev/null
	victim=
	rm -f /dev/shm/cordon-attack-victim*
	"$build/ipc" clean
}

files=()
[ -d /dev/mqueue ] && mountpoint -q /dev/mqueue && files=(queue_file queue_notify)
[ ${#files[@]} -gt 0 ] || skip 'message queues by their files: queue_file queue_notify' 'no /dev/mqueue'
for other in session process; do
	policy="allow_own = /dev/shm
deny_read = /nonexistent"
	for a in read stat write mode rmshm semop setval rmsem receive send rmmsg key index race_id queue posix "${files[@]}"; do
		attack "objects of another $other: $a" ipc $a
	done
	policy="allow_own = /dev/shm"
	for a in queue "${files[@]}"; do
		attack "objects of another $other, reads left to the kernel: $a" ipc $a
	done
done
