#!/bin/bash
# Inside as outside: sockets, FIFOs, /proc, threads, processes, signals, terminals.
. "$(dirname "$0")/probes.sh"
build_probes || { echo "Bail out! the probes do not build"; exit 1; }

sections="binds sockets fifos fifosignals procfd standard procself devices threadcwds threaddirs vforks forks killed signals tracing identity sticky tty"
differ probe fast $sections
differ probe-raw reads $sections
for variant in probe-static probe-musl; do
	has "$variant" && differ "$variant" fast binds sockets fifos procfd standard procself threadcwds vforks forks identity sticky tty
done
finish
