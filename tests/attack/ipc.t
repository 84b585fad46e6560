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

for other in session process; do
	policy="allow_own = /dev/shm
deny_read = /nonexistent"
	for way in read stat write mode rmshm semop setval rmsem receive send rmmsg; do
		attack "System V objects of a $other by id: $way" ipc id $way
	done
	attack "System V objects of a $other by key" ipc key
	attack "System V objects of a $other by index" ipc index
	attack "System V objects of a $other, the id flips" ipc race
	attack "a message queue of a $other by name" ipc mq
	for way in receive notify; do
		attack "a message queue of a $other by its file: $way" ipc file $way
		policy="allow_own = /dev/shm"
		attack "the same where reads are left to the kernel" ipc file $way
	done
	attack "shared memory of POSIX of a $other" ipc posix
done
