#!/bin/bash
# What shells do gives the same inside as outside.
# shellcheck disable=SC2034 # what is set before a case is read by work_lib.sh
# shellcheck source=tests/live/work_lib.sh
. "$(dirname "$0")/work_lib.sh"

work 'process substitution, here documents, redirections' <<'EOF'
diff <(seq 3) <(seq 4); seq 5 | tee >(wc -l >n) >(head -1 >h) >/dev/null; until [ -s n ] && [ -s h ]; do sleep 0.01; done; cat n h
paste <(seq 3) <(seq 4 6) <(seq 7 9); while read -r a; do echo "[$a]"; done < <(printf 'a\nb\n')
cat <<X; cat <<'Y'; cat <<<"word"
$((1 + 1))
X
$literal
Y
exec 3>out 4<>rw; echo three >&3; echo four >&4; exec 3>&- 4>&-; cat out rw; { echo o; echo e >&2; } >both 2>&1; cat both
echo more >>out; cat <out >copy; set -C; echo x >out; echo $?; echo y >|out; set +C; cat out
exec {fd}<out; read -r l <&$fd; echo "$l"; exec {fd}<&-; : >empty; [ -s empty ] || echo empty; echo hi >&1 | cat; ls nothing 2>/dev/null; echo $?
cat /dev/fd/0 <out; cat /dev/stdin <out; echo to >/dev/stdout; echo err >/dev/stderr; echo x >/dev/null; head -c3 /dev/zero | od -An -c
printf '%s\n' "$(<out)" "`cat out`"; (exit 3); echo $?; false | true; echo "${PIPESTATUS[@]}"; set -o pipefail; false | true; echo $?
EOF

differs='s/line ([0-9]+): +[0-9]+ /line \1: PID /'
work 'jobs: wait -n, kill %1, traps, coproc' <<'EOF'
set -m; sleep 5 & kill %1; wait %1; echo $?; set +m
(sleep 0.05; exit 4) & (sleep 0.3; exit 5) & wait -n; echo $?; wait -n; echo $?
trap 'echo usr1' USR1; kill -USR1 $$; trap 'echo exit' EXIT; trap '' HUP; kill -HUP $$; echo alive
coproc C { while read -r l; do echo "got $l"; done; }; echo one >&"${C[1]}"; read -r l <&"${C[0]}"; echo "$l"; kill "$C_PID"; wait "$C_PID" 2>/dev/null; echo $?
(trap 'echo term; exit 9' TERM; while :; do sleep 0.02; done) & p=$!; sleep 0.1; kill $p; wait $p; echo $?
sleep 5 & p=$!; kill -0 $p && echo there; kill -STOP $p; kill -CONT $p; kill -9 $p; wait $p; echo $?; kill -0 $p 2>/dev/null || echo gone
timeout 0.1 sleep 5; echo $?; timeout -s KILL 0.1 sleep 5; echo $?; (ulimit -n 32; ulimit -n; exec 20<Makefile) 2>/dev/null; echo $?
setsid -w sh -c 'echo session; kill -TERM 0'; echo $?; nohup true; echo $?; nice -n 5 nice; time -p true 2>/dev/null
bash -c 'kill -SEGV $$'; echo $?; bash -c 'kill -INT $$'; echo $?; { sleep 0.05; echo late; } & wait; echo done
EOF

work 'FIFOs and locks' flock mkfifo <<'EOF'
mkfifo p q; cat p >out & echo through >p; wait; cat out; (cat <q | tr a-z A-Z >up) & (echo low >q); wait; cat up
(for i in 1 2 3; do echo $i; done >p) & while read -r x; do echo "r$x"; done <p; wait
exec 3<>p; echo both >&3; read -r l <&3; echo "$l"; exec 3>&-; rm p q; mkfifo -m 600 r; stat -c '%F %a' r; rm r
(flock 9; echo a >>log; sleep 0.1; echo b >>log) 9>lock & until [ -s log ]; do sleep 0.01; done; (flock 9; echo c >>log) 9>lock; wait; cat log
flock -n lock -c 'echo got; flock -n lock echo never || echo busy'; timeout 1 sh -c 'cat p2 2>/dev/null; mkfifo p2; cat p2'; echo $?
flock -s lock true; flock -w 1 lock true; echo $?
EOF

work 'umask, ulimit, limits on file sizes' <<'EOF'
umask 077; echo >a; mkdir b; umask 0; echo >c; mkdir d; umask 027; mkfifo e; ln -s a f; touch g; umask; stat -c '%n %a' a b c d e g
umask u=rwx,g=,o=; umask -S; (umask 777; echo >h); stat -c %a h; bash -c 'umask'
(trap '' XFSZ; ulimit -f 4; head -c 100000 /dev/zero >big) 2>/dev/null; echo $?; stat -c %s big
(ulimit -f 4; head -c 100000 /dev/zero >big2) 2>/dev/null; echo $?; (ulimit -n 16; ulimit -n; for i in $(seq 3 20); do eval "exec $i<a" || break; done) 2>/dev/null; echo $?
(ulimit -v 2000000; echo ok); ulimit -c; (ulimit -t 5; echo cpu)
EOF
# The limit on core files is lowered where Landlock does not keep them in their place, which is not so here.

