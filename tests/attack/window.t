#!/bin/bash
# A program that may not be read, in the memory of a process that starts it by a race.
# Runs alone.
. "$(dirname "$0")/lib.sh"
export ATTACK_SECONDS=${ATTACK_SECONDS:-1.5}
program window
# shellcheck disable=SC2154
[ -x "$build/window" ] || exit 1

setup() {
	"$build/window" make "$IN/good" allowed
	"$build/window" make "$OUT/bad" forbidden
}

# shellcheck disable=SC2034
policy="deny_read = $OUT/bad"
for a in vm mem task_mem; do attack "its memory is looked at: $a" window $a; done
