#include "probe_calls.h"
const struct section wait_sections[] = {{NULL, NULL}};
