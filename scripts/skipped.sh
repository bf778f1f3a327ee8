#!/usr/bin/env bash
# Lists what the last run of ctest skipped, and why: one line per test and reason, with the number of places, from the lines
# "skipped: REASON" in the output of all tests, including those that passed.
# Usage: scripts/skipped.sh BUILD_FOLDER
set -euo pipefail

log=${1:?usage: scripts/skipped.sh BUILD_FOLDER}/Testing/Temporary/LastTest.log
found=$(awk '
  function flush() { if (reason != "") print name ": " reason; reason = "" }
  /^[0-9]+\/[0-9]+ Testing: / { flush(); name = $3; output = 0; next }
  /^Output:$/ { output = 1; next }
  /^<end of output>$/ { flush(); output = 0; next }
  !output { next }
  match($0, /skipped: /) { flush(); reason = substr($0, RSTART + RLENGTH); next }
  reason != "" && /^  [^ ]/ { reason = reason substr($0, 2); next }  # the rest of a line that Catch2 wrapped
  { flush() }' "$log" | sort | uniq -c | sort -k 2)
if [ -z "$found" ]; then
  echo "Skipped: nothing"
else
  printf 'Skipped (times, test, reason):\n%s\n' "$found"
fi
