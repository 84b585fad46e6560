#!/bin/bash
# Inside as outside: sockets, FIFOs, /proc, threads, processes, signals, terminals.
. "$(dirname "$0")/probes.sh"
build_probes || { echo "Bail out! the probes do not build"; exit 1; }

sections="binds sockets fifos fifosignals procfd standard procself devices threadcwds threaddirs vforks forks killed signals tracing identity tty"
for variant in $variants; do
	differ "$variant" fast $sections
done
differ probe reads $sections
differ probe-raw hide $sections
finish
