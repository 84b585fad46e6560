#!/bin/bash
# Inside as outside: an ordinary user in directories with files of others, where fs.protected_* decide: as they are set here.
. "$(dirname "$0")/probes.sh"
build_probes || { echo "Bail out! the probes do not build"; exit 1; }
echo "# sum: $(cd /proc/sys/fs && grep . protected_* | tr '\n' ' ')"
run_as=(setpriv --reuid=1000 --regid=1000 --clear-groups)
if ! is_root || ! "${run_as[@]}" "$LIVE_BUILD/probe" sections >/dev/null 2>&1; then
	skip 'files of others' 'needs root, and a place that others can reach'
	finish
fi

# place DIRECTORY MODE: owned by root, with what 1234 made, and a file of the user's
place() {
	mkdir "$1" && chgrp 1000 "$1" && chmod "$2" "$1" || return 1
	echo x >"$1/theirs" && chmod 666 "$1/theirs" && mkfifo -m 666 "$1/fifo"
	ln -s ../target "$1/link" && ln -s ../dangling "$1/dangle" && ln -s .. "$1/up"
	echo x >"$1/mine" && chown -h 1234:1234 "$1/theirs" "$1/fifo" "$1/link" "$1/dangle" "$1/up" && chown 1000 "$1/mine"
}
prepare_trees() {
	local tree
	for tree; do
		place "$tree/all" 1777 && place "$tree/group" 1770 && place "$tree/open" 0777 && echo x >"$tree/target" &&
			chmod 666 "$tree/target" && chown 1000:1000 "$tree"
	done
}
mkdir "$work/user" && chown 1000 "$work/user"
audit=$work/user/audit
differ probe reads stickyothers
differ probe-raw fast stickyothers
finish
