#!/bin/bash
# Inside as outside: objects without a path, terminals, what waits, what is shared, limits, locks, openat2, events.
. "$(dirname "$0")/probes.sh"
build_probes || { echo "Bail out! the probes do not build"; exit 1; }

sections="removed lostcwd others terminals spawns shares edge waits unixwaits arch given resolve notices"
differ probe fast $sections
differ probe-raw reads $sections
for variant in probe-static probe-musl; do
	has "$variant" && differ "$variant" reads $sections
done
finish
