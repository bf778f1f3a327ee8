#!/usr/bin/env bash
# Checks what only a GPU can show, in three parts that take half an hour. It needs a driver and the program that
# scripts/gpu-pack.sh makes; nothing is built or downloaded.
# Usage: scripts/gpu-check.sh A|B|C OUT [PROGRAMS] [--dry-run]
#   A  correctness, at most 7 minutes: barriers under stress, networks against the reference, NVIDIA's sanitizers
#   B  times, at most 8 minutes: the benchmark's workloads by the clocks of the host and of the GPU, beside PyTorch
#   C  profiles, at most 8 minutes: what Nsight Compute reports on the step kernels of T1, T2, T4 and T5
#   OUT       folder for the part's summary (A.md), log (A.log) and numbers (A.tsv): 8 files for all three parts
#   PROGRAMS  the archive, or the folder it was unpacked to; default: the folder of this script, or build/gpu-check
#   --dry-run runs everything on the emulated GPU, with fewer workloads, to see whether the commands work
# The summary is printed as it grows. Every command has a time limit, after which it is killed; GPU_CHECK_LIMIT in the
# environment, in seconds, lowers the limit of every command. What is not installed
# (cuDNN, NVRTC, compute-sanitizer, ncu, PyTorch) is skipped, and a line says so. Clocks are read, never set. The exit
# status is 0 if every check passed, 1 if one failed, and 2 if the call was wrong or there is no GPU.
set -uo pipefail

script=$(cd "$(dirname "$0")" && pwd)
usage() { sed -n 's/^# \{0,1\}//; 2,17p' "$script/$(basename "$0")" >&2; exit 2; }
dry=
words=()
for word in "$@"; do
  case "$word" in
    --dry-run) dry=yes ;;
    -*) usage ;;
    *) words+=("$word") ;;
  esac
