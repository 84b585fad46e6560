#!/bin/bash
# Links and attributes of what may not be read, and the links of strangers in /proc.
. "$(dirname "$0")/lib.sh"
program content

setup() {
	mkdir hidden
	for f in hidden/secret x.key "$OUT/secret"; do echo SECRET >"$f"; done
	for f in hidden/link l.key "$OUT/link"; do ln -s SECRET "$f"; done
	"$build/content" prepare
}
policy="deny_read = $OUT/secret
deny_read = $OUT/link
deny_read = $IN/hidden
deny_read = **/*.key"
fresh
if "$build/content" prepare; then
	attack 'attributes' content attributes
else
	skip 'attributes' "the file system has none here"
fi
attack 'links' content links

before() {
	(
		for _ in {1..500}; do
			[ ! -e "$IN/ready" ] || break
			sleep 0.01
		done
		rm "$OUT/link"
	) &
}
after() { wait; }
mutable=true
attack 'a link whose name is removed from outside' content removed_link
before() { :; }
after() { :; }
mutable=false

# Of a process outside. Then the same where nothing but the supervisor keeps it shut.
sleep 1000 &
outside=$!
# shellcheck disable=SC2329 # called at the end
after_all() { kill $outside; }
trap 'after_all; finish' EXIT
attack 'links of strangers' content strangers $outside
policy=''
attack 'links of strangers, no read rule' content strangers $outside
${CC:-gcc} -O1 -D_GNU_SOURCE -o "$work/oldkernel" "$here/../oldkernel/oldkernel.c" || exit 1
printf '#!/bin/sh\nexec %q landlock %q "$@"\n' "$work/oldkernel" "$CORDON" >"$work/cordon"
chmod 755 "$work/cordon"
CORDON=$work/cordon
attack 'links of strangers, without Landlock' content strangers $outside
