#!/bin/bash
# Tools that work on files give the same inside as outside.
# shellcheck disable=SC2034 # what is set before a case is read by work_lib.sh
# shellcheck source=tests/live/work_lib.sh
. "$(dirname "$0")/work_lib.sh"

tree='mkdir -p s/d/e; for i in 1 2 3; do echo $i >s/f$i; echo $i >s/d/g$i; done; ln -s ../f1 s/d/l; ln -s nowhere s/dangling; ln s/f2 s/hard
mkfifo s/p; chmod 600 s/f1; chmod 4755 s/f3; chmod 2750 s/d; chmod 1777 s/d/e; touch -d "2001-02-03 04:05:06.123456789 UTC" s/f1 s/d s/d/g1; touch -h -d 2002-01-01 s/dangling'
times='stat_() { find "$@" -printf "%p %y %m %n %s %l %TY-%Tm-%TdT%TH:%TM\n" | sort; }
'

prepare=$tree
work 'cp: -a, -r, -p, -l, -s, -u, -n, --reflink, --parents, backups' <<EOF
$times
cp -a s a; stat_ a/f1 a/d a/dangling a/p; cp -r s b; cp -p s/f1 c; stat_ c; cp -rl s l; cp -s "\$PWD/s/f1" sym; cp -u s/f2 c; cp -n s/f3 c; cat c
cp --reflink=auto s/f1 r; cp --reflink=always s/f1 r2 2>/dev/null; echo \$((\$? < 2)); rm -f r2; cp --parents s/d/g1 b; cp --backup=numbered s/f2 c; cp --sparse=always s/f3 sp; cp -rT s b
cp s s2; echo \$?; cp nothing x; echo \$?; cp s/f1 s/f1; echo \$?; cp -f s/f2 s/f1; cp --remove-destination s/f3 s/f1; cp -P s/d/l pl; cp -L s/d/l ll
EOF

prepare=$tree
work 'mv, ln, rm, install, rename across directories' <<EOF
$times
mv s/f1 x; mv -n x s/f2; mv s/d d; mv d s/dd; mv -T s t; mkdir u; mv t u; mv u/t/f* .; mv -b f2 f3; ls -A; mv u/t/dd/e u/t/e; mv u/t/dangling dl
ln -s a1 b1; ln -sf a2 b1; readlink b1; ln -sfn u un; ln -sfn u/t un; readlink un; ln f3 h1; ln -f x h1; stat -c %h f3 h1; ln -r -s u/t/e re; readlink re; ln -T f3 h1; echo \$?
install -m 640 x i1; install -d -m 750 id/ie; install -D -m 755 x ij/ik/il; install -p x i2; install -b -m 600 f3 i1; stat_ i1 id ij i2
rm x; rm -r u; rm -rf un; rm nothing; echo \$?; rm -d id/ie; rmdir -p ij/ik/il; echo \$?; unlink f3; link i1 i3; ls -A; mkdir -m 700 m; mkdir -pm 711 m/n/o; stat_ m; mv m/n m/n; mv m m/n; echo \$?; mv i1 i3 m; ls m
mv --exchange i2 h1 2>/dev/null; mkdir full; touch full/x; mkdir e1; mv -T e1 full; echo \$?; mv -T full e1; ls e1; touch -- -dash; rm ./-dash; touch 'sp ace' \$'new\nline' 'üñí'; ls -A | cat; rm sp* new* ü*
EOF

