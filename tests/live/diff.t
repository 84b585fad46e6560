#!/bin/bash
# Inside as outside: random sequences of calls. Few are new here; "make diff" runs more.
exec "$(dirname "$0")/../diff/run"
