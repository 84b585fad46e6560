#!/bin/bash
# A few of stress-ng's stressors, natively and confined; `make stress` runs all that can be.
exec "$(dirname "$0")/../stress/run" access dir link rename fork sigq pidfd
