#!/bin/bash
# Descriptors of outside files.
. "$(dirname "$0")/lib.sh"

setup() { echo original >"$OUT/file" && echo x >"$OUT/other"; }
before() {
	unset CONFINED
	[ "$1" != inside ] || export CONFINED=1
}
for a in metadata content passed; do attack "descriptors: $a" descriptors $a; done

before() { exec 5>>"$OUT/file" 6<"$OUT" 8<"$OUT" <"$OUT/other"; }
after() { exec 5>&- 6<&- 8<&- </dev/null; }
attack 'descriptors: inherited' descriptors inherited
