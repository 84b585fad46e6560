#!/bin/bash
# The one-file build, in a container that holds nothing but itself and busybox.
set -u
cordon=$(readlink -f "${CORDON:-build/cordon-static}")
top=$(readlink -f "$(dirname "$0")/..")
number=0

result() { # result STATUS NAME
	number=$((number + 1))
	local word=ok
	[ "$1" = 0 ] || word='not ok'
	echo "$word $number - $2"
}

finish() { echo "1..$number"; exit 0; }
skip() { number=$((number + 1)); echo "ok $number - $1 # SKIP $2"; }

! readelf -d "$cordon" | grep -q NEEDED
result $? 'needs no library'
readelf -h "$cordon" | grep -q 'Type: *DYN'
result $? 'may be loaded anywhere'
"$cordon" --version >/dev/null
result $? 'starts'

if [ "$(id -u)" != 0 ]; then skip container 'needs root'; finish; fi
if ! readelf -h /bin/busybox >/dev/null 2>&1 || readelf -d /bin/busybox | grep -q NEEDED; then
	skip container 'there is no static busybox'
	finish
fi
base=$(mktemp -d /var/tmp/static.XXXXXX)
trap 'rm -rf "$base"' EXIT
chmod 755 "$base"
mkdir -p "$base"/{bin,dev,etc,proc,sys,root/.ssh,tmp,srv/own}
chmod 1777 "$base/tmp"
chmod 777 "$base/srv/own"
cp /bin/busybox "$base/bin/"
for name in sh cat mkdir true; do ln -s busybox "$base/bin/$name"; done
cp "$cordon" "$base/bin/cordon"
echo key >"$base/root/.ssh/id"
echo old >"$base/srv/outside"
chmod 666 "$base/srv/outside"
chmod -R a+rX "$base/root"

script='
cd /srv/own
cordon sh -c "mkdir d && echo a >d/f && cat d/f" | grep -qx a || echo "own work fails"
cordon sh -c "echo new >/srv/outside" 2>err && echo "wrote outside"
grep -q "cordon: write /srv/outside refused" err || { echo "no line on the write:"; cat err; }
cordon --deny-read /root/.ssh cat /root/.ssh/id 2>err && echo "read what is denied"
grep -q "cordon: read .*/.ssh/id refused" err || { echo "no line on the read:"; cat err; }
cordon -a trail true && grep -q end trail || echo "no trail"
cordon true || echo "status $?"
cordon none 2>/dev/null; [ $? = 127 ] || echo "not 127"
cat /srv/outside
'
ln -s busybox "$base/bin/grep"
for user in 0 1000; do
	out=$(timeout 60 "$top/tests/container/run" --user $user "$base" -- /bin/sh -c "$script" 2>&1)
	[ "$out" = old ]
	result $? "works in an empty root as user $user"
	[ "$out" = old ] || printf '# %s\n' "${out//$'\n'/$'\n'# }"
done
finish
