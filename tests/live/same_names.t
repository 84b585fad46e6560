#!/bin/bash
# Inside as outside: names made, moved and removed, and what belongs to an object.
. "$(dirname "$0")/probes.sh"
build_probes || { echo "Bail out! the probes do not build"; exit 1; }

sections="renames renames2 links unnamed makes removes trees truncates chmods chowns times xattrs descriptors"
for variant in $variants; do
	differ "$variant" fast $sections
done
differ probe-raw hide $sections
finish
