/*
 * Runs a seccomp program without the kernel: pure, no state, reads nothing but its arguments. Accepts what
 * seccomp accepts of classic BPF and nothing more, so a program the kernel would refuse fails here too.
 */
#ifndef CORDON_BPF_SIM_H
#define CORDON_BPF_SIM_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stdint.h>

enum bpf_fault {
	BPF_OK = 0,
	BPF_BAD_OPCODE,
	BPF_BAD_OFFSET, /* load outside struct seccomp_data, or not aligned */
	BPF_BAD_JUMP,	/* beyond the end */
	BPF_BAD_MEMORY, /* scratch slot out of range */
	BPF_BAD_MATH,	/* division by zero, shift by 32 or more */
	BPF_READS_MORE, /* loads an argument (or the instruction pointer) although that is forbidden */
};

/*
 * The program's answer (SECCOMP_RET_*) in *ret. With number_only, loads of anything but number and
 * architecture are a fault: a program that passes gives the same answer for all arguments, and the kernel can
 * tell.
 */
enum bpf_fault bpf_sim(const struct sock_fprog *prog, const struct seccomp_data *data, bool number_only,
		       uint32_t *ret);
const char *bpf_fault_text(enum bpf_fault fault);

#endif
