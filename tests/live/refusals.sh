# Running one operation inside and looking at everything that a refusal must leave behind.
. "$(dirname "$0")/lib.sh"

build_calls() {
	build call "$cc" -- "$here/call.c" && build call-raw "$cc" -DPROBE_RAW -- "$here/call.c"
}
call=$LIVE_BUILD/call

in=$work/in out=$work/out audit=$work/audit.jsonl policy=$work/policy.ini
# What is outside, with everything that a change could show in (reading a file changes nothing here).
state() { find "$out" -printf '%P %y %m %U:%G %s %n %T@ %C@ %l\n' | sort; find "$out" -type f -exec cksum {} + | sort; }
fresh() {
	chmod -R u+rwx "$in" "$out" 2>/dev/null
	rm -rf "$in" "$out" "$audit"
	mkdir "$in" "$out"
}
policy() { printf '[filesystem]\nprivate_tmp = no\n%s\n' "$1" >"$policy"; }
# Sets answer, said (what cordon said) and status.
inside() {
	rm -f "$audit"
	answer=$("$CORDON" -p "$policy" -a "$audit" "$@" 2>"$work/said" </dev/null)
	status=$?
	said=$(<"$work/said")
}
# events [PATTERN...]: how many denials the trail has with all of the patterns
events() {
	local lines pattern
	lines=$(grep '"kind":"event"' "$audit" | grep '"verdict":"deny"')
	for pattern in "$@"; do lines=$(grep -F -- "$pattern" <<<"$lines"); done
	grep -c . <<<"$lines"
}

# refused WHAT ERRNO CALL OP PATH RULE -- COMMAND...: CALL may be several with | between; PATH and RULE may be empty;
# PATH of two, OLD>NEW, is refused because of the new one
refused() {
	local what=$1 errno=$2 calls=$3 op=$4 path=$5 rule=$6 wrong='' before patterns=() n=0 name
	shift 7
	before=$(state)
	inside "$@"
	[ "$answer" = "$errno" ] || wrong+="answered $answer, not $errno"$'\n'
	[ "$(state)" = "$before" ] || wrong+="changed outside: $(diff <(echo "$before") <(state))"$'\n'
	patterns=("\"errno\":\"$errno\"" "\"op\":\"$op\"")
	[[ $path != *'>'* ]] || patterns+=("\"source\":\"${path%%>*}\"")
	path=${path#*>}
	[ -z "$path" ] || patterns+=("\"path\":\"$path\"")
	[ -z "$rule" ] || patterns+=("\"rule\":\"$rule")
	for name in ${calls//|/ }; do n=$((n + $(events "\"syscall\":\"$name\"" "${patterns[@]}"))); done
	[ "$n" = 1 ] || wrong+="$n records with $calls ${patterns[*]}"$'\n'
	[ "$(events)" = 1 ] || wrong+="$(events) denials on record"$'\n'
	if [ "$(grep -c . "$work/said")" != 1 ] || [[ $said != 'cordon: '* ]]; then
		wrong+='not one line said'$'\n'
	elif [ -n "$path" ] && [[ $said != *"$path"* ]]; then
		wrong+='the line does not name the path'$'\n'
	fi
	if [ -z "$wrong" ]; then
		pass "$what"
	else
		fail "$what" "$wrong$* said: $said
$(grep '"kind":"event"' "$audit")"
	fi
}
# allowed WHAT COMMAND...: it prints 0 (or what $want says) and nothing is recorded or said
allowed() {
	local what=$1
	shift
	inside "$@"
	if [ "$answer" = "${want-0}" ] && [ -z "$said" ] && [ "$(events)" = 0 ]; then
		pass "$what"
	else
		fail "$what" "answered $answer; $said
$(grep '"kind":"event"' "$audit")"
	fi
}
