#!/bin/bash
# What deny_read hides.
. "$(dirname "$0")/lib.sh"

setup() {
	mkdir -p hidden deep/k
	for f in hidden/secret x.key deep/k/x.key "$OUT/secret"; do echo SECRET >"$f"; done
	ln "$OUT/secret" hardlink
	cp "$build/read" hiddenprog
	cp "$build/stub" hiddenstub
	cp "$build/asks" asks
}
policy="deny_read = $OUT/secret
deny_read = $IN/hidden
deny_read = $IN/hiddenprog
deny_read = $IN/hiddenstub
deny_read = **/*.key"
program read
stub && asks || exit 1
for a in plain spellings descriptors moved_data other_calls new_names hard_link; do
	attack "deny_read: $a" read $a
done
attack 'deny_read: a program that is run' read run_program
attack 'deny_read: a program that another asks to be loaded by' read run_interp
# The same names while they are to look absent.
policy+=$'\nhide = yes'
for a in plain spellings new_names hard_link run_program run_interp; do
	attack "hide: $a" read $a
done
policy=${policy%$'\n'*}

# Editors replace files: the old one is gone, but a descriptor of it may be left.
before() {
	(
		for _ in {1..500}; do
			[ ! -e "$IN/ready" ] || break
			sleep 0.01
		done
		echo changed >"$OUT/new" && mv "$OUT/new" "$OUT/secret"
	) &
}
after() { wait; }
setup() { echo SECRET >"$OUT/secret"; }
mutable=true
attack 'deny_read: the file is replaced from outside' read replaced
attack 'deny_read: the same, and dup2' read replaced_dup2
before() { :; }
mutable=false

# A rule on a link hides what it leads to.
setup() { mkdir real && echo SECRET >real/secret && ln -s real hidden && echo SECRET >x.key && echo SECRET >"$OUT/secret"; }
policy="deny_read = $IN/hidden
deny_read = **/*.key
deny_read = $OUT/secret"
attack 'deny_read: by a link' read plain
