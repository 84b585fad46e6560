#!/bin/bash
# Arguments that change while a call is decided.
# Runs alone.
. "$(dirname "$0")/lib.sh"
export ATTACK_SECONDS=${ATTACK_SECONDS:-0.2}

setup() {
	echo original >"$OUT/bad"
	echo SECRET >"$OUT/secret"
	mkdir "$OUT/empty"
}
# shellcheck disable=SC2034
policy="deny_read = $OUT/secret"
for a in open creat write rename_to rename_from unlink rmdir mkdir mknod chmod chown utime link_to link_from symlink truncate setxattr bind read; do
	attack "a thread changes the path: $a" race thread $a
done
for a in open write chmod unlink read; do
	attack "another process changes the path: $a" race process $a
done
attack 'another process writes the path into memory: open' race other_memory open
attack 'another process writes the path into memory: unlink' race other_memory unlink
attack 'a vfork child calls: write' race vfork write
attack 'a vfork child calls: mkdir' race vfork mkdir
for a in open write rename_to rename_from unlink mkdir rmdir chmod link_to symlink truncate bind read; do
	attack "a directory becomes a link: $a" race link $a
done
attack 'a directory becomes a link, absolute: open' race link open absolute
for a in write chmod truncate link_from read; do
	[ $a = link_from ] || attack "the last name becomes a link: $a" race last_link $a
done
attack 'a dangling link changes its target' race_at dangling
attack 'the directory of a call is replaced by dup2' race_at dirfd
attack 'the descriptor of a call is replaced by dup2' race_at fd
attack 'the working directory is changed by another thread' race_at cwd
attack 'the flags of openat2 change: O_RDONLY to O_RDWR' race_at flags
attack 'the flags of openat2 change: O_PATH to O_RDWR' race_at flags path
ATTACK_SECONDS=1 attack 'openat2 with each restriction, a directory becomes a link' race_at resolve_flags
