#!/bin/bash
# Programs: inside as outside where they are allowed; what rules refuse does not start.
. "$(dirname "$0")/probes.sh"
build_probes || { echo "Bail out! the probes do not build"; exit 1; }

differ probe reads execs execmemory exectraced
differ probe exec execs
differ probe-raw reads execs
differ probe-static exec execs
has probe-musl && differ probe-musl reads execs

cd "$work" || exit 1
mkdir ok no box
cp /bin/true no/tool
cp /bin/true ok/tool
cp "$LIVE_BUILD/probe-static" no/only
printf '#!/bin/sh\necho ran\n' >ok/script
printf '#!%s/no/tool\n' "$work" >ok/bad
printf '#!%s/ok/bad\n' "$work" >ok/chain
printf '#!/bin/sh\necho ran\n' >no/script
printf '#!%s/ok/script\n' "$work" >ok/again
chmod +x ok/* no/*
loader=$(file -L /bin/sh 2>/dev/null | sed -n 's/.*interpreter \([^,]*\),.*/\1/p')
[ -n "$loader" ] || loader=$(ls /lib64/ld-linux-x86-64.so.2 /lib/ld-linux-aarch64.so.1 2>/dev/null | head -n 1)

policy() { printf '[filesystem]\nallow_write = %s\nprivate_tmp = no\n%b' "$work/box" "$1" >p.ini; }
# inside WANTED-STATUS WHAT COMMAND...: what it prints is in $out, its messages are in $work/err.
inside() {
	local want=$1 what=$2
	shift 2
	rm -f audit
	out=$(timeout 100 "$CORDON" -p p.ini -a "$work/audit" "$@" 2>"$work/err" </dev/null)
	same "$what" "$want" $?
}
said() { check "$1" grep -q "$2" "$work/err"; }

policy "[exec]\nallow = /bin\nallow = /usr/bin\nallow = /usr/local\nallow = $work/ok\ndeny = $work/ok/denied\n"
inside 0 'an allowed program' "$work/ok/tool"
inside 126 'one that no rule allows' "$work/no/tool"
said 'the message says why' 'no \[exec\] allow covers it'
check 'and the record' grep -q '"op":"exec".*"verdict":"deny".*"errno":"EACCES"' audit
inside 127 'one that is not there' "$work/ok/absent"
inside 0 'a script and its interpreter' "$work/ok/script"
same 'it ran' ran "$out"
inside 0 'a script for a script' "$work/ok/again"
inside 126 'a script that no rule allows' "$work/no/script"
inside 126 'a script for what no rule allows' "$work/ok/bad"
said 'the message names the interpreter' "exec .*/no/tool refused"
inside 126 'the same by another script' "$work/ok/chain"
PATH=$work/no:$work/ok:$PATH inside 0 'a search along PATH goes on' sh -c 'tool && echo found'
same 'and finds the allowed one' found "$out"
inside 0 'a shell goes on after a refusal' sh -c "$work/no/tool; echo \$?"
same 'and sees 126' 126 "$out"
inside 0 'copies run from nowhere' sh -c "cp $work/no/tool $work/box/tool; $work/box/tool; echo \$?"
same 'not from what may be written' 126 "$out"
if [ -n "$loader" ]; then
	policy "[exec]\nallow = /bin\nallow = /usr\nallow = /lib\nallow = /lib64\n"
	inside 126 'the loader as a program' "$loader" "$work/no/tool"
	policy "[exec]\nallow = /usr\nallow = $(readlink -f "$loader")\n"
	inside 0 'the loader where a rule names it' "$loader" "$work/no/tool"
else
	skip 'the loader as a program' 'no loader known'
fi
policy "[exec]\nallow = /bin\nallow = /usr\nallow = $LIVE_BUILD\n"
rm -rf "$work/box/t" && mkdir "$work/box/t"
inside 0 'programs without a name' "$LIVE_BUILD/probe" "$work/box/t" execmemory
same 'are refused' 'a file in memory: EACCES, status 71' "$out"
rm -rf "$work/box/t" && mkdir "$work/box/t"
inside 0 'programs of a traced process' "$LIVE_BUILD/probe" "$work/box/t" exectraced
same 'are refused, too' 'traced: 0 stops, status 13' "$out"
said 'and it is said of which' 'exec /.* refused: a process that is traced'

