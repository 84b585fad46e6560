/*
 * Several file systems: one that is read-only (../ro, with "file", "dir" and "link"), another one (../other, empty), the same
 * directory under another name (../again stands for ../first). The script mounts them.
 */
#include "probe_calls.h"

static void read_only(void)
{
	static const char *const names[] = {"../ro/file", "../ro/dir",	  "../ro/link",
					    "../ro/none", "../ro/file/x", "../ro/dir/none/x"};
	static const int flags[] = {O_RDONLY,		O_WRONLY,	    O_RDWR | O_CREAT,
				    O_WRONLY | O_TRUNC, O_RDONLY | O_TRUNC, O_WRONLY | O_CREAT | O_EXCL,
				    O_RDWR | O_TMPFILE, O_RDONLY | O_CREAT, O_RDONLY | O_DIRECTORY};

	for (size_t n = 0; n < N(names); n++) {
		say("%s:", names[n]);
		for (size_t f = 0; f < N(flags); f++) {
			int fd = (int)x_open(names[n], flags[f], 0600);

			say(" %#x", flags[f]), result(fd < 0 ? -1 : 0), close(fd);
		}
		say(" mkdir"), result(x_mkdir(names[n], 0700)), say(" mknod"),
			result(x_mknod(names[n], S_IFIFO | 0600, 0));
		say(" symlink"), result(x_symlink("t", names[n])), say(" unlink"), result(x_unlink(names[n]));
		say(" rmdir"), result(x_rmdir(names[n])), say(" chmod"), result(x_chmod(names[n], 0600));
		say(" lchown"), result(x_lchown(names[n], geteuid(), getegid())), say(" utimensat"),
			result(x_utimensat(AT_FDCWD, names[n], NULL, 0));
		say(" setxattr"), result(x_setxattr(names[n], "user.x", "1", 1, 0)), say(" truncate"),
			result(x_truncate(names[n], 1));
		say(" rename"), result(x_rename(names[n], "../ro/y")), say(" onto"),
			result(x_rename("../ro/file", names[n]));
		say(" away"), result(x_rename(names[n], "y")), say(" link"),
			result(x_link(names[n], "../ro/y"));
		say(" link away"), result(x_link(names[n], "y")), describe("y"), done();
	}
}

static void across(void)
{
	static const enum kind kinds[] = {K_ABSENT, K_FILE, K_DIR, K_FULL, K_LINK, K_DANGLE, K_FIFO};
	static const char *const to[] = {"../other/x",	    "../other/there", "../other/dir",
					 "../other/none/x", "../other/.",     "../other/x/"};

	close((int)x_open("../other/there", O_WRONLY | O_CREAT, 0600)), x_mkdir("../other/dir", 0700);
	for (size_t k = 0; k < N(kinds); k++)
		for (size_t t = 0; t < N(to); t++) {
			fresh("o", kinds[k]);
			say("%s to %s: rename", kind_names[kinds[k]], to[t]), result(x_rename("o", to[t]));
			say(" NOREPLACE"),
				result(x_renameat2(AT_FDCWD, "o", AT_FDCWD, to[t], RENAME_NOREPLACE));
			say(" EXCHANGE"),
				result(x_renameat2(AT_FDCWD, "o", AT_FDCWD, to[t], RENAME_EXCHANGE));
			say(" link"), result(x_link("o", to[t])), say(" followed"),
				result(x_linkat(AT_FDCWD, "o", AT_FDCWD, to[t], AT_SYMLINK_FOLLOW)), done();
		}
	fresh("o", K_ABSENT);
	say("the mount point: rename"), result(x_rename("../other", "../x")), say(" rmdir"),
		result(x_rmdir("../other"));
	say(" onto"), x_mkdir("e", 0700), result(x_rename("e", "../other")), say(" chmod"),
		result(x_chmod("../other", 0755)), done();
}

static void again(void)
{
	int fd;

	fresh_file("../first/f", "content", 0644);
	say("by the other name"), fd = (int)result(x_open("../again/f", O_RDWR, 0) < 0 ? -1 : 0),
				  describe("../again/f");
	say(" rename between"), result(x_rename("../first/f", "../again/g")), say(" link"),
		result(x_link("../first/f", "../again/g"));
	say(" within"), result(x_rename("../again/f", "../again/g")), describe("../first/g"), done();
	close(fd), unlink("../first/g");
}

static void grounds(void)
{
	read_only(), across(), again();
}

const struct section ground_sections[] = {{"grounds", grounds}, {NULL, NULL}};
