#!/usr/bin/env bash
# Compares training from files that are larger than the memory allowed, HDF5 and .npy, with training from memory.
# Usage: benchmarks/data/hdf5.sh [COMMAND] [MEGABYTES] [ROUNDS]
#   COMMAND    the command coldpress; default: build/release/tools/coldpress
#   MEGABYTES  the address space that training from files may use; default: 400. The data has 4 times as much.
#   ROUNDS     how often each training is run, in turn; default: 3
# Needs python3 with h5py and numpy, and room for twice the data in the folder for temporary files.
set -euo pipefail

command=$(realpath "${1:-build/release/tools/coldpress}")
megabytes=${2:-400}
rounds=${3:-3}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

python=python3
$python -c 'import h5py' 2>/dev/null || python=/usr/bin/python3
$python - "$megabytes" <<'PYTHON'
import sys
import h5py
import numpy

count = 4 * int(sys.argv[1]) * 2**20 // (4 * 784) // 1024 * 1024
random = numpy.random.default_rng(1)
x = numpy.lib.format.open_memmap("x.npy", "w+", "f4", (count, 784))
y = numpy.lib.format.open_memmap("y.npy", "w+", "f4", (count,))
with h5py.File("plain.h5", "w") as plain, h5py.File("gzip.h5", "w") as compressed:
    files = [(plain, {}), (compressed, {"chunks": (256, 784), "compression": "gzip", "compression_opts": 1})]
    for file, how in files:
        file.create_dataset("data", (count, 784), "f4" if file is plain else "u1", **how)
        file.create_dataset("label", (count,), "f4")
    for first in range(0, count, 1024):
        # As many zeros as in pictures of digits.
        pixels = random.integers(0, 256, (1024, 784), "u1") * (random.random((1024, 784)) < 0.2)
        labels = random.integers(0, 10, 1024)
        x[first:first + 1024], y[first:first + 1024] = pixels, labels
        for file, _ in files:
            file["data"][first:first + 1024], file["label"][first:first + 1024] = pixels, labels
print(f"{count} samples of 784 values, {count * 784 * 4 / 2**20:.0f} MB as floats")
PYTHON
gzip -1 <x.npy >memory.npy.gz  # compressed arrays are held in memory

cat >config <<'CONFIG'
(network = (name = "net", layerType = (sequential = (layers = [
  (name = "fc1", layerType = (linear = (outputSize = 512))), (name = "relu1", layerType = (relu = void)),
  (name = "fc2", layerType = (linear = (outputSize = 512))), (name = "relu2", layerType = (relu = void)),
  (name = "fc3", layerType = (linear = (outputSize = 10))), (name = "scores", layerType = (logSoftmax = void))]))),
loss = (name = "loss", layerType = (negativeLogLikelihood = (numClasses = 10))),
solver = (baseLr = 1e-6), batch = 128, seed = 1)
CONFIG

train() {  # DATA [MEGABYTES]
  (if [ $# -gt 1 ]; then ulimit -v $((1024 * $2)); fi
    "$command" train --config config --data "$1" --save net | grep -oE "[0-9.]+k? samples/s|waited for data [0-9.]+ %" | tail -2 | tr '\n' ' ')
}
for round in $(seq "$rounds"); do
  printf 'round %s, from memory            %s\n' $round "$(train npy:memory.npy.gz,y.npy)"
  printf 'round %s, .npy in %s MB         %s\n' $round "$megabytes" "$(train npy:x.npy,y.npy "$megabytes")"
  printf 'round %s, HDF5 in %s MB, plain  %s\n' $round "$megabytes" "$(train hdf5:plain.h5 "$megabytes")"
  printf 'round %s, HDF5 in %s MB, gzip   %s\n' $round "$megabytes" "$(train hdf5:gzip.h5 "$megabytes")"
done
