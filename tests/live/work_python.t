#!/bin/bash
# Python inside gives the same as outside.
# shellcheck disable=SC2034 # what is set before a case is read by work_lib.sh
# shellcheck source=tests/live/work_lib.sh
. "$(dirname "$0")/work_lib.sh"

unread='.*\.pyc|.*/pyvenv.cfg' unlisted='.*/site-packages/pip.*|.*/site-packages/setuptools.*|.*/site-packages/_distutils.*|.*/site-packages/pkg_resources.*'
work 'venv, compileall, imports, zipapp' python:venv python:ensurepip <<'EOF'
python3 -m venv --without-pip v; v/bin/python -c 'import sys; print(sys.prefix != sys.base_prefix)'; . v/bin/activate; mkdir -p p; echo 'x = 1' >p/__init__.py; echo 'print("main")' >p/__main__.py; python -m p; python -m compileall -q p; ls p/__pycache__; python -c 'import p; print(p.x)'; python -m zipapp p -o p.pyz; python p.pyz; rm p.pyz; deactivate; python3 -m venv --symlinks --without-pip --clear v; ls -l v/bin/python | cut -c1; PYTHONPYCACHEPREFIX=$PWD/pc python3 -c 'import p'; find pc -name '*.pyc' | wc -l; rm -rf pc
EOF

unread='.*\.pyc' differs='s/in [0-9.]+s/in TIME/; s/0x[0-9a-f]+/ADDR/g; s/: +[0-9]+ Aborted/: PID Aborted/'
work 'unittest, doctest, a failing test, warnings' python3 <<'EOF'
cat >test_x.py <<'X'
import unittest, tempfile, os, warnings
class T(unittest.TestCase):
	def setUp(self): self.d = tempfile.TemporaryDirectory(); self.addCleanup(self.d.cleanup)
	def test_a(self): open(os.path.join(self.d.name, 'x'), 'w').close(); self.assertEqual(os.listdir(self.d.name), ['x'])
	def test_b(self): self.assertEqual(1, 2)
	@unittest.skip('no')
	def test_c(self): pass
X
python3 -m unittest -v; echo $?; python3 -W error -c 'import warnings; warnings.warn("x")' 2>&1 | tail -1; python3 -m timeit -n 1 -r 1 1 >/dev/null; python3 -m py_compile test_x.py; python3 -m json.tool <<<'{"a":1}'; echo 'print(input())' >i.py; echo hello | python3 i.py; python3 -c 'import sys; sys.exit(7)'; echo $?; python3 -c 'import os; os.abort()'; echo $?
EOF

work 'multiprocessing: fork, spawn, forkserver; Pool, Manager, Queue, shared memory' python:multiprocessing <<'EOF'
cat >x.py <<'X'
import multiprocessing as mp, sys, os, time
from multiprocessing import shared_memory, connection
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
def sq(x): return x * x
def put(q, n): q.put(n)
def hold(l, v, e):
	with l: v.value += 1
	e.wait(5)
def shm(name):
	s = shared_memory.SharedMemory(name=name); s.buf[0] = 42; s.close()
def talk(c): c.send(c.recv()[::-1]); c.close()
if __name__ == '__main__':
	for method in ('fork', 'spawn', 'forkserver'):
		c = mp.get_context(method)
		with c.Pool(3) as p: print(method, sum(p.map(sq, range(50))), p.apply_async(sq, (7,)).get(10), list(p.imap(sq, range(4))))
		q = c.Queue(); ps = [c.Process(target=put, args=(q, i)) for i in range(4)]; [x.start() for x in ps]; print(sorted(q.get(timeout=10) for _ in ps)); [x.join() for x in ps]
		l, v, e = c.Lock(), c.Value('i', 0), c.Event(); ps = [c.Process(target=hold, args=(l, v, e)) for _ in range(3)]; [x.start() for x in ps]; e.set(); [x.join() for x in ps]; print(v.value, [x.exitcode for x in ps])
		with c.Manager() as m: d = m.dict(); li = m.list([1]); d['a'] = 1; li.append(2); print(dict(d), list(li)); 
		s = shared_memory.SharedMemory(create=True, size=100); x = c.Process(target=shm, args=(s.name,)); x.start(); x.join(); print(s.buf[0], x.exitcode); s.close(); s.unlink()
		a, b = c.Pipe(); x = c.Process(target=talk, args=(b,)); x.start(); a.send('abc'); print(a.recv()); x.join()
		with ProcessPoolExecutor(2, mp_context=c) as ex: print(list(ex.map(sq, range(3))))
		x = c.Process(target=time.sleep, args=(20,)); x.start(); x.terminate(); x.join(5); print(x.exitcode); sem = c.BoundedSemaphore(2); sem.acquire(); sem.release(); bar = c.Barrier(1); print(bar.wait())
	li = connection.Listener(family='AF_UNIX'); import threading
	t = threading.Thread(target=lambda: connection.Client(li.address).send('x')); t.start(); print(li.accept().recv()); t.join(); li.close()
	sl = shared_memory.ShareableList([1, 'a', 2.5]); print(list(sl)); sl.shm.close(); sl.shm.unlink()
