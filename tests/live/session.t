#!/bin/bash
# From start to end: exit statuses, what is handed on, what is left over, signals, job control, sudden death.
# shellcheck disable=SC2016 # the commands expand inside
. "$(dirname "$0")/refusals.sh"
build_calls || { echo "Bail out! the helpers do not build"; exit 1; }

policy "allow_write = $in
allow_own = ${TMPDIR:-/tmp}"
fresh
run() { "$CORDON" -p "$policy" "$@"; }
until_true() { # until_true COMMAND...: within 30 s
	for _ in {1..1500}; do "$@" && return 0; sleep 0.02; done
	return 1
}
gone() { ! kill -0 "$1" 2>/dev/null || [ "$(ps -o stat= -p "$1" | cut -c1)" = Z ]; }

# Exit statuses.
for want in 0 1 42 125 126 127 200 255; do
	run sh -c "exit $want" 2>/dev/null
	same "status $want" $want $?
done
run "$work/none" 2>"$work/said"
same 'not found' "127 1" "$? $(grep -c "^cordon: .*$work/none" "$work/said")"
echo 'no program' >"$in/plain"
run "$in/plain" 2>"$work/said"
same 'not executable' "126 1" "$? $(grep -c "^cordon: .*$in/plain" "$work/said")"
run "$in" 2>/dev/null
same 'a directory' 126 $?
run -c 'exit 9'
same '-c' 9 $?
for sig in HUP INT QUIT KILL USR1 TERM SEGV ABRT; do
	(run sh -c "kill -$sig \$\$; sleep 5") 2>/dev/null
	status=$?
	same "ended by $sig" $((128 + $(kill -l $sig))) $status
done
"$CORDON" -p "$work/no.ini" touch "$in/ran" 2>/dev/null
same 'no policy: 125, and nothing ran' '125 no' "$? $([ -e "$in/ran" ] && echo yes || echo no)"

echo x >"$out/file"
# Standard input and output are the program's own.
same 'standard input' 'one two' "$(echo one two | run cat)"
same 'input is not read ahead' 'second' "$( (run true; read -r _; cat) < <(echo first; echo second))"
same 'standard error' 'oops' "$(run sh -c 'echo oops >&2' 2>&1 >/dev/null)"
head -c 3000000 /dev/urandom >"$work/data"
run cat <"$work/data" | cmp -s - "$work/data" && pass '3 MB through a pipe' || fail '3 MB through a pipe'
run sh -c 'exec 2>&-; "$0" update "$1"' "$call" "$out/file" >"$work/answer" 2>/dev/null
same 'a refusal with standard error closed' EPERM "$(<"$work/answer")"
run sh -c 'ls -l /proc/self/fd | grep -c -- "->"' >"$work/answer" 2>/dev/null </dev/null
same 'standard input closed' 0 "$(run true <&- >/dev/null 2>&1; echo $?)"
same 'all three closed' 3 "$(run sh -c 'exit 3' <&- >&- 2>&-; echo $?)"

# Descriptors.
exec 7<"$out" 8<"$work/data" 9>>"$out/file"
same 'files and directories are closed' 'closed closed closed' \
	"$(run bash -c 'for n in 7 8 9; do { true >&$n || true <&$n; } 2>/dev/null && echo -n "open " || echo -n "closed "; done' | sed 's/ $//')"
same '--keep-fd' 'data' "$(echo data >"$work/kept"; run --keep-fd 6 sh -c 'cat <&6' 6<"$work/kept")"
exec 7<&- 8<&- 9>&-
same 'pipes are kept' 'x y' "$(run sh -c 'cat "$0" "$1" | tr "\n" " " | sed "s/ $//"' <(echo x) <(echo y))"
same 'a pipe to write' 'through' "$( { run sh -c 'echo through >&5' 5>&1 >/dev/null; })"

# TMPDIR.
printf '[filesystem]\nallow_write = %s\n' "$in" >"$work/tmp.ini"
tmp=$("$CORDON" -p "$work/tmp.ini" sh -c 'echo $TMPDIR; stat -c %a $TMPDIR >&2; mkdir -p $TMPDIR/a/b && echo x >$TMPDIR/a/b/c && chmod 0 $TMPDIR/a/b' 2>"$work/said")
same 'TMPDIR: mode 0700, removed' '700 gone' "$(<"$work/said") $([ -n "$tmp" ] && [ ! -e "$tmp" ] && echo gone)"

