#!/bin/bash
# Inside as outside: System V objects and POSIX message queues.
. "$(dirname "$0")/probes.sh"
build_probes || { echo "Bail out! the probes do not build"; exit 1; }

sections="sysv queues mqnotify"
effective=$(sed -n 's/^CapEff:\t//p' /proc/self/status)
if ((0x$effective >> 7 & 1)); then
	sections+=" sysvusers"
else
	skip sysvusers 'no CAP_SETUID to become another user'
fi
for variant in probe probe-static probe-musl; do
	has "$variant" && differ "$variant" reads $sections
done
# Where reads are left to the kernel there is no mq_notify.
differ probe-raw fast ${sections/mqnotify/}
finish
