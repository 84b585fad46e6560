#include "supervisor/elf.h"

#include <elf.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "supervisor/lockdown.h"

OWN_CALLS(OWN_SUPERVISOR, OWN(pread64));

/* The kernel takes no more bytes of headers than this. */
#define MAX_TABLE 65536
/* More entries than any program has. */
#define MAX_DYNAMIC 512

/* A file of either width. */
struct elf {
	int fd;
	bool wide;
	uint16_t type;
	uint64_t table;
	unsigned count, max;
};

struct segment {
	uint32_t type;
	uint64_t offset, size;
};

static bool read_at(int fd, void *buf, size_t n, uint64_t at)
{
	return at <= INT64_MAX && pread(fd, buf, n, (off_t)at) == (ssize_t)n;
}

/* The kernel does not ask for the class, but for the size of a header. */
static bool elf_open(struct elf *e, int fd)
{
	union {
		Elf64_Ehdr wide;
		Elf32_Ehdr narrow;
	} h;

	if (!read_at(fd, &h, sizeof(h), 0) || memcmp(h.wide.e_ident, ELFMAG, SELFMAG) != 0)
		return false;
	*e = (struct elf){.fd = fd, .wide = h.wide.e_phentsize == sizeof(Elf64_Phdr), .type = h.wide.e_type};
	if (e->wide) {
		e->table = h.wide.e_phoff;
		e->count = h.wide.e_phnum;
		e->max = MAX_TABLE / sizeof(Elf64_Phdr);
		return true;
	}
	e->table = h.narrow.e_phoff;
	e->count = h.narrow.e_phnum;
	e->max = MAX_TABLE / sizeof(Elf32_Phdr);
	return h.narrow.e_phentsize == sizeof(Elf32_Phdr);
}

static bool read_segment(const struct elf *e, unsigned i, struct segment *s)
{
	Elf64_Phdr wide;
	Elf32_Phdr narrow;

	if (i >= e->max)
		return false;
	if (e->wide) {
		if (!read_at(e->fd, &wide, sizeof(wide), e->table + (uint64_t)i * sizeof(wide)))
			return false;
		*s = (struct segment){wide.p_type, wide.p_offset, wide.p_filesz};
	} else {
		if (!read_at(e->fd, &narrow, sizeof(narrow), e->table + (uint64_t)i * sizeof(narrow)))
			return false;
		*s = (struct segment){narrow.p_type, narrow.p_offset, narrow.p_filesz};
	}
	return true;
}

bool elf_loader(int fd, char name[PATH_MAX])
{
	struct segment s;
	struct elf e;

	if (!elf_open(&e, fd) || (e.type != ET_EXEC && e.type != ET_DYN) || e.count > e.max)
		return false;
	for (unsigned i = 0; i < e.count && read_segment(&e, i, &s); i++)
		if (s.type == PT_INTERP) /* the first counts */
			return s.size >= 2 && s.size <= PATH_MAX && read_at(fd, name, s.size, s.offset) &&
			       name[s.size - 1] == '\0';
	return false;
}

/* A program that needs no loader says so; a library does not. */
static bool is_static_pie(int fd, const struct segment *dynamic)
{
	Elf64_Dyn d;

	for (uint64_t i = 0; i < MAX_DYNAMIC && (i + 1) * sizeof(d) <= dynamic->size; i++) {
		if (!read_at(fd, &d, sizeof(d), dynamic->offset + i * sizeof(d)) || d.d_tag == DT_NULL)
			break;
		if (d.d_tag == DT_FLAGS_1)
			return d.d_un.d_val & DF_1_PIE;
	}
	return false;
}

bool elf_is_loader(int fd)
{
	struct segment dynamic = {.type = PT_NULL}, s;
	struct elf e;

	/* A script, or another machine's: what runs those is judged by itself. */
	if (!elf_open(&e, fd) || !e.wide || e.type != ET_DYN)
		return false;
	for (unsigned i = 0; i < e.count; i++) {
		if (!read_segment(&e, i, &s))
			return true;
		if (s.type == PT_INTERP)
			return false;
		if (s.type == PT_DYNAMIC)
			dynamic = s;
	}
	return dynamic.type == PT_NULL || !is_static_pie(fd, &dynamic);
}
