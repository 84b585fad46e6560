#!/bin/bash
# Inside as outside: the datagram sockets of the internet, as far as they can be without sending anything.
. "$(dirname "$0")/probes.sh"
build_probes || { echo "Bail out! the probes do not build"; exit 1; }

sections="datagrams dgramsignals"
differ probe fast $sections
differ probe-raw reads $sections
for variant in probe-static probe-musl; do
	has "$variant" && differ "$variant" reads datagrams
done
finish
