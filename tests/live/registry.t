#!/bin/bash
# One real registry each of npm and apt: with its host allowed a small package comes, without it the same command is refused
# and the record has the name. The only tests that leave the machine; where no registry can be reached they are skipped.
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/lib.sh"

cd "$work" || exit 1
host_of() { sed -E 's#^[a-z]+://([^/@]*@)?([^/:]+).*#\2#'; }

# registry WHAT HOST DONE COMMAND...: DONE shows that the package is there.
registry() {
	local what=$1 host=$2 wanted=$3
	shift 3
	rm -rf got cache trail
	mkdir got
	if ! timeout 60 "$@" >native 2>&1 || ! eval "$wanted"; then
		skip "$what" "$host cannot be reached from here"
		return
	fi
	rm -rf got cache
	mkdir got
	if timeout 90 "$CORDON" --audit trail --audit-level all --allow-domain "$host" -- "$@" >inside 2>&1 && eval "$wanted"; then
		pass "$what, from $host by its name"
	else
		fail "$what, from $host by its name" "$(tail -n 20 inside)"
	fi
	same "$what: the names that were asked for" "$host" \
		"$(jq -r 'select(.op == "connect" and .host) | .host' trail | sort -u | paste -sd' ')"
	rm -rf got cache trail
	mkdir got
	if timeout 90 "$CORDON" --audit trail -- "$@" >inside 2>&1 && eval "$wanted"; then
		fail "$what, with no host allowed" 'it came all the same'
	else
		pass "$what, with no host allowed, does not come"
	fi
	if jq -r 'select(.op == "connect" and .verdict == "deny" and .port > 0).host' trail | grep -qxF "$host"; then
		pass "$what: the record has the name"
	else
		fail "$what: the record has the name" "$(cat trail)"
	fi
	if grep -q "^cordon: Connection blocked by network allowlist: $host:" inside; then
		pass "$what: the message has the name"
	else
		fail "$what: the message has the name" "$(head -n 20 inside)"
	fi
}

if ! command -v jq >/dev/null; then
	skip 'registries' 'jq is not here'
	finish
fi
if command -v npm >/dev/null; then
	export npm_config_cache=$work/cache npm_config_audit=false npm_config_fund=false npm_config_update_notifier=false \
		npm_config_fetch_retries=0
	registry 'npm install' "$(npm config get registry | host_of)" '[ -e got/node_modules/is-number/package.json ]' \
		npm install --no-save --prefix got is-number@7.0.0
else
	skip 'npm install' 'npm is not here'
fi
if command -v apt-get >/dev/null; then
	uri=$(apt-get download --print-uris hostname 2>/dev/null | sed -n "s/^'\([^']*\)'.*/\1/p")
	if [ -n "$uri" ]; then
		# As root, apt would fetch as another user, who may not write here.
		registry 'apt-get download' "$(host_of <<<"$uri")" 'compgen -G "got/hostname_*.deb" >/dev/null' \
			bash -c 'cd got && apt-get -o APT::Sandbox::User=root -o Acquire::Retries=0 download hostname'
	else
		skip 'apt-get download' 'apt knows no such package'
	fi
else
	skip 'apt-get download' 'apt-get is not here'
fi
finish
