#!/bin/bash
# What a command leaves running does not outlive the session.
. "$(dirname "$0")/lib.sh"

program leave
fresh
write_policy
# In a process namespace of its own where that can be had, the chain of the control ends with it.
alone=()
unshare -fp --kill-child true 2>/dev/null && alone=(unshare -fp --kill-child)
for name in chain; do
	timeout -k 5 60 "${alone[@]}" "$build/leave" $name "$IN/file" "$build/leave" run $name "$IN/file" >"$work/log" 2>&1
	if [ $? != 0 ]; then
		sed 's/^/# /' "$work/log"
		not_ok "$name: does not even work outside"
		continue
	fi
	timeout -k 5 60 "$build/leave" $name "$IN/file" "$CORDON" -q -p "$work/policy.ini" -- "$build/leave" run $name "$IN/file" >"$work/log" 2>&1
	rc=$?
	if [ $rc = 1 ]; then ok "$name"; else
		sed 's/^/# /' "$work/log"
		not_ok "$name: $rc"
	fi
done
