#!/bin/bash
# Faults that reviews found, each with what showed it.
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/lib.sh"
mkdir "$work/in" "$work/out"
cd "$work/in" || exit 1
printf '[filesystem]\nallow_write = %s\nprivate_tmp = no\n' "$work/in" >"$work/p.ini"
cordon() { "$CORDON" -q -p "$work/p.ini" "$@"; }
gone() { # gone PATTERN: no process with it in its arguments, within 4 s
	for _ in {1..40}; do
		pgrep -f -- "$1" >/dev/null || return 0
		sleep 0.1
	done
	return 1
}

# The supervisor took the end of the front's socket for "nothing there yet", and spun.
mark=$work/mark1
"$CORDON" -q -p "$work/p.ini" sh -c "trap : TERM; : $mark; while :; do sleep 0.1; done" &
front=$!
for _ in {1..300}; do pgrep -f -- "sh -c.*$mark" >/dev/null && break; sleep 0.1; done
kill -KILL $front
wait $front 2>/dev/null
check 'a command that ignores SIGTERM ends when the front is killed' gone "$mark"

# A shell's loop goes on unless what it ran died of the signal.
same 'cordon ends by the signal that ended the command' '-15 -11' "$(python3 - "$CORDON" "$work/p.ini" <<-'PY'
	import subprocess, sys
	print(*(subprocess.run([sys.argv[1], '-q', '-p', sys.argv[2], 'sh', '-c', 'kill -%s $$' % s]).returncode
	        for s in ('TERM', 'SEGV')))
	PY
)"

# Each unconnected socket costs the supervisor a descriptor; without any it could not see whom to end.
mark=$work/mark2
cat >"$work/in/hold.py" <<-'PY'
	import os, resource, socket, sys, time
	for i in range(3):
	    if os.fork() == 0:
	        os.setsid()
	        held = []
	        while True:
	            try:
	                held.append(socket.socket(socket.AF_UNIX))
	            except OSError:
	                break
	        time.sleep(60)
	        os._exit(0)
	time.sleep(1.5)
PY
(ulimit -n 200 && cordon python3 hold.py "$mark" </dev/null)
check 'nothing outlives a session that used up the descriptors' gone "$mark"

# Planted links count whatever the order of the rules, and beneath patterns.
mkdir -p "$work/tree/real/proj"
ln -s real "$work/tree/link"
ln -s "$work/out" "$work/tree/real/proj/out"
for order in "link/proj/out link/proj" "link/proj link/proj/out" "real/pr* real/proj/out"; do
	printf '[filesystem]\n' >"$work/o.ini"
	for path in $order; do printf 'allow_write = %s/tree/%s\n' "$work" "$path"; done >>"$work/o.ini"
	"$CORDON" -q -p "$work/o.ini" touch "$work/out/x" 2>/dev/null
	same "a planted link opens nothing: $order" no "$([ -e "$work/out/x" ] && echo yes || echo no)"
done

# A link that failed must not make later names the session's own.
echo old >shared
cat >"$work/in/late.sh" <<-'SH'
	ln shared /dev/shm/cordon-no-such-link 2>/dev/null
	ln shared "$1/x" 2>/dev/null
	touch asked
	i=0; until [ -e linked ] || [ $i = 100 ]; do sleep 0.1; i=$((i + 1)); done
	echo new >shared
SH
(for _ in {1..600}; do [ -e asked ] && break; sleep 0.1; done; ln shared "$work/out/backup"; touch linked) &
cordon sh late.sh "$work/out" 2>/dev/null
wait
same 'a file that got another name outside is not changed in place' old "$(cat "$work/out/backup")"

# Six threads that make and bind sockets at once: none is swept before its program has it.
cat >"$work/in/bind.py" <<-'PY'
	import socket, threading
	bad = []
	def run():
	    for i in range(200):
	        s = socket.socket(socket.AF_UNIX)
	        try:
	            s.bind('')
	        except OSError as e:
	            bad.append(e.errno)
	        s.close()
	threads = [threading.Thread(target=run) for i in range(6)]
	[t.start() for t in threads]
	[t.join() for t in threads]
	print(sorted(set(bad)))
PY
same 'sockets of many threads are not taken from them' '[]' "$(cordon python3 bind.py 2>&1)"

# A directory is judged as one also when it comes by exchange.
mkdir empty
echo x >secret
printf 'deny_write = **/secret/\n' >>"$work/p.ini"
cordon python3 -c '
import ctypes, os
ctypes.CDLL(None).renameat2(-100, b"empty", -100, b"secret", 2)'
same 'an exchange does not put a directory where none may be' yes "$([ -f secret ] && echo yes || echo no)"

# A rule's own path made a symbolic link would be followed by the next session.
printf '[filesystem]\nallow_write = %s/later\nallow_write = %s/in\nprivate_tmp = no\n' "$work" "$work" >"$work/p.ini"
cordon ln -s / "$work/later" 2>/dev/null
ln -s / "$work/in/to-root"
cordon mv "$work/in/to-root" "$work/later" 2>/dev/null
same 'the path of an allow_write does not become a symbolic link' no "$([ -L "$work/later" ] && echo yes || echo no)"

