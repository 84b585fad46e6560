#!/bin/bash
# Signals that a terminal sends for its input, to others in its foreground group; also where the kernel cannot keep them in.
. "$(dirname "$0")/lib.sh"

program async
fresh
write_policy
lacks=$work/oldkernel
${CC:-gcc} -O1 -D_GNU_SOURCE -o "$lacks" "$top/tests/oldkernel/oldkernel.c" || { echo 'Bail out! no oldkernel'; exit 1; }
stage() { timeout -k 5 30 "$build/async" stage "$@" >"$work/log" 2>&1; }

for way in fcntl ioctl; do
	if ! stage "$build/async" fire $way; then
		sed 's/^/# /' "$work/log"
		not_ok "O_ASYNC by $way: does not even work outside"
		continue
	fi
	for lack in nothing landlock; do
		how=("$CORDON" -q -p "$work/policy.ini" -- "$build/async" fire "$way")
		[ $lack = nothing ] || how=("$lacks" "$lack" "${how[@]}")
		stage "${how[@]}"
		rc=$?
		if [ $rc = 1 ] && ! grep -q cordon "$work/log"; then
			ok "O_ASYNC by $way, kernel without $lack"
		else
			sed 's/^/# /' "$work/log"
			not_ok "O_ASYNC by $way, kernel without $lack: $rc"
		fi
	done
done
