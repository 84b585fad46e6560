/* See bpf_sim.h. */
#include "supervisor/bpf_sim.h"

#include <stddef.h>
#include <string.h>

struct machine {
	const struct seccomp_data *data;
	bool number_only;
	uint32_t a, x;
	uint32_t mem[BPF_MEMWORDS];
	enum bpf_fault fault;
};

static uint32_t fail(struct machine *m, enum bpf_fault fault)
{
	m->fault = fault;
	return 0;
}

static uint32_t load_data(struct machine *m, uint32_t offset)
{
	uint32_t word;

	if (offset % sizeof(word) || offset >= sizeof(*m->data))
		return fail(m, BPF_BAD_OFFSET);
	if (m->number_only && offset != offsetof(struct seccomp_data, nr) &&
	    offset != offsetof(struct seccomp_data, arch))
		return fail(m, BPF_READS_MORE);
	memcpy(&word, (const char *)m->data + offset, sizeof(word));
	return word;
}

/* A scratch slot; slot 0 when out of range, with the fault noted. */
static uint32_t *slot(struct machine *m, uint32_t k)
{
	if (k < BPF_MEMWORDS)
		return &m->mem[k];
	fail(m, BPF_BAD_MEMORY);
	return &m->mem[0];
}

static void load(struct machine *m, const struct sock_filter *f)
{
	switch (f->code) {
	case BPF_LD | BPF_W | BPF_ABS:
		m->a = load_data(m, f->k);
		break;
	case BPF_LD | BPF_W | BPF_LEN:
		m->a = sizeof(*m->data);
		break;
	case BPF_LDX | BPF_W | BPF_LEN:
		m->x = sizeof(*m->data);
		break;
	case BPF_LD | BPF_IMM:
		m->a = f->k;
		break;
	case BPF_LDX | BPF_IMM:
		m->x = f->k;
		break;
	case BPF_LD | BPF_MEM:
		m->a = *slot(m, f->k);
		break;
	case BPF_LDX | BPF_MEM:
		m->x = *slot(m, f->k);
		break;
	case BPF_ST:
		*slot(m, f->k) = m->a;
		break;
	case BPF_STX:
		*slot(m, f->k) = m->x;
		break;
	case BPF_MISC | BPF_TAX:
		m->x = m->a;
		break;
	case BPF_MISC | BPF_TXA:
		m->a = m->x;
		break;
	default:
		fail(m, BPF_BAD_OPCODE);
	}
}

static uint32_t compute(struct machine *m, const struct sock_filter *f)
{
	uint32_t v = BPF_SRC(f->code) == BPF_X ? m->x : f->k;

	if (f->code & ~(BPF_ALU | 0xf0 | BPF_X))
		return fail(m, BPF_BAD_OPCODE);
	switch (BPF_OP(f->code)) {
	case BPF_ADD:
		return m->a + v;
	case BPF_SUB:
		return m->a - v;
	case BPF_MUL:
		return m->a * v;
	case BPF_DIV:
		return v ? m->a / v : fail(m, BPF_BAD_MATH);
	case BPF_AND:
		return m->a & v;
	case BPF_OR:
		return m->a | v;
	case BPF_XOR:
		return m->a ^ v;
	case BPF_LSH:
		return v < 32 ? m->a << v : fail(m, BPF_BAD_MATH);
	case BPF_RSH:
		return v < 32 ? m->a >> v : fail(m, BPF_BAD_MATH);
	case BPF_NEG:
		return BPF_SRC(f->code) == BPF_X ? fail(m, BPF_BAD_OPCODE) : -m->a;
	default:
		return fail(m, BPF_BAD_OPCODE);
	}
}

/* How far to jump, beyond the next instruction. */
static uint32_t jump(struct machine *m, const struct sock_filter *f)
{
	uint32_t v = BPF_SRC(f->code) == BPF_X ? m->x : f->k;

	if (f->code == (BPF_JMP | BPF_JA))
		return f->k;
	if (f->code & ~(BPF_JMP | 0xf0 | BPF_X))
		return fail(m, BPF_BAD_OPCODE);
	switch (BPF_OP(f->code)) {
	case BPF_JEQ:
		return m->a == v ? f->jt : f->jf;
	case BPF_JGT:
		return m->a > v ? f->jt : f->jf;
	case BPF_JGE:
		return m->a >= v ? f->jt : f->jf;
	case BPF_JSET:
		return m->a & v ? f->jt : f->jf;
	default:
		return fail(m, BPF_BAD_OPCODE);
	}
}

enum bpf_fault bpf_sim(const struct sock_fprog *prog, const struct seccomp_data *data, bool number_only,
		       uint32_t *ret)
{
	struct machine m = {.data = data, .number_only = number_only};

	*ret = SECCOMP_RET_KILL_PROCESS;
	for (size_t pc = 0; pc < prog->len && !m.fault; pc++) {
		const struct sock_filter *f = &prog->filter[pc];

		switch (BPF_CLASS(f->code)) {
		case BPF_RET:
			if (f->code != (BPF_RET | BPF_K) && f->code != (BPF_RET | BPF_A))
				return BPF_BAD_OPCODE;
			*ret = f->code == (BPF_RET | BPF_A) ? m.a : f->k;
			return BPF_OK;
		case BPF_ALU:
			m.a = compute(&m, f);
			break;
		case BPF_JMP:
			pc += jump(&m, f);
			break;
		default:
			load(&m, f);
		}
	}
	return m.fault ? m.fault : BPF_BAD_JUMP;
}

const char *bpf_fault_text(enum bpf_fault fault)
{
	static const char *const text[] = {
		[BPF_OK] = "no fault",
		[BPF_BAD_OPCODE] = "an instruction that seccomp does not allow",
		[BPF_BAD_OFFSET] = "a load outside the data",
		[BPF_BAD_JUMP] = "the end was passed without an answer",
		[BPF_BAD_MEMORY] = "a scratch slot out of range",
		[BPF_BAD_MATH] = "a division by zero or an over-long shift",
		[BPF_READS_MORE] = "reads more than number and architecture",
	};

	return (size_t)fault < sizeof(text) / sizeof(text[0]) ? text[fault] : "?";
}
