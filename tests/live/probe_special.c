#include "probe_calls.h"
const struct section special_sections[] = {{NULL, NULL}};
