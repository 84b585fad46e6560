#!/bin/bash
# Jobs in the background of the user's terminal are not stopped from inside; also where Landlock keeps no signals in.
. "$(dirname "$0")/lib.sh"

program job
fresh
write_policy
# In a session of its own, which it leaves behind.
stage() { timeout -k 5 30 setsid -w "$build/job" stage "$@" >"$work/log" 2>&1; }

for way in join child; do
	staged "job control, $way" "$build/job" $way
done
