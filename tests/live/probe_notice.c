/*
 * What others notice of one's changes: inotify and dnotify events, times.
 */
#include <signal.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/xattr.h>

#include "probe_calls.h"

static int in, watches[3];

static void say_events(void)
{
	static const struct {
		uint32_t bit;
		const char *name;
	} names[] = {{IN_ACCESS, "access"},
		     {IN_MODIFY, "modify"},
		     {IN_ATTRIB, "attrib"},
		     {IN_CLOSE_WRITE, "close-write"},
		     {IN_CLOSE_NOWRITE, "close"},
		     {IN_OPEN, "open"},
		     {IN_MOVED_FROM, "from"},
		     {IN_MOVED_TO, "to"},
		     {IN_CREATE, "create"},
		     {IN_DELETE, "delete"},
		     {IN_DELETE_SELF, "delete-self"},
		     {IN_MOVE_SELF, "move-self"},
		     {IN_ISDIR, "dir"},
		     {IN_IGNORED, "ignored"}};
	char buf[16384] __attribute__((aligned(8)));
	ssize_t n;

	say(" [");
	while ((n = read(in, buf, sizeof(buf))) > 0)
		for (char *p = buf; p < buf + n;) {
			struct inotify_event *e = (struct inotify_event *)p;

			p += sizeof(*e) + e->len;
			/* Reading events of a plain close may come a moment later inside. */
			if (e->mask & IN_CLOSE_NOWRITE)
				continue;
			for (size_t w = 0; w < N(watches); w++)
				if (e->wd == watches[w])
					say(" %zu", w);
			for (size_t i = 0; i < N(names); i++)
				if (e->mask & names[i].bit)
					say(":%s", names[i].name);
			if (e->len)
				say(":%s", e->name[0] == '#' ? "#" : e->name);
		}
	say(" ]"), done();
}

static void add_watches(void)
{
	uint32_t all = IN_ALL_EVENTS;

	in = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	remove_all("d"), mkdir("d", 0755), fresh_file("d/f", "content", 0644), mkdir("d/sub", 0755);
	watches[0] = inotify_add_watch(in, "d", all), watches[1] = inotify_add_watch(in, "d/f", all);
	watches[2] = inotify_add_watch(in, "d/sub", all);
}

static void events_of_opens(void)
{
	static const int flags[] = {O_RDONLY,
				    O_WRONLY,
				    O_RDWR | O_APPEND,
				    O_WRONLY | O_TRUNC,
				    O_RDWR | O_CREAT,
				    O_WRONLY | O_CREAT | O_EXCL,
				    O_RDONLY | O_DIRECTORY,
				    O_PATH};
	static const char *const names[] = {"d/f", "d/new", "d/sub", "d/none/x"};

	for (size_t i = 0; i < N(flags); i++)
		for (size_t n = 0; n < N(names); n++) {
			int fd;

			say("open %s %#x", names[n], flags[i]), fd = (int)x_open(names[n], flags[i], 0644);
			if (fd >= 0 && (flags[i] & O_ACCMODE))
				result(write(fd, "w", 1));
			close(fd), say_events();
			if (n == 1)
				unlink("d/new"), say("unlink"), say_events();
		}
	say("O_TMPFILE"), close((int)x_open("d", O_RDWR | O_TMPFILE, 0600)), say_events();
}

static void events_of_changes(void)
{
	int fd;

	say("chmod"), x_chmod("d/f", 0600), say_events();
	say("chown"), x_chown("d/f", geteuid(), getegid()), say_events();
	say("utimensat"), x_utimensat(AT_FDCWD, "d/f", NULL, 0), say_events();
	say("setxattr"), x_setxattr("d/f", "user.x", "1", 1, 0), say_events();
	say("removexattr"), x_removexattr("d/f", "user.x"), say_events();
	say("truncate"), x_truncate("d/f", 3), say_events();
	fd = (int)x_open("d/f", O_RDWR, 0), say("opened"), say_events();
	say("fchmod"), x_fchmod(fd, 0640), say_events();
	say("ftruncate"), x_ftruncate(fd, 1), say_events();
	say("futimens"), x_futimens(fd, NULL), say_events();
	close(fd), say("closed"), say_events();
	say("link"), x_link("d/f", "d/l"), say_events();
	say("rename"), x_rename("d/l", "d/m"), say_events();
	say("rename away"), x_rename("d/m", "m"), say_events();
	say("rename over"), fresh_file("m2", "x", 0644), x_rename("m2", "d/f"), say_events();
	say("exchange"), x_renameat2(AT_FDCWD, "m", AT_FDCWD, "d/f", RENAME_EXCHANGE), say_events();
	say("symlink"), x_symlink("f", "d/s"), say_events();
	say("mkdir"), x_mkdir("d/e", 0755), say_events();
	say("mknod"), x_mknod("d/p", S_IFIFO | 0600, 0), say_events();
	say("open it"), close((int)x_open("d/p", O_RDWR, 0)), say_events();
	say("rmdir"), x_rmdir("d/e"), say_events();
	say("unlink"), x_unlink("d/s"), x_unlink("d/p"), say_events();
	say("rename the directory"), x_rename("d/sub", "sub"), say_events();
	say("rmdir it"), x_rmdir("sub"), say_events();
	say("fails"), x_mkdir("d/f", 0755), x_unlink("d/none"), x_rmdir("d/f"), x_rename("d/none", "x"),
		say_events();
	unlink("m");
}

