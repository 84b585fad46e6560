#!/bin/bash
# Ways to a forbidden directory that do not go through its name. Mounts are tried in a namespace that ends with the test.
if [ -z "${ATTACK_MOUNTS:-}" ]; then
	export ATTACK_MOUNTS=1
	! unshare -m true 2>/dev/null || exec unshare -m --propagation private "$0"
fi
. "$(dirname "$0")/lib.sh"

setup() { echo original >"$OUT/file"; }
before() {
	perl -e 'setpgrp(0, 0); exec "sleep", "100"' </dev/null >/dev/null 2>&1 &
	export VICTIM=$!
	until [ "$(cat "/proc/$VICTIM/comm")" = sleep ]; do sleep 0.01; done
}
after() {
	[ -z "${VICTIM:-}" ] || kill -9 "$VICTIM" 2>/dev/null
	wait 2>/dev/null
	VICTIM=
}
for a in handle bind open_tree open_tree_path move_mount new_file_system remount mount_setattr chroot pivot ring userfault \
	userfault_device fuse root_of_other root_of_task in_root beneath own_root own_task chdir fchdir dotdot dotdot_links removed_cwd \
	moved_cwd exchange whiteout noreplace linked_parent linked_source link_in_linked dangling trailing_slash link_chain \
	device_node line_break many_slashes deep_directory; do
	attack "ways: $a" ways $a
done
