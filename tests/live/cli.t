#!/bin/bash
# The command line: options, which policy is used, check, explain, doctor.
. "$(dirname "$0")/lib.sh"

cd "$work" || exit 1
mkdir dir xdg xdg/cordon
c=$CORDON

# run STATUS OUT ERR WHAT COMMAND...: OUT and ERR are patterns of bash that the whole of standard output and error match
run() {
	local want=$1 out_like=$2 err_like=$3 what=$4 out err status
	shift 4
	out=$("$@" 2>"$work/err" </dev/null)
	status=$?
	err=$(<"$work/err")
	# shellcheck disable=SC2053
	if [ $status = "$want" ] && [[ $out == $out_like ]] && [[ $err == $err_like ]]; then
		pass "$what"
	else
		fail "$what" "$*
status $status, wanted $want
stdout: $out
wanted: $out_like
stderr: $err
wanted: $err_like"
	fi
}
# here DIRECTORY COMMAND...: the command in that directory
here() {
	cd "$1" || return 99
	shift
	"$@"
	local status=$?
	cd "$work" || return 99
	return $status
}

# Options.
run 0 'usage: cordon*--policy FILE*Exit status*125*' '' '--help' "$c" --help
run 0 'usage: cordon*' '' '-h' "$c" -h
run 0 'usage: cordon*' '' 'check --help' "$c" check --help
run 0 'cordon [0-9]*.[0-9]*' '' '--version' "$c" --version
run 0 'cordon [0-9]*.[0-9]*' '' '-V' "$c" -V
run 125 '' 'cordon: no command given*' 'nothing' "$c"
run 125 '' 'cordon: no command given*' 'only an option' "$c" -q
run 125 '' 'cordon: unknown option --nonsense*' 'an unknown long option' "$c" --nonsense true
run 125 '' 'cordon: unknown option -Z*' 'an unknown letter' "$c" -Z true
run 125 '' 'cordon: unknown option -Z*' 'an unknown letter after a known one' "$c" -qZ true
run 125 '' 'cordon: *--quiet=yes*' 'an argument that does not belong' "$c" --quiet=yes true
run 125 '' 'cordon: *--policy*argument*' 'an argument that is missing' "$c" --policy
run 125 '' 'cordon: -c is given twice*' '-c twice' "$c" -c true -c true
run 125 '' 'cordon: --keep-fd*' '--keep-fd without a number' "$c" --keep-fd x true
run 125 '' 'cordon: --keep-fd 99*' '--keep-fd of what is not open' "$c" --keep-fd 99 true
run 0 '-p --help -c' '' 'options end at the command' "$c" printf '%s %s %s' -p --help -c
run 0 '1 -c x' '' 'options of the command stay its own' "$c" sh -c 'echo $# -c "$1"' sh x
if command -v python3 >/dev/null; then
	run 0 '1' '' 'python3 -c' "$c" python3 -c 'print(1)'
else
	skip 'python3 -c' 'no python3'
fi
run 0 'a b' '' '-c through the shell' "$c" -c 'echo a "$0"' b
run 0 'b' '' '-c with a subcommand as its argument' "$c" -c 'echo b' check
run 7 '' '' 'the status of the command' "$c" sh -c 'exit 7'
run 143 '' '' 'the status of a signal' "$c" sh -c 'kill -TERM $$'
run 127 '' 'cordon: *nonexistent-program*not found*' 'no such program' env PATH=/usr/bin:/bin "$c" nonexistent-program
run 126 '' 'cordon: *may not be executed*' 'not a program' "$c" "$work/dir"

# A program that is called like a subcommand.
mkdir bin
printf '#!/bin/sh\necho "a program $0"\n' >bin/check
chmod 755 bin/check
export PATH=$work/bin:$PATH
run 0 'a program *bin/check' '' '-- check is a program' "$c" -- check
run 0 'a program *bin/check' '' 'run check is a program' "$c" run check
run 0 'x' '' 'run -- with options' "$c" run -q -- echo x
run 125 '' "cordon: 'learn'*cordon -- learn*" 'a word kept for later' "$c" learn
run 0 '# The effective policy*' '' 'check is the subcommand' "$c" check

