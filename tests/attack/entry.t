#!/bin/bash
# Ways into the kernel, unreadable and odd callers.
. "$(dirname "$0")/lib.sh"

for a in dispatch restart interrupt secret_memory protection_key last_bytes two_pages undumpable execute_only child_of_parent orphan \
	last_thread vfork no_descriptors file_size small_limits listener descriptor_numbers; do
	attack "entry: $a" entry $a
done
if [ "$(uname -m)" = x86_64 ]; then attack 'entry: sysenter' entry sysenter; fi
