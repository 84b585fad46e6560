#!/bin/bash
# Signals that a terminal sends for its input, to others in its foreground group; also where the kernel cannot keep them in.
. "$(dirname "$0")/lib.sh"

program async
fresh
write_policy
stage() { timeout -k 5 30 "$build/async" stage "$@" >"$work/log" 2>&1; }

for way in fcntl ioctl; do
	staged "O_ASYNC by $way" "$build/async" fire $way
done
