/* A program of nothing but system calls: openat(AT_FDCWD, "won", O_WRONLY | O_CREAT, 0644), a second's sleep, the end. */
	.globl _start
	.text
_start:
#ifdef __x86_64__
	mov $257, %eax
	mov $-100, %rdi
	lea name(%rip), %rsi
	mov $0101, %edx
	mov $0644, %r10d
	syscall
	mov $35, %eax
	lea second(%rip), %rdi
	xor %esi, %esi
	syscall
	mov $231, %eax
	xor %edi, %edi
	syscall
#else
	mov x8, #56
	mov x0, #-100
	adr x1, name
	mov x2, #0101
	mov x3, #0644
	svc #0
	mov x8, #101
	adr x0, second
	mov x1, #0
	svc #0
	mov x8, #94
	mov x0, #0
	svc #0
#endif
	.balign 8
second:
	.quad 0, 300000000
name:
	.asciz "won"
	.section .note.GNU-stack, "", %progbits
