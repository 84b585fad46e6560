#!/bin/bash
# The system call filter and what stands behind it.
. "$(dirname "$0")/lib.sh"

setup() {
	echo original >"$OUT/file"
	echo original >rootfile
	chmod 600 rootfile
	chmod 755 .
}
before() {
	unset CONFINED
	[ "$1" != inside ] || export CONFINED=1
}
for a in i386 x32 high_bits flags namespaces forbidden filter_allow listener tracer signals personality identities; do
	attack "filter: $a" filter $a
done

# Cordon is killed; what it decided stays refused for what is left.
program filter
fresh
unset CONFINED
"$build/filter" orphan_listener && native=0 || native=$?
fresh
write_policy
export CONFINED=1
"$CORDON" -q -p "$work/policy.ini" -- "$build/filter" orphan_listener >/dev/null 2>&1 &
front=$!
for _ in {1..3000}; do [ ! -e ready ] || break; sleep 0.01; done
read -r supervisor _ <"/proc/$front/task/$front/children"
kill -9 $front "$supervisor"
wait $front 2>/dev/null
sleep 0.5
if [ $native != 0 ]; then
	not_ok "cordon is killed: does not even work outside ($native)"
elif [ -e "$OUT/dir" ] || [ "$(stat -c %a "$OUT/file")" != 644 ]; then
	ls -la "$OUT" | sed 's/^/# /'
	not_ok 'cordon is killed: SUCCEEDS INSIDE'
else
	ok 'cordon is killed'
fi