prepare=${tree/ln s\/f2 s\/hard/cp s\/f2 s\/hard}
work 'touch, chmod, truncate, dd, split, mktemp, fallocate, chattr' <<EOF
$times
touch a; touch -d '2010-01-02 03:04:05 UTC' a; stat_ a; touch -r s/f1 b; stat -c %y b; touch -h -d 2003-01-01 s/dangling; stat -c %y s/dangling; touch -c none; touch -a -t 200001010000 a; stat -c '%x %y' a; touch s/d; touch -m -d @0 s/f3; stat -c %Y s/f3
chmod 000 a; stat -c %a a; chmod u+rw,g=r,o-rwx a; stat -c %a a; chmod +x a; chmod -R a+rX s; stat_ s; chmod u+s,g+s,+t a; stat -c %a a; chmod --reference=s/f1 a; stat -c %a a; chmod 600 s/dangling; echo \$?; chmod 755 s/d/l; stat -c %a s/f1
truncate -s 100 t; truncate -s +5 t; stat -c %s t; truncate -s 3 s/f1; dd if=/dev/zero of=z bs=1k count=4 2>/dev/null; dd if=s/f2 of=z bs=1 seek=10 conv=notrunc 2>/dev/null; cksum <z; dd if=z of=y oflag=sync,append conv=notrunc bs=512 2>/dev/null; stat -c %s y
dd if=z of=q oflag=excl 2>/dev/null; dd if=z of=q oflag=excl 2>/dev/null; echo \$?; seq 100 >n; split -l 30 n part.; wc -l part.*; csplit -sz n /50/; ls xx*; shred -n1 -u q; fallocate -l 4096 fa; stat -c %s fa; fallocate -p -o 0 -l 4096 fa 2>/dev/null; rm fa
m=\$(mktemp); test -f "\$m" && stat -c %a "\$m"; rm "\$m"; m=\$(mktemp -d); stat -c %a "\$m"; rmdir "\$m"; m=\$(mktemp -p .); rm "\$m"; m=\$(mktemp ./x.XXXX); rm "\$m"; m=\$(mktemp -p /tmp work.XXXXXX); echo x >"\$m"; mv "\$m" from-tmp; cat from-tmp; m=\$(mktemp -d /dev/shm/work.XXXXXX); echo y >"\$m/f"; cp "\$m/f" y2; rm -r "\$m"; sync y2; sync
stat -f -c %T . >/dev/null; df . >/dev/null; du -s s >/dev/null; readlink -f s/d/l | sed s,.*/,,; realpath --relative-to=. s/d/l; pathchk s/f1; test -w . && test -r s/f1 && test -x s/d && test ! -e none && test s/f2 -ef s/hard; echo \$?; ls -la s | wc -l; file=\$(stat -c %i s/f1); find . -inum \$file
EOF

prepare=$tree differs='s/[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9:]{5}/DATE/g'
work 'tar, cpio, gzip, xz, bzip2, zstd, zip' tar <<EOF
$times
tar cf a.tar s; tar tf a.tar | sort; mkdir x; tar xpf a.tar -C x; stat_ x/s/f1 x/s/f3 x/s/d x/s/hard x/s/p; tar czf a.tgz s; tar xzf a.tgz -C x --overwrite; tar cJf a.txz s/d; tar tJf a.txz | sort
tar cf - s | (mkdir y; cd y; tar xf -); diff -r x/s y/s 2>&1 | grep -v fifo; tar rf a.tar s/f1; tar uf a.tar s; tar --delete -f a.tar s/f2; tar df a.tar s; echo \$?; tar xf a.tar -C y --strip-components=1 s/d; ls y; tar cf b.tar --exclude='f*' s; tar tf b.tar | wc -l
tar xkf a.tar -C x; echo \$?; tar xUf a.tar -C x; tar --xattrs --acls -cf c.tar s; tar --xattrs -xf c.tar -C y; tar c --remove-files -f d.tar y; ls -d y
gzip -k n 2>/dev/null; seq 1000 >n; gzip -kn n; gunzip -c n.gz | cksum; gzip -dkf n.gz; xz -k n; xz -t n.xz; xzcat n.xz | wc -l; xz -df n.xz; ls n*; command -v bzip2 >/dev/null && bzip2 -k n; command -v zstd >/dev/null && zstd -q n && zstd -dqf n.zst; touch -d @0 n; gzip n; gzip -dN n.gz; stat -c %Y n
command -v cpio >/dev/null && { find s | sort | cpio -o --quiet >c.cpio; mkdir z; (cd z; cpio -idm --quiet <../c.cpio); stat_ z/s/f1; }; command -v zip >/dev/null && { zip -qry z.zip s -x s/p; unzip -qo z.zip -d zz; ls zz/s; }; rm -f *.tar *.tgz *.txz *.cpio *.zip *.bz2 *.zst
EOF

prepare=$tree
work 'rsync: -a, --delete, --link-dest, --inplace' rsync <<EOF
$times
rsync -a s/ a/; stat_ a; rsync -aH s/ h/; stat -c %h h/hard; echo new >s/f9; rm s/f2; chmod 644 s/f3; rsync -aiO --delete s/ a/; rsync -a --link-dest="\$PWD/a" s/ l/; stat -c %h l/f3; echo in >>s/f3; rsync -a --inplace --no-whole-file s/f3 h/
rsync -an s/ nothing/; rsync -a --remove-source-files s/d/ moved/; find s/d; rsync -aX --chmod=D700,F600 moved/ m2/; stat_ m2; rsync -a -e false none:x y 2>/dev/null; echo \$((\$? > 0))
EOF

