#!/usr/bin/env bash
# Everything that only a GPU can show, in one go of less than ten minutes: the tests of the kernels on it, NVIDIA's sanitizers
# on a small network, and times beside PyTorch's where that is installed.
# Usage: scripts/gpu-check.sh OUT [PROGRAMS]     writes OUT/results.json, OUT/summary.md and the logs
#        scripts/gpu-check.sh --build PROGRAMS   builds the programs for sm_90, to be taken to a machine that has only a driver;
#                                                also as PROGRAMS.tar.gz
# PROGRAMS is a folder made by --build, or its archive; without it, or where its programs do not start, they are built here. Clocks are read,
# never set. The exit status is the number of checks that failed.
set -euo pipefail
cd "$(dirname "$0")/.."

programs=(test_cuda_networks test_cuda_graphs test_cuda_steps test_cuda_static_networks test_cuda_fused coldpress-bench)
with_libraries=(coldpress-bench-libraries test_cuda_libs_networks test_cuda_libs_recurrent
  test_cuda_libs_pooling)  # which start where cuDNN and cuBLASLt are

build() {  # FOLDER
  mkdir -p "$1"
  cmake --preset cuda -D COLDPRESS_CUDA_ARCHITECTURES=90-real -D COLDPRESS_NATIVE=OFF -D COLDPRESS_BUILD_EXAMPLES=OFF \
    -D COLDPRESS_BUILD_TOOLS=OFF -D BLA_STATIC=ON -D "CMAKE_EXE_LINKER_FLAGS=-static-libstdc++ -static-libgcc" -B build/gpu-check
  if cmake --build build/gpu-check --target help | grep "${with_libraries[0]}" >/dev/null; then
    programs+=("${with_libraries[@]}")
  else
    echo "gpu-check: no cuDNN or cuBLASLt to build with; nothing of them is looked at" >&2
  fi
  cmake --build build/gpu-check --target "${programs[@]}"
  for program in "${programs[@]}"; do
    find build/gpu-check -type f -name "$program" -exec cp {} "$1/" \;
    strip "$1/$program"
  done
  tar -czf "$1.tar.gz" -C "$1" .
}

if [ "${1-}" = --build ]; then
  build "$2"
  exit
