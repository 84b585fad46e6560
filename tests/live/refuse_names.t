#!/bin/bash
# Names that may not be written or read whatever allow_write says, and directories that are shared.
. "$(dirname "$0")/refusals.sh"
build_calls || { echo "Bail out! the helpers do not build"; exit 1; }

# Protected names, present and absent, in any depth, in any case.
policy "allow_write = $in"
fresh
mkdir -p "$in/repo/.git/hooks" "$in/repo/.vscode" "$in/deep/er/repo/.git" "$in/UP/.GIT/HOOKS" "$in/odd/.Git"
echo x | tee "$in/repo/.git/config" "$in/repo/.git/hooks/pre-commit" "$in/repo/.git/HEAD" "$in/.bashrc" "$in/plain" >/dev/null
for name in .bashrc repo/.git/config repo/.git/hooks/pre-commit; do
	rule='protect = '
	refused "write $name" EPERM openat write "$in/$name" "$rule" -- "$call" update "$in/$name"
	refused "truncate $name" EPERM truncate write "$in/$name" "$rule" -- "$call" truncate "$in/$name"
	refused "chmod $name" EPERM fchmodat metadata "$in/$name" "$rule" -- "$call" fchmodat "$in/$name"
	refused "unlink $name" EPERM unlinkat delete "$in/$name" "$rule" -- "$call" unlinkat "$in/$name"
	refused "rename $name" EPERM renameat2 rename "$in/$name" "$rule" -- "$call" renameat2 "$in/$name" "$in/new"
	refused "rename onto $name" EPERM renameat rename "$in/plain>$in/$name" "$rule" -- "$call" renameat "$in/plain" "$in/$name"
	refused "link $name" EPERM linkat link "$in/$name" "$rule" -- "$call" linkat "$in/$name" "$in/new"
	refused "exchange with $name" EPERM renameat2 rename "$in/plain>$in/$name" "$rule" -- "$call" exchange "$in/plain" "$in/$name"
done
for name in .zshrc .profile .bash_profile .gitconfig .gitmodules .mcp.json .ripgreprc .envrc .husky/pre-commit .vscode/tasks.json \
	.idea/x .claude/commands/x .claude/agents/x .claude/settings.json .claude/settings.local.json .claude/hooks/x \
	repo/.git/hooks/post-merge repo/.vscode/settings.json deep/er/repo/.git/config deep/er/repo/.git/hooks/x \
	UP/.GIT/HOOKS/X UP/.GIT/CONFIG odd/.Git/hooks/x .BASHRC deep/.VSCode/x; do
	mkdir -p "$(dirname "$in/$name")"
	refused "create $name" EPERM openat create "$in/$name" 'protect = ' -- "$call" excl "$in/$name"
done
rm -rf "$in/deep/.VSCode" "$in/.husky" "$in/.idea"
refused 'symlink .bash_profile' EPERM symlinkat create "$in/.bash_profile" 'protect = ' -- "$call" symlinkat "$in/.bash_profile"
refused 'mkdir .vscode' EPERM mkdirat create "$in/deep/.vscode" 'protect = ' -- "$call" mkdirat "$in/deep/.vscode"
rmdir "$in/deep/er/repo/.git/hooks" "$in/odd/.Git/hooks"
refused 'mkdir .git/hooks' EPERM mkdirat create "$in/deep/er/repo/.git/hooks" 'protect = ' -- "$call" mkdirat "$in/deep/er/repo/.git/hooks"
refused 'rename of an existing .git' EPERM renameat rename "$in/repo/.git" 'protect' -- "$call" renameat "$in/repo/.git" "$in/repo/g"
refused 'removal of an existing .git' EPERM unlinkat delete "$in/odd/.Git" 'protect' -- "$call" removedir "$in/odd/.Git"
mkdir -p "$in/prepared/hooks"
echo evil >"$in/prepared/hooks/pre-commit"
refused 'a prepared tree moved to .git' EPERM renameat rename '' 'rename of a directory' -- "$call" renameat "$in/prepared" "$in/deep/.git"
refused 'a prepared tree moved to hooks' EPERM renameat rename "$in/prepared/hooks>$in/deep/er/repo/.git/hooks" 'protect = ' -- \
	"$call" renameat "$in/prepared/hooks" "$in/deep/er/repo/.git/hooks"
