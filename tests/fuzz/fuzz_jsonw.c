/*
 * Any bytes as strings of a JSON line: the line parses, is one line, shows nothing that acts on a terminal, and
 * gives the bytes back. The input is cut into strings of lengths it chooses itself.
 */
#include <jansson.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "supervisor/jsonw.h"

#define MAX_STRINGS 16

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int cond)
{
	if (!cond)
		abort();
}

static void check_string(const json_t *v, const char *bytes, size_t len)
{
	const char *text = json_string_value(v);
	size_t text_len = json_string_length(v);
	char *back = malloc(text_len + 1);

	require(text && back);
	for (size_t i = 0, n; i < text_len; i += n) {
		n = jsonw_char_shown(text + i, text_len - i);
		require(n > 0);
	}
	require(jsonw_unescape(text, text_len, back) == (ssize_t)len);
	require(len == 0 || memcmp(back, bytes, len) == 0);
	free(back);
}

static void check_line(struct jsonw *w, const char *bytes[], const size_t len[], size_t count)
{
	const char *text = jsonw_text(w);

	require(text != NULL);
	size_t text_len = strlen(text);
	require(text_len > 0 && strchr(text, '\n') == text + text_len - 1);
	json_t *j = json_loadb(text, text_len, JSON_REJECT_DUPLICATES, NULL);
	require(j != NULL);
	const json_t *list = json_object_get(j, "list");
	require(json_array_size(list) == count);
	for (size_t i = 0; i < count; i++)
		check_string(json_array_get(list, i), bytes[i], len[i]);
	json_decref(j);
}

/* What any text unescapes to escapes back to a text that unescapes to the same. */
static void check_unescape(const char *data, size_t size)
{
	struct jsonw w;
	char *out = malloc(size + 1);

	require(out != NULL);
	ssize_t n = jsonw_unescape(data, size, out);
	require(n <= (ssize_t)size);
	if (n >= 0) {
		jsonw_init(&w, 1 << 24);
		jsonw_object_begin(&w);
		jsonw_member_bytes(&w, "v", out, (size_t)n);
		jsonw_object_end(&w);
		json_t *j = json_loads(jsonw_text(&w), 0, NULL);
		check_string(json_object_get(j, "v"), out, (size_t)n);
		json_decref(j);
		jsonw_free(&w);
	}
	free(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *bytes[MAX_STRINGS];
	size_t len[MAX_STRINGS], count = 0;
	const char *p = (const char *)data, *end = p + size;
	struct jsonw w;

	check_unescape(p, size);
	jsonw_init(&w, 1 << 24);
	jsonw_object_begin(&w);
	jsonw_key(&w, "list");
	jsonw_array_begin(&w);
	while (p < end && count < MAX_STRINGS) {
		size_t n = (uint8_t)*p++;
		size_t half = n / 2;
		if (n > (size_t)(end - p)) {
			n = (size_t)(end - p);
			half = 0;
		}
		bytes[count] = p;
		len[count++] = n;
		jsonw_string_begin(&w);
		jsonw_string_add(&w, p, half);
		jsonw_string_add(&w, p + half, n - half);
		jsonw_string_end(&w);
		p += n;
	}
	jsonw_array_end(&w);
	jsonw_object_end(&w);
	jsonw_newline(&w);
	check_line(&w, bytes, len, count);
	jsonw_free(&w);
	return 0;
}