# The manual.
missing=
for option in $("$c" --help | grep -o -- '--[a-z][a-z-]*' | sort -u); do
	grep -q -- " -${option#--}\>" "$project/docs/man/cordon.1" || missing="$missing $option"
done
same 'cordon(1) has all options' '' "$missing"
missing=
for key in $(sed -n 's/^#*\([a-z_]*\) *= .*/\1/p' "$project/sandbox.ini" | sort -u); do
	grep -q "^\.It Ic $key\>" "$project/docs/man/sandbox.ini.5" || missing="$missing $key"
done
same 'sandbox.ini(5) has all keys' '' "$missing"

# Which policy.
printf '[filesystem]\nallow_write = dir\nhardlinks = allow\n' >a.ini
printf '[filesystem]\nallow_write = other\nhardlinks = refuse\n' >b.ini
run 0 "*policy: a.ini*allow_write = $work/dir
*" '' '-p' "$c" -p a.ini check
run 0 "*allow_write = $work/dir
*allow_write = $work/other
*hardlinks = refuse
*" '' '-p twice: lists add, the last scalar wins' "$c" -p a.ini -p b.ini check
run 0 "*hardlinks = allow
*" '' 'in the other order' "$c" -p b.ini -p a.ini check
run 0 "*# command line
allow_write = $work/flag
*" '' 'a flag adds' "$c" -p a.ini --allow-write flag check
run 0 "*allow_write = $work/flag
*" '' 'options after the subcommand' "$c" check -p a.ini --allow-write=flag
run 0 "*policy: b.ini*" '' 'CORDON_POLICY' env CORDON_POLICY=b.ini "$c" check
run 0 "*policy: a.ini*" '' '-p instead of CORDON_POLICY' env CORDON_POLICY=missing.ini "$c" -p a.ini check
cp a.ini xdg/cordon/sandbox.ini
run 0 "*policy: $work/xdg/cordon/sandbox.ini*" '' 'XDG_CONFIG_HOME' env XDG_CONFIG_HOME="$work/xdg" "$c" check
run 0 "*policy: b.ini*" '' 'CORDON_POLICY before XDG_CONFIG_HOME' \
	env XDG_CONFIG_HOME="$work/xdg" CORDON_POLICY=b.ini "$c" check
mkdir -p home/.config/cordon
cp b.ini home/.config/cordon/sandbox.ini
run 0 "*policy: $work/home/.config/cordon/sandbox.ini*" '' 'a policy in the home directory' "$c" check
rm -r home/.config
run 0 '*policy: built-in*' '' 'else the built-in one' "$c" check
cp a.ini dir/sandbox.ini
run 0 '*policy: built-in*' 'cordon: sandbox.ini is here but not in use*-p sandbox.ini*' \
	'a sandbox.ini here is told, not used' here dir "$c" check
run 0 '' 'cordon: sandbox.ini is here but not in use*' 'also before a command' here dir "$c" true
run 0 '' '' '-q: not told' here dir "$c" -q true
run 0 '*' '' 'told only where it would be chosen' here dir "$c" -p sandbox.ini check
rm dir/sandbox.ini

# Faults.
run 125 '' 'cordon: missing.ini: *No such file*' 'a missing file is named' "$c" -p missing.ini true
run 125 '' 'cordon: missing.ini: *No such file*' 'also by CORDON_POLICY' env CORDON_POLICY=missing.ini "$c" true
run 125 '' 'cordon: dir: *directory*' 'a directory' "$c" -p dir true
printf '[filesystem]\nallow_write = [a\nallow_wirte = x\nhide = maybe\n[nonsense]\nx = 1\n' >bad.ini
printf '[audit]\nlevel = some\nlevel = all\n' >worse.ini
faults='cordon: bad.ini:2: *
cordon: bad.ini:3: *did you mean*allow_write*
cordon: bad.ini:4: *
cordon: bad.ini:5: *
cordon: worse.ini:2: *
cordon: worse.ini:3: *
cordon: missing.ini: *
cordon: command line: *'
run 125 '' "$faults" 'all faults at once' "$c" -p bad.ini -p worse.ini -p missing.ini --audit-level odd check
run 125 '' "$faults" 'the files as arguments' "$c" --audit-level odd check bad.ini worse.ini missing.ini
run 125 '' "$faults" 'a command is not run with them' \
	"$c" -p bad.ini -p worse.ini -p missing.ini --audit-level odd touch dir/ran
