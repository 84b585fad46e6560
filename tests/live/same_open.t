#!/bin/bash
# Inside as outside: everything that opens.
. "$(dirname "$0")/probes.sh"
build_probes || { echo "Bail out! the probes do not build"; exit 1; }

sections="open openat2 args names addresses dirfds modes denied limits"
differ probe fast $sections
differ probe-raw fast open dirfds limits
differ probe-raw reads openat $sections
differ probe hide limits
others fast 'args names addresses dirfds modes denied limits' 'open openat openat2'
finish
