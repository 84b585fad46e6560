#!/bin/bash
# Inside as outside: file systems that are full, or become read-only.
if [ -z "$LIVE_MOUNTS" ]; then
	if ! unshare -m true 2>/dev/null; then
		echo 'ok 1 - mounts # SKIP no mount namespace can be made here'
		echo 1..1
		exit
	fi
	LIVE_MOUNTS=1 exec unshare -m --propagation private "$0"
fi
. "$(dirname "$0")/probes.sh"
build_probes || { echo "Bail out! the probes do not build"; exit 1; }

# Makes ../turns read-only when it is asked to.
turn() {
	for _ in {1..1500}; do
		[ ! -d "$1/turn" ] || break
		sleep 0.01
	done
	mount -o remount,ro "$1/turns" 2>/dev/null && : >"$1/turned"
}
turners=() with=''
prepare_trees() {
	local tree
	for tree; do
		mkdir "$tree/small" "$tree/few" "$tree/turns"
		mount -t tmpfs -o size=64k,mode=777 other "$tree/small" &&
			mount -t tmpfs -o nr_inodes=12,mode=777 other "$tree/few" &&
			mount -t tmpfs -o mode=777 other "$tree/turns" && chmod 777 "$tree" || { echo 'Bail out! cannot mount'; exit 1; }
		[ -z "$with" ] || { mkdir "$tree/quota" && mount -t tmpfs -o "$with" other "$tree/quota"; } || { echo 'Bail out! cannot mount'; exit 1; }
		turn "$tree" &
		turners+=($!)
	done
}
release_trees() {
	local tree
	{ [ ${#turners[@]} = 0 ] || { kill "${turners[@]}"; wait "${turners[@]}"; }; } 2>/dev/null
	turners=()
	for tree; do umount "$tree/small" "$tree/few" "$tree/turns" "$tree/quota" 2>/dev/null; done
}
differ probe fast fulls
differ probe-raw reads fulls
run_as=(setpriv --reuid=1000 --regid=1000 --clear-groups)
if "${run_as[@]}" "$LIVE_BUILD/probe" sections >/dev/null 2>&1; then
	mkdir "$work/user" && chown 1000 "$work/user"
	audit=$work/user/audit
	rm -f "$work/outside".*
	differ probe reads fulls
else
	skip 'an ordinary user' 'the probe is where others cannot reach it'
fi
release_trees "$work/n" "$work/c"

# Quotas that need no tools: those of tmpfs.
run_as=() audit=$work/audit
with='usrquota,usrquota_block_hardlimit=64k,usrquota_inode_hardlimit=12,mode=1777'
mkdir "$work/try"
if ! is_root; then
	skip quotas 'needs root'
elif mount -t tmpfs -o "$with" other "$work/try" 2>/dev/null; then
	umount "$work/try"
	differ probe fast quotas
	differ probe-raw reads quotas
	release_trees "$work/n" "$work/c"
else
	skip quotas 'this kernel has no quotas of tmpfs (Linux 6.6, CONFIG_TMPFS_QUOTA)'
fi
finish
