#!/bin/bash
# Programs that shut themselves, and programs that start as root and go on as another user.
# shellcheck disable=SC2034 # what is set before a case is read by work_lib.sh
# shellcheck source=tests/live/work_lib.sh
. "$(dirname "$0")/work_lib.sh"
chmod 755 "$base"

unread='./k.*' unlisted='./s'
work 'ssh-agent, which lets nobody look into it' ssh-agent <<'EOF'
eval "$(ssh-agent -s -a "$PWD/s")" >/dev/null; ssh-keygen -q -t ed25519 -N '' -f k -C c; ssh-add -q k; ssh-add -l | cut -d' ' -f1,3-
ssh-add -q -D; ssh-add -l; ssh-agent -k >/dev/null
EOF

unlisted='./g.*'
work 'gpg-agent' gpg <<'EOF'
mkdir -m 700 g; export GNUPGHOME=$PWD/g; gpg --batch -q --passphrase '' --quick-gen-key a@example.org ed25519 sign 0 2>/dev/null; echo $?
echo text >t; gpg --batch -q --detach-sign -o g/t.sig t; gpg -q --verify g/t.sig t 2>&1 | grep -c Good; gpgconf --kill all; echo done
EOF
[ "$(id -u)" = 0 ] || { finish; exit 0; }

prepare='mkdir -m 777 w; mkdir -m 755 lists lists/partial; chown 1000 lists/partial; echo key >secret; chmod 600 secret'
work "as apt's downloaders do" python3 <<'EOF'
cat >method.py <<'X'
import os
os.setgroups([1000]); os.setresgid(1000, 1000, 1000); os.setresuid(1000, 1000, 1000)
for back in (lambda: os.setuid(0), lambda: os.seteuid(0), lambda: os.setgid(0), lambda: os.setgroups([0])):
    try: back(); print('is back')
    except PermissionError: print('stays')
print(os.getresuid(), os.getresgid(), os.getgroups())
os.chdir('lists/partial')
with open('index', 'w') as f: f.write('data')
os.chmod('index', 0o640); os.utime('index', (1, 1)); os.rename('index', 'index2'); print(oct(os.stat('index2').st_mode), os.stat('index2').st_uid)
for path in ('../../secret', '../new', '/etc/shadow'):
    try: open(path, 'r+' if path != '../new' else 'w'); print('opened', path)
    except OSError as e: print(e.errno, path)
d = os.open('.', os.O_RDONLY); os.mkdir('sub', dir_fd=d); os.rename('index2', 'sub/index', src_dir_fd=d, dst_dir_fd=d); f = os.open('sub/index', os.O_RDWR, dir_fd=d); os.fchmod(f, 0o600); print(sorted(os.listdir('sub')))
if os.fork() == 0:
    with open('of the child', 'w') as f: f.write('x')
    os._exit(0)
print(os.wait()[1], os.path.exists('of the child'))
X
python3 method.py
EOF

prepare='mkdir -m 777 w; echo x >last; chmod 640 last; chown 0:165535 last; mkdir -m 770 d; chown 0:100064 d'
work 'more supplementary groups than a page of text tells' python3 <<'EOF'
cat >many.py <<'X'
import os, sys
n = int(sys.argv[1])
try: os.setgroups(range(100000, 100000 + n))
except OSError as e: print(e)
for again in range(2):
    print(len(os.getgroups()))
    for path, mode in (('last', 'r'), ('d/%d.%d' % (n, again), 'w'), ('w/%d.%d' % (n, again), 'w')):
        try: open(path, mode).close(); print('opened', path)
        except OSError as e: print(e.errno, path)
    try: os.setresgid(1000, 1000, 1000); os.setresuid(1000, 1000, 1000)
    except OSError as e: print(e)
X
for n in 0 64 65 700 65536; do python3 many.py $n; done
EOF

prepare='mkdir -m 777 w; echo x >w/root'
work 'a server whose children give root up' python3 <<'EOF'
cat >server.py <<'X'
import os, socket
s = socket.socket(socket.AF_UNIX); s.bind('w/socket'); os.chmod('w/socket', 0o666); s.listen()
for n in range(4):
    if os.fork() == 0:
        os.initgroups('nobody', 1000 + n); os.setgid(1000 + n); os.setuid(1000 + n)
        c, _ = s.accept(); name = c.recv(100).decode()
        open('w/' + name, 'w').write(name); open('w/log.%d' % os.getuid(), 'a').write('served\n')
        try: open('w/root', 'a'); c.send(b'root')
        except PermissionError: c.send(b'done')
        os._exit(0)