allowed 'a repository may be renamed' "$call" renameat "$in/repo" "$in/repo2"
allowed 'other files of .git may be written' "$call" update "$in/repo2/.git/HEAD"
want='' allowed 'a repository of the session is its own' sh -c "mkdir $in/new && cd $in/new && mkdir -p .git/hooks && echo x >.git/hooks/x && echo x >.git/config"
refused 'and no longer in the next' EPERM openat write "$in/new/.git/config" 'protect = ' -- "$call" update "$in/new/.git/config"
policy "allow_write = $in
allow_protected = $in/new/.git/config"
allowed 'allow_protected' "$call" update "$in/new/.git/config"
refused 'allow_protected of one name' EPERM openat create "$in/new/.git/hooks/y" 'protect = ' -- "$call" excl "$in/new/.git/hooks/y"
mkdir -p "$in/clone/.git/hooks" "$in/main/.git/worktrees/wt" "$in/wt"
touch "$in/clone/.git/config" "$in/clone/.git/hooks/pre-commit" "$in/main/.git/worktrees/wt/commondir" "$in/main/.git/config" "$in/wt/.git"
policy "allow_write = $in"
refused 'a .git as a whole' EPERM renameat rename "$in/clone/.git" 'protect' -- "$call" renameat "$in/clone/.git" "$in/clone/g"
case $said in
*"(to allow: allow_protected = $in/clone/.git)") pass 'and the message says how' ;;
*) fail 'and the message says how' "$said" ;;
esac
refused 'a part of a worktree' EPERM unlinkat delete "$in/main/.git/worktrees/wt/commondir" 'protect = ' -- \
	"$call" unlinkat "$in/main/.git/worktrees/wt/commondir"
case $said in
*"(to allow: allow_protected = $in/main/.git/worktrees/wt)") pass 'and the message names that worktree' ;;
*) fail 'and the message names that worktree' "$said" ;;
esac
refused 'a .git that is a file' EPERM unlinkat delete "$in/wt/.git" 'protect' -- "$call" unlinkat "$in/wt/.git"
policy "allow_write = $in
allow_protected = $in/clone/.git
allow_protected = $in/wt/.git
allow_protected = $in/main/.git/worktrees/wt"
want='' allowed 'an open .git is removed with all in it' rm -r "$in/clone"
want='' allowed 'so is a work tree' rm -r "$in/wt" "$in/main/.git/worktrees/wt"
refused 'the repository of it stays as it is' EPERM openat write "$in/main/.git/config" 'protect = ' -- "$call" update "$in/main/.git/config"
refused 'and where it is' EPERM renameat rename "$in/main/.git" 'protect' -- "$call" renameat "$in/main/.git" "$in/main/g"
policy "allow_write = $in
protect = no"
allowed 'protect = no' "$call" excl "$in/new/.git/hooks/y"
policy "allow_write = $work"
refused 'the policy in use' EPERM openat write "$policy" 'protect' -- "$call" update "$policy"
refused 'its removal' EPERM unlinkat delete "$policy" 'protect' -- "$call" unlinkat "$policy"
refused 'the audit file' EPERM openat write "$audit" 'protect' -- "$call" append "$audit"
refused 'its rename' EPERM renameat rename "$audit" 'protect' -- "$call" renameat "$audit" "$in/log"

# deny_write inside allow_write.
policy "allow_write = $in
deny_write = $in/prod.json
deny_write = $in/vendor
deny_write = $in/**/*.lock"
fresh
mkdir -p "$in/vendor/a" "$in/sub"
echo x | tee "$in/prod.json" "$in/vendor/a/f" "$in/sub/x.lock" "$in/plain" >/dev/null
refused 'deny_write of a file' EPERM openat write "$in/prod.json" "deny_write = $in/prod.json" -- "$call" update "$in/prod.json"
refused 'its replacement' EPERM renameat rename "$in/plain>$in/prod.json" "deny_write = $in/prod.json" -- "$call" renameat "$in/plain" "$in/prod.json"
refused 'deny_write of a tree' EPERM openat write "$in/vendor/a/f" "deny_write = $in/vendor" -- "$call" update "$in/vendor/a/f"
refused 'a new file in it' EPERM openat create "$in/vendor/a/new" "deny_write = $in/vendor" -- "$call" excl "$in/vendor/a/new"
refused 'rename of the tree' EPERM renameat rename "$in/vendor" "deny_write = $in/vendor" -- "$call" renameat "$in/vendor" "$in/v"
refused 'deny_write by a pattern' EPERM openat write "$in/sub/x.lock" "deny_write = $in/**/*.lock" -- "$call" update "$in/sub/x.lock"
refused 'a new one of it' EPERM openat create "$in/sub/new.lock" "deny_write = $in/**/*.lock" -- "$call" excl "$in/sub/new.lock"
refused 'in any case' EPERM openat create "$in/sub/new.LOCK" "deny_write = $in/**/*.lock" -- "$call" excl "$in/sub/new.LOCK"
allowed 'beside it' "$call" excl "$in/sub/new.txt"
allowed 'reading it' "$call" readat "$in/prod.json"
refused 'rename of the root' EPERM renameat rename "$in" '' -- "$call" renameat "$in" "$work/other"

