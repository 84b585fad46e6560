#include "probe_calls.h"
const struct section notice_sections[] = {{NULL, NULL}};
