# cordon: GNU make. `make help` lists the targets. Everything that is made goes below $(OUT), variants side by side.

PREFIX ?= /usr/local
DESTDIR ?=
VARIANT ?= default
OUT ?= build
VERSION := 0.1.0
MAKEFLAGS += --no-builtin-rules --no-print-directory
ifeq ($(origin CC),default)
CC := gcc
endif

CFLAGS_COMMON := -std=gnu11 -O2 -g -I. -D_GNU_SOURCE -DCORDON_VERSION='"$(VERSION)"' \
	-Wall -Wextra -Wshadow -Wvla -Wswitch-enum -Wstrict-prototypes -Wmissing-prototypes -Wformat=2 \
	-Wimplicit-fallthrough -Wundef -Wno-missing-field-initializers -Wno-unused-parameter -Wno-format-nonliteral
HARDEN := -fPIE -D_FORTIFY_SOURCE=2 -fstack-protector-strong -fstack-clash-protection
ifeq ($(shell uname -m),x86_64)
HARDEN += -fcf-protection
endif
LDHARDEN := -Wl,-z,relro,-z,now
SANITIZE_address := -fPIE -O1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined
SANITIZE_thread := -fPIE -O1 -fno-omit-frame-pointer -fsanitize=thread
LIBS_POLICY := -linih -ljansson
LIBS_RUN := -lmd -lcares -lpthread

ifeq ($(VARIANT),default)
CFLAGS_VARIANT := $(HARDEN)
LDFLAGS_VARIANT := -pie $(LDHARDEN) -Wl,--as-needed
else ifeq ($(VARIANT),static)
CFLAGS_VARIANT := $(HARDEN)
LDFLAGS_VARIANT := -static-pie $(LDHARDEN)
else ifeq ($(VARIANT),asan)
CFLAGS_VARIANT := $(SANITIZE_address) -DCORDON_NO_LOCKDOWN
LDFLAGS_VARIANT := -pie
MAIN_EXTRA := $(OUT)/tests/sanitize.o
else ifeq ($(VARIANT),tsan)
CFLAGS_VARIANT := $(SANITIZE_thread) -DCORDON_NO_LOCKDOWN
LDFLAGS_VARIANT := -pie
MAIN_EXTRA := $(OUT)/tests/sanitize.o
else ifeq ($(VARIANT),valgrind)
CFLAGS_VARIANT := -fPIE -O1 -fno-omit-frame-pointer -DCORDON_NO_LOCKDOWN
LDFLAGS_VARIANT := -pie
LDFLAGS_CORDON := -Wl,--wrap=syscall,--wrap=child_main,--wrap=setup_check_kernel
MAIN_EXTRA := $(OUT)/tests/valgrind/wrap.o
else ifeq ($(VARIANT),fuzz)
CC := clang
CFLAGS_VARIANT := $(SANITIZE_address) -fsanitize=fuzzer-no-link
LDFLAGS_VARIANT := -pie
else
$(error unknown VARIANT $(VARIANT))
endif
ifdef WERROR
CFLAGS_COMMON += -Werror
endif
CFLAGS_ALL = $(CFLAGS_COMMON) $(CFLAGS_VARIANT) $(CFLAGS)
LINK = $(CC) $(CFLAGS_ALL) $(LDFLAGS_VARIANT) $(LDFLAGS)
# cordon itself is one static file: it starts faster, and no LD_PRELOAD of the user's gets into the supervisor. With
# DYNAMIC=1 it uses shared libraries, as distributions want it.
LINK_CORDON = $(LINK) $(LDFLAGS_CORDON)
ifeq ($(VARIANT)$(DYNAMIC),default)
LINK_CORDON = $(CC) $(CFLAGS_ALL) -static-pie $(LDHARDEN) $(LDFLAGS)
endif
# V=1 shows the commands.
ifdef V
say =
else
say = @echo '  $(1) $@';
endif

