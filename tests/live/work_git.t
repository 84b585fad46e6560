#!/bin/bash
# git inside gives the same as outside.
# shellcheck disable=SC2034 # what is set before a case is read by work_lib.sh
# shellcheck source=tests/live/work_lib.sh
. "$(dirname "$0")/work_lib.sh"

index='.*/(index|ORIG_HEAD|logs/.*|.*\.(pack|idx|rev))'

unread=$index
work 'init, add, commit, log, diff' git <<'EOF'
git init r; cd r
git config user.name x
echo one >a; mkdir d; echo two >d/b; ln -s a l; echo '#!/bin/sh' >x; chmod +x x
git add .; git commit -m first
echo more >>a; git diff; git commit -am second; git log --stat --oneline; git status
git rm d/b; git mv a c; git commit -m third; git show --name-status; git fsck
git config --list --local
EOF

unread=$index
work 'branch, merge, conflict, rebase, cherry-pick, stash, tag, reset, clean' git <<'EOF'
git init -q r; cd r
seq 20 >f; git add f; git commit -qm base
git checkout -b side; sed -i s/^5$/five/ f; git commit -qam five
git checkout main; sed -i s/^15$/fifteen/ f; git commit -qam fifteen
git merge side -m merged; git log --oneline --graph
git checkout -qb a HEAD~1; echo a >>f; git commit -qam a
git rebase main; git log --oneline
git checkout -q main; sed -i s/^1$/uno/ f; git commit -qam uno
git checkout -q side; sed -i s/^1$/un/ f; git commit -qam un
git merge main; echo status $?; git status --short; git merge --abort
git rebase main; echo status $?; git checkout --theirs f; git add f; GIT_EDITOR=true git rebase --continue
git cherry-pick a; git cherry-pick --abort; git status --short
echo wip >>f; touch new; git stash -u; git stash list; git stash pop; git reset --hard; git clean -fdx
git tag -a v1 -m v1; git describe; git reset --hard HEAD~1; git reflog | wc -l
GIT_SEQUENCE_EDITOR='sed -i 2s/pick/squash/' GIT_EDITOR=true git rebase -i HEAD~2; git log --oneline
EOF

unread=$index
work 'clone, also without hard links, fetch, pull, push to a bare one' git <<'EOF'
git init -q r; (cd r; for i in 1 2 3; do echo $i >f; git add f; git commit -qm $i; done)
git clone r c1; git clone --no-hardlinks r c2; git clone --bare r b.git; git clone --depth 1 "file://$PWD/r" c3
git clone --local --branch main b.git c4
cd c4; echo x >>f; git commit -am x; git push; git push -u origin HEAD:other; git branch --track t origin/other
git remote add up ../r; git fetch up; git remote -v; git branch -avv; git remote remove up
cd ../c2; git remote set-url origin ../b.git; git pull; git log --oneline; git fsck
EOF

unread=$index
work 'worktree, gc, repack, bisect, submodule, archive, bundle, apply, am' git <<'EOF'
git init -q r; cd r
for i in 1 2 3 4 5 6 7 8; do echo $i >f; git add f; git commit -qm $i; done
git worktree add ../wt -b wt; (cd ../wt; echo w >w; git add w; git commit -qm w; git status); git worktree list
git worktree remove ../wt; git worktree prune; git worktree list
git gc -q; git count-objects -v | grep -v size; git repack -adq; git prune; git fsck
git bisect start HEAD HEAD~7; git bisect run sh -c 'test "$(cat f)" -lt 5'; git bisect reset
git archive --format=tar --prefix=p/ HEAD | tar tv
git bundle create ../b.bundle --all -q; git bundle verify ../b.bundle; git clone -q ../b.bundle ../fromb
git format-patch -2 -o ../patches; git checkout -q HEAD~2; git apply --check ../patches/0001*; git am ../patches/*
git -c protocol.file.allow=always submodule add ../fromb sub; git commit -qm sub; git submodule status; git submodule update --init
git clone -q . ../r2; cd ../r2; git -c protocol.file.allow=always submodule update --init; git submodule status
EOF

made='git init -q r; cd r; for i in 1 2 3; do echo $i >f; git add f; git commit -qm $i; done; git branch side HEAD~1; git remote add origin ../none'
prepare=$made unread=$index
work 'daily work in a repository that was there before' git <<'EOF'
cd r
git status; git log --oneline; echo x >>f; git diff --stat; git commit -am x; git checkout side; echo y >y; git add y; git commit -m y
git rebase main; git checkout main; git merge side -m m; git stash list; echo z >>f; git stash; git stash pop; git checkout f
git worktree add ../wt; (cd ../wt; echo w >w; git add w; git commit -m w); git worktree remove ../wt
git gc -q; git fsck; git tag t; git clone -q . ../c; git submodule status; git clean -fdxn; git rm -q y; git commit -m rm
git mv f g; git commit -m mv; git reset --hard HEAD~1; git notes add -m note; git reflog expire --expire=now --all; git count-objects | wc -l
EOF

# What is not the same there: its .git/config and .git/hooks make programs run outside, so they stay as they are. The
# rest of such a command is done, and git says what it could not do.
prepare=$made'
git worktree add -q ../wt; mkdir -p .git/modules/sub; cp -r .git/config .git/hooks .git/HEAD .git/modules/sub
' says='refused by protect'
confined 'refused in a repository that was there before: changes of .git/config and hooks' git <<'EOF'
cd r
sum=$(cat .git/config .git/hooks/* | cksum)
no() { ! "$@" >/dev/null 2>/tmp/said.$$ || echo "not refused: $*"; grep -qiE 'not permitted|could not' /tmp/said.$$ || { echo "$*:"; cat /tmp/said.$$; }; rm /tmp/said.$$; }
no git config user.name x
no git config --unset remote.origin.url
no git remote add up ../x
no git remote set-url origin ../x
no git remote remove origin
no cp f .git/hooks/post-commit
no mv f .git/hooks/pre-commit
no ln f .git/hooks/pre-push
no rm .git/config
no mv .git gone
no mv .git/modules/sub .git/modules/other
no mv .git/worktrees/wt .git/worktrees/other
no mv -T .git/worktrees/wt ../own
no cp f .git/modules/sub/hooks/post-commit
no cp f .git/worktrees/wt/commondir
git branch --track new main >/dev/null 2>&1; git branch --set-upstream-to=main side >/dev/null 2>&1
git branch -d side >/dev/null 2>&1 || echo 'branch -d fails'; git rev-parse -q --verify side && echo 'side is left'
git rev-parse -q --verify new >/dev/null || echo 'no branch new'
[ "$sum" = "$(cat .git/config .git/hooks/* | cksum)" ] || echo changed
git fsck >/dev/null 2>&1 || echo broken
# Last, since git goes on after the refusal and removes what it may of the work tree.
no git worktree remove ../wt
[ -e .git/worktrees/wt/commondir ] && [ -e ../wt/.git ] || echo removed
EOF

finish
