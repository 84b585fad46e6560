# Shared by the tests of this folder: TAP output, building of the helpers, comparing of two runs.
# Takes $CORDON (default build/cordon) and $LIVE_BUILD (default build/tests/live).

here=$(cd "$(dirname "$0")" && pwd)
project=$(cd "$here/../.." && pwd)
CORDON=$(readlink -f "${CORDON:-$project/build/cordon}")
LIVE_BUILD=${LIVE_BUILD:-$project/build/tests/live}
[ -x "$CORDON" ] || { echo "Bail out! no cordon at $CORDON"; exit 1; }
unset CORDON_POLICY
AS_OLD=${AS_OLD:-} # what runs a program as tests/oldkernel/run has cordon run
umask 022

work=$(mktemp -d "${TMPDIR:-/tmp}/live.XXXXXX") || exit 1
work=$(cd "$work" && pwd -P)
chmod 755 "$work"
cleanup() {
	chmod -R u+rwx "$work" 2>/dev/null
	rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 130' INT TERM HUP
# A home of its own: no policy or credentials of the user play a part.
mkdir "$work/home"
export HOME=$work/home
unset XDG_CONFIG_HOME XDG_STATE_HOME

count=0 failed=0
pass() {
	count=$((count + 1))
	echo "ok $count - $1"
}
fail() {
	count=$((count + 1))
	failed=$((failed + 1))
	echo "not ok $count - $1"
	# The rest, or standard input, says why.
	[ -z "$2" ] || printf '%s\n' "$2" | head -n 40 | sed 's/^/# /'
}
skip() {
	count=$((count + 1))
	echo "ok $count - $1 # SKIP $2"
}
# check WHAT COMMAND...: passes when the command succeeds; what it prints is shown when not.
check() {
	local what=$1 out
	shift
	if out=$("$@" 2>&1); then pass "$what"; else fail "$what" "$* : $out"; fi
}
# same WHAT EXPECTED GOT
same() {
	if [ "$2" = "$3" ]; then pass "$1"; else fail "$1" "expected: $2
got:      $3"; fi
}
finish() {
	echo "1..$count"
	[ "$failed" -eq 0 ]
	exit
}

# The helper programs, built once; a lock keeps two tests from building together.
cc=${CC:-gcc}
flags="-std=gnu11 -O1 -g -D_GNU_SOURCE -Wall -Wextra -Wno-missing-field-initializers -Wno-unused-parameter -Wno-unused-result -Wno-nonnull"
newer() {
	local source
	[ -x "$1" ] || return 1
	for source in "$here"/*.c "$here"/*.h; do
		[ "$source" -nt "$1" ] && return 1
	done
	return 0
}
# build NAME COMPILER FLAGS... -- SOURCES...
build() {
	local out=$LIVE_BUILD/$1 options=() compiler=$2
	shift 2
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	mkdir -p "$LIVE_BUILD" || return 1
	(
		flock 9
		newer "$out" || { $compiler $flags "${options[@]}" -o "$out.new" "$@" -lpthread && mv "$out.new" "$out"; }
	) 9>"$LIVE_BUILD/.lock"
}

is_root() { [ "$(id -u)" = 0 ]; }
