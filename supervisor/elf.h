/*
 * What an ELF file says of how it is started: read from the file, as the kernel reads it.
 */
#ifndef CORDON_ELF_H
#define CORDON_ELF_H

#include <limits.h>
#include <stdbool.h>

/*
 * The loader that the program asks for (PT_INTERP), which the kernel opens and starts in its stead, into name. False: none,
 * or one that the kernel does not take. fd: open for reading.
 */
bool elf_loader(int fd, char name[PATH_MAX]);

/*
 * True for a dynamic loader and its like: a shared object with no interpreter of its own, which runs any file that it is
 * given. Also true when the file cannot be understood. fd: open for reading.
 */
bool elf_is_loader(int fd);

#endif
