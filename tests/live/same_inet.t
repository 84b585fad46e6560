#!/bin/bash
# Inside as outside: TCP sockets of the session, among themselves and towards nobody.
. "$(dirname "$0")/probes.sh"
build_probes || { echo "Bail out! the probes do not build"; exit 1; }

sections="inet inetwaits held"
differ probe fast $sections
differ probe-raw reads $sections
for variant in probe-static probe-musl; do
	has "$variant" && differ "$variant" reads inet held
done
finish
