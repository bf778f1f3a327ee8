#!/usr/bin/env bash
# Tests what gpu-check.sh reports for a program that passes, fails, hangs or ignores signals, with a fake that does so on request.
# Usage: test_script.sh GPU-CHECK.SH
set -euo pipefail
check=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat >"$folder/coldpress-gpu-check" <<'PROGRAM'
#!/usr/bin/env bash
case "$1 $FAKE" in
  libraries*) echo "libcudnn.so.9: cannot open shared object file"; exit 1 ;;
  bench*" absent") echo "'cuda:emulated': no NVIDIA driver is loaded" >&2; exit 1 ;;
  bench*)
    while [ $# -gt 1 ]; do
      case "$2" in
        --workload) workloads=$3 ;;
        --path) path=$3 ;;
        --data) data=$3 ;;
        --host) host=$3 ;;
      esac
      shift 2
    done
    loss=0.5
    [ "$FAKE $path" != "wrong dynamic" ] || loss=0.6
    for workload in ${workloads//,/ }; do
      [ "$workload" != none ] || exit 0
      echo "$workload loss 1 -> $loss" >&2
      printf 'coldpress\t%s\t1\t12.5\t12\t%s, %s, %s\t7.5\n' "$workload" "$path" "$data" "$host"
    done ;;
  "cuda.graphs hangs") trap '' TERM; while :; do sleep 1; done ;;
  "cuda.steps fails") echo "steps.cpp:7: FAILED:"; exit 4 ;;
esac
PROGRAM
chmod +x "$folder/coldpress-gpu-check"

failed=0
# FAKE STATUS PART PATTERN...: each pattern must be in what is printed, and in the part's summary.
expect() {
  local wanted=$2 part=$3 status=0
  FAKE=$1 GPU_CHECK_LIMIT=3 "$check" "$part" "$folder/out" "$folder" --dry-run >"$folder/printed" 2>&1 || status=$?
  [ "$status" -eq "$wanted" ] || { echo "$1, part $part: the status is $status, not $wanted" >&2; failed=1; }
  shift 3
  for pattern in "$@"; do
    for file in "$folder/printed" "$folder/out/$part.md"; do
      grep -qE -- "$pattern" "$file" || { echo "part $part: $(basename "$file") has no '$pattern':" >&2; cat "$file" >&2; failed=1; }
    done
  done
}
expect passes 0 A "^- passed, .*: graphs" "^- skipped: .*cuDNN 9" "Part A passed"
expect hangs 1 A "^- FAILED: not done in time, .*: graphs" "^- passed, .*: tensors" "Part A has FAILED"
expect fails 1 A "^- FAILED \(4\), .*: passes as graphs" "^  - steps.cpp:7: FAILED:"
expect absent 2 A "does not start on cuda:emulated: .*no NVIDIA driver"
expect passes 0 B "^\| T4 \| static, resident, pipelined \| 12.5 \| 7.5 \|" "12 of 12 agree"
expect wrong 1 B "FAILED: dynamic, resident of T4: 0.6, the CPU has 0.5"
expect passes 0 C "## T4" "Part C passed"
files=$(find "$folder/out" -type f | wc -l)
[ "$files" -le 8 ] || { echo "$files files are left, of at most 8" >&2; failed=1; }
exit "$failed"
