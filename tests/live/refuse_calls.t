#!/bin/bash
# Every call that changes a file, outside the policy: EPERM, nothing changed, one record, one line.
. "$(dirname "$0")/refusals.sh"
build_calls || { echo "Bail out! the helpers do not build"; exit 1; }

policy "allow_write = $in
deny_read = $out/secret"
fresh
echo content >"$out/f"
echo secret >"$out/secret"
mkdir "$out/d"
ln -s f "$out/link"
echo inner >"$in/f"
xattrs=yes
"$call" have "$out/f" >/dev/null || xattrs=no
"$call" serve "$out/s" &
server=$!
for _ in {1..1500}; do [ -S "$out/s" ] && break; sleep 0.02; done
sleep 0.1

for program in call call-raw; do
	program=$LIVE_BUILD/$program
	while read -r name on by op; do
		what="${program##*/} $name ($on)"
		rule=default first=$out/f second=
		case $on in
		file) ;;
		absent) first=$out/new ;;
		dir) first=$out/d ;;
		from) second=$in/new ;;
		to) first=$in/f second=$out/new ;;
		both) first=$in/f second=$out/f ;;
		socket) first=$out/s ;;
		read) first=$out/secret rule="deny_read = $out/secret" ;;
		device) first=$in/device rule='devices (built-in)' ;;
		*) continue ;;
		esac
		path=$first errno=EPERM
		case $on/$name in
		dir/tmpfile) path= ;;
		to/* | both/*) path="$first>$second" ;;
		device/*) path= ;;
		esac
		case $name in
		setxattrat | removexattrat | fchmodat2 | emptychmod)
			if [ "$("$program" "$name" "$in/f")" = ENOSYS ]; then
				skip "$what" 'the kernel or the container does not have it'
				continue
			fi
			;;
		esac
		case $name in *xattr*) [ $xattrs = yes ] || { skip "$what" 'no extended attributes here'; continue; } ;; esac
		refused "$what" "$errno" "$by" "$op" "$path" "$rule" -- "$program" "$name" "$first" ${second:+"$second"}
		rm -f "$in/new"
	done < <("$program" list)
done
kill $server
wait $server 2>/dev/null

# The same through links, descriptors and detours.
refused 'through a symbolic link' EPERM openat write "$out/f" default -- "$call" update "$out/link"
ln -s "$out" "$in/way"
refused 'through a link to the directory' EPERM openat create "$out/new" default -- "$call" excl "$in/way/new"
refused 'through ..' EPERM openat write "$out/f" default -- "$call" update "$in/../out/f"
refused 'through /proc/self/cwd' EPERM openat write "$out/f" default -- "$call" update "/proc/self/cwd/$(realpath --relative-to="$PWD" "$out/f")"
refused 'through /proc/self/root' EPERM openat write "$out/f" default -- "$call" update "/proc/self/root$out/f"
ln -s "$out/none" "$in/dangling"
refused 'through a dangling link' EPERM openat create "$out/none" default -- "$call" createro "$in/dangling"
ln "$out/f" "$in/hard"
refused 'a file with a further name outside' EPERM openat write "$in/hard" 'hardlinks = refuse' -- "$call" update "$in/hard"
refused 'its mode' EPERM fchmodat metadata "$in/hard" 'hardlinks = refuse' -- "$call" fchmodat "$in/hard"
rm "$in/hard"
# What the kernel refuses by itself is the kernel's errno, and no denial of ours.
want=ENOENT allowed 'what is not there is ENOENT' "$call" update "$out/absent"
want=EEXIST allowed 'what is there is EEXIST' "$call" excl "$out/f"
want=EEXIST allowed 'mkdir of what is there' "$call" mkdirat "$out/d"
want=EISDIR allowed 'a directory is not written' "$call" update "$out/d"
want=ENOTDIR allowed 'a file is no directory' "$call" update "$out/f/x"
want=ENOENT allowed 'nothing to remove' "$call" unlinkat "$out/absent"
want=ENOENT allowed 'nothing to rename' "$call" renameat "$out/absent" "$in/x"
want=ENOENT allowed 'nothing to change' "$call" fchmodat "$out/absent"
# And inside the policy all of it works.
for name in update trunc writeat2 chmod fchmod fchown utimensat futimens; do
	allowed "inside: $name" "$call" $name "$in/f"
done
allowed 'inside: mkdir' "$call" mkdir "$in/dir"
allowed 'inside: rename' "$call" rename "$in/f" "$in/g"
allowed 'inside: link' "$call" link "$in/g" "$in/h"
allowed 'inside: unlink' "$call" unlink "$in/h"
finish
