#!/usr/bin/env python3
"""Runs the ONNX models that coldpress writes in onnxruntime, after onnx.checker has accepted them.

    pip install onnx onnxruntime
    tests/convert/onnx_runtime.py TEST_PROGRAM COMMAND

TEST_PROGRAM is that of onnx_write.cpp, which leaves a model of every layer with inputs and outputs; COMMAND is
coldpress, which converts the models of PyTorch and Keras beside this file and predicts with them. Prints the largest
difference for each kind of layer, as a fraction of the largest output.
"""
import collections
import os
import pathlib
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import onnx
    import onnxruntime
except ImportError as error:
    sys.exit(print(f"skipped: {error}"))

BOUND = 2e-5
HERE = pathlib.Path(__file__).parent


def run(path, inputs):
    """The outputs of a model, which the checker accepts."""
    onnx.checker.check_model(str(path), full_check=True)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    declared = session.get_inputs()
    assert len(declared) == len(inputs), f"{path.name} has {len(declared)} inputs"
    given = {}
    for each, values in zip(declared, inputs):
        assert each.shape[0] == "batch", f"{path.name}: {each.name} is {each.shape}"
        kind = np.int64 if each.type == "tensor(int64)" else np.float32
        given[each.name] = values.reshape([-1, *each.shape[1:]]).astype(kind)
    outputs = session.run(None, given)
    for each, values in zip(session.get_outputs(), outputs):
        assert list(values.shape[1:]) == each.shape[1:], f"{path.name}: {each.name} is {each.shape}"
    return outputs


def difference(found, expected):
    assert found.shape == expected.shape, f"{found.shape} and not {expected.shape}"
    assert np.isfinite(expected).all()
    return float(np.abs(found - expected).max() / max(1e-30, np.abs(expected).max()))


def arrays(folder, stem, letter):
    paths = [folder / f"{stem}.{letter}{k}.npy" for k in range(64)]
    return [np.load(path) for path in paths if path.exists()]


class Report:
    def __init__(self):
        self.most = collections.defaultdict(float)
        self.count = collections.Counter()
        self.wrong = []

    def add(self, kind, name, compare):
        self.count[kind] += 1
        try:
            error = compare()
        except Exception as problem:  # what the checker and the runtime say of a model
            self.wrong.append(f"{name}: {problem}")
            return
        self.most[kind] = max(self.most[kind], error)
        if not error <= BOUND:
            self.wrong.append(f"{name}: the largest difference is {error:.3g}")

    def show(self):
        for kind in sorted(self.count):
            print(f"{kind}: {self.most[kind]:.1e} ({self.count[kind]})")
        print(*self.wrong, sep="\n")
        return 1 if self.wrong else 0


def check_cases(report, program, folder):
    subprocess.run([program], env={**os.environ, "COLDPRESS_ONNX_CASES": str(folder)}, check=False,
                   stdout=subprocess.DEVNULL)
    paths = sorted(folder.glob("*.onnx"))
    if not paths:
        report.wrong.append(f"{program} wrote no models")
    for path in paths:
        def compare():
            found = run(path, arrays(folder, path.stem, "x"))
            expected = arrays(folder, path.stem, "y")
            assert len(found) == len(expected), f"{len(found)} outputs"
            return max(map(difference, found, expected))
        report.add(path.stem.split(".")[0], path.stem, compare)


def check_files(report, command, folder):
    """Models of other frameworks, written again: against their own outputs, and those of coldpress predict."""
    paths = sorted([*HERE.glob("onnx/*.onnx"), *HERE.glob("keras/*.keras")])
    for path in paths:
        name = path.name.split(".")[0]
        x, y = (path.with_name(f"{name}.{letter}.npy") for letter in "xy")
        if not (x.exists() and y.exists()):
            continue

        def call(*arguments):
            done = subprocess.run([command, *map(str, arguments)], capture_output=True, text=True)
            assert done.returncode == 0, done.stderr

        def compare():
            written, predicted = folder / f"{path.name}.onnx", folder / f"{path.name}.npy"
            call("convert", path, written, *(["--channels-last"] if path.suffix == ".keras" else []))
            call("convert", path, folder / "again.juice", *(["--channels-last"] if path.suffix == ".keras" else []))
            call("predict", "--model", folder / "again.juice", "--input", x, "--output", predicted)
            found, = run(written, [np.load(x)])
            return max(difference(found, np.load(predicted)), difference(found.reshape(np.load(y).shape), np.load(y)))
        report.add("models of " + path.parent.name, path.name, compare)


def main(program, command):
    report = Report()
    with tempfile.TemporaryDirectory() as folder:
        check_cases(report, program, pathlib.Path(folder))
    with tempfile.TemporaryDirectory() as folder:
        check_files(report, command, pathlib.Path(folder))
    return report.show()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
