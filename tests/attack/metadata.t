#!/bin/bash
# Metadata of a file outside, through descriptors that may only read.
. "$(dirname "$0")/lib.sh"

setup() {
	echo original >"$OUT/file"
	python3 -c 'import os, sys; os.setxattr(sys.argv[1], "user.note", b"x")' "$OUT/file" 2>/dev/null
}
for a in fchmod fchmod_dir fchown futimens fsetxattr fremovexattr acl chmod_proc chown_proc utimes_proc setxattr_proc \
	removexattr_proc fchmodat2 fchownat utimensat setxattrat removexattrat file_setattr setflags fssetxattr setversion verity \
	encryption dosflags integrity subvolume snapshot write_hint lease write_lease truncate_proc reopen reopen_thread reopen_dev link_empty link_proc \
	unlinkat openat tmpfile; do
	attack "metadata: $a" metadata $a
done
