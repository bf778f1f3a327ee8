#!/usr/bin/env bash
# Prints what T1, the header alone and networks of growing depth cost to compile (CPU seconds, best of three), and the
# stripped size of T1.
# Usage: benchmarks/compile_time/measure.sh [COMPILER]     default: c++
set -euo pipefail
cd "$(dirname "$0")/../.."

compiler=${1:-c++}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
flags=(-std=c++20 -march=native -ffp-contract=off -I include)

seconds() {  # COMMAND...: CPU seconds of the quickest of three runs
  local TIMEFORMAT='%U %S'
  for _ in 1 2 3; do { time "$@" >/dev/null; } 2>&1; done | awk '{ s = $1 + $2; if (NR == 1 || s < best) best = s } END { printf "%.2f", best }'
}

echo '#include <coldpress/coldpress.hpp>' >"$folder/header.cpp"
printf 'coldpress.hpp alone      %s s\n' "$(seconds "$compiler" "${flags[@]}" -fsyntax-only "$folder/header.cpp")"
for level in -O2 -O3; do
  printf 'T1 trained and run, %s  %s s\n' "$level" "$(seconds "$compiler" "${flags[@]}" "$level" benchmarks/compile_time/t1.cpp -o "$folder/t1")"
done
strip "$folder/t1"
printf 'stripped                 %s bytes, links\n' "$(stat -c %s "$folder/t1")"
ldd "$folder/t1"

for nodes in 10 20 50 100 200; do
  printf '%3d nodes planned        %s s\n' "$nodes" "$(seconds "$compiler" "${flags[@]}" -O2 -D NODES=$nodes -c benchmarks/compile_time/plan.cpp -o "$folder/plan.o")"
done
for convolutions in 11 21 51; do
  printf '%3d convolutions trained %s s\n' "$convolutions" "$(seconds "$compiler" "${flags[@]}" -O2 -D CONVOLUTIONS=$convolutions -c benchmarks/compile_time/residual.cpp -o "$folder/residual.o")"
done