done
[ ${#words[@]} -ge 2 ] && [ ${#words[@]} -le 3 ] || usage
part=${words[0]}
case "$part" in A) minutes=7 ;; B | C) minutes=8 ;; *) usage ;; esac
mkdir -p "${words[1]}" || exit 2
out=$(cd "${words[1]}" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
end=$((SECONDS + 60 * minutes))
export COLDPRESS_CACHE=$scratch/cache  # for what NVRTC compiles

# The program.
folder=${words[2]-}
if [ -f "$folder" ]; then
  tar -xf "$folder" -C "$scratch" || { echo "gpu-check: $folder cannot be unpacked" >&2; exit 2; }
  folder=$scratch
elif [ -z "$folder" ]; then
  for folder in "$script" "$script/../build/gpu-check/benchmarks/gpu_check"; do
    [ ! -x "$folder/coldpress-gpu-check" ] || break
  done
fi
program=$folder/coldpress-gpu-check
[ -x "$program" ] || { echo "gpu-check: there is no program $program; scripts/gpu-pack.sh makes it" >&2; exit 2; }
pytorch=$script/pytorch.py
[ -f "$pytorch" ] || pytorch=$script/../benchmarks/pytorch.py

# Places where cuDNN, cuBLASLt and NVRTC may be: beside the program, then in pip's packages, then in the toolkit.
libraries=$folder
found=$(python3 - 2>/dev/null <<'PYTHON'
import glob, os, site, sys
places = [*sys.path, *site.getsitepackages(), site.getusersitepackages()]
folders = [f for p in dict.fromkeys(places) for f in sorted(glob.glob(os.path.join(p, "nvidia", "*", "lib")))]
wanted = ("libcudnn.so*", "libcublasLt.so*", "libnvrtc.so*", "libcudart.so*")
print(":".join(f for f in folders if any(glob.glob(os.path.join(f, name)) for name in wanted)))
PYTHON
) || found=
[ -z "$found" ] || libraries+=:$found
for place in /usr/local/cuda/lib64 /usr/local/cuda/lib; do
  [ ! -d "$place" ] || libraries+=:$place
done
has_nvrtc=
for place in ${libraries//:/ }; do
  [ ! -e "$place/libnvrtc.so.13" ] || has_nvrtc=yes
done
! ldconfig -p 2>/dev/null | grep -q 'libnvrtc\.so\.13' || has_nvrtc=yes
run() { exec env LD_LIBRARY_PATH="$libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" "$program" "$@"; }

device=cuda:0
[ -z "$dry" ] || device=cuda:emulated
export COLDPRESS_TEST_DEVICE=$device
summary=$out/$part.md
log=$out/$part.log
numbers=$out/$part.tsv
[ "$part" != C ] || numbers=/dev/null
: >"$summary"; : >"$log"; : >"$numbers"
say() { printf '%s\n' "$*" | tee -a "$summary"; }
output=$scratch/output
fail() { : >"$scratch/failed"; }  # a file, since some checks are made by subshells

# Runs a command with a limit of SECONDS and of the part's remaining time. Its output goes to $output and to the log.
bounded() {  # SECONDS COMMAND...
  local seconds=$1 left=$((end - SECONDS - 8)) status=0
  shift
  [ "$seconds" -le "$left" ] || seconds=$left
  [ "$seconds" -le "${GPU_CHECK_LIMIT:-$seconds}" ] || seconds=$GPU_CHECK_LIMIT
  if [ "$left" -lt 5 ]; then
    echo "no time was left for it" >"$output"
    status=125
  else
    timeout -k 5 "$seconds" bash -c '"$@"' bash "$@" >"$output" 2>&1 || status=$?
  fi
  printf '\n== %s (at most %d s)\n%s\n== status %d\n' "$*" "$seconds" "$(tail -c 200000 "$output")" "$status" >>"$log"
  return "$status"
}
# The program is called through bash, so that one limit applies to all of its processes.
export -f run
export libraries program

check() {  # NAME SECONDS COMMAND...
  local name=$1 seconds=$2 start=$SECONDS status=0 verdict
  shift 2
  bounded "$seconds" "$@" || status=$?
  case "$status" in
    0) verdict=passed ;;
    124 | 137) verdict="FAILED: not done in time"; fail ;;
    125) verdict="LEFT OUT: no time"; fail ;;
    *) verdict="FAILED ($status)"; fail ;;
  esac
  printf '%s\t%s\t%d\t%d\n' check "$name" "$status" $((SECONDS - start)) >>"$numbers"
  say "- $verdict, $((SECONDS - start)) s: $name"
  [ "$status" -eq 0 ] || note 6 'FAILED:|REQUIRE|CHECK|error|due to|with message'
}
skip() { say "- skipped: $1: $2"; }
note() {  # COUNT PATTERN: adds up to COUNT lines of the output that match PATTERN to the summary
  grep -aE "$2" "$output" | head -"$1" | sed 's/^ */  - /' | tee -a "$summary"
}

say "# GPU check, part $part${dry:+ (dry run on the emulated GPU)}"
say ""
if [ -z "$dry" ] && command -v nvidia-smi >/dev/null; then
  say "$(timeout -k 5 20 nvidia-smi --id=0 --format=csv,noheader \
    --query-gpu=name,driver_version,clocks.sm,clocks.max.sm,clocks.mem,memory.total,power.limit 2>&1 | head -1)"
fi
if ! bounded 60 run bench --path dynamic --backend "$device" --workload none; then
  say "The program does not start on $device: $(tail -1 "$output")"
  exit 2
fi
if bounded 60 run libraries; then has_libraries=yes; else has_libraries=; fi
say "cuDNN and cuBLASLt: $(tail -1 "$output")"
say ""