run 1 '' '' 'it was not' test -e dir/ran

# What check prints loads again, and to the same.
printf '[filesystem]\nallow_write = dir\nallow_write = a[b]*c\nallow_write = odd\\ \\#\\ name\nallow_own = /tmp\ndeny_read = **/.env\n' >all.ini
printf 'allow_write = with\\x20end\\x20\ndeny_write = ~/x\nallow_device = /dev/fuse\ncore_files = yes\n' >>all.ini
printf '[network]\nallow_domain = *.example.org:443\ndeny_domain = x.example.org\ndeny_reason = x.example.org no\n' >>all.ini
printf 'allow_ip = 10.0.0.0/8:1-2\nresolve = a.example.org:443:127.0.0.1\nallow_unix_socket = @x\n' >>all.ini
printf '[environment]\nunset = A*\nset = B=c d\n[audit]\nfile = %s/audit\nlevel = all\n[messages]\nstderr = no\n' "$work" >>all.ini
for policy in a.ini all.ini default; do
	if [ $policy = default ]; then "$c" check >first; else "$c" check $policy >first; fi
	"$c" check first >second 2>&1
	same "check $policy loads again" 0 $?
	same "check $policy loads to the same" "$(grep -v '^#' first)" "$(grep -v '^#' second)"
done
same 'the shipped sandbox.ini is the built-in policy' "$("$c" check | grep -v '^#')" \
	"$("$c" check "$project/sandbox.ini" | grep -v '^#')"
run 0 '*built-in protect: */.bashrc
*' '' 'check lists the protected names' "$c" check
printf '[network]\nallow_domain = a.test:80\nresolve = a.test:443:127.0.0.1\nresolve = a.test:80:127.0.0.1\n' >fixed.ini
run 0 '*resolve = a.test:443*' 'cordon: fixed.ini:3: resolve = *a.test:443 is refused' \
	'check tells of fixed addresses for refused names' "$c" check fixed.ini
printf '[exec]\nallow = /usr/**\n[filesystem]\nallow_write = dir\n' >exec.ini
run 0 '*allow = /usr*' '' 'check shows exec rules' "$c" check exec.ini
run 0 '' '' 'a program that exec rules allow' "$c" -p exec.ini /usr/bin/true

# Explain, against what a run does.
printf '[filesystem]\nallow_write = dir\nallow_own = own\ndeny_write = dir/fixed\ndeny_read = dir/hidden\ndeny_read = **/.env\n' >e.ini
printf 'allow_read = dir/hidden/seen\n' >>e.ini
mkdir -p own dir/.git dir/hidden
touch own/there dir/file dir/two dir/fixed dir/.env dir/.bashrc dir/.git/config dir/hidden/seen dir/hidden/not
ln dir/two dir/three
ln -s file dir/link
ln -s nothing dir/dangling
ln -s "$work/out" dir/away
e() { # e STATUS OP PATH PATTERN WHAT
	local text
	[ "$1" = 0 ] && text="allowed $2 $4" || text="refused $2 $4"
	run "$1" "$text" '' "explain $2 $3" "$c" -p e.ini explain "$2" "$3"
}
e 0 read dir/file "$work/dir/file
  rule: default*
  asked: dir/file"
e 0 read /etc/passwd '/etc/passwd
  rule: default*'
e 1 read dir/.env "$work/dir/.env
  rule: deny_read = \*\*/.env (e.ini:6)
  remedy: *"
e 1 read dir/hidden/not "$work/dir/hidden/not
  rule: deny_read = dir/hidden (e.ini:5)
  remedy: allow_read = $work/dir/hidden/not
*"
e 0 read dir/hidden/seen "$work/dir/hidden/seen
  rule: allow_read = dir/hidden/seen (e.ini:7)
*"
e 0 write dir/file "$work/dir/file
  rule: allow_write = dir (e.ini:2)
*"
e 0 write dir/link "$work/dir/file
*"
e 0 write dir/dangling "$work/dir/nothing
*does not exist*"
e 1 write dir/away "$work/out
  rule: default*
  remedy: allow_write = $work/out
