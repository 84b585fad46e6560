#include "probe_calls.h"
const struct section share_sections[] = {{NULL, NULL}};
