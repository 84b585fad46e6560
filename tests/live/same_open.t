#!/bin/bash
# Inside as outside: everything that opens.
. "$(dirname "$0")/probes.sh"
build_probes || { echo "Bail out! the probes do not build"; exit 1; }

sections="open openat openat2 args names addresses dirfds modes denied limits"
for variant in $variants; do
	differ "$variant" fast $sections
done
differ probe reads $sections
differ probe-raw reads $sections
differ probe-raw hide $sections
finish
