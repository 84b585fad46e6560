/*
 * Stands in for libFuzzer where there is only a plain compiler: gives a target each file of its corpus, and what one
 * gets by cutting and by flipping bytes of it. Speaks TAP. Without arguments the corpus is that of the same name.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define INPUT_MAX (1u << 20)
/* Longer inputs are changed in this many places only. */
#define CHANGES_MAX 2000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint8_t input[INPUT_MAX];

/* From a buffer of just that size, so that sanitizers see what is read beyond. */
static void give(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);

	if (!copy)
		abort();
	memcpy(copy, data, size);
	LLVMFuzzerTestOneInput(copy, size);
	free(copy);
}

static void give_changed(size_t size)
{
	static const uint8_t with[] = {'\0', '\n', '/', '*', '[', '\\', '"', '.', 0xff};
	size_t step = size / CHANGES_MAX + 1;

	for (size_t i = 0; i < size; i += step) {
		uint8_t was = input[i];

		give(input, i);
		input[i] = with[i % sizeof(with)];
		give(input, size);
		input[i] = was ^ (uint8_t)(1u << i % 8);
		give(input, size);
		input[i] = was;
	}
}

static int replay_file(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -1;
	n = read(fd, input, sizeof(input));
	close(fd);
	if (n < 0)
		return -1;
	give(input, (size_t)n);
	give_changed((size_t)n);
	return 0;
}

/* How many there were; -1: that cannot be read. */
static int replay_folder(const char *folder)
{
	DIR *d = opendir(folder);
	struct dirent *e;
	int n = 0;

	if (!d)
		return -1;
	while ((e = readdir(d))) {
		if (e->d_name[0] == '.')
			continue;
		if (replay_file(dirfd(d), e->d_name) < 0) {
			n = -1;
			break;
		}
		n++;
	}
	closedir(d);
	return n;
}

int main(int argc, char **argv)
{
	const char *name = strstr(program_invocation_short_name, "fuzz_");
	char own[512];
	int bad = 0;

	snprintf(own, sizeof(own), "tests/fuzz/corpus/%s", name ? name + strlen("fuzz_") : "");
	printf("1..%d\n", argc > 1 ? argc - 1 : 1);
	for (int i = 1; i < argc || i == 1; i++) {
		const char *folder = argc > 1 ? argv[i] : own;
		int n = replay_folder(folder);

		printf("%sok %d - %d inputs of %s and changed ones\n", n > 0 ? "" : "not ", i, n, folder);
		bad |= n <= 0;
	}
	return bad;
}
