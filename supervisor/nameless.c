#include "supervisor/nameless.h"

#include "supervisor/compat.h"
#include "supervisor/idset.h"

const struct stdio_object *nameless_stdio(const struct session *s, const struct statx *st)
{
	dev_t dev = makedev(st->stx_dev_major, st->stx_dev_minor);

	for (int i = 0; i < s->n_stdio; i++)
		if (s->stdio[i].dev == dev && s->stdio[i].ino == st->stx_ino)
			return &s->stdio[i];
	return NULL;
}

bool nameless_mode_within(int wanted, int had)
{
	return had == O_RDWR || wanted == had;
}

/* A file so deep that nobody tells its name, by a descriptor: what that allows was judged when it was opened. */
static int judge_untold(struct call *c, enum access a, const struct object *o, int accmode)
{
	const struct stdio_object *std = nameless_stdio(c->s, &o->st);
	int had = std ? std->accmode : o->magic_mode;

	if (a == ACCESS_METADATA)
		accmode = O_WRONLY;
	else if (a == ACCESS_EXEC)
		accmode = O_RDONLY;
	if (a != ACCESS_LINK_FROM && nameless_mode_within(accmode, had))
		return 0;
	return judge_refuse(
		c, access_name(a), "long name (built-in)", ENAMETOOLONG,
		"a descriptor of a file whose name is too long to be known was to be used for more "
		"than it allows");
}

int nameless_judge(struct call *c, enum access a, const struct object *o, int accmode)
{
	const struct stdio_object *std = nameless_stdio(c->s, &o->st);

	if (o->foreign)
		return judge_refuse(c, access_name(a), "mount namespace (built-in)", EPERM,
				    "an object beyond the session's mounts was refused");
	if (o->untold)
		return judge_untold(c, a, o, accmode);
	/* The name is gone but not the last one: the others may lie anywhere. */
	if (o->deleted && judge_is_write(a) && o->st.stx_nlink > 0 && !S_ISDIR(o->st.stx_mode) &&
	    o->st.stx_nlink > idset_count(c->s->own_links, &o->st))
		return judge_refuse(c, access_name(a), "removed name (built-in)", EPERM,
				    "a file was refused whose name was removed and which has others");
	if (o->deleted && !o->by_magic) {
		/* An open working directory that was removed can be listed; nothing else has such an object. */
		if (S_ISDIR(o->st.stx_mode) && a == ACCESS_READ)
			return 0;
		return a == ACCESS_METADATA ? 0 : ENOENT;
	}
	if ((o->deleted || std) && (a == ACCESS_READ || a == ACCESS_WRITE) &&
	    !nameless_mode_within(accmode, std ? std->accmode : o->magic_mode))
		return judge_refuse(c, access_name(a), "inherited descriptor (built-in)", EPERM,
				    "an inherited descriptor was to be opened for more than it allows");
	return 0;
}
