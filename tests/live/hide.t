#!/bin/bash
# hide = yes: what may not be read is absent to all calls with a path, and everything else is as it is.
. "$(dirname "$0")/lib.sh"
build look "$cc" -- "$here/look.c" || { echo "Bail out! the helper does not build"; exit 1; }
look=$LIVE_BUILD/look
in=$work/in sec=$work/sec
policy=$work/hide.ini audit=$work/audit

fresh() {
	chmod -R u+rwx "$in" "$sec" 2>/dev/null
	rm -rf "$in" "$sec" "$audit"
	mkdir -p "$in/sub/.env.d" "$in/hid.d/x" "$sec/deep/island" "$sec/closed"
	echo x | tee "$in/seen" "$in/sub/.env" "$in/hid.d/x/f" "$sec/key" "$sec/deep/island/f" "$sec/closed/f" >/dev/null
	ln -s ../sec/key "$in/tokey"
	ln -s seen "$in/sub/secret.lnk"
	cp /bin/true "$in/tool.key"
	ln "$in/seen" "$in/other"
	cd "$in" || exit 1
}
rules="deny_read = $sec
allow_read = $sec/deep/island
deny_read = **/.env
deny_read = **/*.lnk
deny_read = **/*.key
deny_read = **/hid.d/"
printf '[filesystem]\nallow_write = %s\nprivate_tmp = no\nhide = yes\n%s\n' "$in" "$rules" >"$policy"
sed 's/hide = yes/hide = no/' "$policy" >"$work/plain.ini"
run() { timeout -k 5 150 "$CORDON" -p "$policy" -a "$audit" "$@"; }

