#!/usr/bin/env bash
# Measures what coldpress costs to compile: CPU seconds (best of three or five), and bytes of stripped programs and code.
# Usage: benchmarks/compile_time/measure.sh [--check | --accept] [COMPILER]     default: c++
#        benchmarks/compile_time/measure.sh --networks [COMPILER ...]           default: g++, clang++-14 and clang++-16, if installed
#   --networks the programs t1, gru, wavenet, transformer, resnet and residual, each with kernels that are compiled in and with
#              precompiled kernels: CPU seconds (median of three), memory, bytes of code and data in the object, at -O2
#   --check    only what is the same on every machine, beside its limits in limits.txt: bytes of programs, functions in object
#              files, and memory that compilations allocate. Fails if a figure is more than 10 % above its limit. Exits with 77 if
#              the limits belong to another compiler
#   --accept   writes a new limits.txt
# The amount of work is measured as the memory that g++ allocates while it compiles, as -fmem-report counts it with garbage
# collection switched off. It repeats within a hundred-thousandth on any CPU, which no time does, and it grows with
# what is parsed, instantiated, evaluated and optimised.
set -euo pipefail
cd "$(dirname "$0")/../.."

task=table
case "${1-}" in --check | --accept | --networks) task=${1#--} && shift ;; esac
compilers=("$@")
compiler=${1:-c++}
limits=benchmarks/compile_time/limits.txt
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
sources=benchmarks/compile_time
flags=(-std=c++20 -ffp-contract=off -I include)
v3=(); [ "$(uname -m)" = x86_64 ] && v3=(-march=x86-64-v3)  # bytes are the same on every machine
compile() { "$compiler" "${flags[@]}" "$@"; }

echo '#include <coldpress/coldpress.hpp>' >"$folder/header.cpp"
header() { compile "$@" -fsyntax-only "$folder/header.cpp"; }
t1() { compile "${v3[@]}" "${@:--O2}" $sources/t1.cpp -o "$folder/t1"; }
t1_object() { compile "${v3[@]}" -O2 "$@" -c $sources/t1.cpp -o "$folder/t1.o"; }
residual() { compile "${v3[@]}" -O2 -D CONVOLUTIONS="$1" "${@:2}" -c $sources/residual.cpp -o "$folder/residual$1.o"; }
stream() { compile "${v3[@]}" -O2 -c "$sources/$1.cpp" -o "$folder/$1.o"; }
linked() { compile -O2 -D COLDPRESS_LINKED_KERNELS "${@:2}" -c "$sources/$1.cpp" -o "$folder/linked_$1.o"; }
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
functions() { nm --defined-only "$1" | awk '$2 ~ /^[tTwW]$/ { ++n } END { print n }'; }

# The memory that one compilation allocates: the sizes of -fmem-report, which are in bytes, k or M.
handed_out_kilobytes() {  # COMMAND...
  "$@" -fmem-report --param=ggc-min-heapsize=16777216 2>&1 |
    awk '/^Size +Allocated +Used/ { sizes = 1; next } /^Total/ { sizes = 0 }
         sizes { sum += $3 ~ /M$/ ? $3 * 1024 : $3 ~ /k$/ ? $3 + 0 : $3 / 1024 } END { printf "%d\n", sum }'
}

figures() {  # name value; the objects are those of the compilations that are measured
  residual 3
  echo "header_preprocessed_bytes $(compile -E -P "$folder/header.cpp" | wc -c)"
  echo "header_handed_out_kilobytes $(handed_out_kilobytes header)"
  echo "t1_handed_out_kilobytes $(handed_out_kilobytes t1_object)"
  echo "t1_code_bytes $(text_size "$folder/t1.o")"
  echo "t1_functions $(functions "$folder/t1.o")"
  t1
  echo "t1_stripped_bytes $(stripped_size)"
  for program in t1 resnet; do
    echo "linked_${program}_handed_out_kilobytes $(handed_out_kilobytes linked $program)"
    echo "linked_${program}_code_bytes $(text_size "$folder/linked_$program.o")"
  done
  for program in gru wavenet; do  # no kernel of another kind of layer
    stream $program
    echo "${program}_code_bytes $(text_size "$folder/$program.o")"
  done
  echo "residual_handed_out_kilobytes $(handed_out_kilobytes residual 11)"
  echo "residual_functions $(functions "$folder/residual11.o")"
  echo "convolution_code_bytes $((($(text_size "$folder/residual11.o") - $(text_size "$folder/residual3.o")) / 8))"
}
compiler_of_limits="$("$compiler" --version | head -n 1 | sed 's/^[^ ]* //') $(uname -m)"  # distributions use flags of their own

skip() { echo "skipped: $1" && exit 77; }
if [ "$task" = networks ]; then
  time=$(type -P time) || { echo "GNU time is missing, Debian's package 'time'" >&2 && exit 1; }
  if [ ${#compilers[@]} = 0 ]; then
    for each in g++ clang++-14 clang++-16; do ! command -v $each >/dev/null || compilers+=($each); done
  fi
  printf '%-12s %-12s %-12s %9s %10s %10s\n' compiler network kernels seconds kilobytes bytes
  for compiler in "${compilers[@]}"; do
    for program in t1 gru wavenet transformer resnet residual; do
      for form in compiled_in ready_made; do
        case $form in
          compiled_in) form_flags=(-march=native) ;;
          ready_made) form_flags=(-D COLDPRESS_LINKED_KERNELS) ;;
        esac
        for _ in 1 2 3; do
          "$time" -a -o "$folder/times" -f '%U %S %M' "$compiler" "${flags[@]}" -O2 "${form_flags[@]}" -D CONVOLUTIONS=51 \
            -c "$sources/$program.cpp" -o "$folder/network.o"
        done
        sort -n "$folder/times" | awk -v head="$(printf '%-12s %-12s %-12s' "$compiler" $program $form)" -v size="$(text_size "$folder/network.o")" \
          'NR == 2 { printf "%s %9.2f %10d %10d\n", head, $1 + $2, $3, size }'
        rm "$folder/times"
      done
    done
  done
  exit
fi

if [ "$task" = accept ]; then
  { echo "# Written by measure.sh --accept with: $compiler_of_limits"; figures; } >"$folder/limits.txt"
  cp "$folder/limits.txt" $limits
  cat $limits
elif [ "$task" = check ]; then
  grep -qF "with: $compiler_of_limits" $limits || skip "$limits is not of $compiler_of_limits"
  figures >"$folder/figures.txt"
  awk 'NR == FNR { if ($1 != "#") limit[$1] = $2; next }
       { by = 100 * ($2 / limit[$1] - 1); printf "%-28s %10s, accepted %10s: %+.1f %%\n", $1, $2, limit[$1], by }
       $2 + 0 <= 0 { printf "compile_time: %s was not measured\n", $1; failed = 1 }
       by > 10 { printf "compile_time: %s has grown by %.1f %%, more than 10 %%\n", $1, by; failed = 1 }
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
