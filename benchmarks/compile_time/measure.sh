#!/usr/bin/env bash
# Prints what coldpress costs to compile: CPU seconds (best of three or five), and bytes of stripped programs and code.
# Usage: benchmarks/compile_time/measure.sh [--check | --accept] [COMPILER]     default: c++
#   --check    only the figures of limits.txt, beside their limits; fails where one is more than 20 % above. Exits with 77
#              where the limits are another compiler's
#   --accept   writes limits.txt anew
# A unit, which hardly depends on the machine, is what a file of a few standard headers takes, compiled in turn with ours.
set -euo pipefail
cd "$(dirname "$0")/../.."

task=table
case "${1-}" in --check | --accept) task=${1#--} && shift ;; esac
compiler=${1:-c++}
limits=benchmarks/compile_time/limits.txt
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
sources=benchmarks/compile_time
flags=(-std=c++20 -ffp-contract=off -I include)
v3=(); [ "$(uname -m)" = x86_64 ] && v3=(-march=x86-64-v3)  # bytes are the same on every machine
compile() { "$compiler" "${flags[@]}" "$@"; }

echo '#include <coldpress/coldpress.hpp>' >"$folder/header.cpp"
printf '#include <%s>\n' algorithm string vector tuple map functional >"$folder/unit.cpp"
unit() { compile -fsyntax-only "$folder/unit.cpp"; }
header() { compile -fsyntax-only "$folder/header.cpp"; }
t1() { compile "${v3[@]}" "${@:--O2}" $sources/t1.cpp -o "$folder/t1"; }
residual() { compile "${v3[@]}" -O2 -D CONVOLUTIONS="$1" -c $sources/residual.cpp -o "$folder/residual$1.o"; }
plan() { compile -O2 -D NODES="$1" -c $sources/plan.cpp -o "$folder/plan.o"; }

seconds() {  # RUNS COMMAND...: CPU seconds of the quickest
  local TIMEFORMAT='%U %S' runs=$1
  shift
  for _ in $(seq "$runs"); do { time "$@" >/dev/null; } 2>&1; done |
    awk 'NF != 2 { print >"/dev/stderr"; failed = 1; exit 1 }
         { s = $1 + $2; if (NR == 1 || s < best) best = s } END { if (!failed) printf "%.3f", best }'
}
text_size() { size "$1" | awk 'END { print $1 }'; }
stripped_size() { strip "$folder/t1" && stat -c %s "$folder/t1"; }
divided() { awk -v a="$1" -v b="$2" -v f="$3" 'BEGIN { printf f, a / b }'; }

figures() {  # name value
  local of_unit of_header of_t1 of_residual
  of_unit=$(seconds 5 unit) of_header=$(seconds 5 header) of_t1=$(seconds 3 t1)
  of_residual=$(seconds 3 residual 11)
  residual 3
  echo "header_units $(divided "$of_header" "$of_unit" %.2f)"
  echo "t1_units $(divided "$of_t1" "$of_unit" %.2f)"
  echo "residual_units $(divided "$of_residual" "$of_unit" %.1f)"  # of 11 convolutions: their difference is below the noise
  echo "header_preprocessed_bytes $(compile -E -P "$folder/header.cpp" | wc -c)"
  echo "t1_stripped_bytes $(stripped_size)"
  echo "convolution_code_bytes $((($(text_size "$folder/residual11.o") - $(text_size "$folder/residual3.o")) / 8))"
}
compiler_of_limits="$("$compiler" -dM -E -x c++ /dev/null | awk '$2 == "__clang_major__" { clang = $3 } $2 == "__GNUC__" { gcc = $3 }
  END { print clang ? "clang " clang : "g++ " gcc }') $(uname -m)"

if [ "$task" = accept ]; then
  { echo "# Written by measure.sh --accept with: $compiler_of_limits"; figures; } >"$folder/limits.txt"
  cp "$folder/limits.txt" $limits
  cat $limits
elif [ "$task" = check ]; then
  if ! grep -qF "with: $compiler_of_limits" $limits; then
    echo "compile_time: $limits is not of $compiler_of_limits; nothing is checked"
    exit 77
  fi
  figures >"$folder/figures.txt"
  awk 'NR == FNR { if ($1 != "#") limit[$1] = $2; next }
       { by = 100 * ($2 / limit[$1] - 1); printf "%-28s %10s, accepted %10s: %+.1f %%\n", $1, $2, limit[$1], by }
       by > 20 { printf "compile_time: %s has grown by %.1f %%, more than 20 %%\n", $1, by; failed = 1 }
       END { if (failed) print "compile_time: where that is worth it: measure.sh --accept, and commit limits.txt"; exit failed }' \
    $limits "$folder/figures.txt"
else
  printf 'coldpress.hpp alone      %s s\n' "$(seconds 5 header)"
  for level in -O2 -O3; do
    printf 'T1 trained and run, %s  %s s, ' $level "$(seconds 3 t1 $level)"
    printf '%s bytes stripped\n' "$(stripped_size)"
  done
  ldd "$folder/t1"
  for nodes in 10 20 50 100 200; do
    printf '%3d nodes planned        %s s\n' $nodes "$(seconds 3 plan $nodes)"
  done
  for convolutions in 11 21 51; do
    printf '%3d convolutions trained %s s, ' $convolutions "$(seconds 3 residual $convolutions)"
    printf '%s bytes of code\n' "$(text_size "$folder/residual$convolutions.o")"
  done
fi
