/* docs/syscalls.md, from the rows. */
#include <string.h>

#include "supervisor/filter_gen.h"

static const char *const intro =
	"# System calls\n"
	"\n"
	"<!-- Made by `make docs/syscalls.md` from supervisor/sysc.def and supervisor/sysc/. Do not edit. "
	"-->\n"
	"\n"
	"What becomes of each system call that a confined program makes, as the filter on x86-64 has it; "
	"arm64 differs\n"
	"only in the values of some flags and in the old calls that it never had. Every number that is not "
	"on this page,\n"
	"and every call by the i386 or x32 way, answers ENOSYS.\n"
	"\n"
	"## Decided call by call\n"
	"\n"
	"The filter looks at the low halves of the arguments a0 to a5, tries what stands under *registers* "
	"from left to\n"
	"right, and the first that holds decides. *asked* means that the call waits for the supervisor. "
	"Words in brackets\n"
	"say when a condition exists: *reads* when reading is restricted or recorded, *exec* when programs "
	"are, *ident* when the\n"
	"command starts with capabilities, *hide* when what may not be read looks absent, *unscoped* when "
	"the kernel has no\n"
	"scope for signals (Landlock before ABI 6, or none).\n"
	"\n"
	"| call | registers | otherwise | |\n"
	"|---|---|---|---|\n";

static bool is_plain(const struct sysc *row)
{
	return !row->n_when && !row->handle && !row->doc && row->action != SYSC_NOTIFY &&
	       row->action != SYSC_ERRNO;
}

static void print_answer(FILE *out, enum sysc_action action, int err)
{
	const char *name = action == SYSC_ERRNO ? strerrorname_np(err) : NULL;

	switch (action) {
	case SYSC_ALLOW:
		fputs("allowed", out);
		break;
	case SYSC_NOTIFY:
		fputs("asked", out);
		break;
	case SYSC_EPERM:
		fputs("EPERM", out);
		break;
	case SYSC_ERRNO:
		fputs(name ? name : "?", out);
		break;
	case SYSC_TRAP:
	case SYSC_ENOSYS:
	default:
		fputs("ENOSYS", out);
		break;
	}
}

static void print_features(FILE *out, unsigned on, unsigned off)
{
	static const char *const names[] = {"reads", "exec", "ident", "hide", "unscoped"};
	const char *gap = " [";

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!((on | off) >> i & 1))
			continue;
		fprintf(out, "%s%s%s", gap, off >> i & 1 ? "not " : "", names[i]);
		gap = ", ";
	}
	if (on | off)
		fputs("]", out);
}

static void print_term(FILE *out, const struct sysc_term *t)
{
	const char *sign = t->differs ? "≠" : "=";

	fprintf(out, t->high ? "a%u >> 32" : "a%u", t->arg);
	if (t->mask != ~0U)
		fprintf(out, " & %#x", t->mask);
	fprintf(out, " %s ", sign);
	fprintf(out, t->value < 256 ? "%u" : "%#x", t->value);
}

static void print_when(FILE *out, const struct sysc_when *w)
{
	const char *gap = "";

	for (size_t i = 0; i < SYSC_MAX_TERMS; i++) {
		if (!w->term[i].mask)
			continue;
		fputs(gap, out);
		print_term(out, &w->term[i]);
		gap = ", ";
	}
	print_features(out, w->needs, w->needs_not);
	fputs(": ", out);
	print_answer(out, w->action, w->err);
}

static void print_row(FILE *out, const struct sysc *row)
{
	fprintf(out, "| %s | ", row->name);
	for (size_t i = 0; i < row->n_when; i++) {
		if (i)
			fputs("; ", out);
		print_when(out, &row->when[i]);
	}
	fputs(" | ", out);
	print_answer(out, row->action, row->err);
	print_features(out, row->needs, 0);
	fprintf(out, " | %s |\n", row->doc ? row->doc : "");
}

static void print_list(FILE *out, const char *title, const char *text, enum sysc_action action)
{
	size_t column = 0;

	fprintf(out, "\n## %s\n\n%s\n\n", title, text);
	for (size_t i = 0; i < sysc_count(); i++) {
		const struct sysc *row = sysc_row(i);

		if (!is_plain(row) || row->action != action)
			continue;
		if (column + strlen(row->name) > 100) {
			fputc('\n', out);
			column = 0;
		}
		column += (size_t)fprintf(out, "%s%s", column ? " " : "", row->name);
	}
	fputc('\n', out);
}

void gen_doc(FILE *out)
{
	fputs(intro, out);
	for (size_t i = 0; i < sysc_count(); i++)
		if (!is_plain(sysc_row(i)))
			print_row(out, sysc_row(i));
	print_list(out, "Refused",
		   "EPERM always: mounts, namespaces and roots; ways around the supervisor to files, memory "
		   "and\n"
		   "descriptors; keyrings; administration of the machine.",
		   SYSC_EPERM);
	print_list(out, "Not there",
		   "ENOSYS always: calls for which programs have a fallback that can be judged (clone3, "
		   "io_uring), and\n"
		   "obsolete ones.",
		   SYSC_ENOSYS);
	print_list(
		out, "Left to the kernel",
		"Allowed always. No argument is loaded for these, so the kernel skips the filter altogether.",
		SYSC_ALLOW);
}