X
python3 x.py; echo $?
EOF

work 'tempfile, shutil, pathlib, glob, os' python3 <<'EOF'
cat >x.py <<'X'
import tempfile, shutil, pathlib, os, glob, zipfile, tarfile, stat, errno, filecmp
def t(f, *a, **k):
	try: print(getattr(f, '__name__', f), f(*a, **k))
	except Exception as e: print(getattr(f, '__name__', f), type(e).__name__, getattr(e, 'errno', ''))
with tempfile.NamedTemporaryFile('w+') as f: f.write('x'); f.flush(); print(open(f.name).read(), oct(os.stat(f.name).st_mode))
with tempfile.TemporaryFile() as f: f.write(b'abc'); f.seek(0); print(f.read(), os.fstat(f.fileno()).st_nlink)
with tempfile.SpooledTemporaryFile(max_size=2) as f: f.write(b'abc'); f.seek(0); print(f.read())
d = tempfile.mkdtemp(); shutil.rmtree(d); fd, n = tempfile.mkstemp(dir='.'); os.close(fd); os.unlink(n)
P = pathlib.Path; P('s/a/b').mkdir(parents=True); P('s/f').write_text('f'); P('s/a/g').write_bytes(b'g'); P('s/l').symlink_to('f'); os.link('s/f', 's/h'); os.mkfifo('s/p'); os.chmod('s/a', 0o750); os.utime('s/f', (1, 2)); P('s/x').touch(0o600); t(P('s/x').touch, exist_ok=False); t(P('s').mkdir)
shutil.copytree('s', 'c', symlinks=True, ignore=shutil.ignore_patterns('p')); print(sorted(os.listdir('c')), oct(os.stat('c/a').st_mode), os.stat('c/f').st_mtime); t(shutil.copytree, 's', 'c'); shutil.copytree('c', 'c2', dirs_exist_ok=True); t(shutil.move, 'c2', 'm'); t(shutil.move, 'm/f', 'm/a'); shutil.copy2('s/f', 'k'); print(os.stat('k').st_mtime); shutil.copymode('s/a/g', 'k'); shutil.copystat('s/f', 'k'); t(shutil.copyfile, 's/f', 's/f'); t(shutil.copyfile, 's/p', 'y')
t(shutil.rmtree, 'none'); shutil.rmtree('c'); print(sorted(glob.glob('**', recursive=True))); shutil.make_archive('z', 'zip', 's/a'); shutil.make_archive('t', 'gztar', 's/a'); shutil.unpack_archive('t.tar.gz', 'u'); print(sorted(os.listdir('u'))); os.remove('z.zip'); os.remove('t.tar.gz'); print(filecmp.cmp('s/f', 'k', False)); t(shutil.disk_usage, 'none'); t(shutil.which, 'none'); os.replace('k', 'k2'); P('k2').rename('k3'); t(os.rename, 's', 's/a/s'); t(os.rmdir, 's'); t(os.unlink, 's'); t(os.removedirs, 'u'); os.makedirs('q/r/s', 0o700); os.removedirs('q/r/s'); t(os.makedirs, 's/f/g')
for e in sorted(os.scandir('s'), key=lambda e: e.name): print(e.name, e.is_dir(), e.is_file(), e.is_symlink())
print(os.readlink('s/l'), os.path.realpath('s/l') == os.path.abspath('s/f')); t(os.truncate, 's/f', 5); t(os.mknod, 's/reg', 0o600 | stat.S_IFREG); t(os.mkfifo, 's/p'); os.chdir('s'); print(os.path.basename(os.getcwd())); d = os.open('.', os.O_RDONLY); os.chdir('..'); print(os.stat('f', dir_fd=d).st_size); os.rename('f', 'f2', src_dir_fd=d, dst_dir_fd=d); os.unlink('f2', dir_fd=d); os.mkdir('nd', dir_fd=d); os.symlink('x', 'nl', dir_fd=d); os.fchdir(d); t(os.access, 'x', os.W_OK); print(os.umask(0o77)); open('um', 'w').close(); m = os.memfd_create('x'); os.write(m, b'mem'); print(open('/proc/self/fd/%d' % m).read()); print(sorted(os.walk('.'))[0][0]); print(os.sendfile(os.open('sf', os.O_CREAT | os.O_WRONLY), m, 0, 3))
X
python3 x.py
EOF