POLICY_SRC := $(wildcard policy/*.c)
# Programs of their own, not part of cordon: build tools.
TOOL_SRC := $(wildcard supervisor/filter_gen*.c)
SUPER_SRC := $(filter-out $(TOOL_SRC) supervisor/main.c,$(wildcard supervisor/*.c supervisor/sysc/*.c supervisor/gateway/*.c))
GEN := $(OUT)/gen
POLICY_OBJ := $(POLICY_SRC:%.c=$(OUT)/%.o) $(GEN)/default_ini.o
SUPER_OBJ := $(SUPER_SRC:%.c=$(OUT)/%.o)
LIBS_OWN := $(OUT)/libsupervisor.a $(GEN)/filter_data.o $(OUT)/libpolicy.a
UNIT := $(patsubst %.c,$(OUT)/%,$(wildcard tests/unit/test_*.c))
FUZZ := $(patsubst %.c,$(OUT)/%,$(wildcard tests/fuzz/fuzz_*.c))
BENCH := $(patsubst %.c,$(OUT)/%,$(wildcard tests/bench/*.c))
# The longest first, so that none of them goes on alone at the end.
LONG = $(addprefix tests/,live/work_node.t live/diff.t live/same_inet.t attack/dos.t live/same_special.t)
LIVE = $(LONG) $(filter-out $(LONG),$(sort $(wildcard tests/live/*.t tests/attack/*.t)))

# For tests: the program under test, and where they may put what they build.
export CORDON ?= $(abspath $(OUT)/cordon)
export LIVE_BUILD ?= $(abspath $(OUT)/tests/live)
export ATTACK_BUILD ?= $(abspath $(OUT)/tests/attack)
# So many test programs run at the same time; several of them start programs of their own.
J ?= 2
# As many jobs as there are processors, unless the user said how many.
PARALLEL = $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$(shell nproc))

.PHONY: all help deps check unit live stress sanitize valgrind fuzz static install uninstall lint format docs-current bench demo clean \
	programs unit-programs fuzz-programs bench-programs FORCE
.DELETE_ON_ERROR:
.SECONDARY:

all: $(OUT)/cordon

help:
	@echo 'make            build $(OUT)/cordon'
	@echo 'make deps       install the Debian packages that building and testing need and that are missing'
	@echo 'make check      deps, build, unit tests, fuzzing corpora, live tests, attacks'
	@echo 'make unit       only the unit tests; make live: only the live tests and attacks'
	@echo 'make static     build $(OUT)/cordon-static, one file that needs no library, and try it in an empty root'
	@echo 'make install    to $$(DESTDIR)$$(PREFIX), by default /usr/local; make uninstall removes it'
	@echo 'make demo       build, and show one confined script and its audit trail'
	@echo 'make bench      compare with native and with bubblewrap'
	@echo 'make lint       format, both compilers, layers, sizes, manual pages, shell scripts, spelling'
	@echo 'make format     format the C files'
	@echo 'make sanitize   the tests under address, undefined behaviour and thread sanitizers'
	@echo 'make stress     stress-ng inside as outside'
	@echo 'make valgrind   memory and descriptors of the supervisor over 100,000 calls'
	@echo 'make fuzz       each fuzzing target for FUZZ_TIME (default 30) seconds, and 200 sequences of calls as below'
	@echo 'make diff       DIFF_COUNT (default 5000) random sequences of calls, outside and inside, from DIFF_SEED on, on each of GROUNDS'
	@echo 'make clean      remove $(OUT)'
	@echo 'Variables: OUT (folder of the build), CC, CFLAGS, LDFLAGS, PREFIX, DESTDIR, DYNAMIC=1, WERROR=1, V=1, T (tests to run), J (how many at a time)'

deps:
	@tools/deps build check

# --- Building ---

# All is built anew when the flags change.
$(OUT)/flags: FORCE
	@mkdir -p $(@D)
	@echo '$(subst ','\'',$(LINK))' | cmp -s - $@ || echo '$(subst ','\'',$(LINK))' > $@

$(OUT)/cordon: $(OUT)/supervisor/main.o $(MAIN_EXTRA) $(LIBS_OWN)
	$(call say,link   )$(LINK_CORDON) -o $@ $^ $(LIBS_POLICY) $(LIBS_RUN)

$(OUT)/libpolicy.a: $(POLICY_OBJ)
	$(call say,archive)rm -f $@ && ar rcs $@ $^
$(OUT)/libsupervisor.a: $(SUPER_OBJ)
	$(call say,archive)rm -f $@ && ar rcs $@ $^

$(OUT)/%.o: %.c $(OUT)/flags
	@mkdir -p $(@D)
	$(call say,compile)$(CC) $(CFLAGS_ALL) -MMD -MP -c -o $@ $<
$(GEN)/%.o: $(GEN)/%.c $(OUT)/flags
	$(call say,compile)$(CC) $(CFLAGS_ALL) -MMD -MP -c -o $@ $<

# The shipped sandbox.ini is the built-in default.
$(GEN)/default_ini.c: sandbox.ini
	@mkdir -p $(@D)
	$(call say,make   )(echo '#include "policy/config.h"'; echo 'const char config_default_ini[] = {'; od -An -v -tu1 $< | sed 's/  */,/g;s/^,//;s/$$/,/'; \
	 echo '0};'; echo 'const size_t config_default_ini_len = sizeof(config_default_ini) - 1;') > $@

# The seccomp programs, made from the rows with libseccomp at build time.
# With all objects and not the library: each states its own calls (lockdown.h).
$(OUT)/filter_gen: $(TOOL_SRC:%.c=$(OUT)/%.o) $(SUPER_OBJ) $(OUT)/libpolicy.a
	$(call say,link   )$(LINK) -o $@ $^ -lseccomp $(LIBS_POLICY) $(LIBS_RUN)
