#!/bin/bash
# A file that had another name outside before the session: its content, mode and times stay.
. "$(dirname "$0")/lib.sh"
export ATTACK_SECONDS=${ATTACK_SECONDS:-0.4}

setup() { echo original >"$OUT/file" && ln "$OUT/file" link; }
for a in in_place truncate append mode times after_rename more_links; do
	attack "hard link: $a" links $a
done
for a in unlinked_fchmod unlinked_chmod_proc unlinked_futimens unlinked_xattr unlinked_reopen unlinked_relink unlinked_relink_empty; do
	attack "hard link, its name removed: ${a#unlinked_}" links $a
done
attack 'hard link, its name removed, mode of another descriptor' links unlinked_dup2
attack 'hard link whose name looks like that of a removed file' links looks_deleted

setup() { cp "$build/links" "$OUT/file" && ln "$OUT/file" link; }
attack 'hard link, its name removed: a running program' links unlinked_exe

setup() { for i in {1..1500}; do echo >"$OUT/many.$i"; done; ln "$OUT"/many.* .; }
attack 'hard link, its name removed while it is opened' links unlink_race
attack 'hard link, its name removed while it is linked' links unlink_race link
