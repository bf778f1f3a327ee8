#!/usr/bin/env python3
"""Two spirals: trains a network in Python, saves it, and loads it again, for C++ as well.

    pip install .                               # in the folder of coldpress
    python examples/python/spirals.py
"""

import pathlib
import tempfile

import numpy as np

import coldpress

CONFIG = """(
  network = (name = "network", layerType = (sequential = (
    layers = [
      (name = "linear1", layerType = (linear = (outputSize = 32))),
      (name = "tanh1", layerType = (tanh = void)),
      (name = "linear2", layerType = (linear = (outputSize = 32))),
      (name = "tanh2", layerType = (tanh = void)),
      (name = "linear3", layerType = (linear = (outputSize = 2))),
      (name = "log_softmax1", layerType = (logSoftmax = void))],
    inputs = [(name = "point", sampleShape = [2])]))),
  loss = (name = "loss", layerType = (negativeLogLikelihood = (numClasses = 2))),
  solver = (solver = (adam = ()), baseLr = 0.01)
)"""


def spirals(count, random):
    """Points on two spirals that turn around each other, and which of them each is on."""
    labels = random.integers(0, 2, count)
    along = random.random(count)
    angle = 3 * np.pi * along + np.pi * labels
    points = 6 * along[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    return points + random.normal(0, 0.1, points.shape), labels


def main():
    random = np.random.default_rng(1)
    folder = pathlib.Path(tempfile.mkdtemp())
    config = folder / "spirals.capnp.txt"
    config.write_text(CONFIG)

    solver = coldpress.Solver(config)
    for step in range(1500):
        loss = solver.train_minibatch(*spirals(64, random))
        if step % 500 == 499:
            print(f"after {step + 1} steps the loss is {loss:.4f}")

    points, labels = spirals(1000, random)
    right = (solver.network.predict(points).argmax(axis=1) == labels).mean()
    print(f"{100 * right:.1f} % of 1000 new points are on the spiral that the network says")

    solver.network.save(folder / "spirals.juice")
    network = coldpress.load(folder / "spirals.juice")  # C++: dynamic::Layer::load(backend, path)
    assert np.array_equal(network.predict(points), solver.network.predict(points))
    print(network.describe())
    return right


if __name__ == "__main__":
    main()
