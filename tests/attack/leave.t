#!/bin/bash
# What a command leaves running does not outlive the session.
. "$(dirname "$0")/lib.sh"

program leave
fresh
write_policy
# In a process namespace of its own where that can be had, the chain of the control ends with it.
alone=()
unshare -fp --kill-child true 2>/dev/null && alone=(unshare -fp --kill-child)
if ! timeout -k 5 60 "${alone[@]}" "$build/leave" chain "$IN/file" "$build/leave" run chain "$IN/file" >"$work/log" 2>&1; then
	sed 's/^/# /' "$work/log"
	not_ok 'a chain of processes: does not even work outside'
else
	timeout -k 5 60 "$build/leave" chain "$IN/file" "$CORDON" -q -p "$work/policy.ini" -- "$build/leave" run chain "$IN/file" >"$work/log" 2>&1
	rc=$?
	if [ $rc = 1 ]; then ok 'a chain of processes'; else
		sed 's/^/# /' "$work/log"
		not_ok "a chain of processes: $rc"
	fi
fi