# What a program asks to be loaded by is started in its stead.
# built NAME LOADER [COMPILER...]: a program that does nothing but ask for that.
built() {
	local name=$1 loader=$2
	shift 2
	echo 'int main(void) { return 0; }' >"$work/main.c"
	"${@:-${CC:-gcc}}" -o "$work/$name" "$work/main.c" -Wl,--dynamic-linker="$loader" 2>/dev/null
}
policy "[exec]\nallow = /usr/bin\nallow = $work/ok\n"
if [ -n "$loader" ] && built ok/plain "$loader"; then
	inside 0 'a program of glibc: its loader needs no rule' "$work/ok/plain"
	ln -s "$loader" box/link
	built ok/linked "$work/box/link"
	inside 0 'by a link to it' "$work/ok/linked"
	cp "$loader" box/ld-mine.so.1
	built ok/mine "$work/box/ld-mine.so.1"
	inside 126 'by a copy that the command could have made' "$work/ok/mine"
	said 'and it is said' 'exec .*/box/ld-mine.so.1 refused: no \[exec\] allow covers it'
	built ok/asks "$work/no/only"
	inside 126 'by a program that no rule allows' "$work/ok/asks"
	policy "[exec]\nallow = /usr/bin\nallow = $work/ok\nallow = $work/box\n"
	inside 0 'by a copy that a rule allows' "$work/ok/mine"
	policy "[exec]\ndeny = $(readlink -f "$loader")\n"
	inside 126 'by a loader that a rule refuses' "$work/ok/plain"
	policy "deny_read = $work/no\n"
	inside 126 'by a program that may not be read' "$work/ok/asks"
	rm -f box/link box/ld-mine.so.1
else
	skip 'what loads a program' 'no compiler'
fi
policy "[exec]\nallow = /usr/bin\nallow = $work/ok\n"
musl=$(ls /lib/ld-musl-*.so.1 2>/dev/null | head -n 1)
if [ -n "$musl" ] && command -v musl-gcc >/dev/null && built ok/musl "$musl" musl-gcc; then
	inside 0 'a program of musl: its loader needs no rule' "$work/ok/musl"
else
	skip 'a program of musl' 'no musl'
fi

# --log-only lets all run, and each file that is refused has one record.
# recorded WHAT FILE...: those that are recorded as refused.
recorded() {
	local what=$1
	shift
	same "--log-only: $what" "$*" \
		"$(sed -n 's/.*"op":"exec".*"path":"\([^"]*\)".*"verdict":"deny".*"errno":"EACCES".*/\1/p' audit | paste -sd ' ')"
}
sh=$(readlink -f /bin/sh)
policy "[exec]\nallow = /none\n"
inside 0 '--log-only: a script' --log-only "$work/ok/script"
recorded 'the script and its interpreter' "$work/ok/script" "$sh"
said 'each has its message' "exec .*/ok/script would be refused: no \[exec\] allow covers it"
said 'each has its message' "exec $sh would be refused: no \[exec\] allow covers it"
inside 0 '--log-only: a script for a script' --log-only "$work/ok/again"
recorded 'the whole chain' "$work/ok/again" "$work/ok/script" "$sh"
policy "[exec]\nallow = $work/ok\n"
inside 0 '--log-only: a script that may run' --log-only "$work/ok/script"
recorded 'the name of its interpreter is whole' "$sh"
policy "[exec]\nallow = $sh\n"
inside 0 '--log-only: a script for what may run' --log-only "$work/ok/script"
recorded 'the script alone' "$work/ok/script"

policy "[exec]\ndeny = $work/no\ndeny = **/cat\n"
inside 126 'a denied program' "$work/no/tool"
said 'the message names the rule' "refused by deny = "
inside 126 'a denied name' cat /dev/null
inside 0 'all others run' "$work/ok/tool"
inside 126 'a script for a denied program' "$work/ok/bad"

policy "deny_read = $work/no\n"
inside 126 'a program that may not be read' "$work/no/tool"
inside 126 'nor as an interpreter' "$work/ok/bad"
inside 0 'others run' "$work/ok/script"

policy "[exec]\nallow = /bin\nallow = /usr\nallow = $work/ok\nallow = $work/no\n"
if is_root; then
	skip 'a program that may be run but not read' 'root reads all'
else
	chmod 111 "$work/no/only"
	inside 126 'a program that may be run but not read' "$work/no/only"
	said 'and it is said' 'cannot be verified'
	policy "deny_read = $work/ok\n"
	inside 0 'it runs without rules about programs' "$work/no/only" sections
	cp "$LIVE_BUILD/probe-static" box/only && chmod 111 box/only
	inside 126 'not where the command could have made it' "$work/box/only" sections
	said 'and it is said' 'could start what may not be read'
fi

policy "[exec]\nallow = /usr/bin\ndeny = /usr/bin/env\n"
explained() { same "explain $1" "$2" "$("$CORDON" -p p.ini explain exec "$1" | head -n "${3:-1}" | tail -n 1)"; }
explained /usr/bin/env 'refused exec /usr/bin/env'
explained "$work/ok/tool" "refused exec $work/ok/tool"
policy "[exec]\nallow = /usr/bin\nallow = $work/ok\n"
explained "$work/ok/bad" "refused exec $work/ok/bad"
explained "$work/ok/tool" "allowed exec $work/ok/tool"
finish