*"
e 1 write dir/fixed "$work/dir/fixed
  rule: deny_write = dir/fixed (e.ini:4)
*"
e 1 write dir/.env "*"
e 1 write dir/.bashrc "$work/dir/.bashrc
  rule: protect = .bashrc (built-in)
  remedy: allow_protected = $work/dir/.bashrc
*"
e 1 create dir/deep/new/.profile "$work/dir/deep/new/.profile
  rule: protect*does not exist, nor does the directory*"
e 0 create dir/new "$work/dir/new
*does not exist; judged by its name"
e 0 create dir/newdir/ "$work/dir/newdir
*"
e 0 create own/new "$work/own/new
  rule: allow_own = own*"
e 1 write own/there "$work/own/there
  rule: allow_own = own (e.ini:3)
  remedy: allow_write = *
*session itself makes*"
e 1 write dir/two "$work/dir/two
  rule: hardlinks = refuse*
  remedy: hardlinks = allow
*2 hard links*"
e 0 delete dir/two "*"
e 0 delete dir/away "$work/dir/away
*"
e 1 delete dir "$work/dir
  rule: allow_write = dir*"
e 1 delete /etc/passwd "*remedy: allow_write = /etc*"
e 1 delete dir/.git "$work/dir/.git
  rule: protect*"
e 1 write dir/.git/config "*
  rule: protect = .git/config*session itself makes*"
e 0 rename dir/file "*"
e 1 rename dir/.git "*"
e 1 write e.ini "*belongs to this sandbox
  remedy: none*"
# With $AS_OLD that is not the program itself.
[ -n "$AS_OLD" ] || e 1 write "$c" "*belongs to this sandbox
*"
e 0 write /dev/null "/dev/null
*built-in*"
e 1 read /proc/1/environ "/proc/1/environ
  rule: process isolation*"
e 0 read /proc/1/stat "*"
e 0 read /proc/self/environ "/proc/*/environ
  rule: process isolation*
  asked: /proc/self/environ
*"
rule='default (no deny_read covers it)'
! "$c" -p a.ini doctor | grep -q '^fast reads *yes' || rule='none: with this policy the kernel alone decides on reading'
run 0 "allowed read /proc/*
  rule: $rule*" '' 'explain read without read rules' \
	"$c" -p a.ini --allow-write dir explain read /proc/version
run 1 'allowed write *
refused write *
allowed write *' '' 'several paths, the worst status' "$c" -p e.ini explain write dir/file dir/fixed dir/x
run 125 '*error write a/../b*' '' 'a path that leads nowhere' "$c" -p e.ini explain write a/../b
run 125 'error rename dir/.
*' '' 'a path that names no entry' "$c" -p e.ini explain rename dir/.
run 125 'error write dir/file/x
*Not a directory' '' 'a path through a file' "$c" -p e.ini explain write dir/file/x
run 125 '' 'cordon: usage: *read|write*' 'no operation' "$c" explain
run 125 '' 'cordon: usage: *read|write*' 'no path' "$c" explain read
run 125 '' 'cordon: usage: *read|write*' 'an unknown operation' "$c" explain burn dir
touch $'dir/a\nb\033'
run 0 'allowed write *dir/a\\x0ab\\x1b
*' '' 'control bytes are shown' "$c" -p e.ini explain write $'dir/a\nb\033'
printf '[filesystem]\nallow_write = dir\n[audit]\nfile = %s/dir/trail\n' "$work" >audit.ini
run 1 '*rule: protect*' '' 'the audit trail' "$c" -p audit.ini explain write dir/trail
run 1 '*rule: protect*' '' 'its rotations' "$c" -p audit.ini explain create dir/trail.1

