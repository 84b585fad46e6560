#!/bin/bash
# Identities: who gave root up has it no more.
. "$(dirname "$0")/lib.sh"
[ "$(id -u)" = 0 ] || { trap - EXIT; rm -rf "$work"; echo '1..0 # SKIP needs root'; exit 0; }
export ATTACK_SECONDS=${ATTACK_SECONDS:-1}

setup() {
	chmod 755 . && mkdir -m 700 shut && mkdir -m 755 closed closed/empty && mkdir -m 777 open && mkdir -m 1777 sticky
	echo secret >secret && echo x >shut/in && echo x >closed/in && echo x >sticky/theirs && echo x >mine
	chmod 600 secret && chown 1234 mine
}
attack 'all ids' ident plain
attack 'the effective ids only' ident effective
attack 'the file system ids only' ident by_fsuid
attack 'a child afterwards' ident child
attack 'one thread of several' ident threads
attack 'back and forth' ident in_turn
attack 'the first call after the change' ident storm
attack 'all threads, by libc' ident by_libc
attack 'memory of a parent that was held open' ident forked
attack 'signals to the supervisor' ident signals
