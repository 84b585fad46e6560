#!/bin/bash
# Compilers and build tools inside give the same as outside.
# shellcheck disable=SC2034 # what is set before a case is read by work_lib.sh
# shellcheck source=tests/live/work_lib.sh
. "$(dirname "$0")/work_lib.sh"

project='
mkdir src include lib
for i in $(seq 40); do
	printf "int f%d(int x);\n" $i >include/f$i.h
	printf "#include <stdio.h>\n#include \"f%d.h\"\nint f%d(int x) { return x * %d + %d; }\n" $i $i $i $i >src/f$i.c
done
{ for i in $(seq 40); do echo "#include \"f$i.h\""; done
  echo "#include <stdio.h>"
  echo "int main(void) { int s = 0;"
  for i in $(seq 40); do echo "s += f$i($i);"; done
  echo "printf(\"%d\\n\", s); return 0; }"; } >main.c
cat >Makefile <<"EOF"
SRC := $(wildcard src/*.c)
OBJ := $(SRC:src/%.c=obj/%.o)
CFLAGS := -O1 -Iinclude -MMD -MP
all: prog libf.so
prog: obj/main.o libf.a
	gcc -o $@ $^
libf.a: $(OBJ)
	rm -f $@
	ar rcs $@ $^
	ranlib $@
libf.so: $(SRC)
	gcc -shared -fPIC -Iinclude -o $@ src/f1.c src/f2.c
obj/%.o: src/%.c | obj
	@gcc $(CFLAGS) -c -o $@ $<
obj/main.o: main.c | obj
	@gcc $(CFLAGS) -c -o $@ $<
obj:
	mkdir -p $@
clean:
	rm -rf obj prog lib*.a lib*.so
.PHONY: all clean
-include $(OBJ:.o=.d)
EOF
'
prepare=$project
work 'make -j2 of 40 files with dependency files, a static and a shared library' make gcc <<'EOF'
make -j2 -Otarget >/dev/null; ./prog; make -q && echo up to date
touch include/f7.h; make -j2 -n | wc -l; make -j2 2>&1 | sort; make clean; ls
make -k -j2 CFLAGS='-Iinclude -Dint=nonsense' 2>/dev/null | tail -1; echo $?
make -j2 obj/f1.o obj/f2.o >/dev/null; ld -r -o both.o obj/f1.o obj/f2.o; nm both.o; objcopy --strip-debug both.o; strip -g both.o
gcc -g -save-temps=obj -c -o obj/f3.o src/f3.c; ls obj; gcc -flto -Iinclude -o lto main.c src/*.c; ./lto
gcc -pipe -x c -o p - <<<'int main(void) { return 3; }'; ./p; echo $?
ar t libf.a 2>&1; mkdir t; TMPDIR=$PWD/t gcc -o q main.c -Iinclude src/*.c; ls t
EOF

work 'objects kept in a cache by hard link or copy, as ccache does' gcc sha256sum <<'EOF'
cat >cc.sh <<'X'
#!/bin/bash -e
src=$1 out=$2 cache=${CACHE:-.cache}
key=$(gcc -E "$src" | sha256sum | cut -c1-40)
dir=$cache/${key:0:2}; mkdir -p "$dir"
if [ ! -e "$dir/$key.o" ]; then
	tmp=$(mktemp "$dir/tmp.XXXXXX"); gcc -c -o "$tmp" "$src"; chmod 644 "$tmp"; mv -f "$tmp" "$dir/$key.o"; echo miss
else echo hit; fi
(flock 9; echo x >>"$cache/stats") 9>"$cache/lock"
rm -f "$out"; ln "$dir/$key.o" "$out" || cp "$dir/$key.o" "$out"
X
chmod +x cc.sh
for i in 1 2 3; do echo "int f$i;" >f$i.c; done
for i in 1 2 3 1 2 3; do ./cc.sh f$i.c f$i.o; done; wc -l <.cache/stats
for i in 1 2 3; do ./cc.sh f$i.c f$i.o & done; wait; stat -c %h f1.o
# A hard link that this session made is its own: it may be changed in place.
strip -g f1.o; gcc -c -o f1.o f1.c; touch f1.o; chmod 600 f1.o; echo >>f1.o; stat -c '%h %a' f1.o
find .cache -name '*.o' -links +1 | wc -l; rm -rf .cache; ls -A
EOF

prepare=$project'
cat >CMakeLists.txt <<"EOF"
cmake_minimum_required(VERSION 3.10)
project(p C)
file(GLOB SRC src/*.c)
include_directories(include)
include(CheckFunctionExists)
check_function_exists(strlcpy_none HAVE_NONE)
check_function_exists(memcpy HAVE_MEMCPY)
add_library(f STATIC ${SRC})
add_executable(prog main.c)
target_link_libraries(prog f)
enable_testing()
add_test(NAME runs COMMAND prog)
install(TARGETS prog f RUNTIME DESTINATION bin ARCHIVE DESTINATION lib)
EOF
' unread='.*/CMakeFiles/.*|.*/Testing/.*|.*/CMakeCache.txt' differs='s/[0-9.]+ sec/SEC/g; s/= +SEC/= SEC/; s/\(0\.[0-9]s\)/(0)/g; s/TryCompile-[A-Za-z0-9]+/TryCompile-X/g'
unlisted='.*/CMakeFiles/CMakeScratch.*|.*/CMakeFiles/_CMakeLTOTest.*'
work 'cmake: configure, build, ctest, install' cmake make gcc <<'EOF'
cmake -S . -B b >/dev/null; echo $?; cmake --build b -j2 >/dev/null; echo $?; b/prog
(cd b && ctest 2>&1 | grep -v ^Total); cmake --install b --prefix "$PWD/inst" | grep -v ^--.Up; find inst -type f
cmake --build b --target clean; cmake -E copy_directory src src2; cmake -E make_directory x/y; cmake -E rm -rf x
EOF

prepare='mkdir -p c/src; printf "[package]\nname = \"c\"\nversion = \"0.1.0\"\nedition = \"2021\"\n" >c/Cargo.toml
printf "mod m;\nfn main() { println!(\"{}\", m::f(2)); }\n" >c/src/main.rs
printf "pub fn f(x: u32) -> u32 { x * 21 }\n#[cfg(test)]\nmod t { #[test] fn ok() { assert_eq!(super::f(1), 21); } }\n" >c/src/m.rs'
unlisted='./c/target.*|./cargo.*' differs='s/in [0-9.]+m?s/in TIME/'
work 'cargo build and test, offline' cargo <<'EOF'
export CARGO_HOME=$PWD/cargo CARGO_TERM_COLOR=never
cd c; cargo build --offline -j2; echo $?; target/debug/c; cargo test --offline -j2 -q 2>&1 | grep -v ^$
cargo run --offline -q; touch src/m.rs; cargo build --offline; cargo clean -q; ls
EOF

# A Java virtual machine looks for internet sockets when it starts.
says='socket refused'
work 'java: javac, jar, run' java javac jar <<'EOF'
mkdir p; cat >p/Main.java <<'X'
package p;
import java.nio.file.*;
public class Main {
	public static void main(String[] a) throws Exception {
		Path t = Files.createTempFile("x", ".y"); Files.writeString(t, "hello"); System.out.println(Files.readString(t));
		Files.delete(t); Files.createDirectories(Path.of("d/e")); Files.writeString(Path.of("d/e/f"), "x");
		Files.move(Path.of("d/e/f"), Path.of("d/g"), StandardCopyOption.ATOMIC_MOVE); Files.copy(Path.of("d/g"), Path.of("d/k"));
		Process p = new ProcessBuilder("echo", "child").redirectErrorStream(true).start();
		System.out.print(new String(p.getInputStream().readAllBytes())); System.out.println(p.waitFor());
		Thread[] ts = new Thread[8];
		for (int i = 0; i < 8; i++) { int n = i; ts[i] = new Thread(() -> { try { Files.writeString(Path.of("d/t" + n), "" + n); } catch (Exception e) { e.printStackTrace(); } }); ts[i].start(); }
		for (Thread x : ts) x.join();
	}
}
X
javac -d out p/Main.java && java -cp out p.Main; echo $?; jar cfe m.jar p.Main -C out . && rm -r d; java -XX:TieredStopAtLevel=1 -jar m.jar | tail -1; rm m.jar
EOF

work 'go build, offline' go <<'EOF'
export GOCACHE=$PWD/cache GOPATH=$PWD/gopath GOFLAGS=-mod=mod GOTOOLCHAIN=local
mkdir m; cd m; printf 'module m\n' >go.mod; printf 'package main\nimport "fmt"\nfunc main() { fmt.Println("hi") }\n' >main.go
go build -o m . && ./m; go vet .; rm -rf m; chmod -R u+w ../cache; rm -rf ../cache ../gopath
EOF

unread='.*\.deb'
work 'dpkg-deb: build, list, extract' dpkg-deb <<'EOF'
mkdir -p p/DEBIAN p/usr/bin; printf 'Package: p\nVersion: 1\nArchitecture: all\nMaintainer: a <a@example.org>\nDescription: p\n' >p/DEBIAN/control
printf '#!/bin/sh\n' >p/usr/bin/p; chmod 755 p/usr/bin/p; SOURCE_DATE_EPOCH=1700000000 dpkg-deb --root-owner-group --build p p.deb
dpkg-deb -c p.deb | awk '{ print $1, $2, $6 }'; dpkg-deb -f p.deb Package; dpkg-deb -x p.deb x; dpkg-deb -e p.deb x/DEBIAN; dpkg-deb -R p.deb y; find x y | sort
EOF

work 'a configure script' gcc <<'EOF'
cat >configure <<'X'
#!/bin/sh
exec 5>config.log 6>&1
trap 'rm -f conftest*' 0
for h in stdio.h unistd.h none.h; do
	printf '#include <%s>\nint main(void) { return 0; }\n' $h >conftest.c
	if gcc -o conftest conftest.c >&5 2>&5 && ./conftest 2>&5; then echo "have $h" >&6; else echo "no $h" >&6; fi
done
(umask 077; mkdir conftest.d) && rmdir conftest.d; test -w . && echo writable
cat >conf$$subs.awk <<E
{ gsub("@X@", "y"); print }
E
echo '@X@' | awk -f conf$$subs.awk >out.h.tmp && mv -f out.h.tmp out.h; rm -f conf$$subs.awk
ln -s conf$$.file conf$$ 2>/dev/null && echo 'links'; rm -f conf$$ conf$$.file; echo >conf$$.file; ln conf$$.file conf$$ && echo hard; rm -f conf$$*
X
sh configure; wc -l <config.log >/dev/null; cat out.h; rm config.log
EOF

finish