for n in range(4):
    c = socket.socket(socket.AF_UNIX); c.connect('w/socket'); c.send(b'name%d' % n); print(c.recv(10)); c.close()
for n in range(4): print(os.wait()[1])
print(sorted(os.stat('w/name%d' % n).st_uid for n in range(4)), open('w/root', 'a').close())
X
python3 server.py; rm w/socket; find w -name 'log*' | sort | xargs cat
EOF

prepare='mkdir -m 777 w'
work 'threads at work while the user changes' python3 <<'EOF'
cat >threads.py <<'X'
import os, threading, time
stop = False; bad = []
def loop(n):
    i = 0
    while not stop:
        try: d = 'w/%d.%d' % (n, i); os.mkdir(d); os.rmdir(d); i += 1
        except FileExistsError: pass
        except OSError as e: bad.append((e.errno, d))
ts = [threading.Thread(target=loop, args=(n,)) for n in range(20)]
for t in ts: t.start()
time.sleep(0.1); os.setgroups([]); os.setgid(1000); os.setuid(1000)
os.makedirs('w/rel/x'); time.sleep(0.1); stop = True
for t in ts: t.join()
print(bad[:3], os.stat('w/rel/x').st_uid)
X
python3 threads.py; rm -rf w
EOF

prepare='mkdir -m 777 w; echo x >root; chmod 600 root'
work 'the effective user for a while' python3 <<'EOF'
cat >x.py <<'X'
import os
here = os.getcwd()
def attempt(what, *a):
    try: print(what.__name__, what(*a) and 0)
    except OSError as e: print(what.__name__, e.errno)
for n in range(3):
    os.setegid(1000); os.seteuid(1000)
    attempt(os.mkdir, here + '/w/d%d' % n); attempt(os.open, here + '/root', os.O_RDONLY); attempt(os.mkdir, here + '/no')
    print(os.stat(here + '/w/d%d' % n).st_uid)
    os.seteuid(0); os.setegid(0)
    attempt(os.mkdir, here + '/w/r%d' % n); open(here + '/root', 'a').write('y'); print(os.stat(here + '/w/r%d' % n).st_uid)
X
python3 x.py; cat root
EOF

prepare='mkdir -m 755 d; chown 1000 d; mkdir -m 755 root; echo x >root/f'
work 'start-stop-daemon -c' start-stop-daemon <<'EOF'
start-stop-daemon --start --pidfile "$PWD/pid" --chuid 1000:1000 --chdir "$PWD/d" --exec /bin/sh -- -c 'id -u; id -g; echo x >f; echo y >../root/f; mkdir e; mv f e; ls'; stat -c '%u %n' d d/e d/e/f
EOF
prepare='mkdir -m 755 d; chown 1000 d; mkdir -m 755 root; echo x >root/f'
work 'capsh --user, setpriv with fewer capabilities' capsh setpriv user:nobody <<'EOF'
capsh --user=nobody -- -c 'id -u; echo y >root/f; mkdir root/x' 2>&1 | sed 's/line [0-9]*/line/'
setpriv --reuid 1000 --regid 1000 --clear-groups --inh-caps=-all sh -c 'echo >d/x; echo >root/x; rm root/f; chown 1 d/x; stat -c %u d/x'
setpriv --reuid 1000 --regid 1000 --groups 0 sh -c 'id -G; echo >root/x'; true
EOF

prepare='mkdir -p r/etc empty; printf "root:x:0:0:root:/root:/bin/sh\n" >r/etc/passwd; printf "root:x:0:\n" >r/etc/group; printf "root:*:1::::::\n" >r/etc/shadow; printf "root:*::\n" >r/etc/gshadow'
unread='./r/etc/shadow-?'
work 'useradd and its kin, beneath a directory' useradd <<'EOF'
useradd -P "$PWD/r" -m -k "$PWD/empty" -u 4321 someone; groupadd -P "$PWD/r" -g 4322 some; usermod -P "$PWD/r" -G some someone; grep some r/etc/passwd r/etc/group; stat -c '%u %a' r/home/someone r/etc/passwd r/etc/shadow; userdel -P "$PWD/r" someone; grep -c someone r/etc/passwd; true
EOF
finish