$(GEN)/filter_data.c: $(OUT)/filter_gen
	@mkdir -p $(@D)
	$(call say,make   )$< > $@
# The same rows for readers. The page shows x86-64, so it is neither made nor compared elsewhere.
docs/syscalls.md: $(OUT)/filter_gen
	@mkdir -p $(GEN)
	$< --doc > $(GEN)/syscalls.md
	mv $(GEN)/syscalls.md $@
docs-current: $(OUT)/filter_gen
	@test $$(uname -m) != x86_64 || $< --doc | diff -u docs/syscalls.md - || { echo 'run: make docs/syscalls.md'; exit 1; }

# For tests: cordon as on a kernel with an older Landlock, 0 for none.
$(OUT)/landlock-%/cordon: tests/oldkernel/landlock.c $(OUT)/supervisor/main.o $(LIBS_OWN)
	@mkdir -p $(@D)
	$(call say,link   )$(LINK_CORDON) -DLANDLOCK_ABI=$* -Wl,--wrap=landlock_abi -o $@ $^ $(LIBS_POLICY) $(LIBS_RUN)

# Only the C library's own are linked in, so nothing in it may want to load modules: tests/lint/banned looks.
static:
	@tools/deps build static
	@$(MAKE) $(PARALLEL) VARIANT=static OUT=$(OUT)/static all
	strip -o $(OUT)/cordon-static $(OUT)/static/cordon
	@CORDON=$(abspath $(OUT)/cordon-static) tests/run tests/static.t

# --- Tests ---

# Every number that the headers know, for a test that none is forgotten.
$(GEN)/header_numbers.h:
	@mkdir -p $(@D)
	$(call say,make   )echo '#include <asm/unistd.h>' | $(CC) -E -dM - | \
	 sed -n '/__NR_syscalls/d;/__NR_arch_specific_syscall/d;s/^#define __NR_\([a-z_][a-z0-9_]*\) .*/{"\1", __NR_\1},/p' | sort > $@
$(OUT)/tests/unit/test_filter.o: $(GEN)/header_numbers.h
$(OUT)/tests/unit/%.o: CFLAGS_COMMON += -I$(GEN)
$(OUT)/tests/unit/%: $(OUT)/tests/unit/%.o $(LIBS_OWN)
	$(call say,link   )$(LINK) -o $@ $^ -lcmocka $(LIBS_POLICY) $(LIBS_RUN)
ifeq ($(VARIANT),fuzz)
$(OUT)/tests/fuzz/%: $(OUT)/tests/fuzz/%.o $(LIBS_OWN)
	$(call say,link   )$(LINK) -fsanitize=fuzzer -o $@ $^ $(LIBS_POLICY) $(LIBS_RUN)
else
$(OUT)/tests/fuzz/%: $(OUT)/tests/fuzz/%.o $(OUT)/tests/fuzz/replay.o $(LIBS_OWN)
	$(call say,link   )$(LINK) -o $@ $^ $(LIBS_POLICY) $(LIBS_RUN)
endif
$(OUT)/tests/bench/%: $(OUT)/tests/bench/%.o
	$(call say,link   )$(LINK) -o $@ $^

programs: all unit-programs fuzz-programs
unit-programs: $(UNIT)
fuzz-programs: $(FUZZ)
bench-programs: $(BENCH)

check: deps
	@$(MAKE) $(PARALLEL) programs docs-current
	@tests/run -j $(J) $(or $(T),$(UNIT) $(FUZZ) $(LIVE))
unit:
	@$(MAKE) $(PARALLEL) unit-programs fuzz-programs docs-current
	@tests/run -j $(J) $(or $(T),$(UNIT) $(FUZZ))
live:
	@$(MAKE) $(PARALLEL) all
	@tests/run -j $(J) $(or $(T),$(LIVE))

# stress-ng's file, process and signal stressors, inside as outside.
stress:
	@tools/deps build stress
	@$(MAKE) $(PARALLEL) all
	@TEST_TIMEOUT=900 tests/run tests/stress/run

# The command's process of a cordon that runs under valgrind.
$(OUT)/cordon-child: $(OUT)/tests/valgrind/child.o $(LIBS_OWN)
	$(call say,link   )$(LINK) -o $@ $^ $(LIBS_POLICY) $(LIBS_RUN)
valgrind:
	@tools/deps build check valgrind
	@$(MAKE) $(PARALLEL) VARIANT=valgrind OUT=$(OUT)/valgrind all $(OUT)/valgrind/cordon-child
	@VALGRIND_OUT=$(abspath $(OUT)/valgrind) TEST_TIMEOUT=1500 tests/run tests/valgrind/run