# Leftovers.
leave() { # leave WHAT SCRIPT: the script writes a pid to $in/pid
	rm -f "$in/pid"
	run sh -c "$2" >/dev/null 2>&1 </dev/null
	local status=$?
	local pid
	pid=$(cat "$in/pid" 2>/dev/null)
	if [ -n "$pid" ] && gone "$pid" && [ $status = 0 ]; then pass "$1"; else
		fail "$1" "pid '$pid' status $status"
		[ -z "$pid" ] || kill -9 "$pid" 2>/dev/null
	fi
}
leave 'a background job is ended' "sleep 300 & echo \$! >$in/pid"
leave 'a session of its own' "setsid sh -c 'echo \$\$ >$in/pid; exec sleep 300' & until [ -s $in/pid ]; do sleep 0.05; done"
leave 'one that was orphaned twice' "(setsid sh -c '(echo \$\$; sh -c \"echo \\\$PPID\") >/dev/null; sh -c \"echo \\\$\\\$ >$in/pid; exec sleep 300\" &' &); until [ -s $in/pid ]; do sleep 0.05; done"
leave 'one that ignores SIGTERM' "sh -c 'trap \"\" TERM HUP INT; echo \$\$ >$in/pid; while :; do sleep 1; done' & until [ -s $in/pid ]; do sleep 0.05; done"
leave 'one that is stopped' "sh -c 'echo \$\$ >$in/pid; kill -STOP \$\$; sleep 300' & until [ -s $in/pid ]; do sleep 0.05; done; sleep 0.1"
rm -f "$in/done"
run sh -c "sh -c 'trap \"echo done >$in/done; exit\" TERM; echo \$\$ >$in/pid; while :; do sleep 0.05; done' & until [ -s $in/pid ]; do sleep 0.02; done; sleep 0.1" >/dev/null 2>&1
same 'a leftover may clean up' 'done' "$(cat "$in/done" 2>/dev/null)"
rm -f "$in/done" "$in/fifo"
mkfifo "$in/fifo"
printf '[filesystem]\nallow_write = %s\ndeny_read = %s/none\n' "$in" "$out" >"$work/reads.ini"
rm -f "$in/pid"
"$CORDON" -p "$work/reads.ini" bash -c 'bash -c '\''trap "echo done >'"$in"'/done; exit" TERM; echo >'"$in"'/pid; : <'"$in"'/fifo'\'' & until [ -s '"$in"'/pid ]; do sleep 0.02; done; sleep 0.2' >/dev/null 2>&1
same 'and one that waits in an open' 'done' "$(cat "$in/done" 2>/dev/null)"
rm -f "$in/fifo"

# What the user started before, in the shell that became cordon, is none of the session.
alive() { # alive PID...: how many are
	local n=0 pid
	for pid; do gone "$pid" || n=$((n + 1)); done
	echo $n
}
# Starts a shell with a child, and one that gets an orphan while the session runs; it becomes cordon, which runs $1.
with_older() {
	exec sh -c "sleep 60 & echo \$! >>$work/older
		sh -c 'sleep 0.05; sh -c \"sleep 60 & echo \\\$! >>$work/older\" & exec sleep 60' & echo \$! >>$work/older
		exec '$CORDON' -p '$policy' sh -c '$1'" >/dev/null 2>&1
}
spared() { # spared WHAT
	local older
	mapfile -t older <"$work/older"
	same "$1" "18 18" "${#older[@]} $(alive "${older[@]}")"
	kill -KILL "${older[@]}" 2>/dev/null
	rm -f "$work/older"
}
for _ in 1 2 3 4 5 6; do (with_older 'sleep 0.3'); done
spared 'older processes live on'
left=0
for _ in 1 2 3 4 5 6; do
	rm -f "$in/pid"
	with_older "setsid sleep 60 & echo \$PPID \$! >$in/pid.new; mv $in/pid.new $in/pid; wait" &
	until_true [ -s "$in/pid" ]
	sleep 0.3
	read -r super inside <"$in/pid"
	kill -KILL "$super"
	wait $! 2>/dev/null
	gone "$inside" || left=$((left + 1))
