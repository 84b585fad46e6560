#!/bin/bash
# Inside as outside: read-only file systems, several of them, one directory under two names.
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

prepare_trees() {
	local tree
	for tree; do
		mkdir "$tree/ro" "$tree/other" "$tree/first" "$tree/again" "$tree/ro/dir"
		echo content >"$tree/ro/file"
		ln -s file "$tree/ro/link"
		mount --bind "$tree/ro" "$tree/ro" && mount -o remount,bind,ro "$tree/ro" &&
			mount -t tmpfs other "$tree/other" && mount --bind "$tree/first" "$tree/again" ||
			{ echo 'Bail out! cannot mount'; exit 1; }
	done
}
release_trees() {
	local tree
	for tree; do umount "$tree/ro" "$tree/other" "$tree/again" 2>/dev/null; done
}
for variant in probe probe-raw probe-static probe-musl; do
	has "$variant" && differ "$variant" reads grounds
done
differ probe fast grounds
release_trees "$work/n" "$work/c"
finish
