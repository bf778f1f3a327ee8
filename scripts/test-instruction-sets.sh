#!/usr/bin/env bash
# Builds the kernels and their laws for other instruction sets than this machine's best, and runs them: x86-64-v2 and v3
# directly, 64-bit Arm by qemu-user.
# Usage: scripts/test-instruction-sets.sh [v2 v3 arm64 ...]     default: all three
set -euo pipefail
cd "$(dirname "$0")/.."

if [ $# -eq 0 ]; then
  set -- v2 v3 arm64
fi
[[ " $* " != *" arm64 "* ]] || scripts/install-deps.sh --with-arm64
for preset in "$@"; do
  cmake --preset "$preset"
  cmake --build --preset "$preset"
  status=0
  ctest --preset "$preset" --parallel "$(nproc)" || status=$?
  scripts/skipped.sh "build/$preset"
  [ "$status" -eq 0 ] || exit "$status"
done
