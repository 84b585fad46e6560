#include "supervisor/message.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "policy/policy.h"
#include "supervisor/clock.h"
#include "supervisor/jsonw.h"
#include "supervisor/outfd.h"
#include "supervisor/siphash.h"

#define BURST	  20
#define REFILL_MS 500
/* Lines waiting; more than a burst, so that only a blocked stderr fills it. */
#define LINES 32
/* Below PIPE_BUF: a pipe takes such a line whole or not at all. */
#define LINE_MAX_BYTES 1024
#define SEEN_SLOTS     1024
#define SEEN_MAX       768
/* The count of lines not shown is told when refusals pause so long, or at this interval. */
#define CALM_MS	   1000
#define SUMMARY_MS 10000
#define CLOSE_MS   1000
#define POLL_MS	   100

struct message {
	pthread_mutex_t lock;
	pthread_cond_t work; /* for the thread: a line, or closing */
	pthread_cond_t end;  /* for message_close(): done */
	pthread_t thread;
	bool started, closing, done;
	uint64_t close_by;

	char *line[LINES];
	unsigned int first, count;

	uint64_t *seen; /* hashes of the texts so far, 0: free; allocated with the first */
	unsigned int seen_count;
	struct siphash_key key;

	unsigned int tokens;
	uint64_t refilled;
	uint64_t hidden; /* refusals not shown and not told yet */
	uint64_t hidden_since, hidden_last;

	struct outfd out;
	char *trail;
};

static struct timespec timespec_of(uint64_t ms)
{
	return (struct timespec){.tv_sec = (time_t)(ms / 1000), .tv_nsec = (long)(ms % 1000) * 1000000};
}

struct message *message_open(int fd, const char *trail)
{
	struct message *m = calloc(1, sizeof(*m));
	pthread_condattr_t attr;

	if (!m)
		return NULL;
	m->trail = trail ? strdup(trail) : NULL;
	if ((trail && !m->trail) || outfd_borrow(&m->out, fd) < 0) {
		free(m->trail);
		free(m);
		return NULL;
	}
	pthread_mutex_init(&m->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&m->work, &attr);
	pthread_cond_init(&m->end, &attr);
	pthread_condattr_destroy(&attr);
	siphash_key_make(&m->key);
	m->tokens = BURST;
	m->refilled = clock_ms();
	return m;
}

/* Appends text as it may be shown; cuts it with dots so that room for a newline stays. */
static void line_add(char *line, size_t *len, const char *text)
{
	size_t left = strlen(text), room = LINE_MAX_BYTES - 1 - 3;

	if (*len == LINE_MAX_BYTES) /* cut before */
		return;
	while (left > 0) {
		size_t n = jsonw_char_shown(text, left);
		if (*len + (n ? n : 4) > room) {
			memcpy(line + *len, "...", 3);
			*len = LINE_MAX_BYTES;
			return;
		}
		if (n > 0)
			memcpy(line + *len, text, n);
		else
			snprintf(line + *len, 5, "\\x%02x", (unsigned char)*text);
		*len += n ? n : 4;
		text += n ? n : 1;
		left -= n ? n : 1;
	}
}

/* "cordon: TEXT" or "cordon: TEXT (to allow: SUGGESTION)" with its newline; NULL when out of memory. */
static char *line_make(const char *text, const char *suggestion)
{
	char line[LINE_MAX_BYTES + 1] = {0};
	size_t len = 0;

	line_add(line, &len, "cordon: ");
	line_add(line, &len, text);
	if (suggestion) {
		line_add(line, &len, " (to allow: ");
		line_add(line, &len, policy_suggestion_section(suggestion));
		line_add(line, &len, suggestion);
		line_add(line, &len, ")");
	}
	len = strlen(line);
	line[len] = '\n';
	return strdup(line);
}

static bool queue_add(struct message *m, char *line)
{
	if (!line || m->count == LINES) {
		free(line);
		return false;
	}
	m->line[(m->first + m->count++) % LINES] = line;
	pthread_cond_signal(&m->work);
	return true;
}

static void hidden_add(struct message *m, uint64_t now)
{
	if (m->hidden++ == 0) {
		m->hidden_since = now;
		pthread_cond_signal(&m->work);
	}
	m->hidden_last = now;
}

enum seen { SEEN_NEW, SEEN_BEFORE, SEEN_FULL };

static enum seen seen_add(struct message *m, uint64_t hash)
{
	hash += hash == 0;
	if (!m->seen)
		m->seen = calloc(SEEN_SLOTS, sizeof(*m->seen));
	if (!m->seen)
		return SEEN_FULL;
	size_t i = hash % SEEN_SLOTS;
	for (; m->seen[i]; i = (i + 1) % SEEN_SLOTS)
		if (m->seen[i] == hash)
			return SEEN_BEFORE;
	if (m->seen_count == SEEN_MAX)
		return SEEN_FULL;
	m->seen[i] = hash;
	m->seen_count++;
	return SEEN_NEW;
}

static bool token_take(struct message *m, uint64_t now)
{
	uint64_t fresh = (now - m->refilled) / REFILL_MS;

	m->refilled += fresh * REFILL_MS;
	m->tokens = fresh > BURST - m->tokens ? BURST : m->tokens + (unsigned int)fresh;
	if (m->tokens == 0)
		return false;
	m->tokens--;
	return true;
}

