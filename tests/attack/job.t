#!/bin/bash
# Jobs in the background of the user's terminal are not stopped from inside; also where Landlock keeps no signals in.
. "$(dirname "$0")/lib.sh"

program job
fresh
write_policy
lacks=$work/oldkernel
${CC:-gcc} -O1 -D_GNU_SOURCE -o "$lacks" "$top/tests/oldkernel/oldkernel.c" || { echo 'Bail out! no oldkernel'; exit 1; }
# In a session of its own, which it leaves behind.
stage() { timeout -k 5 30 setsid -w "$build/job" stage "$@" >"$work/log" 2>&1; }

for way in join child; do
	# On a busy machine the control may be too slow for its own waits once.
	if ! stage "$build/job" $way && ! stage "$build/job" $way; then
		sed 's/^/# /' "$work/log"
		not_ok "job control, $way: does not even work outside"
		continue
	fi
	for lack in nothing landlock; do
		how=("$CORDON" -q -p "$work/policy.ini" -- "$build/job" "$way")
		[ $lack = nothing ] || how=("$lacks" "$lack" "${how[@]}")
		stage "${how[@]}"
		rc=$?
		if [ $rc = 1 ] && ! grep -q cordon "$work/log"; then
			ok "job control, $way, kernel without $lack"
		else
			sed 's/^/# /' "$work/log"
			not_ok "job control, $way, kernel without $lack: $rc"
		fi
	done
done