done
spared 'and when the supervisor is killed'
same 'but the session is ended' 0 $left

# Signals to cordon reach the command.
for sig in TERM INT HUP USR1 USR2 QUIT; do
	rm -f "$in/ready"
	"$CORDON" -p "$policy" sh -c 'trap "exit 77" '$sig'; echo >'"$in"'/ready; while :; do sleep 0.02; done' >/dev/null 2>&1 &
	pid=$!
	until_true [ -e "$in/ready" ]
	# A shell starts background jobs with SIGINT and SIGQUIT ignored, which a shell inside cannot undo.
	case $sig in INT | QUIT) kill -TERM $pid; wait $pid; continue ;; esac
	kill -$sig $pid
	wait $pid
	same "SIG$sig is passed on" 77 $?
done
rm -f "$in/ready"
"$CORDON" -p "$policy" sh -c 'echo >'"$in"'/ready; exec sleep 300' >/dev/null 2>&1 &
pid=$!
until_true [ -e "$in/ready" ]
kill -TERM $pid
wait $pid 2>/dev/null
same 'SIGTERM ends a command without a handler' 143 $?

# Sudden death.
die() { # die WHAT WHO: WHO prints the pid to kill, given cordon's
	rm -f "$in/pid" "$in/tmp"
	"$CORDON" -p "$work/tmp.ini" sh -c 'echo $TMPDIR >'"$in/tmp"'; setsid sleep 300 & echo $! >'"$in/pid"'; wait' >/dev/null 2>&1 &
	local front=$! target
	until_true [ -s "$in/pid" ]
	target=$($2 $front)
	kill -KILL "$target"
	wait $front 2>/dev/null
	if until_true gone "$(<"$in/pid")"; then pass "$1: everything ends"; else fail "$1: everything ends"; fi
	if until_true [ ! -e "$(<"$in/tmp")" ]; then pass "$1: no TMPDIR stays"; else fail "$1: no TMPDIR stays" "$(<"$in/tmp")"; fi
}
itself() { echo "$1"; }
supervisor() { pgrep -P "$1" | head -n 1; }
die 'SIGKILL of the front' itself
die 'SIGKILL of the supervisor' supervisor

# A stop of the whole group ends with it: the news of the command's stop, read afterwards, stops nobody again.
state_of() { sed -n 's/^State:\t\(.\).*/\1/p' "/proc/$1/status" 2>/dev/null; }
is_stopped() { [ "$(state_of "$1")" = T ]; }
group_stop() {
	local pid _
	rm -f "$in/pid"
	setsid "$CORDON" -p "$policy" sh -c "echo \$\$ >$in/pid; exec sleep 300" &
	pid=$!
	until_true [ -s "$in/pid" ]
	for _ in 1 2 3; do
		kill -STOP -- -$pid
		until_true is_stopped $pid
		sleep 0.1
		kill -CONT -- -$pid
		sleep 0.2
		state_of $pid
	done
	kill $pid
	kill -CONT $pid 2>/dev/null
	wait $pid 2>/dev/null
}
same 'a stop of the whole group ends with it' 'S S S' "$(group_stop | tr '\n' ' ' | sed 's/ $//')"

# The command does not keep the group that cordon was started in from being orphaned, so nothing that it does makes the
# kernel send SIGHUP to others there.
cat >"$work/group" <<'END'
trap '' HUP
sh -c 'trap - HUP; exec sleep 60' & other=$!
"$@"
sleep 0.2
kill -0 $other && echo alive
kill $other
END
orphan='trap "" HUP; (sh -c "kill -STOP \$\$" & sleep 0.2; exec setsid sleep 0.6) & sleep 0.5'
same 'the group is not told' alive "$(setsid -w sh "$work/group" "$CORDON" -q -p "$policy" sh -c "$orphan" 2>/dev/null)"

