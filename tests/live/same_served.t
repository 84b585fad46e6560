#!/bin/bash
# Inside as outside: a file system that a process serves (FUSE), and which does not answer.
if [ -z "$LIVE_MOUNTS" ]; then
	if ! unshare -m true 2>/dev/null || [ ! -w /dev/fuse ]; then
		echo 'ok 1 - FUSE # SKIP nothing can be mounted here'
		echo 1..1
		exit
	fi
	LIVE_MOUNTS=1 exec unshare -m --propagation private "$0"
fi
. "$(dirname "$0")/probes.sh"
build_probes || { echo "Bail out! the probes do not build"; exit 1; }

servers=()
prepare_trees() {
	local tree
	for tree; do
		mkdir "$tree/fuse"
		"$LIVE_BUILD/probe" "$tree" server >/dev/null 2>&1 </dev/null &
		servers+=($!)
		for _ in {1..500}; do
			! grep -q " $tree/fuse fuse" /proc/self/mounts || break
			sleep 0.02
		done
	done
}
release_trees() {
	local tree
	for tree; do umount -l "$tree/fuse" 2>/dev/null; done
	{ [ ${#servers[@]} = 0 ] || { kill "${servers[@]}"; wait "${servers[@]}"; }; } 2>/dev/null
	servers=()
}
differ probe fast served
differ probe-raw reads served
release_trees "$work/n" "$work/c"
finish
