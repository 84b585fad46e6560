#!/bin/bash
# Inside as outside: names made, moved and removed, and what belongs to an object.
. "$(dirname "$0")/probes.sh"
build_probes || { echo "Bail out! the probes do not build"; exit 1; }

sections="renames2 links unnamed makes removes trees deep truncates chmods chowns times xattrs descriptors filecommands"
differ probe-raw fast renames $sections
differ probe fast $sections
others fast 'renames2 unnamed trees deep truncates times descriptors filecommands' 'renames links makes removes chmods chowns xattrs'
finish