void message_refusal(struct message *m, const char *text, const char *suggestion)
{
	if (!m)
		return;
	uint64_t hash = siphash(&m->key, text, strlen(text));

	pthread_mutex_lock(&m->lock);
	uint64_t now = clock_ms();
	enum seen seen = seen_add(m, hash);
	if (seen != SEEN_BEFORE &&
	    (seen == SEEN_FULL || !token_take(m, now) || !queue_add(m, line_make(text, suggestion))))
		hidden_add(m, now);
	pthread_mutex_unlock(&m->lock);
}

void message_warn(struct message *m, const char *fmt, ...)
{
	char *text = NULL;
	va_list ap;

	if (!m)
		return;
	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	va_end(ap);
	if (!text)
		return;
	pthread_mutex_lock(&m->lock);
	queue_add(m, line_make(text, NULL));
	pthread_mutex_unlock(&m->lock);
	free(text);
}

/* When the count of hidden refusals is due; 0: there is none. */
static uint64_t summary_due(const struct message *m)
{
	if (m->hidden == 0)
		return 0;
	uint64_t calm = m->hidden_last + CALM_MS, late = m->hidden_since + SUMMARY_MS;
	return calm < late ? calm : late;
}

static char *summary_take(struct message *m)
{
	char text[96 + 512];

	if (m->trail)
		snprintf(text, sizeof(text), "%llu more refusals not shown; see the audit trail (%.500s)",
			 (unsigned long long)m->hidden, m->trail);
	else
		snprintf(text, sizeof(text),
			 "%llu more refusals not shown; see the audit trail (--audit FILE)",
			 (unsigned long long)m->hidden);
	m->hidden = 0;
	return line_make(text, NULL);
}

/* The next line to write, or NULL after waiting or when all is done. Called with the lock. */
static char *line_next(struct message *m)
{
	uint64_t due = summary_due(m);

	if (m->count > 0) {
		char *line = m->line[m->first];
		m->first = (m->first + 1) % LINES;
		m->count--;
		return line;
	}
	if (due && (m->closing || due <= clock_ms()))
		return summary_take(m);
	if (m->closing)
		return NULL;
	if (due) {
		struct timespec ts = timespec_of(due);
		pthread_cond_timedwait(&m->work, &m->lock, &ts);
	} else {
		pthread_cond_wait(&m->work, &m->lock);
	}
	return NULL;
}

static bool message_gives_up(struct message *m)
{
	pthread_mutex_lock(&m->lock);
	bool r = m->closing && clock_ms() >= m->close_by;
	pthread_mutex_unlock(&m->lock);
	return r;
}

/* False when the session ended before stderr took the line. An stderr that is gone swallows it. */
static bool line_write(struct message *m, const char *line)
{
	size_t len = strlen(line), off = 0;

	while (off < len) {
		ssize_t n = outfd_write(&m->out, line + off, len - off);
		if (n >= 0) {
			off += (size_t)n;
			continue;
		}
		if (n != -EAGAIN)
			return true;
		if (message_gives_up(m))
			return false;
		outfd_wait(&m->out, POLL_MS);
	}
	return true;
}

static void *message_main(void *arg)
{
	struct message *m = arg;
	bool going = true;

	pthread_mutex_lock(&m->lock);
	while (going) {
		char *line = line_next(m);
		if (line) {
			pthread_mutex_unlock(&m->lock);
			going = line_write(m, line);
			free(line);
			pthread_mutex_lock(&m->lock);
		} else if (m->closing && m->count == 0 && m->hidden == 0) {
			going = false;
		}
	}
	m->done = true;
	pthread_cond_signal(&m->end);
	pthread_mutex_unlock(&m->lock);
	return NULL;
}

int message_start(struct message *m)
{
	if (!m || m->started)
		return 0;
	int r = outfd_thread_start(&m->thread, message_main, m);
	m->started = r == 0;
	return r;
}

static void message_free(struct message *m)
{
	for (; m->count > 0; m->count--) {
		free(m->line[m->first]);
		m->first = (m->first + 1) % LINES;
	}
	outfd_close(&m->out);
	pthread_cond_destroy(&m->work);
	pthread_cond_destroy(&m->end);
	pthread_mutex_destroy(&m->lock);
	free(m->seen);
	free(m->trail);
	free(m);
}

void message_close(struct message *m)
{
	if (!m)
		return;
	pthread_mutex_lock(&m->lock);
	m->closing = true;
	m->close_by = clock_ms() + CLOSE_MS;
	pthread_cond_signal(&m->work);
	struct timespec by = timespec_of(m->close_by + 5 * POLL_MS);
	int r = 0;
	while (m->started && !m->done && r != ETIMEDOUT)
		r = pthread_cond_timedwait(&m->end, &m->lock, &by);
	bool stuck = m->started && !m->done;
	pthread_mutex_unlock(&m->lock);
	if (stuck) { /* in a write that does not return; it keeps what it uses */
		pthread_detach(m->thread);
		return;
	}
	if (m->started)
		pthread_join(m->thread, NULL);
	message_free(m);
}
