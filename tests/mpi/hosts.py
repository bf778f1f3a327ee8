#!/usr/bin/env python3
"""Runs a program on two hosts with a slow link between them, one process on each: network namespaces of this machine, joined by a
veth pair that a token bucket limits. It needs root, iproute2 and Open MPI, and says so where it cannot run.

Usage: tests/mpi/hosts.py [--mpirun mpirun] [--rate 100mbit] PROGRAM [ARGUMENT ...]
For example: tests/mpi/hosts.py build/release/benchmarks/scaling/coldpress-scaling
"""
import argparse
import contextlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_hwloc_base_binding_policy="none",
                   OPENBLAS_NUM_THREADS="1")
SUBNET = "10.213.77"
# What mpirun calls instead of ssh: HOST COMMAND ..., of which the shell of the host makes one line.
AGENT = """#!/bin/sh
while [ "${{1#-}}" != "$1" ]; do shift; done
shift
exec ip netns exec {space} unshare --uts sh -c "hostname {space}; $*"
"""


def skip(why):
    print(f"skipped: {why}")
    sys.exit(0)


def ip(*arguments):
    subprocess.run(["ip", *arguments], check=True, capture_output=True, text=True)


@contextlib.contextmanager
def two_hosts(rate):
    """The names of two namespaces, in which there are SUBNET.1 and SUBNET.2."""
    spaces = [f"cp{os.getpid()}{end}" for end in "ab"]
    made = []
    try:
        try:
            for space in spaces:
                ip("netns", "add", space)
                made.append(space)
            ip("link", "add", "wire", "netns", spaces[0], "type", "veth", "peer", "name", "wire", "netns", spaces[1])
            for number, space in enumerate(spaces, 1):
                ip("-n", space, "address", "add", f"{SUBNET}.{number}/24", "dev", "wire")
                for device in ["lo", "wire"]:
                    ip("-n", space, "link", "set", device, "up")
                subprocess.run(["tc", "-n", space, "qdisc", "add", "dev", "wire", "root", "tbf", "rate", rate, "burst", "32kb", "latency",
                                "400ms"], check=True, capture_output=True, text=True)
                ip("netns", "exec", space, "unshare", "--uts", "hostname", space)  # as they are to be called
        except subprocess.CalledProcessError as error:
            skip(f"{' '.join(error.cmd)}: {error.stderr.strip()}")
        yield spaces
    finally:
        for space in made:
            subprocess.run(["ip", "netns", "delete", space])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mpirun", default="mpirun", help="Open MPI's")
    parser.add_argument("--rate", default="100mbit", help="of the link, in each direction, as tc takes it")
    parser.add_argument("program", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    if not options.program:
        parser.error("which program?")
    missing = [tool for tool in ["ip", "tc", "unshare", options.mpirun] if not shutil.which(tool)]
    if missing:
        skip(f"there is no {', no '.join(missing)}")
    if os.geteuid() != 0:
        skip("only root makes network namespaces")
    if "Open MPI" not in subprocess.run([options.mpirun, "--version"], capture_output=True, text=True).stdout:
        skip(f"{options.mpirun} is not Open MPI's")
    with two_hosts(options.rate) as (here, there), tempfile.TemporaryDirectory() as folder:
        agent = pathlib.Path(folder) / "agent"
        agent.write_text(AGENT.format(space=there))
        agent.chmod(0o755)
        settings = {"plm_rsh_agent": agent, "btl": "tcp,self", "btl_tcp_if_include": f"{SUBNET}.0/24", "oob_tcp_if_include": f"{SUBNET}.0/24"}
        mpirun = [options.mpirun, "--host", f"{SUBNET}.1:1,{SUBNET}.2:1", "-n", "2"]
        for name, value in settings.items():
            mpirun += ["--mca", name, str(value)]
        command = ["ip", "netns", "exec", here, "unshare", "--uts", "sh", "-c", 'hostname "$0"; exec "$@"', here]
        return subprocess.run(command + mpirun + options.program, env=ENVIRONMENT).returncode


if __name__ == "__main__":
    sys.exit(main())
