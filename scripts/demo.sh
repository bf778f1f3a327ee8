#!/usr/bin/env bash
# Installs what is missing, builds the forecast example and runs it. The results are in build/demo.
# Usage: [PRESET=NAME] scripts/demo.sh [ARGUMENTS OF THE EXAMPLE]    default: test, which scripts/test.sh then goes on building
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/install-deps.sh
preset=${PRESET:-test}
cmake --preset "$preset"
cmake --build --preset "$preset" --target forecast

mkdir -p build/demo
"build/$preset/examples/forecast" --output build/demo "$@"

echo
for picture in build/demo/*.svg; do
  [ -e "$picture" ] || { echo "demo: the example wrote no picture" >&2; exit 1; }
  echo "Forecast against truth: $PWD/$picture"
done
