#!/bin/bash
# Programs that nobody may look into: what they can still do, and that the rest is refused with a reason.
. "$(dirname "$0")/probes.sh"
build shut "$cc" -static -- "$here/shut.c" || { echo 'Bail out! shut does not build'; exit 1; }
build shut-dynamic "$cc" -- "$here/shut.c" || { echo 'Bail out! shut does not build'; exit 1; }
chmod 755 "$work/home"

# Root may read everything, so it runs them as somebody else.
as=()
if is_root; then
	as=(setpriv --reuid 1234 --regid 1234 --clear-groups)
	"${as[@]}" "$CORDON" -V >/dev/null 2>&1 || { echo '1..0 # SKIP others cannot run cordon where it is'; exit 0; }
fi
tree=$work/tree
bin=$work/bin # what the command could have written is not started where there are rules about reading
mkdir "$tree" "$bin"
chmod 777 "$tree"
chmod 755 "$bin"
for program in shut shut-dynamic; do
	for dir in "$bin" "$tree"; do
		install -m 711 "$LIVE_BUILD/$program" "$dir/$program"
		is_root || chmod 111 "$dir/$program"
	done
done
reason='lets nobody read this program'
confined() { # confined POLICY COMMAND...
	policy_of "$1" "$tree" >"$work/policy.ini"
	chmod 644 "$work/policy.ini"
	shift
	(cd "$tree" && rm -f made && timeout 100 "${as[@]}" "$CORDON" -p "$work/policy.ini" -- "$@" 2>"$work/err")
}
for policy in fast reads; do
	same "it runs, policy $policy" 'dumpable 0, uid is own: 1' "$(confined $policy "$bin/shut" say)"
	same "what it is asked about is refused, policy $policy" 'open: Operation not permitted' "$(confined $policy "$bin/shut" write)"
	check "with a reason, policy $policy" grep -q "$reason" "$work/err"
	check "and nothing is made, policy $policy" test ! -e "$tree/made"
	same "so is what it means by a descriptor, policy $policy" 'signal: Operation not permitted' "$(confined $policy "$bin/shut" signal)"
	check "that with a reason, too, policy $policy" grep -q "$reason" "$work/err"
	same "what it starts can be read, policy $policy" text "$(confined $policy "$bin/shut" exec)"
done
# Its libraries are opened by the kernel alone, or it does not start.
policy_of fast "$tree" >"$work/policy.ini"
if "$CORDON" -p "$work/policy.ini" doctor | grep -q '^fast reads *yes'; then
	same 'with libraries, policy fast' 'dumpable 0, uid is own: 1' "$(confined fast "$bin/shut-dynamic" say)"
else
	same 'with libraries, where the supervisor decides on reading' '' "$(confined fast "$bin/shut-dynamic" say)"
	check 'with libraries: with a reason' grep -q "$reason" "$work/err"
fi
same 'where it can be written, policy fast' 'dumpable 0, uid is own: 1' "$(confined fast ./shut say)"
same 'where it can be written, policy reads' '' "$(confined reads ./shut say)"
check 'with a reason' grep -q 'could start what may not be read' "$work/err"

# In a container, where root has no SYS_PTRACE: one that took another effective user for a while.
if is_root && command -v python3 >/dev/null && ! ((0x$(sed -n 's/^CapPrm:\t//p' /proc/self/status) >> 19 & 1)); then
	as=()
	mixed='import os; os.seteuid(1234)
for name in (os.getcwd() + "/made", "relative"):
    try: os.mkdir(name); print("made by", os.stat(name).st_uid); os.rmdir(name)
    except OSError as e: print(e.strerror)'
	same 'another effective user: absolute names' "made by 1234
Operation not permitted" "$(confined fast python3 -c "$mixed")"
	check 'relative ones are refused with a reason' grep -q "$reason" "$work/err"
fi
finish
