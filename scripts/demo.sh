#!/usr/bin/env bash
# Installs what is missing, builds the forecast example and runs it. The results are in build/demo.
# Usage: scripts/demo.sh [ARGUMENTS OF THE EXAMPLE]
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/install-deps.sh
cmake --preset release -D COLDPRESS_BUILD_TESTS=OFF -D COLDPRESS_BUILD_BENCHMARKS=OFF -D COLDPRESS_BUILD_TOOLS=OFF
cmake --build --preset release --target forecast

mkdir -p build/demo
build/release/examples/forecast --output build/demo "$@"

echo
for picture in build/demo/*.svg; do
  [ -e "$picture" ] || { echo "demo: the example wrote no picture" >&2; exit 1; }
  echo "Forecast against truth: $PWD/$picture"
done
