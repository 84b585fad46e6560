/*
 * The rows of cordon's own processes, collected from what the modules state (lockdown.h). Several modules state the same
 * call: it is allowed when it is for one of them.
 */
#include <string.h>

#include "supervisor/filter_gen.h"
#include "supervisor/lockdown.h"

/* clang-format off */
/* What nobody may state, whatever the arguments. */
static const int never[] = {
	SYS_execve, SYS_execveat, SYS_mount, SYS_umount2, SYS_pivot_root, SYS_chroot, SYS_setns, SYS_unshare, SYS_bpf,
	SYS_init_module, SYS_finit_module, SYS_delete_module, SYS_kexec_load, SYS_perf_event_open, SYS_userfaultfd,
	SYS_io_uring_setup, SYS_keyctl, SYS_add_key, SYS_request_key, SYS_personality, SYS_seccomp,
	SYS_remap_file_pages, SYS_pkey_mprotect, SYS_shmat, SYS_swapon, SYS_reboot, SYS_open_by_handle_at, SYS_acct,
	SYS_memfd_secret,
};
/* clang-format on */

#define MAX_WHEN 48

/* The linker gives the bounds of a section with such a name. */
extern const struct own_calls *const __start_own_calls[], *const __stop_own_calls[];

struct own_row {
	struct sysc row;
	struct sysc_when when[MAX_WHEN];
	bool stated, always;
};

static unsigned complain(int nr, const char *what)
{
	const struct sysc *s = sysc_by_nr(nr);

	fprintf(stderr, "filter_gen: own call %d (%s): %s\n", nr, s ? s->name : "unknown", what);
	return 1;
}

static bool has_terms(const struct own_call *c)
{
	for (size_t i = 0; i < SYSC_MAX_TERMS; i++)
		if (c->term[i].mask || c->term[i].differs)
			return true;
	return false;
}

static bool is_stated(const struct own_row *r, const struct own_call *c)
{
	for (size_t i = 0; i < r->row.n_when; i++)
		if (r->when[i].action == c->action && !memcmp(r->when[i].term, c->term, sizeof(c->term)))
			return true;
	return false;
}

static unsigned add_call(struct own_row *rows, const struct own_call *c)
{
	struct own_row *r;

	if (c->nr < 0 || c->nr >= GEN_NUMBERS || !sysc_by_nr(c->nr))
		return complain(c->nr, "has no row in sysc.def");
	for (size_t i = 0; i < sizeof(never) / sizeof(never[0]); i++)
		if (c->nr == never[i])
			return complain(c->nr, "may not be stated");
	r = &rows[c->nr];
	if (r->always && r->row.action != c->action)
		return complain(c->nr, "is stated in two ways");
	r->stated = true;
	if (!has_terms(c)) {
		r->always = true;
		r->row.action = c->action;
		return 0;
	}
	if (is_stated(r, c))
		return 0;
	if (r->row.n_when == MAX_WHEN)
		return complain(c->nr, "is stated too often");
	r->when[r->row.n_when].action = c->action;
	memcpy(r->when[r->row.n_when++].term, c->term, sizeof(c->term));
	return 0;
}

/* Rows live as long as the program. */
unsigned gen_own(struct gen_set *set, int process)
{
	static struct own_row all[OWN_ALL + 1][GEN_NUMBERS];
	struct own_row *rows = all[process];
	unsigned faults = 0;

	*set = (struct gen_set){.name = process == OWN_FRONT	 ? "front"
					: process == OWN_GATEWAY ? "gateway"
								 : "supervisor",
				.otherwise = SYSC_TRAP};
	for (int nr = 0; nr < GEN_NUMBERS; nr++)
		rows[nr].row.action = SYSC_TRAP;
	for (const struct own_calls *const *p = __start_own_calls; p < __stop_own_calls; p++)
		for (size_t i = 0; (*p)->process & process && i < (*p)->n; i++)
			faults += add_call(rows, &(*p)->call[i]);
	for (int nr = 0; nr < GEN_NUMBERS; nr++) {
		struct own_row *r = &rows[nr];

		if (!r->stated)
			continue;
		r->row.name = sysc_by_nr(nr)->name;
		r->row.when = r->when;
		if (r->always)
			r->row.n_when = 0;
		gen_set_add(set, nr, &r->row);
	}
	return faults;
}

void gen_own_list(FILE *out)
{
	for (const struct own_calls *const *p = __start_own_calls; p < __stop_own_calls; p++)
		for (size_t i = 0; i < (*p)->n; i++) {
			const struct sysc *row = sysc_by_nr((*p)->call[i].nr);

			fprintf(out, "%s %s\n", (*p)->file, row ? row->name : "?");
		}
}
