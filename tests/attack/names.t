#!/bin/bash
# Protected names and rules by name, against moving things.
. "$(dirname "$0")/lib.sh"
export ATTACK_SECONDS=${ATTACK_SECONDS:-0.4}

setup() {
	mkdir -p repo/.git/hooks repo/empty other
	mkdir -p repo/.git/modules/m/hooks repo/.git/worktrees/w tree
	echo '[core]' >repo/.git/config
	echo 'gitdir: x' >tree/.git
	echo x >file
	echo original >"$OUT/file"
}
for a in plain renamed_onto prepared_tree new_git parent_away git_file git_parts tmpfile_link moves; do
	attack "names: $a" names $a
done
# shellcheck disable=SC2034
policy="deny_write = $IN/w/x/secret"
attack 'a directory renamed into a rule for its contents' names anchored
policy=''

attack 'a file .git and a directory change places' names git_type_race
for a in open mkdir symlink link rename mknod bind; do
	attack "made in a directory while that is renamed: $a" names made_in_moved $a
done
attack 'a directory that looks deleted while renamed' names looks_deleted
attack 'an own .git and a foreign one change places' names own_git_race
