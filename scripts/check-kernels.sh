#!/usr/bin/env bash
# Compiles the GPU's kernels with nvcc, which needs no GPU, and checks the result. It prints how long each file took. No kernel
# among those that take most of a network's time may spill registers to memory. No kernel may read a table of the host (nvcc
# inserts a trap there). Blocks that wait for each other must be able to do so as a cluster. The host must start exactly the
# kernels that the GPU has (nvcc 13 spells some template arguments in two ways, and such a kernel never starts), and pass each
# kernel as many bytes as it takes. If cuobjdump is installed, the machine code is checked, too: its fences where blocks wait,
# its loads of constants, and the number of instructions in matrix products (check-sass.awk). The kernels are those of
# kernels/cuda and, without --library, those of the benchmark's static networks, which take as long again.
# Usage: scripts/check-kernels.sh [--library] [--built FOLDER] [ARCHITECTURE ...]     default: sm_90
#   --built   a build for the one architecture kept the kernels of kernels/cuda in FOLDER (cmake/keep_kernels.sh), so they are
#             not compiled again
set -euo pipefail
library=0 built=
while :; do
  case "${1-}" in
    --library) library=1 ;;
    --built)
      built=$(realpath "$2")
      shift
      ;;
    *) break ;;
  esac
  shift
done
cd "$(dirname "$0")/../kernels/cuda"
scripts=../../scripts
sources=(*.cu)
[ $library = 1 ] || sources+=(../../benchmarks/static_cuda.cu)

