#!/bin/bash
# Programs that make terminals and sessions of their own.
# shellcheck disable=SC2034 # what is set before a case is read by work_lib.sh
# shellcheck source=tests/live/work_lib.sh
. "$(dirname "$0")/work_lib.sh"

differs='s:/dev/pts/[0-9]+:/dev/pts/N:g; s:\r::g'
work 'script' script <<'EOF'
script -qec 'tty; stty size >/dev/null; echo $?; test -w /dev/tty && echo out >/dev/tty; sh -c "exit 4"' log; echo $?
script -qec 'setsid -w sh -c ": </dev/tty" 2>/dev/null; echo $?' /dev/null
echo typed | script -qec 'head -n 1' /dev/null
rm log
EOF

differs='s:/dev/pts/[0-9]+:/dev/pts/N:g'
work "Python's pty: spawn, fork, openpty" python3 <<'EOF'
python3 - <<'PY'
import os, pty, signal, termios, fcntl
print(os.waitstatus_to_exitcode(pty.spawn(['sh', '-c', 'tty; : </dev/tty && echo has one; exit 3'])), flush=True)
pid, master = pty.fork()
if pid == 0:
    fd = os.open('/dev/tty', os.O_RDWR)
    os.write(fd, str(os.tcgetpgrp(fd) == os.getpid()).encode())
    os.execvp('sleep', ['sleep', '100'])
print(os.read(master, 100), flush=True)
os.write(master, b'\x03')
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
master, slave = pty.openpty()
# As getty does it: a new session, and the first terminal that is opened is its own.
if os.fork() == 0:
    name = os.ttyname(slave)
    os.close(slave), os.setsid()
    fd = os.open(name, os.O_RDWR)
    print(os.tcgetpgrp(fd) == os.getpid(), os.getsid(0) == os.getpid(), flush=True)
    os.close(os.open('/dev/tty', os.O_RDWR))
    print('gone', flush=True)
    os._exit(0)
print(os.waitstatus_to_exitcode(os.wait()[1]))
PY
EOF

unlisted='.*'
# Its helper is still busy when the session ends.
says='an inherited or received socket was refused'
work 'tmux' tmux <<'EOF'
t() { tmux -L work -f /dev/null "$@"; }
export TMUX_TMPDIR=$PWD
t new-session -d -x 80 -y 24 'echo $TERM; tty >/dev/null && echo a terminal; : </dev/tty && echo its own; read x; echo got $x; read y'
for i in $(seq 100); do t capture-pane -p | grep -q own && break; sleep .05; done
t send-keys hello Enter
for i in $(seq 100); do t capture-pane -p | grep -q got && break; sleep .05; done
t capture-pane -p | grep .
t kill-server
EOF
finish
