#!/bin/bash
# What a command leaves running does not outlive the session.
. "$(dirname "$0")/lib.sh"

program leave
fresh
write_policy
if ! timeout -k 5 60 "$build/leave" chain "$IN/control" "$build/leave" run chain "$IN/control" 2 >"$work/log" 2>&1; then
	sed 's/^/# /' "$work/log"
	not_ok 'a chain of processes: does not even work outside'
else
	timeout -k 5 60 "$build/leave" chain "$IN/file" "$CORDON" -q -p "$work/policy.ini" -- "$build/leave" run chain "$IN/file" 30 >"$work/log" 2>&1
	rc=$?
	if [ $rc = 1 ]; then ok 'a chain of processes'; else
		sed 's/^/# /' "$work/log"
		not_ok "a chain of processes: $rc"
	fi
fi
