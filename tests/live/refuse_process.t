#!/bin/bash
# What reaches beyond files: closed calls, processes of others, their /proc, devices, a sandbox inside.
. "$(dirname "$0")/refusals.sh"
build_calls && build closed "$cc" -- "$here/closed.c" || { echo "Bail out! the helpers do not build"; exit 1; }
closed=$LIVE_BUILD/closed

policy "allow_write = $in"
fresh
inside "$closed" calls
while read -r line; do
	case $line in
	'ok '*) pass "closed: ${line#ok }" ;;
	*) fail "closed: ${line%%:*}" "$line" ;;
	esac
done <<<"$answer"
[ "$status" = 0 ] || fail 'closed calls' "status $status, $said"

# A process of the same user outside, in a group of its own.
cd "$project/tests" || exit 1
setsid sleep 300 &
them=$!
trap 'kill $them 2>/dev/null; cleanup' EXIT
for _ in {1..1500}; do [ "$(ps -o comm= -p $them)" = sleep ] && break; sleep 0.02; done
while read -r name by op; do
	# What a container's own filter refuses never gets as far as here. Of these, none does harm when it works.
	case $name in
	process_vm_readv | process_vm_writev | kcmp | migrate_pages | move_pages | get_robust_list)
		if [[ $($AS_OLD "$closed" stranger $them "$name") = E@(PERM|NOSYS) ]]; then
			skip "stranger: $name" 'refused outside, too'
			continue
		fi
		;;
	esac
	inside "$closed" stranger $them "$name"
	if [ "$name" = kill0 ]; then # a question that programs ask often: no line for it
		same "stranger: $name" 'EPERM 1' "$answer $(events '"syscall":"kill"')$said"
		continue
	fi
	refused "stranger: $name" EPERM "$by" "$op" '' 'process isolation (built-in)' -- "$closed" stranger $them "$name"
done < <("$closed" list)
if kill -0 $them && [ "$(ps -o stat= -p $them)" != T ]; then pass 'the stranger lives'; else fail 'the stranger lives'; fi
same 'its limits and priority are as before' "$(ulimit -t) $(ps -o ni= -p $$)" "$(prlimit -p $them -o SOFT --noheadings --cpu | tr -d ' ') $(ps -o ni= -p $them)"

# Its /proc. With and without a rule that makes the supervisor decide on reads.
for reads in '' 'deny_read = **/.nothing'; do
	policy "allow_write = $in
$reads"
	for name in environ mem maps exe cwd/run root/etc/passwd fd/0 fdinfo/0 ns/pid stack syscall auxv io "task/$them/environ" "task/$them/mem"; do
		# What the kernel does not have, or shows to no one, tells nothing. (Some of these open, and are closed to read.)
		[ "$name" = mem ] || cat "/proc/$them/$name" >/dev/null 2>&1 || [ "$name" = ns/pid ] || continue
		inside sh -c "cat /proc/$them/$name >/dev/null 2>&1 && echo open"
		same "its $name is closed${reads:+, reads decided}" '' "$answer"
	done
	for name in status stat cmdline comm statm task "task/$them/stat" limits; do
		allowed "its $name is open${reads:+, reads decided}" "$call" readat "/proc/$them/$name"
	done
	inside "$call" update "/proc/$them/oom_score_adj"
	same "its oom_score_adj is not written${reads:+, reads decided}" 'EACCES 1' "$answer $(events "\"path\":\"/proc/$them/oom_score_adj\"")"
	inside sh -c "ps -o pid= -p $them; kill -9 \$\$"
	same "ps sees it${reads:+, reads decided}" "$them 137" "$(echo $answer) $status"
done
# The supervisor and the front are strangers, too.
policy "allow_write = $in"
inside sh -c 'read -r _ _ _ parent _ </proc/$$/stat; kill -9 $parent; '"$closed"' stranger $parent ptrace_seize; '"$call"' readat /proc/$parent/mem; '"$call"' readat /proc/$parent/environ'
same 'the supervisor' 'EPERM EACCES EACCES' "$(echo $answer)"

# --log-only lets pass what Landlock does, and says which is which.
# tried NAME SINCE: the version of Landlock that refuses it
tried() {
	local name=$1 since=$2 words=' would be refused: ' want=0 abi
	inside --log-only "$closed" stranger $them "$name"
	abi=$(sed -n 's/.*"landlock_abi":\([0-9]*\).*/\1/p' "$audit")
	[ "$abi" -lt "$since" ] || want=EPERM words=" $them refused: "
	# Root's stranger has capabilities that the session gave up, so the kernel refuses what is let pass.
	[ "$name" != ptrace_seize ] || [ "$(id -u)" != 0 ] || want=EPERM
	same "--log-only: $name" "$want 1" "$answer $(events)"
	case $said in *"$words"*) pass "--log-only: what is said of $name" ;; *) fail "--log-only: what is said of $name" "$said" ;; esac
}
tried ptrace_seize 1
tried prlimit_get 99
tried pidfd_open 99
tried kill 6

# Devices.
for device in /dev/mem /dev/kmsg /dev/sda /dev/vda /dev/loop-control /dev/fuse /dev/tty0 /dev/console; do
	[ -e $device ] || continue
	inside "$call" update $device
	case $answer in EPERM | EACCES | ENXIO) pass "$device is closed" ;; *) fail "$device is closed" "$answer" ;; esac
done
for device in /dev/null /dev/zero /dev/full; do allowed "$device is open" "$call" update $device; done
for device in /dev/random /dev/urandom; do allowed "$device is open" "$call" readat $device; done

# A terminal of others, a pseudo-terminal of its own.
if command -v script >/dev/null; then
	script -qfc 'tty >'"$work/tty"'; sleep 20' /dev/null </dev/null >/dev/null 2>&1 &
	terminal=$!
	for _ in {1..1500}; do [ -s "$work/tty" ] && break; sleep 0.02; done
	tty=$(<"$work/tty")
	inside "$call" update "$tty"
	same "others' terminal to write" EPERM "$answer"
	policy "allow_write = $in
deny_read = **/.nothing"
	inside "$call" readat "$tty"
	same "others' terminal to read" EPERM "$answer"
	kill $terminal
	wait $terminal 2>/dev/null
	# shellcheck disable=SC2016
	inside script -qec 'sh -c "echo \$(tty >/dev/null && echo terminal) >$(tty)"' /dev/null
	same 'a pseudo-terminal of its own' terminal "${answer//$'\r'/}"
else
	skip 'terminals' 'no script(1)'
fi

# A sandbox inside the sandbox.
policy "allow_write = $in"
inside "$CORDON" true
same 'a cordon inside: 125' 125 "$status"
if [[ $said == *cordon:* ]]; then pass 'and says why'; else fail 'and says why' "$said"; fi
finish
