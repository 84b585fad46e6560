#!/bin/bash
# allow_own: what others have in a shared directory.
. "$(dirname "$0")/lib.sh"
export ATTACK_SECONDS=${ATTACK_SECONDS:-0.4}

export SHARED=$work/shared
policy="allow_own = $SHARED"
mutable=true
setup() {
	rm -rf "$SHARED"
	mkdir -p "$SHARED/theirdir" "$SHARED/theirempty"
	echo original >"$SHARED/theirs"
	echo original >"$SHARED/theirdir/file"
}
program own
attack 'allow_own: plain' own plain

before() {
	"$build/own" victim >/dev/null 2>&1 &
	victim=$!
}
after() {
	[ -z "${victim:-}" ] || kill -9 "$victim" 2>/dev/null
	wait 2>/dev/null
	victim=
}
for a in rename_from rename_to unlink write chmod link; do attack "allow_own, others make the same name: $a" own race $a; done

# Descriptors 3 and 4 are pipes to the victim, which cordon hands on.
before() {
	mkfifo "$work/to" "$work/from"
	"$build/own" reuse <"$work/to" >"$work/from" 2>/dev/null &
	victim=$!
	exec 3>"$work/to" 4<"$work/from"
}
after() {
	exec 3>&- 4<&-
	[ -z "${victim:-}" ] || kill -9 "$victim" 2>/dev/null
	wait 2>/dev/null
	rm -f "$work/to" "$work/from"
	victim=
}
attack 'allow_own: a number that is used again' own inode_reuse