unread='./p.db-journal'
work 'sqlite3: journal, WAL, several processes, locks; the shell' python:sqlite3 <<'EOF'
cat >x.py <<'X'
import sqlite3, os, threading, multiprocessing as mp
def ins(i):
	c = sqlite3.connect('j.db', timeout=20)
	for k in range(10):
		with c: c.execute('insert into t values (?)', (i * 100 + k,))
	c.close()
if __name__ == '__main__':
	for mode, name in (('delete', 'j.db'), ('wal', 'w.db'), ('truncate', 't.db'), ('persist', 'p.db'), ('memory', 'm.db')):
		c = sqlite3.connect(name); print(c.execute('pragma journal_mode=' + mode).fetchone()); c.execute('create table t(x)'); c.executemany('insert into t values (?)', ((i,) for i in range(1000))); c.commit()
		c.execute('begin immediate'); d = sqlite3.connect(name, timeout=0)
		try: d.execute('insert into t values (1)')
		except sqlite3.OperationalError as e: print(e)
		c.execute('delete from t where x > 500'); c.rollback(); print(c.execute('select count(*), sum(x) from t').fetchone()); c.execute('vacuum'); print(c.execute('pragma integrity_check').fetchone()); d.close()
		print(sorted(f for f in os.listdir('.') if f.startswith(name[0] + '.'))); b = sqlite3.connect(':memory:'); c.backup(b); print(b.execute('select count(*) from t').fetchone()); c.close()
	with mp.get_context('fork').Pool(4) as p: p.map(ins, range(4))
	print(sqlite3.connect('j.db').execute('select count(*) from t').fetchone())
	try: sqlite3.connect('/nonexistent/x.db')
	except sqlite3.OperationalError as e: print(e)
X
python3 x.py; command -v sqlite3 >/dev/null && sqlite3 s.db 'pragma journal_mode=wal; create table a(b); insert into a values (1),(2); select sum(b) from a;' && sqlite3 s.db .dump && sqlite3 s.db 'vacuum into "v.db"'; rm -f *.db
EOF

unread='./sh(\..*)?' differs='s/pid [0-9]+/pid N/'
work 'subprocess, asyncio, signals, pty, threads, sockets between processes' python3 <<'EOF'
cat >x.py <<'X'
import subprocess as sp, asyncio, os, signal, sys, time, threading, socket, select, pty, resource, fcntl, tempfile, mmap
print(sp.run('echo $0; cat; exit 3', shell=True, input='in', text=True, capture_output=True)); print(sp.check_output(['sh', '-c', 'echo e >&2; echo o'], stderr=sp.STDOUT))
for bad in (['none'], ['/etc/passwd'], ['/']):
	try: sp.run(bad)
	except OSError as e: print(type(e).__name__, e.errno)
try: sp.run(['sleep', '5'], timeout=0.1)
except sp.TimeoutExpired as e: print('timeout')
p = sp.Popen(['sleep', '5'], start_new_session=True, cwd='/', env={'A': '1'}, pass_fds=[0], umask=0o77); os.killpg(p.pid, signal.SIGTERM); print(p.wait()); p = sp.Popen(['cat'], stdin=sp.PIPE, stdout=sp.PIPE, process_group=0) if sys.version_info >= (3, 11) else sp.Popen(['cat'], stdin=sp.PIPE, stdout=sp.PIPE); print(p.communicate(b'x' * 200000)[0].count(b'x'))
async def main():
	p = await asyncio.create_subprocess_exec('sh', '-c', 'read a; echo $a; exit 2', stdin=sp.PIPE, stdout=sp.PIPE); print(await p.communicate(b'hello\n'), p.returncode); ps = [await asyncio.create_subprocess_shell('sleep 0.05; echo %d' % i, stdout=sp.PIPE) for i in range(5)]; print([(await q.communicate())[0] for q in ps]); q = await asyncio.create_subprocess_exec('sleep', '9'); q.kill(); print(await q.wait())
	async def h(r, w): w.write((await r.readline()).upper()); await w.drain(); w.close()
	s = await asyncio.start_unix_server(h, 'a.sock'); r, w = await asyncio.open_unix_connection('a.sock'); w.write(b'abc\n'); print(await r.readline()); w.close(); s.close(); loop = asyncio.get_running_loop(); ev = asyncio.Event(); loop.add_signal_handler(signal.SIGUSR1, ev.set); os.kill(os.getpid(), signal.SIGUSR1); await asyncio.wait_for(ev.wait(), 5); print('signal')
	print(await loop.run_in_executor(None, lambda: open('x.py').readline()[:6])); 
