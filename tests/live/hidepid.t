#!/bin/bash
# Where /proc shows nobody what others do (hidepid): an ordinary user's session is as outside, and a root's, which could not be
# followed when it changes its user, is refused with words.
ordinary() {
	. "$(dirname "$0")/probes.sh"
	for section in standard procself procfd signals vforks killed threadcwds fifos; do differ probe reads $section; done
	finish
}
hidden() {
	. "$(dirname "$0")/probes.sh"
	build_probes || { echo "Bail out! the probes do not build"; exit 1; }
	mount -t proc -o hidepid=2 proc /proc || { echo "Bail out! /proc cannot be mounted"; exit 1; }
	printf '[filesystem]\nallow_write = %s\n' "$work" >"$work/policy.ini"
	"$CORDON" -p "$work/policy.ini" touch "$work/ran" 2>"$work/err"
	same 'a root is refused' 125 $?
	same 'with words' 1 "$(grep -c hidepid "$work/err")"
	same 'and nothing ran' no "$([ -e "$work/ran" ] && echo yes || echo no)"
	"$CORDON" doctor >"$work/out" 2>&1
	same 'doctor knows' 1 "$(grep -c '^/proc *no .*hidepid' "$work/out")"
	mkdir -m 777 "$work/user"
	if TMPDIR=$work/user setpriv --reuid=1000 --regid=1000 --clear-groups "$0" ordinary >"$work/out" 2>&1; then
		pass "an ordinary user's ($(grep -c '^ok' "$work/out") sections)"
	else
		fail "an ordinary user's" "$(grep -v ^ok "$work/out")"
	fi
	finish
}
case $1 in
ordinary | hidden) "$1" ;;
*)
	if ! unshare -mpf true 2>/dev/null; then
		echo 'ok 1 - hidepid # SKIP no mount namespace can be made here'
		echo 1..1
		exit
	fi
	exec unshare -mpf --kill-child --propagation private "$0" hidden
	;;
esac
