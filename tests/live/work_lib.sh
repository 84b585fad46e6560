# Shared by the scripts work_*.t, which read it in. Not run by itself.
# shellcheck shell=bash
#
# Each case is one script that runs three times, in three directories that begin alike:
#
#     n    natively
#     d    confined under the built-in policy, so that every open is decided by the supervisor
#     f    confined under the same policy without deny_read, so that opens to read stay in the kernel
#
# and has to give the same exit status, output and tree of files each time, and not one line from cordon itself.
#
#     work NAME [TOOL...] <<'EOF'        TOOLs that are not there skip the case
#
# Variables that a case may set before, and that are cleared after it:
#     prepare    a script that runs unconfined in each of the directories first
#     unread     files (extended regular expression over ./PATH) of which only type and mode are compared
#     unlisted   files that are not compared at all
#     differs    "sed -E" script over both outputs, to take away what is never the same twice
#     says       lines of cordon that are expected (extended regular expression)
#     args       further options of cordon (an array)
#     todo       why it is known not to work yet
#
# confined NAME [TOOL...] <<'EOF' runs the script only under cordon and wants it to end with 0 and print nothing.
set -u
export LC_ALL=C.UTF-8
umask 022

cordon=$(readlink -f "${CORDON:-build/cordon}")
[ -x "$cordon" ] || { echo "Bail out! no cordon at ${CORDON:-build/cordon}"; exit 1; }
top=$(readlink -f "$(dirname "${BASH_SOURCE[0]}")/../..")
base=$(mktemp -d "${TMPDIR:-/tmp}/work.XXXXXX")
base=$(readlink -f "$base")
# A directory that is not below /tmp, where the policy lets a session make entries of its own, shows more.
for other in /var/tmp "$HOME"; do
	if mkdir -m 700 "$other/${base##*/}" 2>/dev/null; then
		rmdir "$base"
		base=$(readlink -f "$other/${base##*/}")
		break
	fi
done
# shellcheck disable=SC2317
cleanup() {
	chmod -R u+rwX "$base" 2>/dev/null
	rm -rf "$base"
}
trap cleanup EXIT
grep -Ev '^(deny|allow)_read' "$top/sandbox.ini" >"$base/fast.ini"

prepare='' unread='' unlisted='' differs='' says='' args=() todo=''
number=0
rustup=${RUSTUP_HOME:-$HOME/.rustup}
# A wrapper such as pyenv's would look for its files in the HOME of the case.
python=$(python3 -c 'import sys; print(sys.executable)' 2>/dev/null)
[ -z "$python" ] || PATH=$(dirname "$python"):$PATH

result() { # result OK NAME [REASON-TO-SKIP]
	number=$((number + 1))
	local word=ok
	[ "$1" = 0 ] || word='not ok'
	echo "$word $number - $2${3:+ # SKIP $3}${todo:+ # TODO $todo}"
}

finish() { echo "1..$number"; }

# missing TOOL...: the first that is not there
missing() {
	local tool
	for tool; do
		case $tool in
		root) [ "$(id -u)" = 0 ] || { echo "needs root"; return; } ;;
		user:*) id "${tool#user:}" >/dev/null 2>&1 || { echo "no user ${tool#user:}"; return; } ;;
		python:*) python3 -c "import ${tool#python:}" 2>/dev/null || { echo "no Python module ${tool#python:}"; return; } ;;
		*) command -v "$tool" >/dev/null || { echo "$tool is not installed"; return; } ;;
		esac
	done
}

environment() { # environment WAY COMMAND...
	local way=$1
	shift
	env -i PATH="$PATH" HOME="$base/$way/h" TMPDIR="$base/$way/t" LC_ALL=C.UTF-8 TERM=xterm SHELL=/bin/bash TZ=UTC \
		USER="$(id -un)" LOGNAME="$(id -un)" RUSTUP_HOME="$rustup" RUSTUP_TOOLCHAIN=stable WAY="$way" \
		GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.org GIT_AUTHOR_DATE='1700000000 +0000' \
		GIT_COMMITTER_NAME=c GIT_COMMITTER_EMAIL=c@example.org GIT_COMMITTER_DATE='1700000000 +0000' \
		GIT_CONFIG_NOSYSTEM=1 "$@"
}

fresh() { # fresh WAY: an empty project, home and TMPDIR
	chmod -R u+rwX "$base/$1" 2>/dev/null
	rm -rf "${base:?}/$1"
	mkdir -p "$base/$1/w" "$base/$1/h" "$base/$1/t"
	printf '[init]\n\tdefaultBranch = main\n[advice]\n\tdetachedHead = false\n' >"$base/$1/h/.gitconfig"
	[ -z "$prepare" ] || (cd "$base/$1/w" && environment "$1" bash -c "$prepare" >"$base/$1/prepared" 2>&1 </dev/null) ||
		sed 's/^/# preparing: /' "$base/$1/prepared"
}

