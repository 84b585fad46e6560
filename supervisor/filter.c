/* See filter.h. The programs come from build/gen/filter_data.c. */
#include "supervisor/filter.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "supervisor/compat.h"

const struct sock_fprog *filter_program(unsigned features)
{
	return &filter_programs[features % FEATURE_COMBINATIONS];
}

int filter_load(unsigned features)
{
	long r = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
			 SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV,
			 filter_program(features));

	return r < 0 ? -errno : (int)r;
}