work 'sed -i, perl -i, awk, sort, patch, diff, ed, find' sed perl awk patch diff <<'EOF'
seq 10 >a; sed -i s/5/five/ a; sed -i.bak 1d a; cat a a.bak | cksum; ls -A; chmod 640 a; perl -i -pe 's/7/seven/' a; perl -i.orig -ne 'print if /e/' a; stat -c %a a; cat a; ln -s a l; sed -i --follow-symlinks 1d l; test -L l && echo link; sed -i '$a end' l; test -L l || echo file
awk '{ print > ("out" NR % 3) }' a.bak; cat out0; awk 'BEGIN { while (("ls out*" | getline x) > 0) print x; print "x" | "cat >piped"; close("cat >piped"); system("cat piped") }'
seq 200000 | sort -R --random-source=/dev/zero | sort -n -S 1M -T . | cksum; seq 50000 >big; sort -r -o big big; head -1 big; sort -n big | uniq | wc -l; shuf -n 3 --random-source=/dev/zero big | wc -l; comm -12 <(sort a) <(sort a.bak) | wc -l; join a a 2>/dev/null | wc -l; tac a.bak | head -1
cp a.bak b; sed -i s/3/three/ b; diff -u a.bak b | sed 's/\t.*//' >p; cat p; patch <p -o c a.bak; cp a.bak d; patch -b d p; patch -R d p; cmp d a.bak && echo same; echo junk | patch d 2>/dev/null; echo $?; patch -p0 --dry-run d p; seq 3 | patch -s nothing p 2>&1 | wc -l
mkdir -p x/y/z; touch x/1 x/y/2 x/y/z/3; find x -type f -newer a.bak | wc -l; find x -name 1 -delete; find x -depth -empty -type d; find x -type f -exec rm {} \; -print; find x -depth -type d -exec rmdir {} \; ; test -e x || echo gone; find . -maxdepth 1 -perm 640; find . -samefile a
printf 'one\ntwo\n' | tee t1 t2 >/dev/null; tee -a t1 <t2 >/dev/null; cat t1; tee /dev/stderr <t2 >/dev/null; paste t1 t2; ed -s t1 <<<$'1d\nw\nq' 2>/dev/null; grep -rl two . | sort; grep -c two t1; xargs -a t1 -I{} sh -c 'echo "[{}]"'; base64 t2; od -c t2; md5sum t1 >sums; md5sum -c sums; uniq -c t1; fold -w2 t2; nl t2; column t2 2>/dev/null
EOF

prepare='echo x >a; ln a b; mkdir d; echo y >d/f; ln d/f d/g'
says='refused by protect. hardlinks|hardlinks = refuse'
confined 'files with other names from before: replaced and removed, not changed in place' <<'EOF'
! (echo more >>a) 2>/dev/null || echo appended
sed -i s/x/z/ a || echo 'sed fails'
[ "$(cat a b)" = "$(printf 'z\nx')" ] || cat a b
rm b && mv d/f e && cp e b || echo failed
ln d/g h && rm d/g h || echo failed
EOF

# An extended attribute that users may set, where the file system has them.
work 'extended attributes and ACLs' python3 <<'EOF'
cat >x.py <<'X'
import os, errno
def t(f, *a, **k):
	try: print(f.__name__, f(*a, **k))
	except OSError as e: print(f.__name__, errno.errorcode[e.errno])
open('f', 'w').close(); os.symlink('f', 'l'); os.mkdir('d')
for p in ('f', 'l', 'd'):
	t(os.setxattr, p, 'user.a', b'1'); t(os.getxattr, p, 'user.a'); t(os.setxattr, p, 'user.a', b'2', os.XATTR_CREATE); t(os.setxattr, p, 'user.b', b'', os.XATTR_REPLACE)
	print(sorted(x for x in os.listxattr(p) if x.startswith('user'))); t(os.removexattr, p, 'user.none')
t(os.setxattr, 'l', 'user.a', b'1', follow_symlinks=False); t(os.setxattr, 'f', 'trusted_none', b'1'); t(os.setxattr, 'nothing', 'user.a', b'1'); t(os.setxattr, 'f', 'user.' + 'x' * 300, b'1'); t(os.setxattr, 'f', 'user.big', b'x' * 70000)
fd = os.open('f', os.O_RDWR); t(os.setxattr, fd, 'user.fd', b'x'); t(os.removexattr, fd, 'user.fd'); t(os.getxattr, fd, 'user.fd'); t(os.removexattr, 'f', 'user.a'); t(os.getxattr, 'f', 'user.a')
t(os.fchmod, fd, 0o640); t(os.fchown, fd, -1, os.getgid()); t(os.utime, fd, (1, 2)); print(oct(os.stat('f').st_mode), os.stat('f').st_mtime); t(os.truncate, fd, 5); t(os.ftruncate, fd, 3); t(os.truncate, 'f', -1); t(os.chown, 'f', os.getuid(), -1); t(os.lchown, 'l', -1, os.getgid()); t(os.chmod, 'nothing', 0); t(os.utime, 'l', (5, 6), follow_symlinks=False); print(os.lstat('l').st_mtime)
t(os.utime, 'f', ns=(10**18 + 1, 10**18 + 7)); print(os.stat('f').st_mtime_ns); t(os.posix_fallocate, fd, 0, 100); print(os.fstat(fd).st_size); t(os.lockf, fd, os.F_LOCK, 0); t(os.copy_file_range, fd, os.open('g', os.O_CREAT | os.O_WRONLY), 50)
X
python3 x.py
EOF

