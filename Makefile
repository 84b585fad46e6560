# cordon: GNU make. Variants of the build live side by side below build/.
#   make            build/cordon
#   make check      installs what is missing, builds, runs the tests
#   make help       the other targets

PREFIX ?= /usr/local
DESTDIR ?=
VARIANT ?= default
VERSION := 0.1.0
MAKEFLAGS += --no-builtin-rules

CFLAGS_COMMON := -std=gnu11 -O2 -g -I. -D_GNU_SOURCE -DCORDON_VERSION='"$(VERSION)"' \
	-Wall -Wextra -Wshadow -Wvla -Wswitch-enum -Wstrict-prototypes -Wmissing-prototypes -Wformat=2 \
	-Wimplicit-fallthrough -Wundef -Wno-missing-field-initializers -Wno-unused-parameter -Wno-format-nonliteral
HARDEN := -fPIE -fstack-protector-strong -fstack-clash-protection
LDHARDEN := -pie -Wl,-z,relro,-z,now -Wl,--as-needed
ifeq ($(shell uname -m),x86_64)
HARDEN += -fcf-protection
endif
LIBS_POLICY := -linih -ljansson
LIBS_RUN := -lmd -lpthread

ifeq ($(VARIANT),default)
OUT := build
CC ?= gcc
CFLAGS_VARIANT := $(HARDEN) -D_FORTIFY_SOURCE=2
LDFLAGS_VARIANT := $(LDHARDEN)
else ifeq ($(VARIANT),static)
OUT := build/static
CFLAGS_VARIANT := $(HARDEN) -D_FORTIFY_SOURCE=2
LDFLAGS_VARIANT := -static-pie -Wl,-z,relro,-z,now
else ifeq ($(VARIANT),asan)
OUT := build/asan
CFLAGS_VARIANT := -fPIE -O1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined
LDFLAGS_VARIANT := -pie -fsanitize=address,undefined
else ifeq ($(VARIANT),tsan)
OUT := build/tsan
CFLAGS_VARIANT := -fPIE -O1 -fno-omit-frame-pointer -fsanitize=thread
LDFLAGS_VARIANT := -pie -fsanitize=thread
else ifeq ($(VARIANT),fuzz)
OUT := build/fuzz
CC := clang
CFLAGS_VARIANT := -O1 -fno-omit-frame-pointer -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined
LDFLAGS_VARIANT := -fsanitize=address,undefined
else
$(error unknown VARIANT $(VARIANT))
endif
ifeq ($(origin CC),default)
CC := gcc
endif
ifdef WERROR
CFLAGS_COMMON += -Werror
endif
CFLAGS_ALL = $(CFLAGS_COMMON) $(CFLAGS_VARIANT) $(CFLAGS)

POLICY_SRC := $(wildcard policy/*.c)
# Programs of their own, not part of cordon: build tools.
TOOL_SRC := $(wildcard supervisor/filter_gen*.c)
SUPER_SRC := $(filter-out $(TOOL_SRC) supervisor/main.c,$(wildcard supervisor/*.c supervisor/sysc/*.c))
GEN := $(OUT)/gen
POLICY_OBJ := $(POLICY_SRC:%.c=$(OUT)/%.o) $(GEN)/default_ini.o
SUPER_OBJ := $(SUPER_SRC:%.c=$(OUT)/%.o)
UNIT := $(patsubst tests/unit/%.c,$(OUT)/tests/unit/%,$(wildcard tests/unit/test_*.c))

.PHONY: all static check demo deps install bench lint format clean help unit sanitize docs-current
.DELETE_ON_ERROR:
.SECONDARY:

all: $(OUT)/cordon

$(OUT)/cordon: $(OUT)/supervisor/main.o $(OUT)/libsupervisor.a $(GEN)/filter_data.o $(OUT)/libpolicy.a
	$(CC) $(CFLAGS_ALL) $(LDFLAGS_VARIANT) $(LDFLAGS) -o $@ $^ $(LIBS_POLICY) $(LIBS_RUN)

$(OUT)/libpolicy.a: $(POLICY_OBJ)
	rm -f $@ && ar rcs $@ $^
$(OUT)/libsupervisor.a: $(SUPER_OBJ)
	rm -f $@ && ar rcs $@ $^

$(OUT)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) -MMD -MP -c -o $@ $<
$(GEN)/%.o: $(GEN)/%.c
	$(CC) $(CFLAGS_ALL) -MMD -MP -c -o $@ $<

# The shipped sandbox.ini is the built-in default.
$(GEN)/default_ini.c: sandbox.ini
	@mkdir -p $(@D)
	(echo '#include "policy/config.h"'; echo 'const char config_default_ini[] = {'; od -An -v -tu1 $< | sed 's/  */,/g;s/^,//;s/$$/,/'; \
	 echo '0};'; echo 'const size_t config_default_ini_len = sizeof(config_default_ini) - 1;') > $@

# The seccomp programs, made from the rows with libseccomp at build time.
$(OUT)/filter_gen: $(TOOL_SRC:%.c=$(OUT)/%.o) $(OUT)/libsupervisor.a $(OUT)/libpolicy.a
	$(CC) $(CFLAGS_ALL) $(LDFLAGS_VARIANT) $(LDFLAGS) -o $@ $^ -lseccomp $(LIBS_POLICY) $(LIBS_RUN)
$(GEN)/filter_data.c: $(OUT)/filter_gen
	@mkdir -p $(@D)
	$< > $@
# The same rows for readers. The page shows x86-64, so it is neither made nor compared elsewhere.
docs/syscalls.md: $(OUT)/filter_gen
	@mkdir -p $(GEN)
	$< --doc > $(GEN)/syscalls.md
	mv $(GEN)/syscalls.md $@
docs-current: $(OUT)/filter_gen
	@test $$(uname -m) != x86_64 || $< --doc | diff -u docs/syscalls.md - || { echo 'run: make docs/syscalls.md'; exit 1; }
# Every number that the headers know, for a test that none is forgotten.
$(GEN)/header_numbers.h:
	@mkdir -p $(@D)
	echo '#include <asm/unistd.h>' | $(CC) -E -dM - | \
	 sed -n '/__NR_syscalls/d;/__NR_arch_specific_syscall/d;s/^#define __NR_\([a-z_][a-z0-9_]*\) .*/{"\1", __NR_\1},/p' | sort > $@
$(OUT)/tests/unit/test_filter: | $(GEN)/header_numbers.h

$(OUT)/tests/unit/%: tests/unit/%.c $(OUT)/libsupervisor.a $(GEN)/filter_data.o $(OUT)/libpolicy.a
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) -I$(GEN) $(LDFLAGS_VARIANT) -MMD -MP -o $@ $^ -lcmocka $(LIBS_POLICY) $(LIBS_RUN)

unit: $(UNIT) docs-current
	@set -e; for t in $(UNIT); do echo "== $$t"; ./$$t; done

clean:
	rm -rf build

-include $(shell find $(OUT) -name '*.d' 2>/dev/null)
