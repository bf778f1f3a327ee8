#!/bin/sh
# Runs a program that ThreadSanitizer watches. Where memory is too random for it, without; where that is not allowed
# either, says so and does nothing.
# Usage: run.sh PROGRAM
for how in "" "setarch $(uname -m) --addr-no-randomize"; do
  said=$($how "$1" --help 2>&1) && exec $how "$1"
  case "$said" in
    *"ThreadSanitizer: unexpected memory mapping"* | *"ThreadSanitizer: memory layout is incompatible"*) ;;
    *setarch*) ;;
    *) echo "$said" >&2; exit 1 ;;
  esac
done
echo "skipped: ThreadSanitizer does not start on this machine: $(echo "$said" | head -n 1)"
