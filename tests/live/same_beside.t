#!/bin/bash
# Inside as outside: locks and leases of a process that is outside.
. "$(dirname "$0")/probes.sh"
build_probes || { echo "Bail out! the probes do not build"; exit 1; }

strangers=()
prepare_trees() {
	local tree
	for tree; do
		mkfifo "$tree/ask" "$tree/tell"
		"$LIVE_BUILD/probe" "$tree" stranger >/dev/null 2>&1 </dev/null &
		strangers+=($!)
	done
}
release_trees() {
	{ [ ${#strangers[@]} = 0 ] || { kill "${strangers[@]}" && wait "${strangers[@]}"; }; } 2>/dev/null
	strangers=()
}

differ probe fast beside
differ probe-raw reads beside
for variant in probe-static probe-musl; do
	has "$variant" && differ "$variant" reads beside
done
release_trees
finish
