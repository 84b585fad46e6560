#!/bin/bash
# On an overlay, as in every container: a file that is changed becomes another one, copied up, with other numbers.
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/lib.sh"

# Files of the image: one to be changed, one not to be read, and one with two names.
folder=/usr/share/perl5
first=$(find "$folder" -type f -links 1 -size -8k -print -quit 2>/dev/null)
second=$(find "$folder" -type f -links 1 -size -8k ! -path "$first" -print -quit 2>/dev/null)
if [ "$(stat -f -c %T / 2>/dev/null)" != overlayfs ] || ! is_root || [ -z "$second" ] || ! [ -w "$folder" ]; then
	skip 'copy-up' 'no overlay whose lower files root may change'
	finish
fi

numbers() { stat -c '%d:%i' "$1"; }
printf '[filesystem]\nallow_write = %s\nallow_write = %s\nprivate_tmp = no\ndeny_read = %s\n' "$work" "$folder" "$second" >"$work/policy.ini"
cp -a "$first" "$work/first"
cp -a "$second" "$work/second"
mkfifo "$work/changed" "$work/seen"

"$CORDON" -q -p "$work/policy.ini" bash -c '
	cd "$3" || exit 1
	cat "$2" && echo read
	echo more >>"$1" && tail -n 1 "$1"
	echo >seen; read -r _ <changed
	cat "$2" && echo read
	cat "${2%/*}/../${2#/usr/share/}" && echo read
	chmod 600 "$1" && mv "$1" "$1.moved" && ln "$1.moved" "$1" && echo again >>"$1" && tail -n 1 "$1.moved"
' bash "$first" "$second" "$work" >"$work/out" 2>/dev/null &
read -r _ <"$work/seen"
before=$(numbers "$second")
chmod u+x "$second"
echo "numbers: $before, $(numbers "$second")" | sed 's/^/# /'
echo >"$work/changed"
wait $!
same 'files are changed, and what may not be read is not, before and after a copy-up' 'more
again' "$(cat "$work/out")"
rm -f "$first" "$first.moved"
cp -a "$work/first" "$first"
chmod --reference="$work/second" "$second"
finish