# Rules hold by canonical names: a link named as one of their directories would lead around them.
printf '[filesystem]\nallow_write = %s/in\ndeny_write = %s/in/nope/file\nprivate_tmp = no\n' "$work" "$work" >"$work/p.ini"
cordon bash -c 'mkdir c d e; ln -s c .claude; echo x >c/settings.json; ln -s d .git; ln -s e nope; echo x >e/file
	ln -s c plain; mv plain .claude; ln plain .claude' 2>/dev/null
same 'no symbolic link stands in the place of a directory that rules name' 'no no no' "$(for name in .claude .git nope; do
	[ -L "$name" ] && echo yes || echo no; done | xargs)"

# The links that lead to a policy choose the next one.
printf '[filesystem]\nallow_write = %s\n' "$work/in" >"$work/in/real.ini"
ln -s real.ini by-link.ini
mkdir dir && ln -s dir dir-link && cp real.ini dir/p.ini
"$CORDON" -q -p by-link.ini bash -c 'rm by-link.ini; mv by-link.ini x; rm real.ini' 2>/dev/null
check 'a link to the policy stays' test -e by-link.ini
"$CORDON" -q -p dir-link/p.ini bash -c 'rm dir-link; mv dir other; rm dir/p.ini' 2>/dev/null
check 'a link on the way to the policy stays' test -e dir-link/p.ini
rm -f real.ini by-link.ini

# Nobody here traces a command that asks its parent to.
printf '[filesystem]\nallow_write = %s\n' "$work/in" >"$work/p.ini"
same 'PTRACE_TRACEME does not stop a command for ever' 'execed' "$(timeout 60 "$CORDON" -q -p "$work/p.ini" python3 -c '
import ctypes, os
ctypes.CDLL(None).ptrace(0, 0, 0, 0)
os.execvp("echo", ["echo", "execed"])')"

same 'the scheduler group of the user is not tuned' refused "$(cordon bash -c 'echo 0 >/proc/self/autogroup' 2>/dev/null &&
	echo allowed || echo refused)"

# allow_own opens its directory and what the session makes in it, not what others have there.
mkdir -p "$work/shared/foreign"
printf '[filesystem]\nallow_own = %s\nallow_write = %s\nprivate_tmp = no\n' "$work/shared" "$work/in" >"$work/p.ini"
cordon bash -c 'cd "$1"; echo x >foreign/planted; ln -s /etc/passwd foreign/link; mkdir own && echo x >own/x' - "$work/shared" 2>/dev/null
same 'nothing is made in the directories of others' 'own/x' "$(cd "$work/shared" && find . -mindepth 2 | sed 's|^./||')"

(ulimit -f 0 && "$CORDON" -q -p "$work/p.ini" -a trail.jsonl touch "$work/in/ran") 2>/dev/null
same 'no command runs when the trail has no room' no "$([ -e "$work/in/ran" ] && echo yes || echo no)"

same 'cordon ends when it was started with SIGCHLD ignored' $'ran\n3' "$(timeout 60 python3 -c '
import os, signal, sys
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
os.execv(sys.argv[1], ["cordon", "-q", "-p", sys.argv[2], "sh", "-c", "echo ran; exit 3"])' "$CORDON" "$work/p.ini" ; echo $?)"

if [ "$(id -u)" = 0 ]; then
	# Seen by another user, a hidden file has no identity; that must not become everyone's view.
	mkdir -m 700 "$work/root"
	echo TOPSECRET >"$work/root/key"
	ln "$work/root/key" alias
	echo plain >two && ln two two2
	printf '[filesystem]\nallow_write = %s\ndeny_read = %s/root/key\n' "$work/in" "$work" >"$work/r.ini"
	cat >"$work/in/other.py" <<-'PY'
		import os, time
		time.sleep(1.1)
		if os.fork() == 0:
		    os.execvp('setpriv', ['setpriv', '--reuid=65534', '--clear-groups', 'cat', 'two'])
		os.wait()
		print(open('alias').read())
	PY
	chmod 755 "$work/in"
	same 'a hidden file keeps its identity for a session with several users' '' \
		"$("$CORDON" -q -p "$work/r.ini" python3 other.py 2>/dev/null | grep TOPSECRET)"
	# A worker gives back only what it took: without CAP_SETGID the rest cannot be done, and need not.
	same 'a session without all capabilities survives an identity call' 'ok' "$(setpriv --reuid=65534 --regid=65534 \
		--clear-groups --inh-caps +net_bind_service --ambient-caps +net_bind_service \
		"$CORDON" -q -p "$project/sandbox.ini" --allow-write "$work/in" python3 -c '
import os, subprocess
os.setuid(os.getuid())
for i in range(4): subprocess.run(["true"])
for i in range(3):
    if os.fork() == 0: os.setresuid(-1, -1, -1); os._exit(0)
    os.wait()
print("ok")' 2>&1)"
else
	skip 'a hidden file keeps its identity for a session with several users' 'needs root'
	skip 'a session without all capabilities survives an identity call' 'needs root'
fi
finish
