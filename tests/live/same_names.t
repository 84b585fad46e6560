#!/bin/bash
# Inside as outside: names made, moved and removed, and what belongs to an object.
. "$(dirname "$0")/probes.sh"
build_probes || { echo "Bail out! the probes do not build"; exit 1; }

sections="renames2 links unnamed makes removes trees deep truncates chmods chowns times xattrs descriptors filecommands"
differ probe-raw fast renames $sections
differ probe fast $sections
for variant in probe-static probe-musl; do
	has "$variant" && differ "$variant" fast renames2 unnamed trees deep truncates times descriptors
done
finish
