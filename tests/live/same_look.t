#!/bin/bash
# Inside as outside: what looks at objects without changing them, while that is decided by the supervisor.
. "$(dirname "$0")/probes.sh"
build_probes || { echo "Bail out! the probes do not build"; exit 1; }

differ probe reads readlinks readxattrs
differ probe hide readlinks readxattrs looks enters
differ probe-raw reads readlinks readxattrs
differ probe-raw hide looks enters
for variant in probe-static probe-musl; do
	has "$variant" && differ "$variant" hide readlinks readxattrs looks enters
done
finish