# Job control, on a terminal of its own.
if command -v python3 >/dev/null; then
	cat >"$work/job.py" <<-'END'
		import os, pty, re, select, signal, sys, time
		cordon, policy = sys.argv[1:]
		pid, fd = pty.fork()
		if pid == 0:
		    os.environ['PS1'] = '$ '
		    os.execvp('bash', ['bash', '--norc', '--noprofile', '-i'])
		seen = b''
		def until(text, seconds=60):
		    global seen
		    end = time.time() + seconds
		    while not re.search(text, seen):
		        if time.time() > end or not select.select([fd], [], [], end - time.time())[0]:
		            print('timeout waiting for', text, 'in', seen); os.kill(pid, 9); sys.exit(1)
		        try:
		            seen += os.read(fd, 4096)
		        except OSError:
		            break
		    m = re.search(text, seen)
		    seen = seen[m.end():] if m else b''
		    return m
		def send(text):
		    os.write(fd, text)
		send(b"stty -echo; bind 'set enable-bracketed-paste off' 2>/dev/null; echo go''ing\n"); until(b'going')
		run = f'{cordon} -p {policy} '.encode()
		# Ctrl-Z, fg, and it goes on.
		send(run + b"sh -c 'echo in''side; sleep 1; sleep 1; echo fin''ished'; echo st''atus $?\n"); until(b'inside'); time.sleep(0.2)
		send(b'\x1a'); until(b'Stopped'); until(b'status 148')
		send(b'jobs\n'); until(b'Stopped')
		send(b"fg; echo af''ter $?\n"); until(b'finished'); until(b'after 0')
		# bg
		send(run + b"sh -c 'echo in''side; sleep 1; echo fin''ished'\n"); until(b'inside'); time.sleep(0.2)
		send(b'\x1a'); until(b'Stopped'); send(b'bg\n'); until(b'finished')
		# Ctrl-C ends it
		send(b'wait; ' + run + b"sh -c 'echo in''side; sleep 60'\n"); until(b'inside'); time.sleep(0.2)
		send(b'\x03'); time.sleep(0.3); send(b"echo st''atus $?\n"); until(b'status 130')
		# and reaches a handler once
		send(run + b"bash -c 'trap \"echo got''cha\" INT; echo in''side; for i in 1 2 3 4 5 6; do sleep 0.2; done; echo e''nd'; echo st''atus $?\n")
		until(b'inside'); time.sleep(0.3); send(b'\x03'); m = until(b'gotcha'); m = until(b'end'); until(b'status 0')
		# Ctrl-\
		send(run + b"sh -c 'echo in''side; sleep 60'\n"); until(b'inside'); time.sleep(0.2)
		send(b'\x1c'); time.sleep(0.3); send(b"echo st''atus $?\n"); until(b'status 131')
		# A pipeline, stopped and continued as one.
		send(run + b"sh -c 'echo in''side >&2; sleep 1; echo data' | cat; echo st''atus $?\n"); until(b'inside'); time.sleep(0.2)
		send(b'\x1a'); until(b'Stopped'); send(b"fg; echo af''ter $?\n"); until(b'data'); until(b'after 0')
		# An interactive program has the terminal; the size of the window follows.
		send(run + b"bash --norc -c 'read -p wo''rd: x; echo g''ot $x; stty size'\n"); until(b'word:'); send(b'typed\n'); until(b'got typed'); until(rb'\d+ \d+')
		import fcntl, termios, struct
		send(run + b"bash --norc -c 'trap \"echo res''ized \\$(stty size)\" WINCH; echo in''side; for i in 1 2 3 4 5 6 7 8; do sleep 0.2; done'\n"); until(b'inside'); time.sleep(0.2)
		fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack('HHHH', 33, 77, 0, 0)); until(b'resized 33 77')
		# Job control inside.
		send(run + b"bash --norc --noprofile -i\n"); time.sleep(0.5); send(b"stty -echo; PS1='% '; echo re''ady\n"); until(b'ready')
		send(b"sleep 60\n"); time.sleep(0.3); send(b'\x1a'); until(b'Stopped'); send(b'fg\n'); time.sleep(0.3)
		send(b'\x03'); time.sleep(0.3); send(b"echo st''atus $?\n"); until(b'status 130')
		send(b"exit 5\n"); send(b"echo st''atus $?\n"); until(b'status 5')
		send(b'exit\n')
		print('ok')
		END
	answer=$(timeout 150 python3 "$work/job.py" "$CORDON" "$policy" 2>&1 | tail -n 3)
	same 'job control on a terminal' ok "$answer"
