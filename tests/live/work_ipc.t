#!/bin/bash
# Programs that share System V objects, and that nothing is left of these afterwards.
. "$(dirname "$0")/work_lib.sh"

work 'ipcmk, ipcs, ipcrm' ipcmk ipcs ipcrm <<'EOF'
for kind in m:'-M 4096' s:'-S 3' q:-Q; do
	letter=${kind%%:*} id=$(ipcmk ${kind#*:} | tr -dc 0-9)
	ipcs -$letter | awk -v id="$id" '$2 == id' | wc -l
	ipcs -$letter -i "$id" | grep -ciE 'bytes=4096|nsems = 3|qnum=0'
	ipcrm -$letter "$id" && echo removed
	ipcrm -$letter "$id" 2>&1 | sed "s/$id/ID/"
done
EOF

# As a database server does it: a segment under the key of its directory that must not be in use, semaphores, workers.
work 'a server with shared memory, semaphores and a queue of messages' perl <<'EOF'
cat >server.pl <<'X'
use strict; use IPC::SysV qw(IPC_CREAT IPC_EXCL IPC_RMID IPC_PRIVATE SEM_UNDO ftok SETVAL GETVAL);
$| = 1;
my $key = ftok('.', 17);
my $id = shmget($key, 65536, IPC_CREAT | IPC_EXCL | 0600) // die "shmget: $!";
print defined(shmget($key, 65536, IPC_CREAT | IPC_EXCL | 0600)) ? "twice\n" : "in use: $!\n";
my $sem = semget(IPC_PRIVATE, 2, IPC_CREAT | 0600) // die "semget: $!";
my $queue = msgget(IPC_PRIVATE, IPC_CREAT | 0600) // die "msgget: $!";
semctl($sem, 0, SETVAL, 1); shmwrite($id, pack('L', 0), 0, 4);
my @workers;
for my $w (1 .. 4) {
	my $pid = fork(); push(@workers, $pid), next if $pid;
	for (1 .. 50) {
		semop($sem, pack('s!3', 0, -1, SEM_UNDO)) or die "semop: $!";
		my $buf; shmread($id, $buf, 0, 4); shmwrite($id, pack('L', unpack('L', $buf) + 1), 0, 4);
		semop($sem, pack('s!3', 0, 1, SEM_UNDO));
	}
	msgsnd($queue, pack('l! a*', $w, "worker $w"), 0) or die "msgsnd: $!";
	# One that ends while it holds the lock: it is given back.
	semop($sem, pack('s!3', 0, -1, SEM_UNDO)); exit 0;
}
for (@workers) { waitpid($_, 0); print "status $?\n" }
my $buf; shmread($id, $buf, 0, 4); print unpack('L', $buf), "\n";
for my $w (1 .. 4) { msgrcv($queue, $buf, 64, $w, 0); print substr($buf, length(pack('l!', 0))), "\n" }
print "lock ", semctl($sem, 0, GETVAL, 0), "\n";
# A segment of a server that was killed is found by its key.
my $pid = fork(); kill('KILL', $$) unless $pid; waitpid($pid, 0);
print "still there\n" if shmget($key, 0, 0) == $id;
shmctl($id, IPC_RMID, 0); semctl($sem, 0, IPC_RMID, 0); msgctl($queue, IPC_RMID, 0);
print defined(shmget($key, 0, 0)) ? "there\n" : "gone: $!\n";
X
perl server.pl
EOF

work 'fakeroot' fakeroot <<'EOF'
fakeroot sh -c 'touch a; chown 12:34 a; stat -c "%u %g" a; id -u'
EOF

PATH=$(printf '%s:' /usr/lib/postgresql/*/bin)$PATH
if [ "$(id -u)" = 0 ]; then
	result 0 'a PostgreSQL server' 'it does not run as root'
else
	unlisted='./(db|log|\.s\.PGSQL).*'
	work 'a PostgreSQL server' initdb pg_ctl psql <<'EOF'
export PGHOST=$PWD PGUSER=me PGDATABASE=postgres
initdb -D db -U me --no-sync -A trust >/dev/null && echo made
for type in mmap sysv; do
	pg_ctl -D db -w -l log -o "-c listen_addresses= -c unix_socket_directories=$PWD -c shared_memory_type=$type" start >/dev/null && echo started
	psql -qAtc 'create table if not exists t as select generate_series(1, 1000) i' -c 'select sum(i) from t'
	for i in 1 2 3 4; do psql -qAtc "update t set i = i + $i" & done; wait
	psql -qAtc 'select count(*) from t'
	pg_ctl -D db -w -m fast stop >/dev/null && echo stopped
done
EOF
fi

# What is left when a session ends. Others on this machine have such objects too: it is asked for the ids that the session
# printed.
cat >"$base/make.pl" <<'EOF'
$| = 1;
print join(' ', shmget(0x41, 99, 01600), semget(0x41, 1, 01600), msgget(0x41, 01600), shmget(0, 9, 01600)), "\n";
sleep(60) if $ARGV[0];
EOF
any_left() { # IDS
	read -r shm sem msg other <<<"$1"
	awk 'FNR > 1 { print substr(FILENAME, 15), $2 }' /proc/sysvipc/shm /proc/sysvipc/sem /proc/sysvipc/msg |
		grep -xE "shm ($shm|$other)|sem $sem|msg $msg" >/dev/null
}
if command -v perl >/dev/null; then
	ids=$("$cordon" perl "$base/make.pl")
	[ "$(wc -w <<<"$ids")" = 4 ] && ! any_left "$ids"
	result $? 'objects are removed when the session ends'
	# What another user made, for whom root has no right of its own in a container.
	as=()
	setpriv --reuid=12345 --regid=12345 --clear-groups true 2>/dev/null && as=(setpriv --reuid=12345 --regid=12345 --clear-groups)
	chmod 755 "$base" && chmod 644 "$base/make.pl"
	ids=$("$cordon" "${as[@]}" perl "$base/make.pl")
	[ "$(wc -w <<<"$ids")" = 4 ] && ! any_left "$ids"
	result $? "objects of another user too: ${as[*]}"
	coproc "$cordon" "${as[@]}" perl "$base/make.pl" 1 2>"$base/err"
	front=$COPROC_PID
	read -r ids <&"${COPROC[0]}"
	any_left "$ids"
	result $? 'they are there meanwhile'
	kill -KILL "$(awk -v front="$front" '$4 == front { print $1 }' /proc/[0-9]*/stat 2>/dev/null)"
	wait "$front" 2>/dev/null
	! any_left "$ids"
	result $? 'the front removes them when the supervisor was killed'
else
	result 0 'the end of a session' 'no perl'
fi
finish