run 0 '*note: *~* is filled in by the shell*' '' 'a quoted ~' "$c" -p e.ini explain read \~/.ssh/x
run 0 '*note: *$* is filled in by the shell*' '' 'a quoted $' "$c" -p e.ini explain read '$HOME/.ssh/x'
run 0 'allowed exec /*/*sh
*asked: sh
*note: *PATH*/sh*' '' 'a program by its name' "$c" -p e.ini explain exec sh
run 125 'error exec no-such-program
*no program of that name along PATH*' '' 'a program that is not there' "$c" -p e.ini explain exec no-such-program
printf '[filesystem]\nallow_write = dir\n[exec]\nallow = git\ndeny = curl\nallow = /bin\nallow = ./dir\n' >bare.ini
run 0 '*allow = */git*' 'cordon: bare.ini:4: *allow = git is ./git*:5: *deny = curl is ./curl*:7: *allow = ./dir may be written*' \
	'names in [exec] without a path' "$c" -p bare.ini check

printf '[filesystem]\nallow_write = dir\ndeny_read = *.pem\ndeny_read = **/*.key\ndeny_write = ./*.x\n' >shallow.ini
run 0 '' 'cordon: shallow.ini:3: deny_read = \*.pem is ./\*.pem, *did you mean \*\*/\*.pem*' 'a pattern without a slash' "$c" -p shallow.ini -- true
run 0 '' '' 'said once only, and quiet' "$c" -q -p shallow.ini -- true
mkdir 'my dir, too' && echo secret >'my dir, too/file'
run 1 '' '*not permitted*' 'a blank and a comma in the word of an option' "$c" -q --deny-read 'my dir, too' -- cat 'my dir, too/file'
# shellcheck disable=SC2088 # as it reaches cordon
run 125 '' '*~/a,~/b: one path in an option*' 'a list in the word of an option' "$c" --deny-read '~/a,~/b' -- true

# Explain of connects: by the rules and /etc/hosts, nothing is asked for.
cat >n.ini <<'EOF'
[network]
allow_domain = *.example.com:443
allow_domain = *.github.com
deny_domain = gist.github.com
deny_reason = gist.github.com use the paste service
allow_domain = api.test
resolve = api.test:443:127.0.0.1:8443
allow_ip = 10.0.0.0/8:5432
deny_domain = 10.6.6.6
resolve = bad.example.com:443:10.6.6.6
allow_unix_socket = run/x.sock
allow_unix_socket = @a
EOF
n() { # n STATUS TARGET PATTERN
	run "$1" "$3" '' "explain connect $2" "$c" -p n.ini explain connect "$2"
}
n 0 a.example.com:443 'allowed connect a.example.com:443
  rule: allow_domain = \*.example.com:443 (n.ini:2)
  note: its addresses are judged when it is asked for*'
n 0 A.Example.COM. 'allowed connect a.example.com
*  asked: A.Example.COM.
  note: at some port*'
n 1 a.example.com:80 'refused connect a.example.com:80
  rule: default (no allow_domain matches)
  remedy: allow_domain = a.example.com:80'
n 1 gist.github.com:443 'refused connect gist.github.com:443
  rule: deny_domain = gist.github.com (n.ini:4)
  reason: use the paste service
  remedy: remove or narrow that rule'
n 0 api.test:443 'allowed connect api.test:443
  rule: allow_domain = api.test (n.ini:6)
  note: at port 443 it is 127.0.0.1:8443 (resolve)'
n 1 bad.example.com:443 'refused connect bad.example.com:443
  rule: deny_domain = 10.6.6.6 (n.ini:9)
  remedy: remove or narrow that rule
*'
n 0 0xa000001:5432 'allowed connect 10.0.0.1:5432
  rule: allow_ip = 10.0.0.0/8:5432 (n.ini:8)
  asked: 0xa000001:5432'
n 1 '[64:ff9b::10.6.6.6]:5432' '*rule: deny_domain = 10.6.6.6 (n.ini:9)*'
n 1 192.0.2.1:53 'refused connect 192.0.2.1:53
  rule: default (no allow_ip or allow_domain matches)
  remedy: allow_ip = 192.0.2.1:53
*answered by cordon itself'
n 1 '[::1]:80' '*remedy: allow_ip = \[::1\]:80
*that the session itself started*'
n 0 run/x.sock "allowed connect $work/run/x.sock
  rule: allow_unix_socket = run/x.sock (n.ini:11)
*"
n 1 /run/other.sock '*
  rule: default (no allow_unix_socket covers it)
  remedy: allow_unix_socket = /run/other.sock
*'
n 0 @a 'allowed connect @a
  rule: allow_unix_socket = @a (n.ini:12)'
