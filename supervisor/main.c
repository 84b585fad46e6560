#include <stdio.h>

#include "supervisor/check.h"
#include "supervisor/doctor.h"
#include "supervisor/explain.h"
#include "supervisor/opts.h"
#include "supervisor/run.h"

int main(int argc, char **argv)
{
	struct opts o;

	opts_parse(&o, argc, argv);
	switch (o.command) {
	case COMMAND_RUN:
		return run_command(&o);
	case COMMAND_HELP:
		opts_print_help();
		return 0;
	case COMMAND_VERSION:
		puts("cordon " CORDON_VERSION);
		return 0;
	case COMMAND_CHECK:
		return check_command(&o);
	case COMMAND_EXPLAIN:
		return explain_command(&o);
	case COMMAND_DOCTOR:
		return doctor_command(&o);
	}
	return 125;
}
