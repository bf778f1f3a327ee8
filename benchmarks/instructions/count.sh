#!/usr/bin/env bash
# Counts with valgrind how many instructions a step or a call of each workload executes: from a type, compiled in and linked, and
# from a config; and blocks of streams of small WaveNets from a type that is linked.
# Usage: benchmarks/instructions/count.sh [--check | --accept] PROGRAM COMPILER     PROGRAM: coldpress-instructions
#   --check    compares with the numbers in limits.txt; fails if one is more than 3 % above. Exits with 77 if valgrind is
#              missing, or the numbers belong to another compiler
#   --accept   writes a new limits.txt
# The same program gives the same numbers each time, on any machine with AVX2.
set -euo pipefail

task=table
case "${1-}" in --check | --accept) task=${1#--} && shift ;; esac
[ $# -eq 2 ] && [ "${1#-}" = "$1" ] || { sed -n 's/^# \{0,1\}//; 2,8p' "$0" >&2; exit 2; }
program=$(realpath "$1") compiler=$2 calls=10
cd "$(dirname "$0")"
workloads='I2 I3h8 I3h16 I3h32 I5conv I5full T4'
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

skip() { echo "skipped: $1" && exit 77; }
command -v valgrind >/dev/null || skip "there is no valgrind"
compiler_of_limits="$("$compiler" --version | head -n 1 | sed 's/^[^ ]* //') $(uname -m)"  # distributions use flags of their own
[ "$task" != check ] || grep -qF "with: $compiler_of_limits" limits.txt || skip "limits.txt is not of $compiler_of_limits"
grep -qsw avx2 /proc/cpuinfo || skip "this machine has no AVX2"

count() {  # PATH WORKLOAD
  valgrind --tool=callgrind --toggle-collect='*bench::counted<*' --callgrind-out-file=/dev/null "$program" "$1" "$2" $calls \
    >"$folder/log" 2>&1 || { cat "$folder/log" >&2 && exit 1; }
  awk -v calls=$calls '/Collected :/ { n = $NF } END { if (n < calls) exit 1; printf "%.0f", n / calls }' "$folder/log" ||
    { cat "$folder/log" >&2 && echo "instructions: nothing was counted of $1 $2" >&2 && exit 1; }
}
figures() {
  local path workload number blocks
  for path in static linked dynamic; do
    [ $path = linked ] && blocks='N3 N4 N7' || blocks=
    for workload in $workloads $blocks; do
      number=$(count $path "$workload")
      echo "${path}_$workload $number"
    done
  done
}

figures >"$folder/figures"
if [ "$task" = accept ]; then
  { echo "# Written by count.sh --accept with: $compiler_of_limits"; cat "$folder/figures"; } >limits.txt
  cat limits.txt
elif [ "$task" = check ]; then
  awk 'NR == FNR { if ($1 != "#") limit[$1] = $2; next }
       !($1 in limit) { printf "instructions: limits.txt has no %s\n", $1; failed = 1; next }
       { by = 100 * ($2 / limit[$1] - 1); printf "%-16s %9d, accepted %9d: %+.1f %%\n", $1, $2, limit[$1], by }
       by > 3 { printf "instructions: %s has grown by %.1f %%, more than 3 %%\n", $1, by; failed = 1 }
       END { if (failed) print "instructions: where that is worth it: count.sh --accept PROGRAM COMPILER, and commit limits.txt"; exit failed }' \
    limits.txt "$folder/figures"
else
  cat "$folder/figures"
fi