fi
[ $# -ge 1 ] || { sed -n 's/^# \{0,1\}//; 2,9p' "$0" >&2; exit 2; }
mkdir -p "$1"
out=$(cd "$1" && pwd)
folder=${2-}
if [ -f "$folder" ]; then
  mkdir -p "$out/programs"
  tar -xzf "$folder" -C "$out/programs"
  folder=$out/programs
fi
if [ -z "$folder" ] || ! "$folder/coldpress-bench" --workload none >"$out/build.log" 2>&1; then
  folder=build/gpu-check/programs
  build "$folder" >>"$out/build.log" 2>&1 || { echo "gpu-check: the build failed, see $out/build.log" >&2; exit 1; }
fi
folder=$(cd "$folder" && pwd)

if ! "$folder/coldpress-bench" --path dynamic --backend cuda:0 --workload none 2>"$out/gpu.log"; then
  echo "gpu-check: $(tail -1 "$out/gpu.log")" >&2
  exit 1
fi

failed=0
results=()  # of JSON
quoted() { printf '"%s"' "$(printf '%s' "$1" | sed 's/\\/\\\\/g; s/"/\\"/g' | tr '\n\t' '  ')"; }
check() {  # NAME SECONDS LOG COMMAND...
  local name=$1 seconds=$2 log=$out/$3 status=0 start=$SECONDS
  shift 3
  timeout "$seconds" "$@" >"$log" 2>&1 || status=$?
  [ "$status" -eq 0 ] || failed=$((failed + 1))
  results+=("{\"check\": $(quoted "$name"), \"status\": $status, \"seconds\": $((SECONDS - start))}")
  printf '| %s | %s | %d |\n' "$name" "$([ "$status" -eq 0 ] && echo passed || echo "FAILED ($status)")" $((SECONDS - start)) >>"$out/summary.md"
}

machine=none
! command -v nvidia-smi >/dev/null || machine=$(nvidia-smi --id=0 --format=csv,noheader \
  --query-gpu=name,driver_version,clocks.sm,clocks.max.sm,clocks.mem,memory.total,power.limit 2>&1 | head -1) || true
{
  printf '# GPU check\n\n%s\n\n' "$machine"
  printf '| Check | | Seconds |\n| --- | --- | --- |\n'
} >"$out/summary.md"

check "random networks within the bound, the same bits every time" 150 networks.log "$folder/test_cuda_networks"
check "graphs, losses, optimizers, streams, files" 100 graphs.log "$folder/test_cuda_graphs"
check "passes as graphs, nothing waits in a step" 60 steps.log "$folder/test_cuda_steps"
check "networks that are types, a kernel a pass" 60 static_networks.log "$folder/test_cuda_static_networks"
check "networks from configs as one kernel a pass, by NVRTC" 90 fused.log "$folder/test_cuda_fused"
libraries=
placed=
if "$folder/${with_libraries[0]}" --workload none >"$out/libraries.log" 2>&1; then
  libraries=yes
  check "products by cuDNN and cuBLASLt" 150 libraries.log "$folder/${with_libraries[1]}"
  check "recurrent layers by cuDNN" 120 recurrent.log "$folder/${with_libraries[2]}"
  check "poolings by cuDNN" 120 pooling.log "$folder/${with_libraries[3]}"
  placed=$(grep -h "cuda:0: cuDNN has the packed weights" "$out/recurrent.log" || true)
else
  echo "gpu-check: programs that are linked with cuDNN and cuBLASLt do not start here, see $out/libraries.log" >&2
fi
if command -v compute-sanitizer >/dev/null; then
  for tool in memcheck racecheck initcheck synccheck; do
    check "$tool" 30 "$tool.log" compute-sanitizer --tool "$tool" --error-exitcode 1 "$folder/test_cuda_networks" "a small network*"
    check "$tool, types" 60 "$tool-types.log" compute-sanitizer --tool "$tool" --error-exitcode 1 "$folder/test_cuda_static_networks" "a static network*"
  done
else
  echo "gpu-check: no compute-sanitizer here; memory and barriers are not looked at" >&2
fi

# Library, workload, mode, median in microseconds.
: >"$out/times.tsv"
measure() {  # PATH MODE PROGRAM
  "$folder/$3" --path "$1" --backend cuda:0 --seconds 0.4 --workload "$workload" 2>>"$out/bench.log" |
    awk -F'\t' -v OFS='\t' -v mode="$2" '{ print $1, $2, mode, $4 }' >>"$out/times.tsv" || failed=$((failed + 1))
}
for workload in T1 T2 T3 T4 T5 T6 I1 I4 I6; do
  measure dynamic "one graph" coldpress-bench
  [ -z "$libraries" ] || measure libraries "one graph, libraries" "${with_libraries[0]}"
  measure fused "one kernel by NVRTC" coldpress-bench
  measure static "one kernel" coldpress-bench
done
for workload in T1 T4 T5; do
  "$folder/coldpress-bench" --backend cuda:0 --seconds 0.4 --workload "$workload" --together 8 2>>"$out/bench.log" |
    awk -F'\t' -v OFS='\t' '{ print $1, $2, "one kernel, 8 a launch", $4 }' >>"$out/times.tsv" || failed=$((failed + 1))
done
if python3 -c 'import torch; assert torch.cuda.is_available()' 2>/dev/null; then
  timeout 200 python3 benchmarks/pytorch.py --seconds 0.3 2>>"$out/bench.log" | cut -f 1-4 >>"$out/times.tsv" ||
    echo "gpu-check: PyTorch did not finish, see $out/bench.log" >&2
else
  echo "gpu-check: no PyTorch that sees the GPU; nothing to compare with" >&2
fi
{
  printf '\n| Workload | Library | Mode | us |\n| --- | --- | --- | --- |\n'
  sort -s -t "$(printf '\t')" -k 2,2 "$out/times.tsv" | awk -F'\t' '{ printf "| %s | %s | %s | %s |\n", $2, $1, $3, $4 }'
  [ -z "$placed" ] || printf '\n%s\n' "$placed"
} >>"$out/summary.md"
while IFS=$'\t' read -r library workload mode time; do
  results+=("{\"library\": $(quoted "$library"), \"workload\": $(quoted "$workload"), \"mode\": $(quoted "$mode"), \"us\": $time}")
done <"$out/times.tsv"
{
  printf '{"machine": %s, "results": [\n' "$(quoted "$machine")"
  for i in "${!results[@]}"; do printf '  %s%s\n' "${results[$i]}" "$([ "$i" -lt $((${#results[@]} - 1)) ] && echo ,)"; done
  printf ']}\n'
} >"$out/results.json"
cat "$out/summary.md"
exit "$failed"