work 'opening: every flag, refusals of the kernel, long and strange names' python3 <<'EOF'
cat >x.py <<'X'
import os, errno, itertools, stat
def t(*a, **k):
	try:
		fd = os.open(*a, **k); st = os.fstat(fd); r = (stat.S_IFMT(st.st_mode), oct(st.st_mode & 0o7777), st.st_size, bool(os.get_inheritable(fd)))
		import fcntl; fl = fcntl.fcntl(fd, fcntl.F_GETFL); os.close(fd); return r + (hex(fl & ~os.O_NOFOLLOW),) # what was made without it may have it, and the other way round
	except OSError as e: return errno.errorcode[e.errno]
def fresh():
	os.system('rm -rf w; mkdir -p w/d; echo x >w/f; ln -s f w/l; ln -s none w/n; ln -s loop w/loop; mkfifo w/p; ln -s d w/ld; ln -s /dev/null w/null; : >w/ro; chmod 400 w/ro')
names = ['f', 'l', 'n', 'loop', 'd', 'ld', 'null', 'ro', 'new', 'd/new', 'f/x', 'none/x', 'd/', 'f/', 'new/', 'ld/', '.', '..', 'd/..', 'd/.', '', 'x' * 255, 'x' * 256, 'd/../f', './/f', '\udcff']
fresh()
for name in names:
	for mode in (os.O_RDONLY, os.O_WRONLY, os.O_RDWR):
		for extra in (0, os.O_CREAT, os.O_CREAT | os.O_EXCL, os.O_TRUNC, os.O_CREAT | os.O_TRUNC, os.O_APPEND | os.O_CREAT, os.O_NOFOLLOW, os.O_NOFOLLOW | os.O_CREAT, os.O_DIRECTORY, os.O_PATH, os.O_PATH | os.O_NOFOLLOW, os.O_TMPFILE, os.O_NONBLOCK, os.O_SYNC, os.O_NOATIME):
			print(repr(name[:20]), mode, hex(extra), t(os.fsencode('w/' + name) if name else '', mode | extra, 0o764))
			for n in ('none', 'new', 'd/new', 'x' * 255, '\udcff'):
				try: os.unlink(os.fsencode('w/' + n))
				except OSError: pass
			with open('w/f', 'w') as f: f.write('x\n')
print(t('w/' + 'a/' * 3000, os.O_RDONLY), t('w/p', os.O_WRONLY | os.O_NONBLOCK), t('w/p', os.O_RDONLY | os.O_NONBLOCK), t('w/p', os.O_RDWR))
d = os.open('w', os.O_RDONLY); p = os.open('w/d', os.O_PATH)
print(t('f', os.O_RDONLY, dir_fd=d), t('../f', os.O_RDWR, dir_fd=p), t('new', os.O_CREAT | os.O_WRONLY, 0o600, dir_fd=p), t('/dev/null', os.O_WRONLY, dir_fd=99), t('f', os.O_RDONLY, dir_fd=99), t('f', os.O_RDONLY, dir_fd=os.open('w/f', os.O_RDONLY)))
os.chdir('w/d'); os.rmdir('../d') if False else os.system('rm -rf ../d'); print(t('x', os.O_CREAT | os.O_WRONLY), t('.', os.O_RDONLY), t('..', os.O_RDONLY))
os.chdir('../..'); f = os.open('w/f', os.O_RDWR); print(t('/proc/self/fd/%d' % f, os.O_RDWR), t('/dev/fd/%d' % f, os.O_RDONLY)); os.unlink('w/f'); print(t('/proc/self/fd/%d' % f, os.O_RDWR)); os.write(f, b'more'); os.fchmod(f, 0o600)
x = os.open('w', os.O_TMPFILE | os.O_RDWR, 0o640); os.write(x, b'tmp'); os.link('/proc/self/fd/%d' % x, 'w/linked', src_dir_fd=d, follow_symlinks=True); print(open('w/linked').read(), oct(os.stat('w/linked').st_mode))
deep = 'w'
os.chdir('w')
for i in range(18): os.mkdir('d' * 200); os.chdir('d' * 200)
open('deep', 'w').close(); print(os.listdir('.'), len(os.getcwd()))
os.rename('deep', 'deeper'); os.unlink('deeper'); os.chdir(os.path.join(*['..'] * 18)); os.system('rm -rf ddd*')
X
python3 x.py
EOF
finish
