#!/bin/bash
# What only root does: other users, owners, special modes. Everything is skipped as an ordinary user.
# shellcheck disable=SC2034 # what is set before a case is read by work_lib.sh
# shellcheck source=tests/live/work_lib.sh
. "$(dirname "$0")/work_lib.sh"
[ "$(id -u)" = 0 ] || { echo '1..0 # SKIP needs root'; exit 0; }
chmod 755 "$base"

prepare='mkdir own; chown 1000:1000 own; mkdir closed; chmod 700 closed; echo secret >closed/f; echo r >root; chmod 600 root; mkdir sticky; chmod 1777 sticky; echo x >sticky/r; mkdir sgid; chgrp 1000 sgid; chmod 2775 sgid; mkdir t; chmod 1777 t'
other='cd own; id -u; id -g; umask; echo mine >f; mkdir d; ln -s f l; ln f h; mv f g; cat g; chmod 600 g; rm h; stat -c "%u %g %a" g d; cat ../root; cat ../closed/f; echo no >../root; echo no >../new; rm ../sticky/r; mv ../sticky/r ../sticky/q; echo ok >../sticky/mine; chown 0 g; chgrp 0 g; chmod 777 ../root; touch ../root; ln ../root x; mkdir ../closed/d; cp ../own/g c; kill -0 $PPID; { sleep 9 & kill $!; wait $!; echo $?; } 2>/dev/null; cat /proc/$PPID/environ >/dev/null; tmp=$(mktemp -p ../t) && rm "$tmp"; readlink /proc/self/fd/0; grep -E "^(Uid|Gid|Groups|CapEff|NoNewPrivs):" /proc/self/status | grep -v NoNew'
for how in 'setpriv --reuid 1000 --regid 1000 --clear-groups sh' 'setpriv --reuid 1000 --regid 1000 --groups 1000,4 --inh-caps=-all sh' 'runuser -u nobody -- sh' 'su nobody -s /bin/sh'; do
	user=user:root
	case $how in *nobody*) user=user:nobody ;; esac
	prepare="${prepare:-$kept}"
	kept=$prepare
	case $how in *nobody*) prepare=${prepare/chown 1000:1000/chown nobody} ;; esac
	differs='s/[0-9]+(: Operation not| Terminated)/PID\1/; s/(proc|kill:.*)\/?\(?[0-9]+\)?/\1N/g; s/sh: [0-9]+:/sh:/'
	# Without SYS_PTRACE, as in containers, what is done between giving up root and exec is refused: see the last case.
	says='lets nobody read this'
	work "as another user: ${how% sh}" "${how%% *}" "$user" <<-EOF
		export TMPDIR=\$PWD/t; exec ${how} -c '$other'
	EOF
done

work 'chown, chgrp, special modes, install -o, tar and cp with owners' <<'EOF'
echo >a; chown 1000:1001 a; stat -c '%u %g' a; chmod 6755 a; chown 1000 a; stat -c %a a; chgrp 7 a; mkdir d; chmod 2775 d; chgrp 1000 d; echo >d/f; mkdir d/e; stat -c '%g %a' d/f d/e; ln -s a l; chown -h 5:6 l; stat -c '%u %g' l; chown 8 l; stat -c %u a; cp -a . ../w/../w/copy 2>/dev/null; cp -a a l d c 2>/dev/null; mkdir c; cp -a a l d c; stat -c '%n %u %g %a' c/*; tar cf t.tar a l d; mkdir x; tar xpf t.tar -C x; stat -c '%n %u %g %a' x/*; tar xf t.tar -C x --no-same-owner --overwrite; stat -c '%u' x/a
install -o 1000 -g 1000 -m 4711 a i; stat -c '%u %g %a' i; chown -R 1000:1000 d; find . -uid 1000 | sort; chmod 000 a; cat a; echo x >>a; mkfifo p; mknod q p; rsync -a d/ rs/ 2>/dev/null && stat -c '%u' rs/f; rm -rf copy t.tar; chown nobody a; setfattr -n trusted.x -v 1 a 2>/dev/null; chattr +i a 2>/dev/null; chattr -i a 2>/dev/null; lsattr a >/dev/null 2>&1; echo done
EOF

# Root that gives up its identity and goes on in the same program, as servers and apt's downloaders do. The kernel then
# shuts the process, and in a container the supervisor has no right to look into it.
work 'giving up root without exec' python3 <<'EOF'
mkdir -m 777 w; cat >x.py <<'X'
import os
os.setgroups([]); os.setgid(1000); os.setuid(1000)
print(open('/etc/passwd').readline() != ''); open('w/f', 'w').write('x'); print(os.stat('w/f').st_uid); os.rename('w/f', 'w/g'); os.mkdir('w/d')
if os.fork() == 0: print(len(os.listdir('w')), open('w/g').read(), flush=True); os._exit(0)
print(os.wait()[1])
X
python3 x.py
EOF
finish
