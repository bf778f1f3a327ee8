#!/usr/bin/env bash
# coldpress beside emlearn on a Cortex-M4: the same dense networks, their size, memory and instructions under qemu.
# Usage: benchmarks/embedded/emlearn.sh [COLDPRESS [FLAG ...]]
#   COLDPRESS  the command (build/release/tools/coldpress)
#   FLAG       for the compiler, after those of cortex_m4.flags: -Os, -ffp-contract=fast, --specs=nano.specs
# Needs what scripts/install-deps.sh --with-arm installs. emlearn and scikit-learn are installed in build/emlearn, a virtual environment.
set -euo pipefail
cd "$(dirname "$0")/../.."

skip() {
  echo "skipped: $1"
  exit 0
}
command=${1:-build/release/tools/coldpress}
[ -x "$command" ] || skip "there is no command $command (cmake --build --preset release --target coldpress_command)"
for tool in arm-none-eabi-gcc arm-none-eabi-g++ qemu-system-arm; do
  command -v "$tool" >/dev/null || skip "it needs $tool (scripts/install-deps.sh --with-arm)"
done
python=build/emlearn/bin/python
if ! "$python" -c 'import emlearn, numpy, sklearn' 2>/dev/null; then
  { python3 -m venv build/emlearn && "$python" -m pip install --quiet --disable-pip-version-check emlearn scikit-learn numpy; } ||
    skip "emlearn, scikit-learn and numpy cannot be installed in build/emlearn"
fi
exec "$python" benchmarks/embedded/beside_emlearn.py "$command" "${@:2}"