# deny_read, allow_read.
mkdir "$out/keys" "$out/keys/pub"
echo x | tee "$out/keys/id" "$out/keys/pub/id.pub" "$out/keys/known" "$out/.env" "$in/.env" "$in/hidden" >/dev/null
policy "allow_write = $in
deny_read = $out/keys
allow_read = $out/keys/known
allow_read = $out/keys/pub
deny_read = $in/hidden
deny_read = **/.env"
refused 'deny_read of a tree' EPERM openat read "$out/keys/id" "deny_read = $out/keys" -- "$call" readat "$out/keys/id"
refused 'its directory' EPERM openat read "$out/keys" "deny_read = $out/keys" -- "$call" readat "$out/keys"
allowed 'allow_read of a file in it' "$call" readat "$out/keys/known"
allowed 'allow_read of a tree in it' "$call" readat "$out/keys/pub/id.pub"
refused 'deny_read by a pattern' EPERM openat read "$out/.env" 'deny_read = **/.env' -- "$call" readat "$out/.env"
refused 'inside allow_write, too' EPERM openat read "$in/.env" 'deny_read = **/.env' -- "$call" readat "$in/.env"
refused 'nor written' EPERM openat write "$in/.env" 'deny_read = **/.env' -- "$call" update "$in/.env"
refused 'nor renamed away' EPERM renameat rename "$in/.env" 'deny_read = **/.env' -- "$call" renameat "$in/.env" "$in/env"
refused 'nor linked' EPERM linkat link "$in/.env" 'deny_read = **/.env' -- "$call" linkat "$in/.env" "$in/env"
refused 'nor exchanged' EPERM renameat2 rename "$in/.env" 'deny_read = **/.env' -- "$call" exchange "$in/.env" "$in/plain"
refused 'deny_read of one file' EPERM openat read "$in/hidden" "deny_read = $in/hidden" -- "$call" readat "$in/hidden"
refused 'by openat2' EPERM openat2 read "$in/hidden" "deny_read = $in/hidden" -- "$call" readat2 "$in/hidden"
refused 'by /proc/self/root' EPERM openat read "$out/keys/id" "deny_read = $out/keys" -- "$call" readat "/proc/self/root$out/keys/id"
refused 'through a link' EPERM openat read "$out/keys/id" "deny_read = $out/keys" -- sh -c "ln -s $out/keys $in/way; exec $call readat $in/way/id"
mkdir "$in/sub2"
refused 'made during the session' EPERM openat create "$in/sub2/.env" 'deny_read = **/.env' -- "$call" excl "$in/sub2/.env"
ln "$in/hidden" "$in/alias"
refused 'by another name' EPERM openat read "$in/alias" "deny_read = $in/hidden" -- "$call" readat "$in/alias"
rm "$in/alias"
cp /bin/true "$out/keys/tool"
refused 'an exec of it' EACCES execve exec "$out/keys/tool" "deny_read = $out/keys" -- "$call" exec "$out/keys/tool"