[ $# -gt 0 ] || set -- sm_90
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
flags=(-std=c++20 --expt-relaxed-constexpr -O3 -fmad=false -I ../../include -I . -diag-suppress "554,1675"
  -Xcompiler "-Wno-psabi,-ffp-contract=off,-O0")
# Normalisations and single losses are a small part of any step, so their spills do not matter.
hot='Linear|Convolution|Rnn|[^l]Pooling|cuda::Map|AddGradient|Update|PassBody'
failed=0

# nvcc compiles functions that are neither constexpr nor marked COLDPRESS_DEVICE for the host only. If a kernel calls one, the
# kernel silently does nothing. Reports and names are used on the host only.
include=../../include/coldpress
mapfile -t optimizers < <(sed -n 's|#include <coldpress/\(optim/.*\)>|\1|p' $include/optim/optimizers.hpp)
files=($include/core/{pointwise,along,attention,classes,geometry,recurrent,rows,each,places,positions,stages,sums,totals,normalize_lines,multiply_matrices}.hpp $include/layers/*.hpp
  $include/backend/grid.hpp $include/backend/grid/*.hpp $include/cuda/{program,chunks,device_program}.hpp
  $include/run/{run,execute,part_stage,passes,computed_by,update}.hpp $include/typed/static_program.hpp "${optimizers[@]/#/$include/}")
ls "${files[@]}" >/dev/null  # a file that has moved would go unchecked
if grep -nHE '^ *(static |inline )*(auto|void|T|float|double|bool|Index|V) [a-z_0-9]+\(.*\{' "${files[@]}" |
  grep -vE 'constexpr|COLDPRESS_DEVICE| report\(|to_string|Order& order|Index played|void (play[a-z_]*|by_itself)\('; then
  echo "these functions are not for a GPU" >&2
  failed=1
fi

# cuobjdump runs nvdisasm. CUDA toolkits contain both, and so do Python packages (install-deps.sh).
for place in "$(dirname "$(command -v nvcc)")" ../../build/cuobjdump/nvidia/*/bin \
  $(python3 -c 'import nvidia; print(*(path + "/cu13/bin" for path in nvidia.__path__))' 2>/dev/null || true); do
  if command -v cuobjdump >/dev/null && command -v nvdisasm >/dev/null; then break; fi
  if [ -x "$place/cuobjdump" ]; then PATH="$PATH:$(cd "$place" && pwd)"; fi
done
disassembles=1
if ! command -v cuobjdump >/dev/null || ! command -v nvdisasm >/dev/null; then
  echo "skipped: machine code is not looked at without cuobjdump and nvdisasm (scripts/install-deps.sh --with-cuobjdump)"
  disassembles=0
fi
limits=0
if nvcc --version | grep -q 'release 13\.0,'; then
  limits=1
elif [ $disassembles = 1 ]; then
  echo "skipped: limits of instructions in products: they are of nvcc 13.0, and this is $(nvcc --version | grep -o 'release [0-9.]*')"
fi

printf '%-8s %-18s %8s %8s %10s %8s\n' GPU file seconds kernels registers spilling
for architecture in "$@"; do
  for source in "${sources[@]}"; do
    name=$(basename "$source" .cu)
    if [ -n "$built" ] && [ "$source" = "$name.cu" ]; then
      seconds=0
      ls "$built/$name".{log,ptx,cubin,o} >/dev/null
      ln -sf "$built/$name".{log,ptx,cubin,o} "$folder/"
    else
      TIMEFORMAT='%U'
      seconds=$({ time "$scripts/../cmake/keep_kernels.sh" "$folder" nvcc "${flags[@]}" \
        --generate-code="arch=${architecture/sm/compute},code=[$architecture]" -c "$source" -o "$folder/$name.cu.o"; } 2>&1) ||
        { echo "$seconds" >&2; exit 1; }
      seconds=${seconds##*$'\n'}
    fi
    awk '/Compiling entry/ { kernel = $7 } /bytes spill/ { spills = $5 + $9 }
         /Used [0-9]+ registers/ { print kernel, $5, spills }' "$folder/$name.log" | tr -d "'" | c++filt >"$folder/$name.txt"
    printf '%-8s %-18s %8.1f %8d %10d %8d\n' "$architecture" "$name" "$seconds" "$(wc -l <"$folder/$name.txt")" \
      "$(awk '{ if ($(NF - 1) > most) most = $(NF - 1) } END { print most + 0 }' "$folder/$name.txt")" \
      "$(awk '$NF > 0' "$folder/$name.txt" | wc -l)"
    if awk '$NF > 0' "$folder/$name.txt" | grep -E "$hot"; then
      echo "these kernels keep registers in memory" >&2
      failed=1
    fi
    # coldpress's own traps are inline assembly; any other trap marks where a table of the host was read.
    if awk '/^\.visible \.entry/ { kernel = $3 } /begin inline asm/ { ours = NR } /^[ \t]*trap/ && NR > ours + 2 { print kernel }' \
      "$folder/$name.ptx" | c++filt | grep .; then
      echo "these kernels read what is on the host" >&2
      failed=1
    fi
    # Wherever blocks wait for each other, those of a cluster wait in it; GPUs before sm_90 have no clusters.
    if awk -v has="$([[ $architecture == sm_8* ]] && echo 0 || echo 1)" '/^\.visible \.entry/ { kernel = $3 }
        /atom\.acq_rel\.gpu/ { open[kernel] += has } /barrier\.cluster\.arrive/ { --open[kernel] }
        END { for (kernel in open) if (open[kernel] != 0) print kernel }' "$folder/$name.ptx" | c++filt | grep .; then
      echo "these kernels do not know whether their blocks are a cluster" >&2
      failed=1
    fi
    awk '/Compiling entry/ { print $7 }' "$folder/$name.log" | tr -d "'" | sort -u >"$folder/device"
    nm "$folder/$name.o" | awk '/_ZN9coldpress4cudaL3runI/ { sub(/\.cold$/, "", $3); sub(/cudaL3run/, "cuda3run", $3); print $3 }' |
      sort -u >"$folder/host"
    if [ ! -s "$folder/device" ] || ! cmp -s "$folder/device" "$folder/host"; then
      echo "$source: the kernels that the host starts are not those of the GPU:" >&2
      diff "$folder/device" "$folder/host" >&2 || true
      failed=1
    fi
  done

  # A kernel's arguments are copied with the size that nvcc reports, from where the host's compiler has placed them.
  for ptx in "$folder"/*.ptx; do
    awk '/^\.visible \.entry/ { entry = 1 } entry { print } /^\)/ { entry = 0 }' "$ptx"
  done | sed 's/_param_\([0-9]*\)\[/ \1[/' | c++filt | awk -f "$scripts/check-arguments.awk" >"$folder/arguments.cpp"
  if ! "${CXX:-g++}" -std=c++20 -Wno-psabi -fsyntax-only -I ../../include -I . "$folder/arguments.cpp" 2>"$folder/arguments.log"; then
    grep -oE 'static_assert\(.*|error: .*' "$folder/arguments.log" | grep -v 'assertion failed' >&2
    echo "these arguments of kernels have other sizes than nvcc says" >&2
    failed=1
  else
    printf '%-8s %d arguments of kernels are as large as nvcc says\n' "$architecture" \
      "$(grep -c '^static_assert(Takes' "$folder/arguments.cpp")"
  fi

  [ $disassembles = 1 ] || continue
  for source in "${sources[@]}"; do
    cuobjdump -sass "$folder/$(basename "$source" .cu).cubin" |
      grep -E 'Function : |^[[:space:]]*/\*[0-9a-f]+\*/ +[^ ]' | c++filt
  done >"$folder/sass"
  if ! awk -v table=1 -v library=$library -v limits="$([ "$architecture" = sm_90 ] && echo $limits || echo 0)" -f "$scripts/check-sass.awk" \
    "$folder/sass"; then
    echo "this is not how kernels may be in machine code" >&2
    failed=1
  fi
done
exit "$failed"
