#!/bin/bash
# Several calls at once on one TCP socket: connects that are ended, that meet, that a listen comes into.
. "$(dirname "$0")/lib.sh"
if ! python3 -c '' 2>/dev/null; then
	echo '1..0 # SKIP python3 is not installed'
	exit 0
fi
# A wrapper such as pyenv's looks for its files in another HOME.
python=$(python3 -c 'import sys; print(sys.executable)')
for part in shutdown both listen; do
	native=$(timeout 120 "$python" "$here/connects.py" $part 2>&1)
	for how in any loopback; do
		printf '[network]\nlocal_binding = %s\n' $how >"$work/p.ini"
		same "$part, local_binding = $how" "$native" "$(timeout 120 "$CORDON" -q -p "$work/p.ini" -- "$python" "$here/connects.py" $part 2>&1)"
	done
done
finish
