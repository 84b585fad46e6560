#!/bin/bash
# Programs that may not run: by rules about programs, and because they may not be read.
# Runs alone.
. "$(dirname "$0")/lib.sh"
export ATTACK_SECONDS=${ATTACK_SECONDS:-0.3}
program exec
# shellcheck disable=SC2154
[ -x "$build/exec" ] || exit 1
stub || exit 1

setup() {
	cp "$build/exec" "$IN/good"
	cp "$build/exec" "$OUT/bad"
	cp "$build/stub" "$OUT/stub"
	mkdir "$IN/dir"
	cp "$build/exec" "$IN/dir/bad"
}

races='thread leader vfork process mapping link script dirfd fd cwd'
# shellcheck disable=SC2034
sections="[exec]
allow = $build/exec
allow = $IN/good
allow = $IN/good.*
allow = $IN/dir
allow = $IN/script
allow = $IN/asks"
for a in $races tracer; do attack "a list of allowed programs: $a" exec $a; done
for a in memfd copy deleted loader interp interp_race; do attack "a list of allowed programs: $a" exec $a; done
# shellcheck disable=SC2034
sections="[exec]
deny = $OUT/bad
deny = $OUT/stub"
for a in thread process link script fd tracer interp interp_race; do attack "a list of refused programs: $a" exec $a; done
# shellcheck disable=SC2034
sections='' policy="deny_read = $OUT/bad
deny_read = $OUT/stub"
for a in $races interp interp_race interp_closed; do attack "a program that may not be read: $a" exec $a; done
