/* What the first bytes of a script name, against the kernel itself where it can be asked; loaders and programs apart. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

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
	loader = program_is_loader(fd);
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

static void test_real(void **state)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	(void)state;
	assert_true(fd >= 0);
	assert_false(program_is_loader(fd));
	close(fd);
	fd = open("/lib64/ld-linux-x86-64.so.2", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		skip();
	assert_true(program_is_loader(fd));
	close(fd);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_long),
		cmocka_unit_test(test_loaders),
		cmocka_unit_test(test_real),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