# A test of coldpress-gpu-check. A dry run is limited to the named cases, if any are named, since emulation takes long.
check_test() {  # NAME SECONDS TEST [CASES-OF-A-DRY-RUN]
  if [ -n "$dry" ] && [ -n "${4-}" ]; then check "$1" "$2" run "$3" "$4"; else check "$1" "$2" run "$3"; fi
}
part_a() {
  check_test "barriers: a cluster of 16 and cooperative launches" 60 cuda.barriers
  note 20 "a round"
  check_test "networks that are types, with clusters and without" 60 cuda.static_networks "a static network makes*"
  export COLDPRESS_CUDA_CLUSTERS=0
  check_test "the same where no device has clusters" 60 cuda.static_networks "steps of a static network*"
  unset COLDPRESS_CUDA_CLUSTERS
  check_test "networks against the reference, minibatches up to 512" 170 cuda.networks "a small network*,products are*"
  check_test "graphs, losses, optimizers, streams, files" 90 cuda.graphs "every loss*,every optimizer*,streams go on*,what is trained*"
  check_test "passes as graphs, nothing waits in a step" 60 cuda.steps
  check_test "tensors from layer to layer and between streams" 60 cuda.tensors
  check_test "minibatches that stay on the GPU" 40 cuda.resident
  if [ -n "$has_libraries" ]; then
    check_test "products by cuDNN and cuBLASLt" 90 cuda_libs.networks "steps with libraries*,gradients are added*"
    check_test "recurrent layers by cuDNN" 60 cuda_libs.recurrent "a backward pass*,weights are where*"
    note 2 "packed weights of"
    check_test "poolings by cuDNN" 40 cuda_libs.pooling
  else
    skip "products, recurrent layers and poolings by libraries" "cuDNN 9 and cuBLASLt 13 were not found"
  fi
  if [ -n "$dry" ]; then
    skip "sanitizers, and passes that NVRTC compiles" "a dry run has no GPU"
    return
  fi
  # These take long, and most of it on the host: all at the same time.
  if command -v compute-sanitizer >/dev/null; then
    for tool in memcheck racecheck synccheck initcheck; do
      (output=$output.$tool.0; check "$tool of a small network" 200 sanitize "$tool" cuda.networks "a small network*") &
      (output=$output.$tool.1; check "$tool of networks that are types" 200 sanitize "$tool" cuda.static_networks "a static network makes*") &
    done
  else
    skip "memcheck, racecheck, synccheck, initcheck" "there is no compute-sanitizer"
  fi
  if [ -n "$has_nvrtc" ]; then
    (output=$output.fused; check "networks from configs as one kernel a pass, by NVRTC" 200 run cuda.fused) &
  else
    skip "networks from configs as one kernel a pass" "libnvrtc.so.13 was not found"
  fi
  wait
}
sanitize() {  # TOOL TEST CASES
  exec env LD_LIBRARY_PATH="$libraries" compute-sanitizer --tool "$1" --error-exitcode 9 "$program" "$2" "$3"
}
export -f sanitize

