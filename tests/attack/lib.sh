# shellcheck shell=bash
# What the tests here share. An attack is a program that is started in a directory that the policy allows ($IN), with a
# forbidden one beside it ($OUT). It must succeed without cordon, so that a broken attack does not pass for a
# good defence, and fail with it; and $OUT must be afterwards what it was before.
#
#   setup() { ... }                     what is made in fresh $IN and $OUT before each run
#   policy='deny_read = ...'            lines of the [filesystem] section, besides allow_write = $IN
#   attack 'description' PROGRAM [ARGUMENT...]
#
# CORDON is the program under test, ATTACK_BUILD where the attack programs are built. Races are tried for ATTACK_SECONDS and
# at least ATTACK_TRIES times (default 0) inside; with that given all counts are told. ATTACK_TIMEOUT: seconds for one attack.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
top=$(cd "$here/../.." && pwd)
CORDON=$(readlink -f "${CORDON:-$top/build/cordon}")
build=${ATTACK_BUILD:-$top/build/tests/attack}
work=$(mktemp -d "${TMPDIR:-/tmp}/attack.XXXXXX")
work=$(readlink -f "$work")
chmod 755 "$work"
export OUT=$work/out IN=$work/in
count=0 failed=0
policy='' sections='' flags=() mutable=false
setup() { :; }
before() { :; }
after() { :; }

finish() {
	local rc=$?
	trap - EXIT
	cd /
	after
	tell_tries
	chmod -R u+rwx "$work" 2>/dev/null
	rm -rf "$work"
	[ $rc = 0 ] || exit $rc
	echo "1..$count"
	[ $failed = 0 ] || exit 1
}
trap finish EXIT
trap 'exit 130' INT TERM

ok() { count=$((count + 1)); echo "ok $count - $1"; }
not_ok() { count=$((count + 1)) failed=$((failed + 1)); echo "not ok $count - $1"; }
skip() { count=$((count + 1)); echo "ok $count - $1 # SKIP ${2:-}"; }

# Builds tests/attack/NAME.c, unless it is there.
program() {
	local name
	mkdir -p "$build" 2>/dev/null
	for name; do
		[ "$build/$name" -nt "$here/$name.c" ] && [ "$build/$name" -nt "$here/attack.h" ] && continue
		[ -w "$build" ] || build=$work/build
		mkdir -p "$build"
		${CC:-gcc} -std=gnu11 -O1 -g -Wall -Wextra -Wno-unused-parameter -D_GNU_SOURCE -pthread \
			-o "$build/$name.$$" "$here/$name.c" && mv "$build/$name.$$" "$build/$name" ||
			{ echo "Bail out! cannot build $name"; exit 1; }
	done
}

# Builds a program that needs no loader and nothing else, which can so be one: it makes the file "won" and waits a second.
stub() {
	[ ! -x "$build/stub" ] || return 0
	${CC:-gcc} -nostdlib -static -fno-pie -no-pie -fno-stack-protector -Wl,-Ttext-segment=0x10000000 \
		-o "$build/stub.$$" "$here/stub.S" && mv "$build/stub.$$" "$build/stub"
}

# Builds a program that asks to be loaded by "hiddenstub" in the working directory.
asks() {
	[ ! -x "$build/asks" ] || return 0
	echo 'int main(void) { return 0; }' | ${CC:-gcc} -x c -Wl,--dynamic-linker=hiddenstub -o "$build/asks.$$" - &&
		mv "$build/asks.$$" "$build/asks"
}

fresh() {
	cd "$work" || exit 1
	chmod -R u+rwx "$IN" "$OUT" 2>/dev/null
	rm -rf "$IN" "$OUT"
	mkdir "$IN" "$OUT"
	cd "$IN" || exit 1
	setup
}

snapshot() { (cd "$OUT" && find . -printf '%P %y %m %U %s %T@ %l\n' | sort; find . -type f -exec cksum {} + 2>/dev/null | sort); }

write_policy() {
	printf '[filesystem]\nallow_write = %s\nprivate_tmp = no\n%s\n%s\n' "$IN" "$policy" "$sections" >"$work/policy.ini"
}

