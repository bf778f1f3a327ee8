#!/usr/bin/env bash
# Builds the network of tests/embedded for a Cortex-M4, prints its size, and counts the instructions of a step under qemu.
# Usage: benchmarks/embedded/count.sh     needs what scripts/install-deps.sh --with-arm installs
set -euo pipefail
cd "$(dirname "$0")/../.."

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
hana=$(echo '#include <boost/hana.hpp>' | c++ -x c++ -std=c++20 -M - | tr ' ' '\n' | sed -n 's|/boost/hana.hpp$||p')
ln -s "$hana/boost" "$folder/boost"
arm-none-eabi-g++ @benchmarks/embedded/cortex_m4.flags -nostartfiles -Wl,--gc-sections -isystem "$folder" -I include \
  -I tests/embedded -T tests/embedded/board.ld tests/embedded/board.cpp benchmarks/embedded/count.cpp -o "$folder/count.elf"
arm-none-eabi-size "$folder/count.elf"
arm-none-eabi-nm --print-size --radix=d "$folder/count.elf" |
  awk '/ _ZN8embeddedL7weightsE$/ { print "weights " $2 + 0 " bytes" } / _ZL3net$/ { print "network " $2 + 0 " bytes" }'
qemu-system-arm -machine mps2-an386 -nographic -icount shift=0 -semihosting -kernel "$folder/count.elf" 2>&1
