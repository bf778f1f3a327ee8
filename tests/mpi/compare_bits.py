#!/usr/bin/env python3
"""Trains T1, T2, T3, T5 and a residual network, as types and from configs, on several numbers of processes, and resumes each on
another number in the middle. The checkpoints, with all weights and optimizer states, must have the sha256 of those of one process.

Usage: tests/mpi/compare_bits.py PROGRAM [--mpirun mpirun] [--ranks 2 3 4 8] [--steps 100]
For example: tests/mpi/compare_bits.py build/release/tests/mpi/test_mpi_workloads
"""
import argparse
import hashlib
import os
import pathlib
import subprocess
import sys
import tempfile

ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OPENBLAS_NUM_THREADS="1",
                   OMPI_MCA_rmaps_base_oversubscribe="1", OMPI_MCA_hwloc_base_binding_policy="none")


def train(options, folder, ranks, steps, begin=None):
    """The sha256 of each file that so many processes have written."""
    folder.mkdir()
    launcher = [options.mpirun, "-n", str(ranks)] if ranks > 1 else []
    done = subprocess.run(launcher + [options.program, str(folder), str(steps)] + ([str(begin)] if begin else []), env=ENVIRONMENT,
                          capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{ranks} processes:\n{done.stdout}{done.stderr}")
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in sorted(folder.iterdir())}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--mpirun", default="mpirun", help="of the MPI that the program was built with")
    parser.add_argument("--ranks", type=int, nargs="+", default=[2, 3, 4, 8])
    parser.add_argument("--steps", type=int, default=100)
    options = parser.parse_args()
    half, numbers = options.steps // 2, sorted({1, *options.ranks})
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name)
        halves = {ranks: train(options, root / f"half-{ranks}", ranks, half) for ranks in numbers}
        found = {str(ranks): train(options, root / str(ranks), ranks, options.steps) for ranks in numbers}
        for before, after in zip(numbers, numbers[1:] + numbers[:1]):
            found[f"{before} then {after}"] = train(options, root / f"{before}-{after}", after, options.steps, root / f"half-{before}")
            if halves[before] != halves[1]:
                sys.exit(f"after {half} steps, {before} processes do not have the bits of one")
    alone = found["1"]
    wrong = 0
    for file, digest in alone.items():
        differ = [which for which, files in found.items() if files.get(file) != digest]
        wrong += bool(differ)
        print(f"{file:16} {digest[:16]}  " + (f"DIFFERS on {', '.join(differ)}" if differ else "the same on all"))
    print(f"{options.steps} steps on {', '.join(found)} processes: {len(alone) - wrong} of {len(alone)} files have the same bits on all")
    return wrong != 0 or not alone


if __name__ == "__main__":
    sys.exit(main())
