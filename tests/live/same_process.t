#!/bin/bash
# Inside as outside: sockets, FIFOs, /proc, threads, processes, signals, terminals.
. "$(dirname "$0")/probes.sh"
build_probes || { echo "Bail out! the probes do not build"; exit 1; }

sections="binds sockets fifos fifosignals fifopairs procfd standard procself procentries devices threadcwds threaddirs vforks forks killed signals pidfdthreads pidfdkinds pidfdinfos senders tracing vmreads identity sticky tty groups"
# With another effective user only, a process is closed to all but who has CAP_SYS_PTRACE: same_ident.t has the rest.
effective=$(sed -n 's/^CapEff:\t//p' /proc/self/status)
if is_root && ! ((0x$effective >> 19 & 1)); then
	skip identity 'root has no CAP_SYS_PTRACE here, as in a container'
	sections=${sections/ identity/}
fi
more="binds sockets fifos procfd standard procself procentries threadcwds vforks forks signals pidfdthreads pidfdkinds pidfdinfos senders tty sticky"
[[ $sections != *identity* ]] || more+=" identity"
differ probe fast $sections
differ probe-raw reads $sections
others fast "$more" 'fifosignals fifopairs devices threaddirs killed tracing vmreads groups'
finish