n 1 @b 'refused connect @b*remedy: allow_unix_socket = @b*'
n 125 https://example.com/ 'error connect https://example.com/
  rule: none: leave out the scheme'
n 125 '*.example.com' 'error connect \*.example.com
  rule: none: one host belongs here'
run 1 '*allow_ip = 127.0.0.1:80*' '' 'explain connect: an address that no allowed name has' \
	"$c" -p n.ini --allow-domain x.test --resolve y.test:80:10.0.0.1 explain connect 127.0.0.1:80

run 1 '*remedy: allow_ip = 169.254.169.254:80
  note: beware of a cloud metadata address, where machines are told their secrets' '' 'explain connect: of a metadata address that is said' \
	"$c" -p n.ini explain connect 169.254.169.254:80
run 1 '*note: at port 443 allowed once api.test has been asked for, and leads to port 8443 (resolve)*' '' \
	'explain connect: an address that a name leads to' "$c" -p n.ini explain connect 127.0.0.1:443
run 1 '*note: taken for a host; a Unix socket of that name is ./rel.sock*' '' 'explain connect: a socket that is not there' \
	"$c" -p n.ini explain connect rel.sock
mkdir -p run && : >run.sock
run 1 "refused connect $work/run.sock
  rule: default (no allow_unix_socket covers it)*" '' 'explain connect: a word that is a file' "$c" -p n.ini explain connect run.sock
run 0 '*explain*connect HOST:PORT|SOCKET*CIDR\[:PORT\[-PORT\]\]*' '' 'the forms of both in --help' "$c" --help

# agrees OP PATH COMMAND...: a run answers as explain does
agrees() {
	local op=$1 path=$2 said=0 did=0
	shift 2
	"$c" -p e.ini explain "$op" "$path" >said 2>&1 || said=1
	"$c" -q -p e.ini "$@" >did 2>&1 </dev/null || did=1
	same "a run agrees on $op $path" $said $did
}
agrees read dir/.env cat dir/.env
agrees read dir/hidden/seen cat dir/hidden/seen
agrees read dir/hidden/not cat dir/hidden/not
agrees read /proc/1/environ cat /proc/1/environ
agrees write dir/file sh -c 'echo >>dir/file'
agrees write dir/fixed sh -c 'echo >>dir/fixed'
agrees write dir/two sh -c 'echo >>dir/two'
agrees write own/there sh -c 'echo >>own/there'
agrees write dir/.git/config sh -c 'echo >>dir/.git/config'
agrees write dir/away sh -c 'echo >>dir/away'
agrees write dir/dangling sh -c 'echo >>dir/dangling'
agrees write "$c" sh -c 'exec 3>>"$0"' "$c"
agrees create own/new touch own/new
agrees create new touch new
agrees rename dir/.git mv dir/.git dir/git
agrees delete dir/.bashrc rm -f dir/.bashrc
agrees delete dir/away rm dir/away
agrees delete dir rm -r dir

# Doctor.
for name in kernel /proc openat2 'seccomp filter' 'seccomp listener' WAIT_KILLABLE_RECV ADDFD_SEND SYNC_WAKE_UP \
	'filter program' process_vm_readv /proc/PID/mem ptrace Landlock Yama capabilities 'seccomp above' 'private TMPDIR' \
	policy 'fast reads' 'mount alias'; do
	run 0 "*
$name  *" '' "doctor: $name" sh -c 'echo; "$0" doctor' "$c"
done
run 0 '*cordon can run commands here.' '' 'doctor: can run' "$c" doctor
run 1 '*Missing: policy.' 'cordon: bad.ini:2:*' 'doctor: a policy with faults' "$c" -p bad.ini doctor
run 125 '' 'cordon: doctor takes no arguments' 'doctor: an argument' "$c" doctor x
mkdir tmp
run 0 '*private TMPDIR *yes*' '' 'doctor: a TMPDIR of its own' env TMPDIR="$work/tmp" "$c" doctor
same 'none is left' '' "$(ls -A tmp)"
env TMPDIR="$work/tmp" "$c" check >/dev/null
env TMPDIR="$work/tmp" "$c" explain read x >/dev/null
same 'check and explain make none' '' "$(ls -A tmp)"
finish
