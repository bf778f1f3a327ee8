#!/usr/bin/env bash
# Installs what is missing, builds everything and runs the tests.
# Usage: scripts/test.sh [PRESET [CTEST ARGUMENTS]]     the presets are in CMakePresets.json; default: release
set -euo pipefail
cd "$(dirname "$0")/.."

preset=release
if [ $# -gt 0 ]; then
  preset=$1
  shift
fi

scripts/install-deps.sh --with-clang
cmake --preset "$preset"
cmake --build --preset "$preset"
status=0
ctest --preset "$preset" --parallel "$(nproc)" "$@" || status=$?
scripts/skipped.sh "build/$preset"
exit "$status"