static volatile sig_atomic_t dnotified;

static void on_dnotify(int sig)
{
	(void)sig;
	dnotified++;
}

static void dnotify(void)
{
	int fd = (int)x_open("d", O_RDONLY | O_DIRECTORY, 0);

	signal(SIGIO, on_dnotify);
	say("F_NOTIFY"), result(fcntl(fd, F_NOTIFY, DN_CREATE | DN_DELETE | DN_MULTISHOT));
	close((int)x_open("d/n", O_RDWR | O_CREAT, 0600)), nap_ms(20), say(" create %d", dnotified),
		dnotified = 0;
	unlink("d/n"), nap_ms(20), say(" delete %d", dnotified), done();
	close(fd);
}

/* "old" was before, "new" is of now. */
static void say_times(const char *name)
{
	struct stat st;

	if (stat(name, &st) < 0) {
		say(" %s -", name);
		return;
	}
	say(" %s a:%s m:%s c:%s", name, st.st_atim.tv_sec == OLD_TIME ? "old" : "new",
	    st.st_mtim.tv_sec == OLD_TIME ? "old" : "new",
	    st.st_ctim.tv_sec < time(NULL) - 5 ? "old" : "new");
}

static void times(void)
{
	static const int flags[] = {
		O_RDONLY, O_WRONLY, O_RDWR, O_WRONLY | O_TRUNC, O_WRONLY | O_CREAT, O_RDONLY | O_NOATIME,
		O_PATH};
	char c;

	for (size_t i = 0; i < N(flags); i++)
		for (int use = 0; use < 2; use++) {
			int fd;

			remove_all("t"), mkdir("t", 0755), fresh_file("t/f", "content", 0644), set_old("t");
			fd = (int)x_open("t/f", flags[i], 0600);
			if (use && (flags[i] & O_ACCMODE))
				result(write(fd, "w", 1));
			else if (use)
				result(read(fd, &c, 1));
			close(fd), say("open %#x%s:", flags[i], use ? " and use" : ""), say_times("t/f"),
				say_times("t"), done();
		}
	remove_all("t"), mkdir("t", 0755), fresh_file("t/f", "", 0644), set_old("t");
	say("empty, truncated"), close((int)x_open("t/f", O_WRONLY | O_TRUNC, 0)), say_times("t/f"),
		say_times("t"), done();
	set_old("t/f"), say("truncated to its length"), x_truncate("t/f", 0), say_times("t/f"), done();
	set_old("t"), say("new file"), close((int)x_open("t/n", O_RDWR | O_CREAT, 0600)), say_times("t/n"),
		say_times("t"), done();
	set_old("t/n"), set_old("t"), say("rename"), x_rename("t/n", "t/m"), say_times("t/m"), say_times("t"),
		done();
	set_old("t/m"), set_old("t"), say("link"), x_link("t/m", "t/l"), say_times("t/m"), say_times("t"),
		done();
	set_old("t"), say("failing"), x_mkdir("t/f", 0755), x_open("t/f", O_CREAT | O_EXCL | O_RDWR, 0600),
		x_unlink("t/none"), say_times("t"), done();
}

static void notices(void)
{
	add_watches(), events_of_opens(), events_of_changes(), dnotify(), close(in);
	times();
}

const struct section notice_sections[] = {{"notices", notices}, {NULL, NULL}};