work 'sh -c, env, xargs -P, find -exec, many short processes' xargs <<'EOF'
seq 60 | xargs -P4 -n1 sh -c 'echo $0 >f$0'; ls | wc -l; cat f* | sort -n | tail -1; find . -name 'f1*' -exec rm {} +; ls | wc -l
find . -name 'f2*' -delete; find . -type f -exec sh -c 'echo x >>"$1"' _ {} \; ; cat f3 | wc -l; for i in $(seq 50); do (echo $i >>all); done; wc -l <all
env -i /bin/sh -c 'echo "$PATH" >/dev/null; echo ok'; sh -c 'cd /; cd "$OLDPWD"; pwd' >p; pushd /tmp >/dev/null; popd >/dev/null; cat /proc/self/comm
for i in $(seq 30); do sh -c "mkdir -p a/b/c; rmdir a/b/c; exit 0" 2>/dev/null & done; wait; find . -type d | sort | head -3
EOF

work 'refused things fail without ending the script' <<'EOF'
cat /nonexistent; cd /nonexistent; ls /nonexistent
rmdir . 2>/dev/null; mkdir d; mkdir d; echo $?; mkdir -p d; rmdir d/.; rm d; rmdir nothing; rm -f nothing; mkdir d/e; rmdir d; echo $?; unlink d 2>&1 | wc -l
cat d; echo x >d; : >d/e/f/g; ln -s nowhere l; cat l; echo y >l; cat nowhere; ln -s self self; cat self; touch self; mv d d/e 2>&1; mv nothing x; cp nothing x; chmod 600 nothing; touch a/b
ln nothing y; readlink l; mkdir "$(printf 'x%.0s' $(seq 256))" 2>&1 | sed 's/x\{9,\}/X/'
EOF

# Writing the terminal's settings, stops by Ctrl-Z and job control of an interactive shell, on a terminal of its own.
differs='s/\r//g; s/bash[^ ]*: no job control.*//; /^$/d; s/\x1b\[[0-9;?]*[a-z]//g; s/^(\[[0-9]+\]) [0-9]+/\1 PID/; s/kill: \([0-9]+\)/kill: PID/'
work 'a terminal: script, stty, job control' script stty <<'EOF'
script -qec 'test -t 0 && test -t 1 && echo tty; stty size; stty -echo; stty cols 90; stty size; tty | sed s/[0-9]*$/N/; echo x >/dev/tty' log </dev/null; rm log
script -qec 'bash --norc --noprofile -m -c "sleep 5 & kill -STOP %1; sleep 0.1; jobs; kill -CONT %1; kill %1; wait %1 2>/dev/null; echo \$?; (kill -TSTP \$BASHPID; echo went on) & sleep 0.1; fg %2 >/dev/null || fg; echo back"' log </dev/null; rm log
script -qc 'exit 3' /dev/null </dev/null; echo $?; script -qec 'exit 3' /dev/null </dev/null; echo $?
EOF

work 'Ctrl-C, Ctrl-Z and end of input on a terminal' python3 <<'EOF'
cat >t.py <<'X'
import os, pty, time, sys, signal, select
def run(args, script):
	pid, fd = pty.fork()
	if pid == 0:
		os.execvp(args[0], args)
	out = b''
	for want, send in script:
		if want is None:
			time.sleep(0.1); os.write(fd, send); continue
		end = time.time() + 10
		while want not in out and time.time() < end:
			if select.select([fd], [], [], 0.1)[0]:
				try: out += os.read(fd, 4096)
				except OSError: break
		if want not in out: print('missing', want, out)
		out = out.split(want, 1)[-1] if want and want in out else out
		if send: os.write(fd, send)
	try:
		while os.read(fd, 4096): pass
	except OSError: pass
	print(args[:2], os.waitpid(pid, 0)[1])
	os.close(fd)
run(['bash', '--norc', '--noprofile', '-i'], [(b'# ' if os.getuid() == 0 else b'$ ', b"HISTFILE= PS1='RE''ADY>'\n"),
	(b'READY>', b"sh -c 'echo u''p; exec sleep 20'; echo n$((1+1))\n"), (b'up\r', None), (None, b'\x03'),
	(b'READY>', b"sh -c 'echo u''p; exec sleep 20'\n"), (b'up\r', None), (None, b'\x1a'),
	(b'Stopped', None), (b'READY>', b'jobs; kill %1; wait; echo e$((2+2))\n'), (b'e4', None), (b'READY>', b'exec true\n')])
run(['cat'], [(b'', b'line\n'), (b'line', b'\x04')])
run(['sh', '-c', 'trap "echo int; exit 5" INT; echo go; while :; do sleep 0.05; done'], [(b'go', b'\x03'), (b'int', b'')])
run(['sh', '-c', 'echo up; exec sleep 20'], [(b'up', b'\x1c')])
X
python3 t.py
EOF

differs='s/\r//g'
work 'tmux: server, session, keys, capture' tmux <<'EOF'
export TMUX_TMPDIR=$PWD/tm; mkdir -m 700 tm; t="tmux -f /dev/null -L x"
$t new-session -d -x 80 -y 24 'sh' && $t send-keys 'echo in > typed; echo a$((40+2))' Enter; for i in $(seq 200); do [ -e typed ] && break; sleep 0.05; done; for i in $(seq 200); do $t capture-pane -p | grep -q a42 && break; sleep 0.05; done
$t capture-pane -p | grep -o a42; $t list-windows -F '#{window_index} #{window_panes}'; $t split-window -d 'sleep 9'; $t list-panes | wc -l; $t kill-server; sleep 0.2; rm -rf tm; cat typed
EOF

finish
