#!/bin/bash
# Inside as outside: what processes may do after each change of identity, and whose is what they make.
. "$(dirname "$0")/probes.sh"
build_probes || { echo "Bail out! the probes do not build"; exit 1; }
LIVE_LINES=60 differ probe fast marks
differ probe-raw reads marks
is_root || finish
# Not everything is on the way for others in some homes.
chmod 755 "$work/home"

for policy in fast reads; do
	differ probe $policy identities identitythreads identityvfork
done
differ probe-raw reads identities
differ probe fast execwaits
has probe-musl && differ probe-musl fast identities identityvfork
# Where root has no SYS_PTRACE, as in containers, a process is opened again after the change, so that its directory and its
# descriptors can be looked up; but not where real, effective and saved ids differ or did.
permitted=$(sed -n 's/^CapPrm:\t//p' /proc/self/status)
ptrace=$((0x$permitted >> 19 & 1))
for section in identityrelative identitymixed; do
	if [ $ptrace = 1 ] || { [ $section = identityrelative ] && [ "$(uname -m)" = x86_64 ]; }; then
		differ probe fast $section
		differ probe-raw reads $section
	else
		skip $section 'root has no CAP_SYS_PTRACE here, as in a container'
	fi
done
finish
