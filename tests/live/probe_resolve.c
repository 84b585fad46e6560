#include "probe_calls.h"
const struct section resolve_sections[] = {{NULL, NULL}};
