#!/bin/bash
# Tools in trees deeper than any path can say.
# shellcheck disable=SC2034 # what is set before a case is read by work_lib.sh
# shellcheck source=tests/live/work_lib.sh
. "$(dirname "$0")/work_lib.sh"

# deep N: so many directories, one in the other, names of 200 bytes, a file in each
make='deep() { python3 -c "
import os, sys
name = \"n\" * 200
for i in range(int(sys.argv[1])):
    os.mkdir(name); os.chdir(name); open(\"f\", \"w\").write(str(i)); os.chmod(\"f\", 0o640)
" "$1"; }
'
work 'rm -rf, find, rmtree, chmod -R, mv of deep trees' python3 <<EOF
$make
deep 200; find . -type f | wc -l; rm -rf nnn*; ls -A
deep 60; find nnn* -name f -newermt 2000-01-01 -delete; find . -type f | wc -l; find nnn* -depth -type d -delete; ls -A
deep 60; python3 -c 'import shutil; shutil.rmtree("n" * 200)'; ls -A
deep 60; chmod -R go-rwx nnn*; find . -type f -perm 600 | wc -l; mv nnn* mmm; mv mmm t; rm -r t; ls -A
EOF

work 'git clean and tar of deep trees' python3 git <<EOF
$make
deep 60; git init -q; git clean -ffdxq 2>&1 | cut -c1-40; echo \$?; ls -A; rm -rf nnn*
deep 60; tar cf d.tar nnn*; mkdir x; tar xf d.tar -C x 2>&1 | cut -c1-40; find x -type f | wc -l; rm -r x d.tar nnn*
EOF
finish