asyncio.run(main())
signal.signal(signal.SIGALRM, lambda *a: print('alarm')); signal.setitimer(signal.ITIMER_REAL, 0.05); time.sleep(0.1); signal.pthread_kill(threading.get_ident(), signal.SIGALRM)
r, w = os.pipe(); pid = os.fork()
if pid == 0: os.write(w, b'child'); os._exit(9)
print(os.read(r, 9), os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
a, b = socket.socketpair(); fd = os.open('sent', os.O_CREAT | os.O_RDWR); socket.send_fds(a, [b'm'], [fd]); m, fds, _, _ = socket.recv_fds(b, 9, 2); os.write(fds[0], b'through'); print(m, open('sent').read()); a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM); a.send(b'one'); a.send(b'two'); print(b.recv(99), b.recv(99)); a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET); a.send(b's'); print(b.recv(9))
s = socket.socket(socket.AF_UNIX); s.bind('b.sock'); s.listen(); c = socket.socket(socket.AF_UNIX); c.connect('b.sock'); d, addr = s.accept(); c.sendall(b'hi'); print(d.recv(9), repr(addr), s.getsockname(), c.getpeername()); print(sp.run([sys.executable, '-c', 'import socket; c = socket.socket(socket.AF_UNIX); c.connect("b.sock"); c.sendall(b"other")']).returncode, s.accept()[0].recv(9)); os.rename('b.sock', 'c.sock'); c = socket.socket(socket.AF_UNIX); c.connect('c.sock'); os.unlink('c.sock')
try: socket.socket(socket.AF_UNIX).connect('c.sock')
except OSError as e: print(e.errno)
def pt():
	pid, fd = pty.fork()
	if pid == 0: os.execvp('sh', ['sh', '-c', 'test -t 1 && echo tty'])
	out = b''
	try:
		while True:
			x = os.read(fd, 99)
			if not x: break
			out += x
	except OSError: pass
	print(out, os.waitpid(pid, 0)[1])
pt(); print(resource.getrlimit(resource.RLIMIT_NOFILE) == resource.getrlimit(resource.RLIMIT_NOFILE)); resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64)); print(sp.run('ulimit -n', shell=True, capture_output=True).stdout); f = open('lock', 'w'); fcntl.flock(f, fcntl.LOCK_EX); fcntl.lockf(f, fcntl.LOCK_EX); g = open('lock', 'w')
try: fcntl.flock(g, fcntl.LOCK_EX | fcntl.LOCK_NB)
except OSError as e: print(e.errno)
f.truncate(4096); mm = mmap.mmap(os.open('lock', os.O_RDWR), 4096); mm[0] = 65; mm.flush(); print(open('lock').read(1)); fcntl.fcntl(f, fcntl.F_SETLEASE, fcntl.F_UNLCK) if False else None; print(os.getpriority(os.PRIO_PROCESS, 0) >= -20, os.nice(1) > -20, len(os.sched_getaffinity(0)) > 0); os.setpgid(0, 0); os.kill(0, 0); os.killpg(os.getpgid(0), 0); print(os.getsid(0) > 0, os.getppid() > 0, sp.run(['kill', '-0', str(os.getppid())]).returncode)
import logging, logging.handlers as lh
l = logging.getLogger('x'); h = lh.RotatingFileHandler('log.txt', maxBytes=200, backupCount=3); l.addHandler(h); [l.warning('line %03d', i) for i in range(100)]; h.close(); print(sorted(x for x in os.listdir('.') if x.startswith('log'))); h = lh.TimedRotatingFileHandler('t.log', when='S', backupCount=1); h.close(); h = lh.WatchedFileHandler('w.log'); l.addHandler(h); l.error('a'); os.rename('w.log', 'w2.log'); l.error('b'); print(open('w.log').read(), open('w2.log').read())
import faulthandler, tracemalloc, pdb, cProfile, ctypes, ctypes.util, select, inspect, pickle, dbm.dumb, shelve, configparser, csv, hashlib, uuid, getpass, pwd, locale, gettext, webbrowser
e = select.epoll(); e.register(r, select.EPOLLIN); print(e.poll(0)); print(pwd.getpwuid(os.getuid()).pw_uid == os.getuid(), getpass.getuser() != ''); ctypes.CDLL(None).getpid(); print(ctypes.util.find_library('c'))
with shelve.open('sh') as s: s['a'] = [1]
print(len(list(threading.enumerate()))); ts = [threading.Thread(target=lambda i=i: open('th%d' % i, 'w').write(str(i))) for i in range(20)]; [x.start() for x in ts]; [x.join() for x in ts]
X
python3 x.py; echo $?
EOF
finish