launch() { # launch WAY SCRIPT
	local way=$1 script=$2 how=()
	case $way in
	n) ;;
	d) how=("$cordon" "${args[@]}") ;;
	f) how=("$cordon" -p "$base/fast.ini" "${args[@]}") ;;
	esac
	cd "$base/$way/w" || return 1
	environment "$way" timeout -k 3 "${limit:-200}" "${how[@]}" bash "$script" >"$base/$way/out" 2>"$base/$way/err" </dev/null
	echo $? >"$base/$way/status"
}

plain() { # the same text whichever way it was made
	LC_ALL=C sed -E -e "s:$base/[ndf]/t:TMPDIR:g" -e 's:/[a-z/]*/cordon\.[A-Za-z0-9_-]+:TMPDIR:g' -e "s:$base/[ndf]:BASE:g" \
		-e "$differs"
}

tree() { # names, types, modes, link counts of files, targets, contents
	local name
	cd "$base/$1/w" || return 1
	find . -printf '%p %y %m %l\n' | LC_ALL=C sort | { [ -z "$unlisted" ] && cat || grep -Ev "^($unlisted) "; } | plain
	find . -type f | LC_ALL=C sort | while IFS= read -r name; do
		[[ -n $unlisted && $name =~ ^($unlisted)$ ]] && continue
		[[ -n $unread && $name =~ ^($unread)$ ]] && continue
		[ -r "$name" ] || continue
		echo "$name $(stat -c %h "$name") $(differs='' plain <"$name" | cksum)"
	done
}

compare() { # compare WAY: what is not as it was natively, on standard output
	local way=$1
	diff -u --label 'native status' --label "$way status" "$base/n/status" "$base/$way/status"
	diff -u --label 'native stdout' --label "$way stdout" <(plain <"$base/n/out") <(plain <"$base/$way/out")
	diff -u --label 'native stderr' --label "$way stderr" <(plain <"$base/n/err") \
		<(plain <"$base/$way/err" | { [ -z "$says" ] && cat || grep -Ev "^cordon: .*($says)"; })
	diff -u --label 'native tree' --label "$way tree" "$base/n/tree" "$base/$way/tree"
}

work() { # work NAME [TOOL...] <<SCRIPT
	local name=$1 why bad=0 way
	shift
	why=$(missing "$@")
	cat >"$base/script"
	if [ -n "${ONLY:-}" ] && [[ ! $name =~ $ONLY ]]; then
		why='not asked for'
	fi
	if [ -n "$why" ]; then
		result 0 "$name" "$why"
	else
		for way in n d f; do fresh $way; done
		for way in n d f; do (launch $way "$base/script") & done
		wait
		for way in n d f; do (tree $way >"$base/$way/tree" 2>&1); done
		for way in d f; do
			compare $way >"$base/differences" 2>&1
			[ -s "$base/differences" ] || continue
			bad=1
			sed "s/^/# /" "$base/differences" | cut -c1-240 | head -60
		done
		if [ "$(cat "$base/n/status")" != "${want:-0}" ]; then
			bad=1
			echo "# natively the status is $(cat "$base/n/status")"
			sed 's/^/# /' "$base/n/out" "$base/n/err" | tail -20
		fi
		[ -z "${SHOW:-}" ] || sed 's/^/#   /' "$base/n/out" "$base/n/err"
		result $bad "$name"
	fi
	prepare='' unread='' unlisted='' differs='' says='' args=() todo='' want='' limit=''
}

confined() { # confined NAME [TOOL...] <<SCRIPT
	local name=$1 why bad=0 way
	shift
	why=$(missing "$@")
	cat >"$base/script"
	if [ -n "${ONLY:-}" ] && [[ ! $name =~ $ONLY ]]; then
		why='not asked for'
	fi
	if [ -n "$why" ]; then
		result 0 "$name" "$why"
	else
		for way in d f; do
			fresh $way
			(launch $way "$base/script")
			[ -z "$says" ] || { grep -Ev "^cordon: .*($says)" "$base/$way/err" >"$base/$way/rest"; mv "$base/$way/rest" "$base/$way/err"; }
			[ "$(cat "$base/$way/status")" = "${want:-0}" ] && [ ! -s "$base/$way/out" ] && [ ! -s "$base/$way/err" ] && continue
			bad=1
			echo "# $way: status $(cat "$base/$way/status")"
			sed 's/^/# /' "$base/$way/out" "$base/$way/err" | head -40
		done
		result $bad "$name"
	fi
	prepare='' unread='' unlisted='' differs='' says='' args=() todo='' want='' limit=''
}
