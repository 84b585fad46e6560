#!/bin/bash
# The same file systems mounted twice: /proc below another directory, a directory with two names.
if [ -z "${ATTACK_MOUNTS:-}" ]; then
	export ATTACK_MOUNTS=1
	if unshare -m true 2>/dev/null; then
		exec unshare -m --propagation private "$0"
	elif unshare -Urm true 2>/dev/null; then
		exec unshare -Urm --propagation private "$0"
	fi
	echo '1..0 # SKIP no mounts here'
	exit 0
fi
. "$(dirname "$0")/lib.sh"

export PROC=$work/root/proc
mkdir -p "$PROC" "$work/new" "$work/alias"
mount --bind /proc "$PROC" || { echo '1..0 # SKIP no mounts here'; exit 0; }
before() {
	perl -e 'setpgrp(0, 0); exec "sleep", "100"' </dev/null >/dev/null 2>&1 &
	export VICTIM=$!
	until [ "$(cat "/proc/$VICTIM/comm")" = sleep ]; do sleep 0.01; done
	ADDRESS=$(sed -n '2s/-.*//p' "/proc/$VICTIM/maps")
	export ADDRESS
	unset CONFINED
	[ "$1" != inside ] || export CONFINED=1
}
after() {
	kill -9 "$VICTIM" 2>/dev/null
	wait "$VICTIM" 2>/dev/null
}
policy="deny_read = $OUT/secret"
attack 'the same /proc in another place' process on proc

umount "$PROC"
if mount -t proc proc "$PROC" 2>/dev/null; then attack 'another /proc' process on proc; else skip 'another /proc' 'not possible here'; fi
unset PROC

# A rule on one of two names.
before() { :; }
after() {
	[ "${1:-}" ] || umount -l "$work/alias" "$work/root/proc" 2>/dev/null
}
setup() {
	umount "$work/alias" 2>/dev/null
	mkdir hidden
	for f in hidden/secret x.key "$OUT/secret"; do echo SECRET >"$f"; done
	mount --bind "$IN" "$work/alias"
	cd "$work/alias" || exit 1
}
policy="deny_read = $OUT/secret
deny_read = $IN/hidden
deny_read = **/*.key"
attack 'a bind mount of what is denied' read plain
