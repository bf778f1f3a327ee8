#!/usr/bin/env python3
"""Times inference of models of PyTorch: coldpress from Python and from C++, onnxruntime, and PyTorch, on one core.

Usage: taskset -c CORE benchmarks/inference.py --command build/release/tools/coldpress [--seconds S] [--rounds N] [MODEL ...]
Needs PyTorch, torchvision for ResNet-18, onnxruntime and the package coldpress (PYTHONPATH=build/release/python). Each model
is exported by PyTorch to ONNX, with a batch axis of any size, the file that onnxruntime and coldpress read. All get the same
minibatch; outputs of coldpress in Python and of onnxruntime that differ from PyTorch's by more than 1e-5 of the largest are
an error. The contenders are timed in turn, N times each; a time is the median over all rounds. From C++, `coldpress bench`
measures the same file and minibatch.
"""
import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")
import numpy
import onnxruntime
import torch
from torch import nn

import coldpress
from pytorch import lenet, mlp  # beside this file


def resnet18():
    import torchvision

    return torchvision.models.resnet18(weights=None)


# the workloads I1, I2 and I4 of coldpress-bench, and ResNet-18; the shape of a sample
MODELS = {
    "I1: 784-128-10": (lambda: mlp([784, 128, 10], nn.ReLU), (784,)),
    "I2: 17-64-64-6": (lambda: mlp([17, 64, 64, 6], nn.Tanh), (17,)),
    "I4: LeNet": (lenet, (1, 28, 28)),
    "ResNet-18": (resnet18, (3, 224, 224)),
}


def microseconds(call, seconds):
    """The median time of a call, where a time is the mean of calls that take a millisecond or longer together."""
    begin = time.perf_counter()
    call()
    calls = max(1, int(1e-3 / (time.perf_counter() - begin)))
    times, end = [], time.perf_counter() + seconds
    while time.perf_counter() < end or len(times) < 3:
        begin = time.perf_counter()
        for _ in range(calls):
            call()
        times.append((time.perf_counter() - begin) / calls * 1e6)
    return statistics.median(times)


def contenders(model, x, folder, command):
    """For each its name, and a function of the seconds to measure that returns microseconds."""
    path, given = os.path.join(folder, "model.onnx"), os.path.join(folder, "x.npy")
    torch.onnx.export(model, (x,), path, dynamo=False, input_names=["x"], output_names=["y"],
                      dynamic_axes={"x": {0: "n"}, "y": {0: "n"}})
    array = x.numpy()
    numpy.save(given, array)
    with torch.no_grad():
        expected = model(x).numpy()

    network = coldpress.load(path)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    compiled = torch.compile(model)

    def by_torch(module):
        with torch.no_grad():
            return module(x).numpy()

    def by_command(seconds):
        text = subprocess.run([command, "bench", "--model", path, "--batch", str(len(array)), "--input", given,
                               "--seconds", str(seconds)], check=True, capture_output=True, text=True).stdout
        return float(text.split(": ")[1].split(" us")[0])

    calls = {
        "coldpress, Python": lambda: network.predict(array),
        "onnxruntime": lambda: session.run(None, {"x": array})[0],
        "PyTorch": lambda: by_torch(model),
        "PyTorch, compiled": lambda: by_torch(compiled),
    }
    for name, call in calls.items():
        error = abs(call() - expected).max() / abs(expected).max()
        if not error <= 1e-5:
            sys.exit(f"{name}: outputs differ from PyTorch's by {error:.2g} of the largest, at most 1e-5 was expected")
    return {"coldpress, C++": by_command} | {name: lambda s, call=call: microseconds(call, s) for name, call in calls.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--command", default="build/release/tools/coldpress")
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("models", nargs="*", help="; ".join(MODELS))
    options = parser.parse_args()
    torch.set_num_threads(1)
    header = None
    for name, (make, shape) in MODELS.items():
        if options.models and not any(name.startswith(chosen) for chosen in options.models):
            continue
        torch.manual_seed(1)
        model = make().eval()
        for batch in (1, 32):
            with tempfile.TemporaryDirectory() as folder:
                all_of_them = contenders(model, torch.randn(batch, *shape), folder, options.command)
                found = {contender: [] for contender in all_of_them}
                for _ in range(options.rounds):
                    for contender, measure in all_of_them.items():
                        found[contender].append(measure(options.seconds))
            times = {contender: statistics.median(values) for contender, values in found.items()}
            if header is None:
                header = ["Model", "samples", *(f"{contender}, us" for contender in times), "C++ / onnxruntime"]
                print("| " + " | ".join(header) + " |\n|" + "---|" * len(header))
            row = [name, str(batch), *(f"{t:.4g}" for t in times.values()),
                   f"{times['coldpress, C++'] / times['onnxruntime']:.2f}"]
            print("| " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    main()
