/*
 * Linked into a cordon for tests, with --wrap=landlock_abi: a kernel whose Landlock is older than it is. What cordon asks of it
 * is then what it would ask of that one, and nothing newer is in force.
 */
#include "supervisor/landlock.h"

int __real_landlock_abi(void);
int __wrap_landlock_abi(void);

int __wrap_landlock_abi(void)
{
	int abi = __real_landlock_abi();

	return abi < LANDLOCK_ABI ? abi : LANDLOCK_ABI;
}
