#!/bin/bash
# Terminals and job control look the same, whether a program is started confined or not.
. "$(dirname "$0")/lib.sh"
if ! python3 -c 'import pty' 2>/dev/null; then
	skip 'terminals' 'python3 is not installed'
	finish
fi

printf '[filesystem]\nallow_write = %s\nprivate_tmp = no\ndeny_read = /nonexistent/secret\n' "$work" >"$work/policy.ini"
mkdir "$work/native" "$work/confined" "$work/in"
cat >"$work/native/run" <<'RUN'
#!/bin/sh
exec "$@"
RUN
cat >"$work/confined/run" <<RUN
#!/bin/sh
exec "$CORDON" -p "$work/policy.ini" "\$@"
RUN
chmod +x "$work"/*/run
cd "$work/in" || exit 1

for scene in jobs shell; do
	for way in native confined; do
		PATH=$work/$way:$PATH timeout 250 python3 "$here/terminal.py" "$scene" >"$work/$way/out" 2>&1
		echo "exit $?" >>"$work/$way/out"
	done
	if ! tail -n 1 "$work/native/out" | grep -qx 'exit 0' || grep -q 'NOT SEEN' "$work/native/out"; then
		fail "$scene, natively" "$(tail -n 5 "$work/native/out")"
	elif cmp -s "$work/native/out" "$work/confined/out"; then
		pass "$scene"
	else
		fail "$scene" "$(diff "$work/native/out" "$work/confined/out")"
	fi
done
finish
