#!/bin/bash
# Names too long for any path: what lies there is under the same rules.
. "$(dirname "$0")/lib.sh"
program deep
# shellcheck disable=SC2034
policy='deny_read = **/.env'
setup() {
	echo original >"$OUT/file"
	"$build/deep" prepare >/dev/null
}
for a in names moves reads descriptors hard outside race; do attack "deep: $a" deep "$a"; done