else
	skip 'job control on a terminal' 'no python3'
fi

# What cordon was started as and with. A shell in between would not keep two users.
if is_root && [ "$(head -c 2 "$CORDON")" != '#!' ]; then
	for ids in '--ruid 1001 --euid 1000 --regid 1000' '--reuid 1000 --rgid 1001 --egid 1000' '--ruid 1000 --euid 0 --regid 0' '--ruid 0 --euid 1000 --regid 0'; do
		# shellcheck disable=SC2086 # options
		setpriv $ids --clear-groups "$CORDON" -p "$policy" touch "$in/ran" 2>"$work/said"
		same "started with $ids: 125, and nothing ran" '125 1 no' \
			"$? $(grep -c '^cordon: real and effective' "$work/said") $([ -e "$in/ran" ] && echo yes || echo no)"
	done
else
	skip 'started with other real than effective ids' 'needs root, and cordon itself'
fi
: >"$in/long"
(ulimit -S -f 100 && run bash -c 'ulimit -S -f; ulimit -S -f 2000; perl -e "truncate(shift, 1 << 20) or print \$!" "$0"' "$in/long") >"$work/answer" 2>&1
same 'a soft limit on file sizes, raised inside' '100 1048576' "$(<"$work/answer") $(stat -c %s "$in/long")"

# kill(-1), in a process name space of its own: there it can do no harm.
cat >"$work/all.py" <<'END'
import os, signal, sys, time
if len([p for p in os.listdir('/proc') if p.isdigit()]) > 12:
    sys.exit('not in a name space of its own')
def all(sig):
    try: os.kill(-1, sig); return 0
    except OSError as e: return e.strerror
print('alone:', all(0), all(99), flush=True)
def other():
    pid = os.fork()
    if pid == 0:
        os.setresgid(1234, 1234, 1234); os.setresuid(1234, 1234, 1234)
    return pid
if other() == 0:
    print('among those of others:', all(0), all(signal.SIGTERM), flush=True)
    os._exit(0)
os.wait()
child = other()
if child == 0:
    time.sleep(60)
if other() == 0:
    time.sleep(0.3)
    print('with one of its own:', all(signal.SIGTERM), flush=True)
    os._exit(0)
print('ended by', [os.wait()[1], os.wait()[1]] in ([0, 15], [15, 0]))
END
space=(unshare -fpm --mount-proc)
if is_root && command -v python3 >/dev/null && "${space[@]}" true 2>/dev/null; then
	same 'kill(-1)' "$("${space[@]}" sh -c 'python3 "$0"; true' "$work/all.py" 2>&1)" \
		"$("${space[@]}" "$CORDON" -p "$policy" python3 "$work/all.py" 2>&1)"
else
	skip 'kill(-1)' 'needs root, a process name space and python3'
fi
# What is sent to many, or by a descriptor, comes from the supervisor.
if command -v python3 >/dev/null; then
	same 'who signals come from' 'supervisor supervisor supervisor self self' "$(run python3 - <<'END'
import os, signal
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
def sender(send, *to):
    send(*to, signal.SIGUSR1)
    pid = signal.sigwaitinfo({signal.SIGUSR1}).si_pid
    return {os.getpid(): 'self', os.getppid(): 'supervisor'}.get(pid, pid)
said = [sender(os.kill, 0), sender(signal.pidfd_send_signal, os.pidfd_open(os.getpid()))]
os.setpgid(0, 0)
print(*said, sender(os.kill, 0), sender(os.kill, -os.getpid()), sender(os.kill, os.getpid()))
END
	)"
else
	skip 'who signals come from' 'no python3'
fi

# Threads, many processes at the end, a fork in the last moment.
run bash -c 'for i in {1..200}; do sleep 100 & done' 2>/dev/null
same 'two hundred leftovers' 0 $?
same 'none is left' 0 "$(pgrep -u "$(id -u)" -cx 'sleep 100' || true)"
finish
