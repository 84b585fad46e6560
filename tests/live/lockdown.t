#!/bin/bash
# The supervisor and the front while a session runs: what they gave up, and that what they seldom do they still may.
# shellcheck disable=SC2016 # the commands expand inside
. "$(dirname "$0")/lib.sh"

cd "$work" || exit 1
mkdir in own tmp
export TMPDIR=$work/tmp # of this test alone: others may be running
printf '[filesystem]\nallow_write = in\nallow_own = own\n[audit]\nfile = trail.json\n' >policy.ini
run() { timeout 150 "$CORDON" -q -p policy.ini "$@"; }

locked=yes
grep -q '__[at]san_init' "$CORDON" && locked=no
same '-v says whether the supervisor is locked down' $locked \
	"$("$CORDON" -v -p policy.ini true 2>&1 | grep -q 'supervisor locked down' && echo yes || echo no)"
same 'so does doctor' $locked \
	"$("$CORDON" doctor | awk '/^lockdown/ { print $2 == "yes" ? "yes" : "no" }')"

# The command tells nobody: who they are is known from outside.
mkfifo go
"$CORDON" -q -p policy.ini sh -c 'read -r _ <"$0"' "$work/go" &
front=$!
exec 9>go
supervisor=$(cat "/proc/$front/task/$front/children")
supervisor=${supervisor// /}
# shows PID FIELD: its value in all threads. (A sanitizer's own thread is older than all that is given up.)
shows() {
	local task=$1
	[ $locked = no ] || task='*'
	sed -n "s/^$2:[[:space:]]*//p" /proc/"$1"/task/$task/status | sort -u
}
if [ $locked = yes ]; then
	same 'all threads of the supervisor are under its own filter' 2 "$(shows "$supervisor" Seccomp)"
	same 'and so is the front' 2 "$(shows "$front" Seccomp)"
else
	skip 'all threads of the supervisor are under its own filter' 'a build for tests'
	skip 'and so is the front' 'a build for tests'
fi
same 'they gain no privileges' '1 1' "$(shows "$supervisor" NoNewPrivs) $(shows "$front" NoNewPrivs)"
same 'the supervisor has several threads' yes "$([ "$(ls "/proc/$supervisor/task" | wc -l)" -gt 2 ] && echo yes)"
same 'no core files' '0 0' "$(awk '/^Max core/ { print $5, $6 }' "/proc/$supervisor/limits")"
same 'not dumpable: its directory in /proc is root'"'s" 0 "$(stat -c %u "/proc/$supervisor/environ")"
if [ "$(id -u)" = 0 ]; then
	kept=$((0x$(shows "$supervisor" CapEff)))
	# CHOWN DAC_OVERRIDE FOWNER FSETID KILL SETGID SETUID NET_BIND_SERVICE AUDIT_WRITE
	same 'no capability beyond what a command may have' 0 $((kept & ~(0x1 | 0x2 | 0x8 | 0x10 | 0x20 | 0x40 | 0x80 | 0x400 | 0x20000000)))
fi
# Someone outside sends SIGSYS: no call of its own was forbidden.
kill -SYS "$supervisor"
sleep 0.1
same 'SIGSYS from outside does not end it' yes "$(kill -0 "$supervisor" && echo yes)"
exec 9>&-
wait $front

# What happens seldom. A call that is missing from the list would end the session with 125.
rare() { # rare WHAT ARGUMENT...
	local what=$1 out status
	shift
	out=$(run "$@" 2>&1)
	status=$?
	if [ $status = 0 ]; then pass "rare: $what"; else fail "rare: $what" "status $status: $out"; fi
}
{ sleep 0.6; mv trail.json old.json; } &
rare 'the trail is rotated, and its name comes back' bash -c '
	for i in 1 2 3; do echo x >outside; sleep 0.8; done 2>/dev/null; echo >in/x'
wait
same 'the new trail has records' yes "$([ -s trail.json ] && echo yes)"
rare 'many new objects: the sets grow' bash -c 'for d in {1..40}; do mkdir own/$d; for f in {1..60}; do : >own/$d/$f; done; done; rm -r own/*'
rare 'waiting for a FIFO while signals come' bash -c '
	mkfifo in/f; trap : USR1; (sleep 0.2; kill -USR1 $$; sleep 0.2; : <in/f) & : >in/f; wait; rm in/f'
rare 'more workers' bash -c '
	mkfifo in/f; for i in {1..30}; do (: >in/f) & done; sleep 0.5; for i in {1..60}; do : <>in/f; done
	kill $(jobs -p) 2>/dev/null; wait 2>/dev/null; rm -f in/f; : >in/y'
rare 'members left at the end' bash -c '(trap "" TERM; sleep 100) & (setsid sleep 100 &) ; sleep 0.1'
rare 'a deep TMPDIR' bash -c 'cd "$TMPDIR"; for i in {1..200}; do mkdir -m 700 d; cd d; : >f; done; chmod 0 ../d'
rare 'device and magic paths' bash -c '
	: >/dev/tty; cat /proc/self/cwd/policy.ini /dev/fd/0 <policy.ini >/dev/null; : >/proc/self/fd/1; ls /proc/$$/fd >/dev/null; true' 2>/dev/null
# The front alone, when the supervisor is killed: it ends what runs and removes what is left.
mkfifo in/go2
ipcs=$(ipcs 2>/dev/null | sed 1d | wc -l)
"$CORDON" -q -p policy.ini sh -c 'ipcmk -M 100 -S 1 -Q >/dev/null 2>&1; mkdir -p "$TMPDIR/a/b/c"; : >"$TMPDIR/a/b/f"; chmod 0 "$TMPDIR/a/b"
	setsid sleep 1000 & echo $! $TMPDIR >"$0"; wait' "$work/in/go2" 2>said &
front=$!
read -r left tmp <in/go2
read -r supervisor _ <"/proc/$front/task/$front/children"
kill -KILL "$supervisor"
wait $front
same 'the supervisor is killed: the front says so and returns its status' '137 1' \
	"$? $(grep -c '^cordon: the supervisor was ended by signal 9; the command was ended with it$' said)"
same 'and nothing is left: processes, TMPDIR, System V objects' "no no $ipcs" \
	"$(kill -0 "$left" 2>/dev/null && echo yes || echo no) $([ -e "$tmp" ] && echo yes || echo no) $(ipcs 2>/dev/null | sed 1d | wc -l)"
same 'nothing is left in TMPDIR' '' "$(find "${TMPDIR:-/tmp}" -maxdepth 1 -name 'cordon-*' -newer policy.ini -user "$(id -u)")"
finish