# What was tried how often, of all races: "# sum: " is a line that is shown of tests that pass, too.
tell_tries() {
	local where
	for where in native inside; do
		[ ! -s "$work/tries.$where" ] || awk -v where=$where '
		{ n++; total += $1; if (least == "" || $1 < least) { least = $1; what = $0; sub(/^[^ ]* /, "", what) } }
		/ won$/ { won++ }
		END { printf "# sum: %s: %d races, %d won, %d tries, the fewest %d (%s)\n", where, n, won, total, least, what }
		' "$work/tries.$where"
	done
}

# count_tries WHERE WHAT
count_tries() {
	sed -En "s;^# (.*): (won|not) after ([0-9]*) tries$;\3 $2, \1: \2;p" "$work/$1.log" >"$work/tries.new"
	cat "$work/tries.new" >>"$work/tries.$1"
	[ -z "${ATTACK_TRIES:-}" ] || awk -v where="$1" '{ n = $1; $1 = ""; print "# " where ":" $0 " after " n " tries" }' "$work/tries.new"
}

# Runs a command confined. Its exit status is the command's.
confined() { timeout -k 5 "${ATTACK_TIMEOUT:-60}" "$CORDON" -q -p "$work/policy.ini" "${flags[@]}" -- "$@"; }

attack() {
	local what=$1 prog=$2 rc was now
	shift 2
	program "$prog"
	unset CONFINED
	# A race ends when it is won, so there may be much time for it; on a busy machine it may be lost all the same.
	for _ in 1 2; do
		fresh
		before native
		ATTACK_SECONDS=8 timeout -k 5 "${ATTACK_TIMEOUT:-60}" "$build/$prog" "$@" >"$work/native.log" 2>&1
		rc=$?
		after native
		[ $rc = 1 ] || break
	done
	count_tries native "$what"
	if [ $rc = 77 ]; then
		skip "$what" "$(head -1 "$work/native.log")"
		return
	fi
	if [ $rc != 0 ]; then
		sed 's/^#* */# outside: /' "$work/native.log"
		not_ok "$what: does not even work outside ($rc)"
		return
	fi
	fresh
	write_policy
	export CONFINED=1 # the programs then look for the supervisor, too
	before inside
	was=$(snapshot)
	confined "$build/$prog" "$@" >"$work/inside.log" 2>&1
	rc=$?
	now=$(snapshot)
	after inside
	count_tries inside "$what"
	if [ $rc = 0 ]; then
		sed 's/^#* */# inside: /' "$work/inside.log"
		not_ok "$what: SUCCEEDS INSIDE"
	elif [ $rc = 77 ]; then
		skip "$what" "$(head -1 "$work/inside.log")"
	elif [ $rc != 1 ]; then
		sed 's/^#* */# inside: /' "$work/inside.log"
		not_ok "$what: ended with $rc inside"
	elif ! $mutable && [ "$was" != "$now" ]; then
		diff <(echo "$was") <(echo "$now") | head -6 | sed 's/^/# /'
		not_ok "$what: changed something outside"
	else
		ok "$what"
	fi
}

# Attacks on a bystander, which the test's stage() has beside the command that it runs: with a kernel as it is, and as without
# Landlock.
#
#   staged 'description' PROGRAM [ARGUMENT...]
staged() {
	local what=$1 lacks=$work/oldkernel lack how rc
	shift
	[ -x "$lacks" ] || ${CC:-gcc} -O1 -D_GNU_SOURCE -o "$lacks" "$top/tests/oldkernel/oldkernel.c" ||
		{ echo 'Bail out! no oldkernel'; exit 1; }
	# On a busy machine the control may be too slow for its own waits once.
	if ! stage "$@" && ! stage "$@"; then
		sed 's/^/# /' "$work/log"
		not_ok "$what: does not even work outside"
		return
	fi
	for lack in nothing landlock; do
		how=("$CORDON" -q -p "$work/policy.ini" -- "$@")
		[ $lack = nothing ] || how=("$lacks" "$lack" "${how[@]}")
		stage "${how[@]}"
		rc=$?
		if [ $rc = 1 ] && ! grep -q cordon "$work/log"; then
			ok "$what, kernel without $lack"
		else
			sed 's/^/# /' "$work/log"
			not_ok "$what, kernel without $lack: $rc"
		fi
	done
}