# Each step is made, whatever became of those before it. ASAN_T and TSAN_T say which of the live tests and attacks are run under
# which sanitizer. All takes several times as long as usual, so what has one thread in any case is left out for TSan.
ASAN_T ?= $(LIVE)
TSAN_T ?= $(sort $(wildcard tests/attack/*.t)) $(patsubst %,tests/live/%.t,clients dns local names proxy same_inet session)
SANITIZE := asan-unit tsan-unit asan-live tsan-live
.PHONY: $(SANITIZE)
$(SANITIZE): export TEST_TIMEOUT := $(or $(TEST_TIMEOUT),900)
sanitize: deps
	@$(MAKE) --keep-going -j1 $(SANITIZE)
asan-unit:
	@$(MAKE) $(PARALLEL) VARIANT=asan OUT=$(OUT)/asan unit-programs fuzz-programs
	@tests/run -j $(J) $(UNIT:$(OUT)/%=$(OUT)/asan/%) $(FUZZ:$(OUT)/%=$(OUT)/asan/%)
tsan-unit:
	@$(MAKE) $(PARALLEL) VARIANT=tsan OUT=$(OUT)/tsan unit-programs
	@tests/run -j $(J) $(patsubst $(OUT)/%,$(OUT)/tsan/%,$(filter-out %_random,$(UNIT)))
asan-live:
	@$(MAKE) $(PARALLEL) VARIANT=asan OUT=$(OUT)/asan all
	CORDON=$(abspath $(OUT)/asan/cordon) tests/run -j $(J) $(or $(T),$(ASAN_T))
tsan-live:
	@$(MAKE) $(PARALLEL) VARIANT=tsan OUT=$(OUT)/tsan all
	CORDON=$(abspath $(OUT)/tsan/cordon) tests/run -j $(J) $(or $(T),$(TSAN_T))

FUZZ_TIME ?= 30
fuzz:
	@tools/deps build fuzz
	@$(MAKE) $(PARALLEL) VARIANT=fuzz OUT=$(OUT)/fuzz fuzz-programs
	@tests/fuzz/run $(FUZZ_TIME) $(OUT)/fuzz
	@$(MAKE) $(PARALLEL) all
	@DIFF_COUNT=$(or $(DIFF_COUNT),200) DIFF_SEED=$(DIFF_SEED) TEST_TIMEOUT=1800 tests/run tests/live/diff.t

# Random sequences of calls, outside and inside. The seed is in the name of each result.
DIFF_SEED ?= $(shell date +%s)
.PHONY: diff
diff:
	@tools/deps build check
	@$(MAKE) $(PARALLEL) all
	@tests/diff/run -c $(or $(DIFF_COUNT),5000) -s $(DIFF_SEED) $(GROUNDS)

bench:
	@tools/deps build bench
	@$(MAKE) $(PARALLEL) all bench-programs
	@tests/bench/run $(OUT)

# --- The rest ---

lint:
	@tools/deps build check lint
	@$(MAKE) $(PARALLEL) OUT=$(OUT)/gcc CC=gcc WERROR=1 programs docs-current
	@$(MAKE) $(PARALLEL) OUT=$(OUT)/clang CC=clang WERROR=1 programs bench-programs
	@tests/lint/run $(OUT)/gcc

format:
	@tools/deps lint
	clang-format -i $$(tests/lint/files c)

demo: deps
	@$(MAKE) $(PARALLEL) all >/dev/null
	@tools/demo

DOC := $(DESTDIR)$(PREFIX)/share/doc/cordon
MAN := $(DESTDIR)$(PREFIX)/share/man
PAGES := $(wildcard docs/man/*.1 docs/man/*.5)
TEXTS := $(wildcard README.md LICENSE CHANGELOG.md docs/*.md)
install: all
	install -D -m 755 $(OUT)/cordon $(DESTDIR)$(PREFIX)/bin/cordon
	install -D -m 644 sandbox.ini $(DOC)/sandbox.ini
	$(foreach f,$(TEXTS),install -D -m 644 $(f) $(DOC)/$(notdir $(f)) &&) true
	$(foreach f,$(PAGES),install -D -m 644 $(f) $(MAN)/man$(subst .,,$(suffix $(f)))/$(notdir $(f)) &&) true
uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/cordon
	rm -f $(foreach f,$(PAGES),$(MAN)/man$(subst .,,$(suffix $(f)))/$(notdir $(f)))
	rm -f $(DOC)/sandbox.ini $(foreach f,$(TEXTS),$(DOC)/$(notdir $(f)))
	[ ! -d $(DOC) ] || rmdir --ignore-fail-on-non-empty $(DOC)

clean:
	rm -rf $(OUT)

-include $(wildcard $(foreach d,gen policy supervisor supervisor/sysc supervisor/gateway tests/unit tests/fuzz tests/bench,$(OUT)/$(d)/*.d))
