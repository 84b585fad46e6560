#include "supervisor/caps.h"

#include <errno.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "supervisor/lockdown.h"

OWN_CALLS(OWN_SUPERVISOR, OWN(capget), OWN(capset));

int caps_get(struct caps *caps)
{
	struct __user_cap_header_struct h = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct d[2];

	if (syscall(SYS_capget, &h, d) < 0)
		return -errno;
	caps->effective = (uint64_t)d[1].effective << 32 | d[0].effective;
	caps->permitted = (uint64_t)d[1].permitted << 32 | d[0].permitted;
	caps->inheritable = (uint64_t)d[1].inheritable << 32 | d[0].inheritable;
	return 0;
}

int caps_set(const struct caps *caps)
{
	struct __user_cap_header_struct h = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct d[2] = {
		{(uint32_t)caps->effective, (uint32_t)caps->permitted, (uint32_t)caps->inheritable},
		{(uint32_t)(caps->effective >> 32), (uint32_t)(caps->permitted >> 32),
		 (uint32_t)(caps->inheritable >> 32)},
	};

	return syscall(SYS_capset, &h, d) < 0 ? -errno : 0;
}

int caps_give_up(void)
{
	struct caps caps;
	int rc = caps_get(&caps);

	if (rc < 0)
		return rc;
	if (caps.permitted == 0 && caps.inheritable == 0)
		return 0;
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	/* Without SETPCAP the bounding set stays as it is; no_new_privs then keeps exec from using it. */
	for (int cap = 0; cap < 64; cap++)
		if (!(CAPS_KEPT >> cap & 1) && prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) < 0 && errno == EINVAL)
			break;
	caps.permitted &= CAPS_KEPT;
	caps.effective &= CAPS_KEPT;
	caps.inheritable = 0;
	return caps_set(&caps);
}

int caps_supervisor(void)
{
	struct caps caps;
	int rc = caps_get(&caps);

	if (rc < 0 || caps.permitted == 0)
		return rc;
	caps.permitted &= CAPS_KEPT | CAPS_SYS_PTRACE;
	caps.effective &= CAPS_KEPT;
	caps.inheritable = 0;
	return caps_set(&caps);
}

int caps_ptrace(int raise)
{
	static _Thread_local uint64_t before;
	struct caps caps;

	if (caps_get(&caps) < 0 || !(caps.permitted & CAPS_SYS_PTRACE))
		return 0;
	if (raise) {
		before = caps.effective;
		/* As another user this thread would not get through /proc/PID/fd, which is root's own directory. */
		caps.effective |= CAPS_SYS_PTRACE | (caps.permitted & CAPS_DAC_OVERRIDE);
	} else {
		caps.effective = before;
	}
	return caps_set(&caps) == 0 && raise;
}

int caps_may_ptrace(void)
{
	struct caps caps;

	return caps_get(&caps) == 0 && (caps.permitted & CAPS_SYS_PTRACE);
}
