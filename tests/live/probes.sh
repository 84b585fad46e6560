# Running the probe twice, outside and inside, and comparing.
. "$(dirname "$0")/lib.sh"

# Not every machine has musl.
has() { [ -x "$LIVE_BUILD/$1" ]; }
build_probes() {
	build probe "$cc" -- "$here"/probe*.c || return 1
	build probe-static "$cc" -static -- "$here"/probe*.c || return 1
	build probe-raw "$cc" -DPROBE_RAW -- "$here"/probe*.c || return 1
	command -v musl-gcc >/dev/null || return 0
	# The kernel's headers are not in musl's own folder.
	build probe-musl musl-gcc -static -idirafter /usr/include -idirafter "/usr/include/$(uname -m)-linux-gnu" -- "$here"/probe*.c
}

# Policies: whether the kernel opens for reading by itself depends on them. All allow the tree, and nothing else.
policy_of() {
	printf '[filesystem]\nallow_write = %s\nprivate_tmp = no\n' "$2"
	case $1 in
	fast) ;;
	hide) printf 'hide = yes\ndeny_read = /nonexistent/secret\ndeny_read = **/.secret-name\n' ;;
	exec) printf '[exec]\nallow = /bin\nallow = /usr\nallow = %s\nallow = %s\ndeny = /usr/bin/nothing\n' "$2" "$LIVE_BUILD" ;;
	reads) printf 'deny_read = /nonexistent/secret\ndeny_read = **/.secret-name\n' ;;
	esac
}

# What a test puts before both, to be another user, and where that one can write.
run_as=() audit=$work/audit

# differ VARIANT POLICY SECTION...: the sections one by one, each in two fresh trees of names of one length.
differ() {
	local variant=$1 policy=$2 section what a b
	shift 2
	for section in "$@"; do
		what="$section: $variant, policy $policy"
		a=$work/n b=$work/c
		cleanup_trees
		mkdir "$a" "$b"
		prepare_trees "$a" "$b"
		policy_of "$policy" "$b" >"$work/policy.ini"
		outside=$work/outside.$variant.$section
		if [ ! -e "$outside" ]; then
			"${run_as[@]}" $AS_OLD "$LIVE_BUILD/$variant" "$a" "$section" >"$outside" 2>"$outside.err" </dev/null
			echo "exit $?" >>"$outside"
			"$LIVE_BUILD/$variant" "$a" list 2>&1 | sort >"$outside.tree"
		fi
		"${run_as[@]}" "$CORDON" -p "$work/policy.ini" -a "$audit" "$LIVE_BUILD/$variant" "$b" "$section" \
			>"$work/inside" 2>"$work/inside.err" </dev/null
		echo "exit $?" >>"$work/inside"
		"$LIVE_BUILD/$variant" "$b" list 2>&1 | sort >"$work/inside.tree"
		if ! cmp -s "$outside" "$work/inside"; then
			fail "$what" "$(diff -a "$outside" "$work/inside" | head -n "${LIVE_LINES:-20}"; head -n 3 "$work/inside.err")"
		elif ! cmp -s "$outside.tree" "$work/inside.tree"; then
			fail "$what" "trees differ: $(diff -a "$outside.tree" "$work/inside.tree" | head -n 20)"
		elif ! tail -n 1 "$outside" | grep -qx 'exit 0'; then
			fail "$what" "the probe itself failed: $(tail -n 1 "$outside"; cat "$outside.err")"
		else
			pass "$what ($(wc -l <"$outside") lines)"
		fi
	done
}
# others POLICY SECTIONS MORE: the same by the builds without a loader; more of it, which takes long, where $CI_ALL asks for all.
others() {
	local variant
	for variant in probe-static probe-musl; do
		# shellcheck disable=SC2086 # lists
		has "$variant" && differ "$variant" "$1" $2 ${CI_ALL:+$3}
	done
}
# What a test mounts in fresh trees, and takes away again.
prepare_trees() { :; }
release_trees() { :; }
cleanup_trees() {
	release_trees "$work/n" "$work/c"
	chmod -R u+rwx "$work/n" "$work/c" 2>/dev/null
	rm -rf "$work/n" "$work/c"
}
