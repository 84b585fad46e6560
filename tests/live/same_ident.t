#!/bin/bash
# Inside as outside: what processes may do after each change of identity, and whose is what they make. Root only.
. "$(dirname "$0")/probes.sh"
is_root || { echo '1..0 # SKIP needs root'; exit 0; }
build_probes || { echo "Bail out! the probes do not build"; exit 1; }
# Not everything is on the way for others in some homes.
chmod 755 "$work/home"

for policy in fast reads; do
	differ probe $policy identities identitythreads identityvfork
done
differ probe-raw reads identities
has probe-musl && differ probe-musl fast identities identityvfork
# Where root has no SYS_PTRACE, as in containers, nobody may look up the directories and descriptors of these.
permitted=$(sed -n 's/^CapPrm:\t//p' /proc/self/status)
for section in identityrelative identitymixed; do
	if ((0x$permitted >> 19 & 1)); then
		differ probe fast $section
		differ probe-raw reads $section
	else
		skip $section 'root has no CAP_SYS_PTRACE here, as in a container'
	fi
done
finish
