#!/usr/bin/env python3
"""Kills or stops a random rank of `mpirun coldpress train` at random moments. Each run must fail, leave no process, and have a whole
checkpoint, from which two ranks come to the bits of a run that nobody disturbed.

Usage: tests/mpi/disturb.py COMMAND CONFIG DATA [--signal KILL|STOP] [--times 50] [--seed 1]
For example: tests/mpi/disturb.py build/release/tools/coldpress examples/configs/mnist-mlp.capnp.txt mnist:DIR --signal STOP
"""
import argparse
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import time

LIMIT = 2  # seconds for which a rank waits for another
ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                   OMPI_MCA_rmaps_base_oversubscribe="1", OMPI_MCA_hwloc_base_binding_policy="none")


def parent_of(process):
    """0 if the process has ended."""
    try:
        state, parent = pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[:2]
    except OSError:
        return 0
    return 0 if state == "Z" else int(parent)


def children_of(process):
    return sorted(int(p.name) for p in pathlib.Path("/proc").glob("[0-9]*") if parent_of(p.name) == process)


def run(arguments):
    done = subprocess.run(arguments, env=ENVIRONMENT, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(arguments)}\n{done.stderr}")
    return done.stdout


def disturb(options, folder):
    """The seconds until the run has ended, and what is wrong with how it has."""
    checkpoint, net = folder / "checkpoint", folder / "net"
    checkpoint.unlink(missing_ok=True)
    begin = [options.command, "train", "--config", options.config, "--data", options.data, "--set", "solver.microbatch=16",
             "--epochs", "1000000", "--save", str(net)]
    ranks = random.choice([2, 3])
    training = subprocess.Popen(["mpirun", "-n", str(ranks)] + begin + ["--checkpoint", str(checkpoint), "--checkpoint-every", "20",
                                "--rank-timeout", str(LIMIT)], env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while not checkpoint.exists():
        time.sleep(0.01)
    time.sleep(random.random())
    processes = children_of(training.pid)
    os.kill(random.choice(processes), getattr(signal, "SIG" + options.signal))
    start = time.monotonic()
    code = training.wait()
    seconds = time.monotonic() - start
    time.sleep(0.2)  # until the system has taken them away
    wrong = [] if code != 0 else ["it has succeeded"]
    wrong += [f"process {process} is left" for process in processes if parent_of(process) != 0]
    steps = int(re.search(r"(\d+) steps?: \d", run([options.command, "inspect", str(checkpoint)]))[1]) + 10
    run(["mpirun", "-n", "2", options.command, "train", "--resume", str(checkpoint), "--data", options.data, "--epochs", "1000000",
         "--steps", str(steps), "--save", str(net)])
    resumed = net.read_bytes()
    run(begin + ["--steps", str(steps)])
    if net.read_bytes() != resumed:
        wrong.append(f"the bits after {steps} steps differ")
    return seconds, wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ["command", "config", "data"]:
        parser.add_argument(name)
    parser.add_argument("--signal", choices=["KILL", "STOP"], default="KILL")
    parser.add_argument("--times", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    random.seed(options.seed)
    worst, right = 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for time_ in range(options.times):
            seconds, wrong = disturb(options, pathlib.Path(folder))
            worst, right = max(worst, seconds), right + (not wrong)
            for what in wrong:
                print(f"run {time_}: {what}")
    print(f"SIG{options.signal}: {right} of {options.times} runs ended as they should, after at most {worst:.1f} s (limit: {LIMIT} s)")
    return right != options.times


if __name__ == "__main__":
    sys.exit(main())