workloads=T1,T2,T3,T4,T5,T6,I1,I4,I6
seconds=0.25
[ -z "$dry" ] || { workloads=T4,T5,I1; seconds=0.02; }
# Columns: library, workload, mode, us by the host's clock, us by the GPU's events.
measure() {  # LIMIT PATH WORKLOADS DATA HOST [ARGUMENTS]
  local limit=$1 path=$2 of=$3 data=$4 host=$5
  shift 5
  bounded "$limit" run bench --path "$path" --backend "$device" --seconds "$seconds" --workload "$of" --data "$data" \
    --host "$host" "$@" || { say "FAILED: $path, $data, $host $*: $(tail -1 "$output")"; fail; }
  awk -F'\t' -v OFS='\t' '$1 == "coldpress" { print $1, $2, $6, $4, $7 }' "$output" | tee -a "$numbers" >"$scratch/rows"
  awk -F'\t' '{ printf "| %s | %s | %s | %s |\n", $2, $3, $4, $5 == 0 ? "-" : $5 }' "$scratch/rows" | tee -a "$summary"
  grep -a ' loss ' "$output" | sed "s/^/$path, $data\t/" >>"$scratch/losses"
}
part_b() {
  local path data host
  : >"$scratch/losses"
  say "Times are medians in us: by the host's clock of a call, and by the GPU's events of a launch."
  say ""
  say "| Workload | How | Host | GPU |"
  say "| --- | --- | --- | --- |"
  bounded 60 run bench --path static --backend cpu --seconds 0.01 --workload "$workloads" || true
  grep -a ' loss ' "$output" | sed "s/^/cpu\t/" >>"$scratch/losses"
  for data in resident uploaded; do
    for host in pipelined waited; do
      measure 60 static "$workloads" "$data" "$host"
      measure 60 dynamic "$workloads" "$data" "$host"
      [ -z "$has_libraries" ] || measure 60 libraries "$workloads" "$data" "$host"
    done
  done
  for path in T1 T4 T5; do
    [ -n "$dry" ] || measure 20 static "$path" uploaded pipelined --together 8
  done
  if [ -n "$dry" ]; then
    if python3 -c 'import torch' 2>/dev/null; then
      bounded 60 python3 "$pytorch" --device cpu --seconds 0.02 T4 || { say "FAILED: PyTorch, $(tail -1 "$output")"; fail; }
    else
      say "skipped: there is no PyTorch"
    fi
  elif python3 -c 'import torch; assert torch.cuda.is_available()' 2>/dev/null; then
    bounded 170 python3 "$pytorch" --seconds 0.2 --until 160 ||
      { say "FAILED: PyTorch, $(tail -1 "$output")"; fail; }
    awk -F'\t' -v OFS='\t' '$1 ~ /^pytorch [0-9]/ { print $1, $2, $3, $4, $6 }' "$output" | tee -a "$numbers" |
      awk -F'\t' '{ printf "| %s | %s, %s | %s | %s |\n", $2, $1, $3, $4, $5 }' | tee -a "$summary"
  else
    say "skipped: there is no PyTorch that sees the GPU"
  fi
  # NVRTC takes seconds for each pass; what it has compiled for one condition is reused for the next.
  if [ -n "$dry" ] || [ -z "$has_nvrtc" ]; then
    say "skipped: passes that NVRTC compiles, $([ -n "$dry" ] && echo "for which a dry run has no GPU" || echo "since libnvrtc.so.13 was not found")"
  else
    measure 100 fused T1,T4,I1,I6,T5 resident pipelined
    measure 30 fused T1,T4,I1,I6,T5 uploaded waited
  fi
  say ""
  say "Losses after 21 steps, beside the CPU's:"
  awk -F'\t' '{ split($2, w, " "); loss[$1 "\t" w[1]] = w[5]; if ($1 != "cpu") of[$1 "\t" w[1]] = w[1] }
    END { for (key in of) { here = loss[key]; there = loss["cpu\t" of[key]]; count++
        off = (here - there) / (there == 0 ? 1 : there); if (off < 0) off = -off
        if (there == "" || !(off <= 1e-3)) { bad++; split(key, k, "\t"); printf "FAILED: %s of %s: %s, the CPU has %s\n", k[1], k[2], here, there } }
      printf "%d of %d agree to 1e-3\n", count - bad, count; exit bad > 0 }' "$scratch/losses" >"$scratch/agree" || fail
  tee -a "$summary" <"$scratch/agree"
}

part_c() {
  local workload
  if [ -z "$dry" ] && ! command -v ncu >/dev/null; then
    say "skipped: there is no ncu (Nsight Compute)"
    return
  fi
  for workload in T1 T2 T4 T5; do
    [ -z "$dry" ] || case "$workload" in T1 | T2) continue ;; esac
    say "## $workload"
    say ""
    if [ -n "$dry" ]; then
      bounded 100 run bench --path static --backend "$device" --seconds 0.02 --workload "$workload" --data resident
    else
      bounded 110 profile "$workload"
    fi || { say "FAILED: $(grep -aE '==(ERROR|WARNING)==' "$output" | head -2)"; fail; }
    if [ -n "$dry" ]; then
      awk -F'\t' '$1 == "coldpress" { print $2 ": " $4 " us on the host" }' "$output" | tee -a "$summary"
      continue
    fi
    say '```'
    grep -aE '^ +(Duration|SM Frequency|Elapsed Cycles|Registers Per Thread|Executed Ipc Active|Issue Slots Busy|No Eligible|One or More Eligible|L1/TEX Hit Rate|L2 Hit Rate|Memory Throughput|Compute \(SM\) Throughput|Grid Size|Cluster Size|Achieved Occupancy|Bank conflicts|Warp Cycles Per Issued Instruction)' \
      "$output" | tee -a "$summary"
    say '```'
  done
}
profile() {  # WORKLOAD
  exec env LD_LIBRARY_PATH="$libraries" ncu --set full --clock-control none --launch-skip 15 --launch-count 1 --kernel-name regex:run \
    --page details "$program" bench --path static --backend cuda:0 --seconds 0.01 --workload "$1" --data resident
}
export -f profile

case "$part" in
  A) part_a ;;
  B) part_b ;;
  C) part_c ;;
esac
say ""
if [ -e "$scratch/failed" ]; then verdict="has FAILED checks"; else verdict=passed; fi
say "Part $part $verdict, after $SECONDS s of at most $((60 * minutes))."
[ "$verdict" = passed ]
