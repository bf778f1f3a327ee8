#!/usr/bin/env python3
"""Exports whole networks as their users do, converts them, and compares what they compute with onnxruntime or Keras.

    pip install torch torchvision onnx onnxruntime onnxscript keras
    tests/convert/exported_models.py COMMAND [NAME...]

COMMAND is coldpress. Each network of PyTorch, with random weights, is exported by the older exporter, by the newer one,
and by the newer one with optimize=False; those of Keras are saved as .keras and .h5. The tables, which are those of
docs/pytorch.md and docs/keras.md, have the largest difference as a fraction of the largest output. Without the packages for one of them, it
is left out, and the script says so.
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import warnings

BOUND = 1e-5
os.environ.setdefault("KERAS_BACKEND", "torch")
warnings.filterwarnings("ignore")

try:
    import numpy as np
except ImportError as error:
    sys.exit(print(f"skipped: {error}"))


class Refused(Exception):
    pass


class Table:
    def __init__(self, command, title, columns, refused=()):
        self.command, self.refused, self.wrong = command, refused, []
        print(f"| {title} | {' | '.join(columns)} |\n|{'---|' * (len(columns) + 1)}")

    def call(self, *arguments):
        done = subprocess.run([self.command, *map(str, arguments)], capture_output=True, text=True)
        if done.returncode != 0:
            raise Refused(done.stderr.strip())

    def computed(self, model, x, options=()):
        """What the network of a file computes after it was converted."""
        folder = model.parent
        np.save(folder / "x.npy", x.astype(np.float32))
        self.call("convert", model, folder / "network.juice", *options)
        self.call("predict", "--model", folder / "network.juice", "--input", folder / "x.npy", "--output", folder / "y.npy")
        return np.load(folder / "y.npy")

    def cell(self, name, column, found, expected):
        """The difference of what two functions compute."""
        try:
            found = found()
        except Refused as refused:
            if name not in self.refused:
                self.wrong.append(f"{name}, {column}: {refused}")
            return "refused"
        if name in self.refused:
            self.wrong.append(f"{name}, {column}: is not refused")
        assert np.std(expected) > 1e-2 * np.abs(expected).max(), f"{name}: its outputs are all alike"
        assert found.size == expected.size, f"{name}: {found.shape} and not {expected.shape}"
        error = np.abs(found.reshape(expected.shape) - expected).max() / np.abs(expected).max()
        if not error <= BOUND:
            self.wrong.append(f"{name}, {column}: the largest difference is {error:.3g}")
        return f"{error:.0e}"

    def row(self, name, cells):
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


def onnx_outputs(path, x):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return session.run(None, {session.get_inputs()[0].name: x})[0]


def check_torch(command, names):
    import onnxruntime, onnxscript, torch, torchvision  # noqa: all are needed

    import exported_torch as networks

    exporters = ["older", "newer", "optimize=False"]
    table = Table(command, "PyTorch", exporters)
    for name, (make, sample) in networks.MODELS.items():
        if names and name not in names:
            continue
        torch.manual_seed(7)
        model, x = networks.trained(make()).eval(), sample()
        cells = []
        for exporter in exporters:
            with tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder) / "model.onnx"
                networks.export(model, x, exporter, path)
                cells.append(table.cell(name, exporter, lambda: table.computed(path, x.numpy()), onnx_outputs(path, x.numpy())))
        table.row(name, cells)
    return table.wrong


def check_keras(command, names):
    import h5py  # noqa: is needed
    import keras

    import exported_keras as networks

    endings = [".keras", ".h5"]
    table = Table(command, "Keras", endings, networks.REFUSED)
    for name, (make, sample) in networks.MODELS.items():
        if names and name not in names:
            continue
        keras.utils.set_random_seed(7)
        model, x = networks.trained(make()), sample()
        cells = []
        for ending in endings:
            with tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder) / f"model{ending}"
                model.save(path)
                options = ["--channels-last"] if x.ndim == 4 else []
                cells.append(table.cell(name, ending, lambda: table.computed(path, x, options), model.predict(x, verbose=0)))
        table.row(name, cells)
    return table.wrong


def main(command, *names):
    wrong, missing = [], []
    for check in (check_torch, check_keras):
        try:
            wrong += check(command, names)
        except ImportError as error:
            missing.append(str(error))
    print(*wrong, sep="\n")
    if missing:
        print(f"{'skipped' if len(missing) == 2 else 'left out'}: {'; '.join(missing)}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
