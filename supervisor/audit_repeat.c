#include "supervisor/audit_repeat.h"

static void slot_clear(struct repeat_table *t, struct repeat_slot *s)
{
	t->bytes -= s->node->size;
	t->used--;
	s->node = NULL;
}

bool repeat_count(struct repeat_table *t, const struct audit_node *n, uint64_t now)
{
	for (struct repeat_slot *s = t->slot; t->used > 0 && s < t->slot + REPEAT_SLOTS; s++) {
		if (!s->node || !audit_node_is_same(s->node, n))
			continue;
		/* A window that has a count is open until the writer has come round to it. One without is over, and
		 * this denial is to be written at once, unless the first one still waits in the queue. */
		if (s->until <= now && s->count == 0 && !s->node->queued) {
			struct audit_node *old = s->node;
			slot_clear(t, s);
			audit_node_put(old);
			return false;
		}
		s->count++;
		s->last = n->ts;
		return true;
	}
	return false;
}

void repeat_track(struct repeat_table *t, struct audit_node *n, uint64_t now)
{
	if (t->used == REPEAT_SLOTS || t->bytes + n->size > REPEAT_BYTES_LIMIT)
		return;
	struct repeat_slot *s = t->slot;
	while (s->node)
		s++;
	*s = (struct repeat_slot){.node = n, .until = now + REPEAT_WINDOW_MS};
	n->refs++;
	t->bytes += n->size;
	t->used++;
}

bool repeat_take(struct repeat_table *t, uint64_t now, bool all, struct repeat_slot *out)
{
	for (struct repeat_slot *s = t->slot; t->used > 0 && s < t->slot + REPEAT_SLOTS; s++) {
		if (!s->node || s->node->queued || (!all && s->until > now))
			continue;
		*out = *s;
		slot_clear(t, s);
		if (out->count > 0)
			return true;
		audit_node_put(out->node);
	}
	return false;
}

uint64_t repeat_due(const struct repeat_table *t)
{
	uint64_t due = 0;

	for (const struct repeat_slot *s = t->slot; t->used > 0 && s < t->slot + REPEAT_SLOTS; s++)
		if (s->node && (due == 0 || s->until < due))
			due = s->until;
	return due;
}
