#!/bin/bash
# What cordon does on older kernels and in stricter containers: what it needs is asked for before the command starts, and
# what it can do without makes no difference to the command.
. "$(dirname "$0")/lib.sh"
if [ -n "$AS_OLD" ]; then
	skip 'older kernels' 'this is one'
	finish
fi

build oldkernel "$cc" -- "$here/../oldkernel/oldkernel.c" || { echo "Bail out! the launcher cannot be built"; exit 1; }
old=$LIVE_BUILD/oldkernel
cd "$work" || exit 1
mkdir project project/.git project/sub secret
echo secret >secret/key
printf '[filesystem]\nallow_write = project\nallow_own = own\n' >fast.ini
printf '[filesystem]\nallow_write = project\nallow_own = own\ndeny_read = secret\n' >reads.ini

# refuses LACK TEXT: cordon says so in one line, with 125, and runs nothing
refuses() {
	local out status
	rm -f project/ran
	out=$("$old" "$1" "$CORDON" -p fast.ini touch project/ran 2>&1)
	status=$?
	if [ $status != 125 ] || [ -e project/ran ] || [ "$(wc -l <<<"$out")" != 1 ] || [[ $out != cordon:*$2* ]]; then
		fail "without $1 no command is run" "status $status, $(ls project/ran 2>&1): $out"
	else
		pass "without $1 no command is run"
	fi
	out=$("$old" "$1" "$CORDON" doctor 2>&1)
	status=$?
	if [ $status = 1 ] && [[ $out == *"Missing: "*"$3"* ]]; then
		pass "without $1 doctor names $3"
	else
		fail "without $1 doctor names $3" "status $status: $out"
	fi
}
refuses openat2 'openat2' openat2
refuses killable 'Linux 5.19' WAIT_KILLABLE_RECV
refuses sendfd ADDFD_FLAG_SEND ADDFD_SEND
refuses listener 'seccomp' 'seccomp listener'
refuses seccomp 'seccomp' 'seccomp filter'
refuses mem,vm 'memory cannot be read' process_vm_readv
refuses mem,vm-refused 'memory cannot be read' /proc/PID/mem
refuses landlock-stuck 'Landlock' Landlock

cat >script <<'END'
cd project
echo one >a && cat a
mkdir -p d/e && mv a d/e/b && ln d/e/b d/c && ln -s b d/e/l && cat d/e/l
echo two >>d/c; cat d/c
rm -r d
echo no >../outside || echo "not outside"
echo no >.git/config || echo "not .git/config"
mv sub .. || echo "not out of the project"
cat ../secret/key
cat /proc/$OUTSIDE/environ >/dev/null || echo "not the environment of a stranger"
kill -0 $OUTSIDE || echo "no signal to a stranger"
(echo sub; exit 3) | cat; echo "${PIPESTATUS[*]}"
echo own >../own/file && echo more >>../own/file && cat ../own/file && rm ../own/file
echo no >>../own/there || echo "not what was there"
mkfifo f && { echo fifo >f & } && cat f; wait; rm f
chmod 600 sub; stat -c %a sub; chmod 755 sub
umask 077; : >m; stat -c %a m; rm m
sleep 0.1 & kill $!; wait $!; echo $?
END
mkdir own && echo there >own/there
sleep 1000 &
sleeper=$!
export OUTSIDE=$sleeper

expected() {
	cat <<-END
	one
	one
	one
	two
	not outside
	not .git/config
	not out of the project
	END
	[ "$1" = reads ] || echo secret
	cat <<-END
	not the environment of a stranger
	no signal to a stranger
	sub
	3 0
	own
	more
	not what was there
	fifo
	600
	600
	143
	END
}

# works LACK...: all of the above as without the lack
works() {
	local policy out want lack
	for policy in fast reads; do
		want=$("$CORDON" -p $policy.ini bash script 2>script.err)
		same "the script's own results, policy $policy" "$(expected $policy)" "$want"
		for lack; do
			out=$("$old" "$lack" "$CORDON" -p $policy.ini bash script 2>script.err)
			if [ "$out" = "$want" ]; then
				pass "without $lack all is the same, policy $policy"
			else
				fail "without $lack all is the same, policy $policy" "$(diff <(echo "$want") <(echo "$out")
				cat script.err)"
			fi
		done
	done
}
# A container may refuse the one way to read memory already; then the other is needed.
mem=
"$CORDON" doctor | grep -q '^process_vm_readv *yes' && mem=mem
works syncwake vm vm-refused $mem landlock landlock-off landlock-refused vm-refused,landlock vm,landlock-off,syncwake ptrace
kill $sleeper

same "without NETLINK_SOCK_DIAG doctor names it" optional "$("$old" diag "$CORDON" doctor | awk '/^sock_diag/ { print $2 }')"
for lack in syncwake vm vm-refused $mem landlock vm,landlock-off diag; do
	check "without $lack doctor is content" "$old" $lack "$CORDON" doctor
done
same "without Landlock core files are off" 0 "$("$old" landlock "$CORDON" bash -c 'ulimit -c')"
same "without Landlock reads are decided by the supervisor" optional \
	"$("$old" landlock "$CORDON" -p fast.ini doctor | awk '/^fast reads/ { print $3 }')"
if "$CORDON" doctor | grep -q '^Landlock *yes'; then
	same "with it they are not, where no rule is about them" yes \
		"$("$CORDON" -p fast.ini doctor | awk '/^fast reads/ { print $3 }')"
else
	skip "with it they are not, where no rule is about them" "no Landlock here"
fi

# Inside: said at once, whatever else is missing there.
out=$("$CORDON" -p fast.ini "$CORDON" true 2>&1)
same "inside cordon: 125" 125 $?
[[ $out == *"already inside"* ]]
same "inside cordon: it says so" 0 $?
out=$("$CORDON" "$CORDON" doctor 2>&1)
same "inside cordon: doctor's status" 1 $?
[[ $out == *"Missing: seccomp listener."* ]]
same "inside cordon: doctor says that alone" 0 $?
finish