# Each call with each kind of hidden name. "look" prints the errnos that differ from the one wanted.
fresh
hidden=("$sec/key" "$sec/closed" "$sec/closed/f" sub/.env "$in/sub/.env" sub/secret.lnk tool.key hid.d hid.d/x hid.d/x/f
	sub/../hid.d/x/f tokey "/proc/self/cwd/sub/.env" "/proc/self/root$sec/key" ./sub//.env)
was=$(find "$in" "$sec" -printf '%p %m %T@ %l\n')
for name in "${hidden[@]}"; do
	follow=()
	[ "$name" != tokey ] || follow=(follow)
	same "absent to all calls: ${name#"$work"/}" 0 "$(run -q "$look" ENOENT "$name" "${follow[@]}"; echo $?)"
done
same 'and nothing happened to it' "$was" "$(find "$in" "$sec" -printf '%p %m %T@ %l\n')"
for name in seen other sub hid.d/../seen "$sec" "$sec/deep" "$sec/deep/island" "$sec/deep/island/f" sub/.env.d . /; do
	same "there: ${name#"$work"/}" 0 "$(run -q "$look" 0 "$name"; echo $?)"
done
for name in sub/none "$sec/none" sub/.env/x none/.env; do
	want=$("$look" show "$name")
	same "not there: ${name#"$work"/}" "$want" "$(run -q "$look" show "$name")"
done

# A new entry says the same, whether something is there or not.
fresh
for name in sub/.env hid.d new.key; do
	[ $name = hid.d ] || same "a new $name" "EPERM EPERM EPERM EPERM EPERM EPERM" "$(run -q "$look" make "$name")"
done
same 'a directory that is hidden as such' 'EPERM EPERM EPERM EPERM EPERM EPERM' "$(run -q "$look" make hid.d)"
same 'beneath what is hidden' 'ENOENT ENOENT ENOENT ENOENT ENOENT ENOENT' "$(run -q "$look" make hid.d/x/new)"
same 'moved onto' 'EPERM' "$(run -q "$look" rename seen sub/.env)"
same 'moved onto a directory' 'EPERM' "$(mkdir "$in/full"; run -q "$look" rename full hid.d)"
same 'moved from' 'ENOENT' "$(run -q "$look" rename sub/.env moved)"
same 'nothing changed' 'x x' "$(cat "$in/sub/.env" "$in/hid.d/x/f" | tr '\n' ' ' | sed 's/ $//')"

# Errors of programs, what is told and what is recorded.
fresh
run cat sub/.env >"$work/out" 2>"$work/said"
# Perhaps in the middle of the program's own line, which it writes in parts.
same 'open: told, and absent' '1 1' "$(grep -c 'cordon: read .*\.env refused by deny_read' "$work/said") $(grep -c 'No such file' "$work/said")"
run sh -c 'test -e sub/.env; stat sub/.env; ls -l sub; cd hid.d; [ -x tool.key ]' >/dev/null 2>"$work/said"
same 'looking: not told' 0 "$(grep -c '^cordon:' "$work/said")"
rm -f "$audit"
run stat sub/.env >/dev/null 2>&1
same 'looking: recorded under its rule' 1 "$(grep '"deny_read' "$audit" | grep '\.env' | grep -c '"errno":"ENOENT"')"
run ./tool.key 2>"$work/said"
same 'a hidden program is not found' 127 $?
PATH=$in:$PATH run tool.key 2>/dev/null
same 'nor along PATH' 127 $?
same 'a search goes on behind it' 0 "$(cp /bin/true "$in/hid.d/mine"; mkdir "$in/bin"; cp /bin/true "$in/bin/mine"; PATH=$in/hid.d:$in/bin:$PATH run sh -c mine 2>/dev/null; echo $?)"
same 'standard input is what it is' 'x x' "$(run sh -c 'cat; stat -L /dev/stdin >/dev/null && cat /dev/stdin' <sub/.env | tr '\n' ' ' | sed 's/ $//')"
same 'with --log-only nothing is hidden' 'x there' "$(run -q --log-only sh -c 'cat sub/.env; [ -e hid.d ] && echo there' | tr '\n' ' ' | sed 's/ $//')"
same 'explain' 'refused ENOENT' "$("$CORDON" -p "$policy" explain read sub/.env | awk '/^refused/ { a = "refused" } /told: No such file/ { b = "ENOENT" } END { print a, b }')"
check 'check is content' "$CORDON" -p "$policy" check
check 'doctor is content' "$CORDON" -p "$policy" doctor

# One's own processes are free whatever may not be read.
printf '[filesystem]\nallow_write = %s\nprivate_tmp = no\nhide = yes\ndeny_read = /proc\n' "$in" >"$work/proc.ini"
same 'own /proc' 'sh sh readlink' "$("$CORDON" -q -p "$work/proc.ini" sh -c 'read -r a </proc/self/comm; read -r b </proc/thread-self/comm
	test -e /proc/self && test "$(readlink /proc/self)" -gt 1 && basename "$(readlink /proc/self/exe)" | sed "s/^/$a $b /"')"
same 'the rest of it is not there' 1 "$("$CORDON" -q -p "$work/proc.ini" sh -c 'test -e /proc/meminfo; echo $?')"

# Work on what is not hidden, natively and inside.
if command -v git >/dev/null; then
	git init -q "$in/repo" && cd "$in/repo" && printf 'int main(void){return 0;}\n' >a.c && mkdir d && ln -s ../a.c d/l && : >d/empty
	git -c user.name=x -c user.email=x@example.org commit -q --allow-empty -m x && git add . 2>/dev/null
	same 'git status' "$(git status --short)" "$(run git status --short 2>&1)"
fi
cd "$in/repo" 2>/dev/null || { mkdir -p "$in/repo/d" && cd "$in/repo" && echo >a.c; }
printf 'all: a.o\na.o: a.c\n\tcp a.c a.o\n' >Makefile
for command in 'ls -lR' 'find . -ls' 'find -L /usr/include -maxdepth 2 -type l' 'du -a --apparent-size' 'tar cf - . | tar tvf -' \
	'readlink -f d/l d/../a.c' 'make -s; make -q; echo $?' 'cp -a d d2; diff -r d d2 && rm -r d2; ls' 'test -e d/l && test ! -e none && stat -c %n *' \
	'rsync -an --out-format=%n . /tmp/ 2>/dev/null; true' \
	'python3 -c "
import os, pathlib
for top, dirs, files in os.walk(\".\"):
    if \".git\" not in top: print(top, sorted(dirs), sorted(files))
print(sorted(p.name for p in pathlib.Path(\".\").rglob(\"*.c\")), os.path.realpath(\"d/l\"), os.path.exists(\"x\"))
" 2>/dev/null; true' \
	'node -e "
const fs = require(\"fs\");
console.log(fs.realpathSync(\"d/l\"), fs.realpathSync.native(\"d/l\"), fs.existsSync(\"none\"), fs.statSync(\"d\").isDirectory(), fs.readlinkSync(\"d/l\"));
" 2>/dev/null; true'; do
	want=$(sh -c "$command" 2>&1 | grep -v '^total')
	same "as outside: ${command%%
*}" "$want" "$(run sh -c "$command" 2>&1 | grep -v '^total')"
done
cd /
finish
