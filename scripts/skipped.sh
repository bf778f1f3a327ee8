#!/usr/bin/env bash
# Lists what the last run of ctest skipped, and why: a line each with the number of places, from lines "skipped: REASON" of
# the tests' output, passed ones' too.
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
  reason != "" && /^  [^ ]/ { reason = reason substr($0, 2); next }  # a line that Catch2 broke
  { flush() }' "$log" | sort | uniq -c | sort -k 2)
if [ -z "$found" ]; then
  echo "Skipped: nothing"
else
  printf 'Skipped (times, test, reason):\n%s\n' "$found"
fi
