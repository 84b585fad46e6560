#!/bin/bash
# Two sessions that help each other in one workspace: what each does is allowed where it is judged.
. "$(dirname "$0")/lib.sh"

program together
extra=()
before() {
	local second=()
	if [ "$1" = inside ]; then second=("$CORDON" -q -p "$work/policy.ini" --); fi
	"${second[@]}" "$build/together" move "${extra[@]}" >"$work/second.log" 2>&1 &
	session=$!
}
after() {
	[ -z "${session:-}" ] || { kill "$session" && wait "$session"; } 2>/dev/null
	session=
	chmod 755 "$IN" 2>/dev/null
}
for a in open mkdir symlink link rename tree mknod bind; do attack "made in what another session renames: $a" together make $a; done
extra=(shut)
for a in open mkdir; do attack "the same, where undoing is hindered: $a" together make $a; done
