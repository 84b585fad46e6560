#!/bin/bash
# Arguments that change while a call is decided: every call that takes a path, an address or a file's descriptor, by every
# way in which these can change.
# Runs alone.
. "$(dirname "$0")/lib.sh"
# For each way of each call. "run attacks" of .ci gives ATTACK_TRIES.
export ATTACK_SECONDS=${ATTACK_SECONDS:-0.05}

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
by_path='openat openat2 open_trunc tmpfile write read mkdirat mknodat symlinkat linkat_to linkat_from unlinkat unlinkat_dir
	renameat_to renameat_from renameat2 renameat2_from exchange exchange_from whiteout truncate fchmodat fchmodat2 fchownat
	utimensat setxattr lsetxattr setxattrat removexattr lremovexattr removexattrat file_setattr bind
	readlinkat getxattr lgetxattr getxattrat listxattr llistxattr listxattrat'
by_descriptor='fchmod fchown futimens fsetxattr fremovexattr fchmodat2_empty fchownat_empty utimensat_empty linkat_empty
	setxattrat_empty removexattrat_empty file_setattr_empty setflags fssetxattr setversion rw_hint
	readlinkat_empty'
follow='openat openat2 open_trunc write read linkat_from truncate fchmodat fchmodat2 fchownat utimensat setxattr setxattrat
	removexattr removexattrat getxattr getxattrat listxattr listxattrat'
if [ "$(uname -m)" = x86_64 ]; then
	by_path+=' open creat readlink mkdir mknod symlink link_to link_from unlink rmdir rename_to rename_from chmod chown lchown
		utime utimes futimesat'
	follow+=' chmod chown utime utimes futimesat'
fi
for a in $by_path $by_descriptor; do attack "race: $a" race $a; done
serve=yes
attack 'race: connect' race connect
serve=''
# It is the same code that reads every path, so few calls would do.
if [ -n "${ATTACK_TRIES:-}" ]; then odd=$by_path; else odd='write unlinkat mkdirat' follow='write truncate fchmodat read'; fi
for a in $odd; do attack "race, odd callers: $a" race $a memory vfork; done
for a in $follow; do attack "race, the last name: $a" race $a last; done

attack 'a dangling link changes its target' race_at dangling
attack 'the flags of openat2 change: O_RDONLY to O_RDWR' race_at flags
attack 'the flags of openat2 change: O_PATH to O_RDWR' race_at flags path
ATTACK_SECONDS=1 attack 'openat2 with each restriction, a directory becomes a link' race_at resolve_flags
