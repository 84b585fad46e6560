#!/bin/bash
# Landlock is a second wall, which must never be felt: what it could refuse or answer otherwise is the same natively, with it,
# and without it.
. "$(dirname "$0")/lib.sh"

build oldkernel "$cc" -- "$here/../oldkernel/oldkernel.c" || { echo "Bail out! the launcher cannot be built"; exit 1; }
cat >"$work/probe.py" <<'END'
import ctypes, errno, fcntl, os, pty, signal, socket, stat, termios, threading, time
libc = ctypes.CDLL(None, use_errno=True)

def say(what, fn, *args):
    try:
        r = fn(*args)
        r = 'ok' if r is None or isinstance(r, (int, bytes)) and not isinstance(r, bool) else r
    except OSError as e:
        r = errno.errorcode[e.errno]
    print(what, r)

def call(fn, *args):
    if fn(*args) < 0:
        e = ctypes.get_errno()
        raise OSError(e, os.strerror(e))

def make(path):
    with open(path, 'w') as f:
        f.write('x')

for d in ('a', 'b', 'a/sub', 'a/full'):
    os.mkdir(d)
make('a/full/x')
# REFER: names that go from one directory to another.
make('a/f')
say('link to another directory', os.link, 'a/f', 'b/l')
say('rename to another directory', os.rename, 'a/f', 'b/f')
say('a directory to another directory', os.rename, 'a/sub', 'b/sub')
say('a full one', os.rename, 'a/full', 'b/full')
say('onto a full one', os.rename, 'b/sub', 'b/full')
make('a/g')
say('exchange between directories', call, libc.renameat2, -100, b'a/g', -100, b'b/full', 2)
say('beneath itself', os.rename, 'b', 'b/sub/b')
say('to another file system', os.rename, 'b/f', '/dev/shm/landlock-none/x')
# Each kind of entry, made and removed.
for name, mode in (('fifo', stat.S_IFIFO), ('sock', stat.S_IFSOCK), ('reg', stat.S_IFREG)):
    say('mknod ' + name, os.mknod, name, mode | 0o600)
    say('unlink ' + name, os.unlink, name)
say('symlink', os.symlink, 'b/f', 'ln')
say('mkdir', os.mkdir, 'd')
say('rmdir', os.rmdir, 'd')
fd = os.open('.', os.O_TMPFILE | os.O_RDWR, 0o600)
say('link a nameless file', call, libc.linkat, -100, b'/proc/self/fd/%d' % fd, -100, b'named', 0x400)
# TRUNCATE
fd = os.open('b/f', os.O_RDWR)
say('ftruncate', os.ftruncate, fd, 0)
say('truncate', os.truncate, 'b/f', 10)
say('O_TRUNC', lambda: os.close(os.open('b/f', os.O_WRONLY | os.O_TRUNC)))
say('fallocate', os.posix_fallocate, fd, 0, 100)
say('reopen', lambda: os.close(os.open('/proc/self/fd/%d' % fd, os.O_RDWR)))
# IOCTL_DEV
def ioctl(f, request, arg=bytes(256)):
    return fcntl.ioctl(f, request, arg)
for dev in ('/dev/null', '/dev/zero', '/dev/urandom', '/dev/ptmx'):
    f = os.open(dev, os.O_RDWR)
    for name, request in (('FIONREAD', termios.FIONREAD), ('TCGETS', termios.TCGETS), ('FIOCLEX', 0x5451), ('RNDGETENTCNT', 0x80045200),
                          ('TIOCGPTN', 0x80045430), ('BLKGETSIZE64', 0x80081272), ('FIONBIO', 0x5421)):
        say('ioctl %s %s' % (dev, name), ioctl, f, request)
m, s = pty.openpty()
say('TIOCGWINSZ', ioctl, s, termios.TIOCGWINSZ)
say('TCGETS', lambda: len(termios.tcgetattr(s)))
say('TIOCGPTPEER', lambda: os.close(fcntl.ioctl(m, 0x5441, os.O_RDWR | os.O_NOCTTY)))
say('FIONREAD of a file', ioctl, fd, termios.FIONREAD)
say('FS_IOC_GETFLAGS', lambda: ioctl(fd, 0x80086601) and None)
# Scopes: signals and abstract sockets within the session.
def child(fn):
    pid = os.fork()
    if pid == 0:
        try:
            fn()
            os._exit(0)
        except OSError as e:
            os._exit(e.errno)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
