#!/bin/bash
# Editors, pagers, process tools, debuggers and archives of the system give the same inside as outside.
# shellcheck disable=SC2034 # what is set before a case is read by work_lib.sh
# shellcheck source=tests/live/work_lib.sh
. "$(dirname "$0")/work_lib.sh"

prepare='seq 100 >a; printf "x\ny\n" >b'
work 'vi -es: edit, write, swap file, backup' vi <<'EOF'
vi -u NONE -es a <<'X'
%s/5/five/g
w! c
wq
X
echo $?; grep -c five a; cmp a c && echo same; vi -u NONE -es -c 'set backup' -c '1d' -c 'wq' b; ls -A; cat b; vi -u NONE -es -c 'w /nonexistent/x' -c 'q!' b; echo $?; vi -u NONE -es -c 'r !echo shell' -c 'wq' b; cat b
EOF

prepare='seq 1000 >a'
work 'less, more, head, tail -f, pagers in a pipe' less <<'EOF'
less a | cksum; less -F a | tail -1; PAGER=cat git --no-pager log 2>&1 | tail -1; more a | wc -l; (for i in 1 2 3; do echo $i >>log; sleep 0.05; done) & p=$!; : >>log; timeout 1 tail -n +1 --pid=$p -s 0.02 -f log; wait; tail -c 5 a; head -n 2 a; watch --version >/dev/null 2>&1; LESSHISTFILE=- less -E a </dev/null | head -1
EOF

says='socket refused'
work 'ps, top, pgrep, pkill, pstree of own processes' ps pgrep top <<'EOF'
sleep 77.5 & p=$!; ps -p $p -o args=; ps -o pid= --ppid $$ | grep -c .; ps -o ppid= -p $p | grep -qw $$ && echo child; pgrep -P $$ -f 'sleep 77' | grep -qw $p && echo found; top -b -n 1 -p $p | grep -c sleep; cat /proc/$p/cmdline | tr '\0' ' '; readlink /proc/$p/exe | sed 's,.*/,,'; readlink /proc/$p/cwd; tr '\0' '\n' </proc/$p/environ | grep ^WAY | wc -l; cat /proc/$p/comm; grep -c . /proc/$p/maps >/dev/null && echo maps; renice -n 5 -p $p >/dev/null; ps -o ni= -p $p; taskset -p $p >/dev/null && echo set; prlimit --pid $p --nofile=100 && grep -c '100 ' /proc/$p/limits; echo 500 >/proc/$p/oom_score_adj; cat /proc/$p/oom_score_adj; chrt -p $p >/dev/null 2>&1 && echo chrt; ionice -c 3 -p $p 2>/dev/null; echo named >/proc/$$/comm; cat /proc/$$/comm; pkill -P $$ -x sleep; wait $p; echo $?; ps aux | wc -l | grep -q '^[0-9]' && echo all; uptime | grep -c load; free | grep -c Mem; vmstat 2>/dev/null | wc -l; ps -e >/dev/null; w >/dev/null 2>&1; lsof -p $$ >/dev/null 2>&1; fuser . >/dev/null 2>&1; nproc >/dev/null; id -u; getconf PAGESIZE; uname -s; date +%Y >/dev/null
EOF

differs='s/[0-9]+ \+\+\+/\+\+\+/; s/\[pid +[0-9]+\]/[pid]/; s/strace: Process [0-9]+/strace: Process/; s/0x[0-9a-f]+/ADDR/g'
work 'strace of an own child' strace <<'EOF'
strace -o t -e trace=openat,mkdir cat /etc/hostname >/dev/null; echo $?; grep -c 'hostname.*= 3' t; strace -f -o t -e trace=mkdir sh -c 'mkdir d; mkdir d' 2>&1; grep -o 'mkdir("d", 0777) .*' t; strace -c -o t true; grep -c total t; strace -o t sh -c 'kill -TERM $$'; echo $?; sleep 5 & strace -o t -p $! -e trace=none & sleep 0.3; kill %1; wait %2; echo $?; tail -1 t | sed 's/^[0-9]* *//'; rm t
EOF

differs='s/process [0-9]+/process/'
work 'gdb: run, break, attach' gdb gcc <<'EOF'
printf 'int f(int x) { return x + 1; }\nint main(void) { volatile int y = f(41); return y - 42; }\n' >x.c; gcc -g -O0 -o x x.c; gdb -nx -q -batch -ex 'break f' -ex run -ex 'print x' -ex 'set var x=10' -ex finish -ex continue ./x 2>&1 | grep -E '^\$|exited|Value'
sleep 9 & gdb -nx -q -batch -p $! -ex 'print 6*7' -ex detach 2>/dev/null | grep '^\$'; kill %1; wait %1 2>/dev/null; gdb -nx -q -batch -ex run -ex 'info program' --args sh -c 'kill -SEGV $$' 2>&1 | grep -c SIGSEGV; rm x
EOF

differs='s/: +[0-9]+ Segm/: PID Segm/'
work 'programs that crash, time out or are refused' gcc <<'EOF'
printf 'int main(void) { *(volatile int *)0 = 1; }\n' >x.c; gcc -w -o x x.c; (./x) 2>/dev/null; echo $?; ls; chmod -x x; ./x 2>/dev/null; echo $?; sh -c ./none 2>/dev/null; echo $?; printf '#!/none\n' >s; chmod +x s; ./s 2>/dev/null; echo $?; printf 'echo script\n' >t; chmod +x t; ./t; printf '#!/bin/sh -e\necho "$0" $1\nfalse\necho no\n' >u; chmod +x u; ./u arg; echo $?; PATH=$PWD:$PATH; u x; . ./t; env -S 'sh -c "echo env"'; timeout 0.1 ./u; exec -a name sh -c 'echo $0'
EOF

differs='s/[0-9]+ (Terminated|Killed)/PID \1/; s/line [0-9]+: +PID/line: PID/'
want=3
work 'what ends with the command: a session cleans up, a daemon ends' <<'EOF'
setsid sh -c 'sleep 0.1; echo from daemon >daemon' & wait; cat daemon; (sleep 0.1; echo orphan >orphan) & disown; sleep 0.3; cat orphan; nohup sh -c 'echo nohup' >n 2>&1; cat n; trap 'echo cleanup >cleaned' EXIT; at now </dev/null >/dev/null 2>&1; exit 3
EOF
finish