# allow_own.
shared=$work/out/shared
mkdir "$shared" "$shared/theirdir"
chmod 1777 "$shared"
echo theirs | tee "$shared/theirs" "$shared/theirdir/f" >/dev/null
policy "allow_write = $in
allow_own = $shared"
refused "others' file" EPERM openat write "$shared/theirs" "allow_own = $shared" -- "$call" update "$shared/theirs"
refused 'its removal' EPERM unlinkat delete "$shared/theirs" "allow_own = $shared" -- "$call" unlinkat "$shared/theirs"
refused 'its rename' EPERM renameat rename "$shared/theirs" "allow_own = $shared" -- "$call" renameat "$shared/theirs" "$shared/mine"
refused 'its mode' EPERM fchmodat metadata "$shared/theirs" "allow_own = $shared" -- "$call" fchmodat "$shared/theirs"
refused 'its times' EPERM utimensat metadata "$shared/theirs" "allow_own = $shared" -- "$call" utimensat "$shared/theirs"
refused 'a link to it' EPERM linkat link "$shared/theirs" "allow_own = $shared" -- "$call" linkat "$shared/theirs" "$shared/mine"
refused 'its replacement' EPERM renameat rename "$in/plain>$shared/theirs" "allow_own = $shared" -- "$call" renameat "$in/plain" "$shared/theirs"
refused "a new file in others' directory" EPERM openat create "$shared/theirdir/new" "allow_own = $shared" -- "$call" excl "$shared/theirdir/new"
refused "a file in others' directory" EPERM openat write "$shared/theirdir/f" "allow_own = $shared" -- "$call" update "$shared/theirdir/f"
refused 'the directory itself' EPERM fchmodat metadata "$shared" '' -- "$call" fchmodat "$shared"
want='' allowed 'what the session makes is its own' sh -c "cd $shared && echo x >mine && echo y >>mine && chmod 600 mine && mv mine mine2 &&
	mkdir dir && echo z >dir/f && mv dir/f dir/g && ln mine2 mine3 && rm -r mine2 mine3 dir && mkfifo p && rm p"
allowed 'left behind' "$call" excl "$shared/left"
refused "is another's in the next session" EPERM openat write "$shared/left" "allow_own = $shared" -- "$call" update "$shared/left"
policy "allow_own = $shared
allow_write = $shared/theirdir/cache/pip"
want='' allowed 'missing directories above an allow_write, in a directory of others' \
	sh -c "mkdir -p $shared/theirdir/cache/pip/http && echo x >$shared/theirdir/cache/pip/http/f"
rm -rf "$shared/theirdir/cache"
refused 'and nothing else beside them' EPERM mkdirat create "$shared/theirdir/beside" "allow_own = $shared" -- \
	"$call" mkdirat "$shared/theirdir/beside"
mkdir "$shared/theirdir/cache"
refused 'nor in them' EPERM openat create "$shared/theirdir/cache/f" "allow_own = $shared" -- "$call" excl "$shared/theirdir/cache/f"
rmdir "$shared/theirdir/cache"

# One file may be written, not replaced.
policy "allow_write = $out/shared/one"
echo x >"$out/shared/one"
allowed 'an allow_write of one file' "$call" update "$out/shared/one"
refused 'is no leave to remove it' EPERM unlinkat delete "$out/shared/one" '' -- "$call" unlinkat "$out/shared/one"
refused 'nor to replace it' EPERM renameat rename '' '' -- "$call" renameat "$out/shared/left" "$out/shared/one"

# -q, --log-only.
policy "allow_write = $in"
echo content >"$out/f"
inside -q "$call" update "$out/f"
same '-q: refused in silence' 'EPERM  1' "$answer $said $(events)"
before=$(<"$out/f")
inside --log-only "$call" trunc "$out/f"
same '--log-only: done' "0 ${#before}>0" "$answer ${#before}>$(stat -c %s "$out/f")"
if [[ $said == *log-only* ]]; then pass '--log-only: a warning'; else fail '--log-only: a warning' "$said"; fi
same '--log-only: recorded' 1 "$(events '"op":"write"')"
says() { case $said in *"$2"*) pass "$1" ;; *) fail "$1" "$said" ;; esac; }
says '--log-only: it would be' "write $out/f would be refused: no allow_write covers it"

# What the line says.
policy "allow_own = $shared"
inside "$call" excl "$shared/theirdir/new"
says "a directory that is another's" ': its directory was not made by this session'
inside "$call" excl "$out/.profile"
says 'a protected name that no rule opens' "(to allow: allow_write = $out/.profile and allow_protected = $out/.profile)"
policy "deny_read = $out/.*_history"
echo x >"$out/.some_history"
inside "$call" readat "$out/.some_history"
same 'a history is refused in silence' 'EPERM  1' "$answer $said $(events)"
finish
