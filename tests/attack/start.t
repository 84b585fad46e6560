#!/bin/bash
# How a session starts and ends: variables that get code into programs, policies in the wrong place, what is made of names that
# the command chose, what the end of the session removes.
. "$(dirname "$0")/lib.sh"

# Each try_NAME is called with "outside" and "inside", in a fresh $IN, and succeeds when the attack worked.
try() {
	local name=$1 what=$2
	fresh
	if ! "try_$name" outside >"$work/log" 2>&1; then
		if grep -q '^skip' "$work/log"; then skip "$what" "$(sed -n 's/^skip //p' "$work/log")"; return; fi
		not_ok "$what: does not even work outside"
		return
	fi
	fresh
	write_policy
	if "try_$name" inside >"$work/log" 2>&1; then
		sed 's/^/# /' "$work/log" | head -20
		not_ok "$what: SUCCEEDS INSIDE"
	else
		ok "$what"
	fi
}

# A library that leaves a mark where only somebody unconfined can. One static file is how cordon is built, unless asked otherwise;
# and the program under test may be a script that starts it.
library() {
	if ! LC_ALL=C grep -qam1 "^.ELF" "$CORDON" || head -c 4096 "$CORDON" | grep -qa /ld-; then
		echo 'skip this cordon loads libraries'
		return 1
	fi
	printf '#include <stdio.h>\n#include <stdlib.h>\nunsigned la_version(unsigned v) { return v; }
__attribute__((constructor)) static void mark(void) { FILE *f = fopen("%s/mark", "w"); if (f) fclose(f); }\n' "$OUT" >mark.c
	${CC:-gcc} -shared -fPIC -o mark.so mark.c || { echo 'skip no compiler'; return 1; }
}
marked() { [ -e "$OUT/mark" ]; }

try_preload() {
	library || return 1
	if [ "$1" = outside ]; then LD_PRELOAD=$IN/mark.so /bin/true
	else LD_PRELOAD=$IN/mark.so "$CORDON" -q -p "$work/policy.ini" -- /bin/true; fi
	marked
}
try_audit_library() {
	library || return 1
	if [ "$1" = outside ]; then LD_AUDIT=$IN/mark.so /bin/true
	else LD_AUDIT=$IN/mark.so "$CORDON" -q -p "$work/policy.ini" -- /bin/true; fi
	marked
}
try_gconv_path() {
	library || return 1
	echo 'module ATTACK// INTERNAL mark 1' >gconv-modules
	echo 'module INTERNAL ATTACK// mark 1' >>gconv-modules
	export GCONV_PATH=$IN
	if [ "$1" = outside ]; then echo x | iconv -f ATTACK -t UTF-8
	else LC_ALL=x.ATTACK "$CORDON" -p "$work/policy.ini" -- sh -c 'echo >"$OUT/x"'; fi
	unset GCONV_PATH
	marked
}

