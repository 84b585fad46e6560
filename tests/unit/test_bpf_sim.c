/* The interpreter itself: what it computes, and that it refuses what seccomp refuses. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <linux/audit.h>

#include "supervisor/bpf_sim.h"

#define LOAD(offset) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset)
#define RET(k)	     BPF_STMT(BPF_RET | BPF_K, k)
#define RET_A	     BPF_STMT(BPF_RET | BPF_A, 0)
#define ARG(i)	     (offsetof(struct seccomp_data, args) + (i)*8)
#define ALU(op, k)   BPF_STMT(BPF_ALU | (op) | BPF_K, k)

static const struct seccomp_data data = {
	.nr = 39,
	.arch = AUDIT_ARCH_X86_64,
	.instruction_pointer = 0x1122334455667788,
	.args = {0x100000002, 3, 0xffffffff00000000, 4, 5, 0xdeadbeefcafef00d},
};

static enum bpf_fault run(const struct sock_filter *code, size_t len, bool number_only, uint32_t *ret)
{
	struct sock_fprog prog = {.len = (unsigned short)len, .filter = (struct sock_filter *)code};

	return bpf_sim(&prog, &data, number_only, ret);
}

#define CODE(...)                                                                                            \
	(const struct sock_filter[]){__VA_ARGS__},                                                           \
		sizeof((const struct sock_filter[]){__VA_ARGS__}) / sizeof(struct sock_filter)
#define GIVES(value, ...)                                                                                    \
	do {                                                                                                 \
		uint32_t r;                                                                                  \
		assert_int_equal(run(CODE(__VA_ARGS__), false, &r), BPF_OK);                                 \
		assert_int_equal(r, (uint32_t)(value));                                                      \
	} while (0)
#define FAULTS(fault, ...)                                                                                   \
	do {                                                                                                 \
		uint32_t r;                                                                                  \
		assert_int_equal(run(CODE(__VA_ARGS__), false, &r), fault);                                  \
		assert_int_equal(r, SECCOMP_RET_KILL_PROCESS);                                               \
	} while (0)

static void test_loads(void **state)
{
	GIVES(39, LOAD(0), RET_A);
	GIVES(AUDIT_ARCH_X86_64, LOAD(4), RET_A);
	GIVES(2, LOAD(ARG(0)), RET_A);
	GIVES(1, LOAD(ARG(0) + 4), RET_A);
	GIVES(0xdeadbeef, LOAD(ARG(5) + 4), RET_A);
	GIVES(sizeof(data), BPF_STMT(BPF_LD | BPF_W | BPF_LEN, 0), RET_A);
	GIVES(7, BPF_STMT(BPF_LD | BPF_IMM, 7), BPF_STMT(BPF_ST, 15), BPF_STMT(BPF_LD | BPF_IMM, 1),
	      BPF_STMT(BPF_LD | BPF_MEM, 15), RET_A);
	GIVES(8, BPF_STMT(BPF_LDX | BPF_IMM, 8), BPF_STMT(BPF_MISC | BPF_TXA, 0), RET_A);
	FAULTS(BPF_BAD_OFFSET, LOAD(sizeof(data)), RET_A);
	FAULTS(BPF_BAD_OFFSET, LOAD(2), RET_A);
	FAULTS(BPF_BAD_OFFSET, LOAD(~3U), RET_A);
	FAULTS(BPF_BAD_MEMORY, BPF_STMT(BPF_ST, BPF_MEMWORDS), RET(0));
	FAULTS(BPF_BAD_OPCODE, BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 0), RET_A);
	FAULTS(BPF_BAD_OPCODE, BPF_STMT(BPF_LD | BPF_W | BPF_IND, 0), RET_A);
}

static void test_math(void **state)
{
	GIVES(40, LOAD(0), ALU(BPF_ADD, 1), RET_A);
	GIVES(-1, LOAD(0), ALU(BPF_SUB, 40), RET_A);
	GIVES(7, LOAD(0), ALU(BPF_AND, 0xf), RET_A);
	GIVES(0xff, LOAD(0), ALU(BPF_OR, 0xff), RET_A);
	GIVES(38, LOAD(0), ALU(BPF_XOR, 1), RET_A);
	GIVES(39u << 31, LOAD(0), ALU(BPF_LSH, 31), RET_A);
	GIVES(19, LOAD(0), ALU(BPF_DIV, 2), RET_A);
	GIVES(-39, LOAD(0), BPF_STMT(BPF_ALU | BPF_NEG, 0), RET_A);
	GIVES(78, LOAD(0), BPF_STMT(BPF_MISC | BPF_TAX, 0), BPF_STMT(BPF_ALU | BPF_ADD | BPF_X, 0), RET_A);
	FAULTS(BPF_BAD_MATH, ALU(BPF_DIV, 0), RET_A);
	FAULTS(BPF_BAD_MATH, BPF_STMT(BPF_ALU | BPF_DIV | BPF_X, 1), RET_A);
	FAULTS(BPF_BAD_MATH, ALU(BPF_RSH, 32), RET_A);
	FAULTS(BPF_BAD_OPCODE, ALU(BPF_MOD, 2), RET_A);
	FAULTS(BPF_BAD_OPCODE, BPF_STMT(0x104, 0), RET_A);
}

static void test_jumps(void **state)
{
	GIVES(1, LOAD(0), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 39, 0, 1), RET(1), RET(2));
	GIVES(2, LOAD(0), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 38, 0, 1), RET(1), RET(2));
	GIVES(2, LOAD(0), BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, 39, 0, 1), RET(1), RET(2));
	GIVES(1, LOAD(0), BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 39, 0, 1), RET(1), RET(2));
	GIVES(1, LOAD(0), BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 0xf0, 1, 0), RET(2), RET(1));
	GIVES(3, BPF_STMT(BPF_JMP | BPF_JA, 2), RET(1), RET(2), RET(3));
	FAULTS(BPF_BAD_JUMP, BPF_STMT(BPF_JMP | BPF_JA, 1), RET(1));
	FAULTS(BPF_BAD_JUMP, BPF_STMT(BPF_JMP | BPF_JA, ~0U), RET(1));
	FAULTS(BPF_BAD_JUMP, LOAD(0));
	FAULTS(BPF_BAD_OPCODE, BPF_STMT(BPF_RET | BPF_X, 0));
	FAULTS(BPF_BAD_OPCODE, BPF_JUMP(BPF_JMP | 0x50, 0, 0, 0), RET(1));
}

static void test_number_only(void **state)
{
	uint32_t r;

	assert_int_equal(run(CODE(LOAD(0), LOAD(4), RET(5)), true, &r), BPF_OK);
	assert_int_equal(r, 5);
	assert_int_equal(run(CODE(LOAD(8), RET(5)), true, &r), BPF_READS_MORE);
	assert_int_equal(run(CODE(LOAD(ARG(0)), RET(5)), true, &r), BPF_READS_MORE);
	assert_int_equal(run(CODE(LOAD(ARG(5) + 4), RET(5)), true, &r), BPF_READS_MORE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_loads),
		cmocka_unit_test(test_math),
		cmocka_unit_test(test_jumps),
		cmocka_unit_test(test_number_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
