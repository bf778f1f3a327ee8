#!/usr/bin/env bash
# Installs what is missing, builds everything and runs the tests.
# Usage: scripts/test.sh [PRESET [CTEST ARGUMENTS]]     the presets are in CMakePresets.json; default: test
#        scripts/test.sh --for HEADER ...               only the tests of these headers, in the preset dev: --for layers/relu
# The preset nightly has what test leaves out because it takes long: optimised tests with kernels that are compiled in, more shapes
# for each law, and each header by itself.
set -euo pipefail
cd "$(dirname "$0")/.."

# A header's own tests, or those of its folder if it has none.
tests_for() {  # HEADER
  local header=${1#include/coldpress/} found
  header=${header%.hpp}
  found=$(find tests -path "tests/$header.cpp" -o -path "tests/${header}_*.cpp")
  [ -n "$found" ] || found=$(find "tests/$(dirname "$header")" -maxdepth 1 -name '*.cpp')
  sed 's|^tests/||; s|\.cpp$||; s|/|.|g' <<<"$found"
}
if [ "${1-}" = --for ]; then
  shift
  names=()
  for header in "$@"; do
    mapfile -t -O "${#names[@]}" names < <(tests_for "$header")
  done
  [ "${#names[@]}" -gt 0 ] || { sed -n 's/^# \{0,1\}//; 2,6p' "$0" >&2; exit 2; }
  scripts/install-deps.sh
  [ -f build/dev/build.ninja ] || cmake --preset dev
  targets=("${names[@]//./_}")
  cmake --build --preset dev --target "${targets[@]/#/test_}"
  ctest --preset dev --parallel "$(nproc)" -R "^($(IFS='|'; printf '%s' "${names[*]//./\\.}"))\$"
  exit
fi

preset=test
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