# Outside here: named by the user.
try_policy_in_tree() {
	local named=()
	printf '[filesystem]\nallow_write = %s\nallow_write = %s\n' "$IN" "$OUT" >sandbox.ini
	[ "$1" = inside ] || named=(-p sandbox.ini)
	HOME=$work "$CORDON" -q "${named[@]}" -- sh -c 'echo x >"$OUT/mark"'
	marked
}
try_policy_rewrite() {
	printf '[filesystem]\nallow_write = %s\n' "$IN" >own.ini
	if [ "$1" = outside ]; then echo 'allow_write = /' >>own.ini
	else "$CORDON" -q -p own.ini -- sh -c 'echo "allow_write = /" >>own.ini; mv own.ini x; ln -f x own.ini; rm -f own.ini; cp x own.ini
		mv ../in ../x; sed -i s/x/y/ own.ini'; fi
	[ "$(cat own.ini)" != "[filesystem]
allow_write = $IN" ]
}
# Outside: any other file of the same kind.
try_program_rewrite() {
	local file=cordon
	# As on older kernels that is not the program itself.
	[ -z "${AS_OLD:-}" ] || { echo 'skip it is started by another'; return 1; }
	cp "$CORDON" cordon && cp cordon other
	[ "$1" = inside ] || file=other
	./cordon -q -p "$work/policy.ini" -- sh -c 'f=$1
		echo x >>$f; chmod u-x $f; mv $f gone; cp other new; mv -f new $f; rm -f $f; ln -f other $f; ln $f link && echo x >>link; truncate -s 0 $f' sh "$file"
	! cmp -s "$CORDON" "$file" || [ ! -x "$file" ]
}
# The policy changes while the session runs. Outside: the next session has the new one.
try_policy_swapped() {
	printf '[filesystem]\nallow_write = %s\n' "$IN" >"$work/swapped.ini"
	mkfifo "$work/go"
	if [ "$1" = inside ]; then
		"$CORDON" -q -p "$work/swapped.ini" -- sh -c 'read x <"$1"; echo x >"$OUT/mark"' sh "$work/go" &
		sleep 0.3
	fi
	printf '[filesystem]\nallow_write = %s\nallow_write = %s\n' "$IN" "$OUT" >"$work/swapped.ini"
	if [ "$1" = inside ]; then echo go >"$work/go"; wait
	else "$CORDON" -q -p "$work/swapped.ini" -- sh -c 'echo x >"$OUT/mark"'; fi
	rm "$work/go"
	marked
}

# What is removed at the end follows no link.
try_cleanup_link() {
	echo original >"$OUT/file"
	if [ "$1" = outside ]; then ln -s "$OUT" tmp && rm -rf tmp/
		rm -rf tmp/*
	else
		printf '[filesystem]\nallow_write = %s\n' "$IN" >"$work/tmp.ini"
		"$CORDON" -q -p "$work/tmp.ini" -- sh -c '
			mkdir "$TMPDIR/d"; ln -s "$OUT" "$TMPDIR/link"; ln -s "$OUT" "$TMPDIR/d/link"; mkdir -m 0 "$TMPDIR/closed"
			rmdir "$TMPDIR" 2>/dev/null || mv "$TMPDIR" "$IN/moved"; ln -s "$OUT" "$TMPDIR"'
	fi
	[ ! -e "$OUT/file" ]
}
# The trail follows no link that the command made in its place.
try_audit_link() {
	if [ "$1" = outside ]; then
		ln -s "$OUT/mark" audit.json
		echo record >>audit.json
	else
		"$CORDON" -q -p "$work/policy.ini" -a audit.json -- sh -c '
			mv audit.json x; rm -f audit.json; ln -s "$OUT/mark" audit.json; ln -s "$OUT/mark" audit.json.1
			for i in 1 2 3 4 5; do echo >"$OUT/x$i"; done'
	fi
	marked
}

# Before Linux 6.16 an exec without new privileges made the command the real user, and the supervisor went on as the other.
try_two_users() {
	[ "$(id -u)" = 0 ] || { echo 'skip needs root'; return 1; }
	local as=(setpriv --ruid 1001 --euid 1000 --rgid 1001 --egid 1000 --clear-groups) how=()
	echo secret >"$IN/secret" && chmod 755 "$IN" && chown 1000 "$IN/secret" && chmod 600 "$IN/secret"
	[ "$1" = outside ] || how=("$CORDON" -q -p "$work/policy.ini" --)
	chmod 644 "$work/policy.ini" 2>/dev/null
	"${as[@]}" "${how[@]}" perl -e 'open(F, "+<", "secret") or open(F, "<", "secret") or die; print <F>' | grep secret
}

evil=$'a\e]0;owned\a\e[2J\r\ncordon: all is well'
try_escape_in_message() {
	if [ "$1" = outside ]; then printf 'sh: cannot create %s\n' "$evil" 2>&1
	else "$CORDON" -p "$work/policy.ini" -- touch "$OUT/$evil" 2>messages; cat messages; fi >seen
	LC_ALL=C grep -q $'[\001-\010\013-\037\177]' seen || grep -q '^cordon: all is well' seen
}
try_line_in_record() {
	if [ "$1" = outside ]; then printf '{"path":"%s"}\n' "$OUT/$evil" >records
	else "$CORDON" -q -p "$work/policy.ini" -a "$work/records" -- sh -c 'exec -a "$1" touch "$OUT/$1"; touch "$OUT/$1"' sh "$evil"
		cp "$work/records" records
		rm "$work/records"*
	fi
	LC_ALL=C grep -q $'[\001-\010\013-\037\177]' records || grep -qv '^{.*}$' records
}

export IN OUT
try preload 'LD_PRELOAD gets a library into cordon'
try audit_library 'LD_AUDIT does'
try gconv_path 'GCONV_PATH does'
try policy_in_tree 'a sandbox.ini that lies in the tree is taken as policy'
try policy_rewrite 'the command changes its own policy file'
try program_rewrite 'the command changes the program that confines it, for the next time'
try policy_swapped 'the policy file is changed while the session runs'
try cleanup_link 'links in place of the TMPDIR that is removed'
try audit_link 'a link in place of the audit file'
try two_users "a command with two users, and a supervisor that is one of them"
try escape_in_message 'a name with terminal codes and line breaks in messages'
try line_in_record 'the same in records'
