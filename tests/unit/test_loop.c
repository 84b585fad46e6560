/* The gateway's loop: order of timers, watches that go while they are due. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "supervisor/gateway/loop.h"

static struct loop *loop;
static char text[64];

struct named {
	struct timer t;
	char name;
};

static void say(struct timer *t)
{
	strncat(text, &((struct named *)t)->name, 1);
}

static void stop(struct timer *t)
{
	(void)t;
	loop_end(loop);
}

static void again(struct timer *t)
{
	say(t);
	if (strlen(text) < 3)
		loop_timer(loop, t, 1);
	else
		loop_end(loop);
}

static int setup(void **state)
{
	(void)state;
	loop = loop_new();
	text[0] = '\0';
	return loop ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	loop_free(loop);
	return 0;
}

static void test_timers(void **state)
{
	struct named t[4] = {{{say}, 'a'}, {{say}, 'b'}, {{say}, 'c'}, {{say}, 'd'}};
	struct timer end = {stop};

	(void)state;
	loop_timer(loop, &end, 60);
	loop_timer(loop, &t[0].t, 40);
	loop_timer(loop, &t[1].t, 10);
	loop_timer(loop, &t[2].t, 30);
	loop_timer(loop, &t[3].t, 20);
	loop_timer(loop, &t[2].t, 50);
	loop_timer(loop, &t[3].t, 0);
	loop_run(loop);
	assert_string_equal(text, "bac");
}

static void test_again(void **state)
{
	struct named t = {{again}, 'x'};

	(void)state;
	loop_timer(loop, &t.t, 1);
	loop_run(loop);
	assert_string_equal(text, "xxx");
}

struct pipe_watch {
	struct watch w;
	struct pipe_watch *other;
	int end;
};

/* Whichever comes first takes the other away, whose memory is then gone. */
static void first(struct watch *w, uint32_t events)
{
	struct pipe_watch *p = (struct pipe_watch *)w;

	assert_true(events & EPOLLIN);
	strcat(text, "1");
	loop_drop(loop, &p->other->w);
	memset(&p->other->w, 0xff, sizeof(p->other->w));
	loop_end(loop);
}

static void test_drop(void **state)
{
	struct pipe_watch p[2];

	(void)state;
	for (int i = 0; i < 2; i++) {
		int fd[2];

		assert_int_equal(pipe(fd), 0);
		p[i] = (struct pipe_watch){{fd[0], first}, &p[!i], fd[1]};
		assert_int_equal(write(fd[1], "x", 1), 1);
		assert_int_equal(loop_add(loop, &p[i].w, EPOLLIN), 0);
	}
	loop_run(loop);
	assert_string_equal(text, "1");
	for (int i = 0; i < 2; i++)
		close(p[i].end);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_timers, setup, teardown),
		cmocka_unit_test_setup_teardown(test_again, setup, teardown),
		cmocka_unit_test_setup_teardown(test_drop, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
