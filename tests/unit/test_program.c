/* What the first bytes of a script name, against the kernel itself where it can be asked; loaders and programs apart. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "supervisor/elf.h"
#include "supervisor/program.h"

static bool parse(const char *text, size_t n, char name[PROGRAM_HEAD])
{
	char head[PROGRAM_HEAD] = "";

	memcpy(head, text, n < sizeof(head) ? n : sizeof(head));
	return program_interpreter(head, name);
}

static void test_lines(void **state)
{
	static const struct {
		const char *text, *name; /* NULL: none */
	} rows[] = {
		{"", NULL},
		{"#", NULL},
		{"#!", NULL},
		{"#!\n", NULL},
		{"#! \t \n", NULL},
		{" #!/bin/sh\n", NULL},
		{"\177ELF", NULL},
		{"#!/bin/sh", "/bin/sh"},
		{"#!/bin/sh\n", "/bin/sh"},
		{"#! \t/bin/sh\t -e \nmore", "/bin/sh"},
		{"#!sh\n", "sh"},
		{"#!/bin/a\rb\n", "/bin/a\rb"},
	};
	char name[PROGRAM_HEAD];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		bool got = parse(rows[i].text, strlen(rows[i].text), name);

		assert_int_equal(got, rows[i].name != NULL);
		if (got)
			assert_string_equal(name, rows[i].name);
	}
	assert_true(parse("#!/bin/x\0y\n", 11, name));
	assert_string_equal(name, "/bin/x");
}

static void test_long(void **state)
{
	char text[2 * PROGRAM_HEAD], name[PROGRAM_HEAD];

	(void)state;
	memset(text, 'x', sizeof(text));
	text[0] = '#', text[1] = '!';
	assert_false(parse(text, sizeof(text), name));
	/* The last byte that is looked at may end the name. */
	text[PROGRAM_HEAD - 1] = '\n';
	assert_true(parse(text, sizeof(text), name));
	assert_int_equal(strlen(name), PROGRAM_HEAD - 3);
	text[PROGRAM_HEAD - 1] = ' ';
	assert_true(parse(text, sizeof(text), name));
	text[PROGRAM_HEAD - 1] = 'x';
	text[PROGRAM_HEAD] = '\n';
	assert_false(parse(text, sizeof(text), name));
}

/* An ELF file of one or two headers. */
struct file {
	Elf64_Ehdr eh;
	Elf64_Phdr ph[2];
	Elf64_Dyn dyn[2];
};

static bool loads(const struct file *f, size_t size)
{
	int fd = memfd_create("elf", MFD_CLOEXEC);
	bool loader;

	assert_int_equal(write(fd, f, size), (ssize_t)size);
	loader = elf_is_loader(fd);
	close(fd);
	return loader;
}

static struct file shared_object(void)
{
	struct file f = {
		.eh = {.e_type = ET_DYN, .e_phoff = sizeof(Elf64_Ehdr), .e_phnum = 2},
		.ph = {{.p_type = PT_LOAD},
		       {.p_type = PT_DYNAMIC,
			.p_offset = offsetof(struct file, dyn),
			.p_filesz = 2 * sizeof(Elf64_Dyn)}},
		.dyn = {{.d_tag = DT_SONAME}, {.d_tag = DT_NULL}},
	};

	memcpy(f.eh.e_ident, ELFMAG, SELFMAG);
	f.eh.e_ident[EI_CLASS] = ELFCLASS64;
	f.eh.e_phentsize = sizeof(Elf64_Phdr);
	return f;
}

static void test_loaders(void **state)
{
	struct file f = shared_object();

	(void)state;
	assert_true(loads(&f, sizeof(f)));
	f.ph[0].p_type = PT_INTERP;
	assert_false(loads(&f, sizeof(f)));
	f = shared_object();
	f.dyn[0] = (Elf64_Dyn){.d_tag = DT_FLAGS_1, .d_un = {.d_val = DF_1_PIE}};
	assert_false(loads(&f, sizeof(f)));
	f = shared_object();
	f.eh.e_type = ET_EXEC;
	assert_false(loads(&f, sizeof(f)));
	/* What is cut off or says nonsense is none that may run. */
	f = shared_object();
	assert_true(loads(&f, sizeof(f.eh) + 10));
	f.eh.e_phnum = 0xffff;
	assert_true(loads(&f, sizeof(f)));
	f.eh.e_phnum = 2;
	f.eh.e_phoff = UINT64_MAX;
	assert_true(loads(&f, sizeof(f)));
	f = shared_object();
	f.ph[1].p_offset = UINT64_MAX - 8;
	assert_true(loads(&f, sizeof(f)));
	assert_false(loads(&f, 3));
}

static bool asks(const void *f, size_t size, char name[PATH_MAX])
{
	int fd = memfd_create("elf", MFD_CLOEXEC);
	bool found;

	assert_int_equal(write(fd, f, size), (ssize_t)size);
	found = elf_loader(fd, name);
	close(fd);
	return found;
}

static void test_asked_loader(void **state)
{
	struct file f = shared_object();
	struct {
		Elf32_Ehdr eh;
		Elf32_Phdr ph;
		char name[8];
	} narrow = {.eh = {.e_type = ET_EXEC,
			   .e_phoff = sizeof(Elf32_Ehdr),
			   .e_phentsize = sizeof(Elf32_Phdr),
			   .e_phnum = 1},
		    .ph = {.p_type = PT_INTERP,
			   .p_offset = sizeof(Elf32_Ehdr) + sizeof(Elf32_Phdr),
			   .p_filesz = 5},
		    .name = "/lib"};
	char name[PATH_MAX];

	(void)state;
	assert_false(asks(&f, sizeof(f), name));
	memcpy(f.dyn, "/ld", 4);
	for (int i = 0; i < 2; i++) /* the first counts */
		f.ph[i] = (Elf64_Phdr){.p_type = PT_INTERP,
				       .p_offset = offsetof(struct file, dyn) + (size_t)i,
				       .p_filesz = 4 - (size_t)i};
	assert_true(asks(&f, sizeof(f), name));
	assert_string_equal(name, "/ld");
	/* What the kernel does not take. */
	f.ph[0].p_filesz = 3;
	assert_false(asks(&f, sizeof(f), name));
	f.ph[0].p_filesz = 1;
	assert_false(asks(&f, sizeof(f), name));
	f.ph[0].p_filesz = PATH_MAX + 1;
	assert_false(asks(&f, sizeof(f), name));
	f.ph[0].p_filesz = 4;
	f.ph[0].p_offset = UINT64_MAX;
	assert_false(asks(&f, sizeof(f), name));
	f.ph[0].p_offset = offsetof(struct file, dyn);
	f.eh.e_ident[EI_CLASS] = ELFCLASS32; /* it does not ask for that */
	assert_true(asks(&f, sizeof(f), name));
	f.eh.e_phnum = 0xffff;
	assert_false(asks(&f, sizeof(f), name));

	memcpy(narrow.eh.e_ident, ELFMAG, SELFMAG);
	assert_true(asks(&narrow, sizeof(narrow), name));
	assert_string_equal(name, "/lib");
}

static void test_real(void **state)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	(void)state;
	assert_true(fd >= 0);
	assert_false(elf_is_loader(fd));
	close(fd);
	fd = open("/lib64/ld-linux-x86-64.so.2", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		skip();
	assert_true(elf_is_loader(fd));
	close(fd);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),	cmocka_unit_test(test_long),
		cmocka_unit_test(test_loaders), cmocka_unit_test(test_asked_loader),
		cmocka_unit_test(test_real),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
