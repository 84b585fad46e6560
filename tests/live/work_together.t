#!/bin/bash
# Several sessions at work in one tree at the same time.
# shellcheck disable=SC2034 # what is set before a case is read by work_lib.sh
# shellcheck source=tests/live/work_lib.sh
. "$(dirname "$0")/work_lib.sh"

together() { # together NAME TOOL... <<SCRIPT: three at once in the one directory; nothing may fail, $1 is which
	local name=$1 why way i
	shift
	why=$(missing "$@")
	cat >"$base/script"
	[ -z "$why" ] || { result 0 "$name" "$why"; prepare=''; return; }
	for way in d f; do
		fresh $way
		cd "$base/$way/w" || exit
		for i in 1 2 3; do
			# shellcheck disable=SC2046
			environment $way timeout -k 3 200 "$cordon" $([ $way = d ] || echo -p "$base/fast.ini") bash -eu "$base/script" $i >"$base/$way/out$i" 2>"$base/$way/err$i" </dev/null &
		done
		local bad=0
		for i in $(jobs -p); do wait "$i" || bad=$?; done
		[ $bad = 0 ] && ! grep -q . "$base/$way"/err? || { bad=1; head -20 "$base/$way"/err? | sed 's/^/# /'; }
		if [ -n "${check:-}" ] && (eval "$check") | sed 's/^/# /' | grep .; then bad=1; fi
		result $bad "$name, $way"
	done
	prepare='' check=''
}

prepare='mkdir src; for i in $(seq 30); do echo "int f$i(void) { return $i; }" >src/f$i.c; done'
check='ls obj* | grep -c "\.o$" | grep -vx 90; [ "$(sort -n log | uniq | wc -l)" = 300 ] || echo log'
together 'compiling, appending to one file, locks' gcc flock <<'EOF'
mkdir -p obj$1; for f in src/*.c; do gcc -c -o obj$1/$(basename $f .c).o $f; done; for i in $(seq 100); do (flock 9; echo $(($1 * 1000 + i)) >>log) 9>lock; done
EOF

prepare='git init -q r; cd r; for i in 1 2 3; do echo $i >f$i; git add .; git commit -qm $i; git branch b$i; done; git gc -q'
check='cd r && git fsck 2>&1 | grep -iE "error|missing|corrupt"; git rev-list --count --all | grep -vx 33'
together 'git: clones, fetches and commits to one repository' git <<'EOF'
git clone -q r c$1; cd c$1; for i in $(seq 10); do echo $i >g$1; git add .; git commit -qm $1$i; done; git push -q origin HEAD:refs/heads/from$1; git fetch -q
EOF

check='ls -A | grep -vxE "n[123]|shared|sock.*"; [ "$(ls shared | wc -l)" = 0 ] || echo left'
together 'making, renaming and removing in one directory' <<'EOF'
mkdir -p n$1 shared; for i in $(seq 60); do echo $i >shared/$1.$i.tmp; mv shared/$1.$i.tmp shared/$1.$i; ln shared/$1.$i n$1/$i; rm shared/$1.$i; t=$(mktemp -p shared); rm $t; done; rm -r n$1; t=$(mktemp -d /tmp/work.XXXXXX); echo x >$t/f; rm -r $t
EOF

together 'servers on Unix sockets of each session, signals to its own processes' python3 <<'EOF'
python3 - $1 <<'X'
import socket, sys, subprocess as sp, os, signal, threading
n = sys.argv[1]; s = socket.socket(socket.AF_UNIX); s.bind('s%s.sock' % n); s.listen(50)
def serve():
	while True:
		c, _ = s.accept(); c.sendall(c.recv(99)[::-1]); c.close()
threading.Thread(target=serve, daemon=True).start()
for i in range(50):
	c = socket.socket(socket.AF_UNIX); c.connect('s%s.sock' % n); c.sendall(b'abc'); assert c.recv(9) == b'cba'; c.close()
ps = [sp.Popen(['sleep', '20']) for _ in range(5)]; [p.terminate() for p in ps]; assert [p.wait() for p in ps] == [-15] * 5; os.unlink('s%s.sock' % n)
X
EOF
finish