parent = os.getpid()
signal.signal(signal.SIGUSR1, lambda *a: None)
say('signal to the parent', child, lambda: os.kill(parent, signal.SIGUSR1))
say('signal to its group', child, lambda: (signal.signal(signal.SIGUSR1, signal.SIG_IGN), os.setpgid(0, 0), os.kill(0, signal.SIGUSR1)))
got = []
signal.signal(signal.SIGIO, lambda *a: got.append(1))
r, w = socket.socketpair()
fcntl.fcntl(r, fcntl.F_SETOWN, parent)
say('O_ASYNC', fcntl.fcntl, r, fcntl.F_SETFL, fcntl.fcntl(r, fcntl.F_GETFL) | os.O_ASYNC)
child(lambda: w.send(b'x'))
time.sleep(0.05)
say('SIGIO from a child', lambda: bool(got) and None)
r, w = os.pipe()
p = os.fork()
if p == 0:
    signal.signal(signal.SIGTERM, lambda *a: os._exit(7))
    os.write(w, b'x')
    time.sleep(5)
    os._exit(1)
os.read(r, 1)
t = threading.Thread(target=lambda: os.kill(p, signal.SIGTERM)); t.start(); t.join()
print('signal from a thread', os.waitstatus_to_exitcode(os.waitpid(p, 0)[1]))
srv = socket.socket(socket.AF_UNIX)
name = b'\0landlock-%d' % parent
say('abstract bind', srv.bind, name)
say('abstract listen', srv.listen)
say('abstract connect', child, lambda: socket.socket(socket.AF_UNIX).connect(name))
say('abstract connect, none', socket.socket(socket.AF_UNIX).connect, name + b'no')
srv = socket.socket(socket.AF_UNIX)
say('named bind', srv.bind, 's')
say('named listen', srv.listen)
say('named connect', child, lambda: socket.socket(socket.AF_UNIX).connect('s'))
# Tracing and looking into its own.
p = os.fork()
if p == 0:
    time.sleep(5)
    os._exit(0)
say('ptrace', call, libc.ptrace, 0x4206, p, 0, 0)
say('/proc/PID/environ', lambda: len(open('/proc/%d/environ' % p, 'rb').read()) > 0)
say('/proc/PID/mem', lambda: os.close(os.open('/proc/%d/mem' % p, os.O_RDWR)))
os.kill(p, signal.SIGKILL)
os.waitpid(p, 0)
END
trap 'cleanup; rm -rf /dev/shm/landlock-none' EXIT

run() { # run NAME COMMAND...: what the probe says in a fresh directory
	local name=$1
	shift
	mkdir "$work/$name"
	printf '[filesystem]\nallow_write = %s\n%s\n' "$work/$name" "$reads" >"$work/$name.ini"
	(cd "$work/$name" && timeout 150 "$@" python3 "$work/probe.py" 2>&1 | grep -v '^cordon: ')
	rm -rf "${work:?}/$name"
}
like_native() { # like_native SIGNALS-ARE-SCOPED WHAT NAME COMMAND...
	local scoped=$1 what=$2 got want=$native
	shift 2
	# Where the kernel has no scope for signals, those of descriptors are refused.
	$scoped || want=$(sed '/^SIGIO/d; s/^O_ASYNC .*/O_ASYNC EPERM/' <<<"$native")
	got=$(run "$@" | if $scoped; then cat; else sed '/^SIGIO/d'; fi)
	if [ "$got" = "$want" ]; then pass "$what"; else fail "$what" "$(diff <(echo "$want") <(echo "$got"))"; fi
}
scoped=true
"$CORDON" -v -p /dev/null true 2>&1 | grep -q 'Landlock ABI \([6-9]\|[1-9][0-9]\)' || scoped=false
reads=''
native=$(run native env)
for reads in '' 'deny_read = /nonexistent'; do
	like_native $scoped "with Landlock${reads:+, reads decided}" with "$CORDON" -p "$work/with.ini" --
	like_native false "without it${reads:+, reads decided}" without "$LIVE_BUILD/oldkernel" landlock "$CORDON" -p "$work/without.ini" --
done
# A program's own domain would not hold for what the supervisor does in its name: it is told that there is none.
check "a program's own domain is refused, not ignored" "$CORDON" -q python3 -c '
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
for call in (444, 445, 446):
    assert libc.syscall(call, 0, 0, 0, 0) == -1 and ctypes.get_errno() == 38, call'
finish
