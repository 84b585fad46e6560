/*
 * rotate [-o] [-d FOLDER] TIMES COMMAND [ARGUMENT...] [:: COMMAND [ARGUMENT...]]...
 *
 * Runs the commands in turn, that many times, and prints for each on a line of its own the median: of its time in
 * microseconds, or with -o of the number that it prints. What disturbs the machine disturbs all of them. A command that
 * fails gets "-".
 */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define COMMANDS_MAX 16
#define TIMES_MAX    1000

extern char **environ;

static double values[COMMANDS_MAX][TIMES_MAX];
static int failed[COMMANDS_MAX];

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The time, or the number printed; negative when the command failed. */
static double run(char **argv, int want_output)
{
	posix_spawn_file_actions_t fa;
	char text[64] = "";
	int out[2], status, rc;
	ssize_t n;
	double begin, end;
	pid_t pid;

	if (pipe2(out, O_CLOEXEC) < 0)
		return -1;
	posix_spawn_file_actions_init(&fa);
	posix_spawn_file_actions_addopen(&fa, 0, "/dev/null", O_RDONLY, 0);
	if (want_output)
		posix_spawn_file_actions_adddup2(&fa, out[1], 1);
	else
		posix_spawn_file_actions_addopen(&fa, 1, "/dev/null", O_WRONLY, 0);
	begin = now();
	rc = posix_spawnp(&pid, argv[0], &fa, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&fa);
	close(out[1]);
	if (rc != 0) {
		close(out[0]);
		return -1;
	}
	n = want_output ? read(out[0], text, sizeof(text) - 1) : 0;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	end = now();
	close(out[0]);
	if (status != 0 || n < 0)
		return -1;
	return want_output ? atof(text) : end - begin;
}

int main(int argc, char **argv)
{
	char **commands[COMMANDS_MAX];
	int opt, want_output = 0, times, n = 0;

	while ((opt = getopt(argc, argv, "+od:")) != -1) {
		if (opt == 'o')
			want_output = 1;
		else if (opt != 'd' || chdir(optarg) < 0)
			return 2;
	}
	if (argc - optind < 2)
		return 2;
	times = atoi(argv[optind++]);
	if (times < 1 || times > TIMES_MAX)
		return 2;
	commands[n++] = argv + optind;
	for (int i = optind; i < argc; i++)
		if (strcmp(argv[i], "::") == 0 && n < COMMANDS_MAX) {
			argv[i] = NULL;
			commands[n++] = argv + i + 1;
		}
	/* The first round warms up. */
	for (int t = -1; t < times; t++)
		for (int i = 0; i < n; i++) {
			double v = failed[i] ? -1 : run(commands[i], want_output);

			if (v < 0)
				failed[i] = 1;
			else if (t >= 0)
				values[i][t] = v;
		}
	for (int i = 0; i < n; i++) {
		qsort(values[i], (size_t)times, sizeof(double), compare);
		if (failed[i])
			puts("-");
		else
			printf("%.3f\n", values[i][times / 2]);
	}
	return 0;
}
