#!/bin/bash
# Arguments that change while a call is decided: every call that takes a path, an address or a file's descriptor, by every
# way in which these can change.
# Runs alone.
. "$(dirname "$0")/lib.sh"
# For each way of each call; CI takes longer.
export ATTACK_SECONDS=${ATTACK_SECONDS:-0.07}

program race
setup() {
	"$build/race" prepare
	rm -f "$OUT/sock"
}
policy="deny_read = $OUT/secret
deny_read = $OUT/link"
before() {
	[ -z "${serve:-}" ] || {
		"$build/race" serve >/dev/null 2>&1 &
		SERVER=$!
		until [ -S "$OUT/sock" ]; do sleep 0.01; done
	}
}
after() {
	[ -z "${SERVER:-}" ] || kill -9 "$SERVER" 2>/dev/null
	wait 2>/dev/null
	SERVER=
}
calls='openat openat2 write read mkdirat mknodat symlinkat linkat_to linkat_from unlinkat unlinkat_dir renameat_to renameat_from
	renameat2 exchange truncate fchmodat fchmodat2 fchownat utimensat setxattr lsetxattr setxattrat removexattr lremovexattr
	removexattrat file_setattr bind fchmod fchown futimens fsetxattr fremovexattr fchmodat2_empty fchownat_empty
	utimensat_empty setflags readlinkat getxattr lgetxattr getxattrat listxattr llistxattr listxattrat'
old_calls='open creat readlink mkdir mknod symlink link_to link_from unlink rmdir rename_to rename_from chmod chown lchown utime utimes futimesat'
[ "$(uname -m)" != x86_64 ] || calls+=" $old_calls"
for a in $calls; do attack "race: $a" race $a; done
serve=yes
attack 'race: connect' race connect
serve=''
for a in write unlinkat mkdirat; do attack "race, odd callers: $a" race $a memory vfork; done
for a in write chmod truncate read; do attack "race, the last name: $a" race $a last; done

attack 'a dangling link changes its target' race_at dangling
attack 'the flags of openat2 change: O_RDONLY to O_RDWR' race_at flags
attack 'the flags of openat2 change: O_PATH to O_RDWR' race_at flags path
ATTACK_SECONDS=1 attack 'openat2 with each restriction, a directory becomes a link' race_at resolve_flags
