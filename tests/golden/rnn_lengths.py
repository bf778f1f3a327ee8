"""Writes the expected values of the golden test in tests/layers/rnn_lengths.cpp to rnn_lengths.txt, by numpy in float64: python3 rnn_lengths.py.

A sample with a number of steps is computed as PyTorch computes a packed sequence: by itself, with these steps alone; the rest of its output
is zero. Gradients come from complex steps, f'(x) = Im f(x + ih) / h, so nothing is derived by hand. With as many steps as there are, the
same code is compared with rnn.txt, which PyTorch has computed. Everything is in the packed order of cuDNN.
"""

import numpy as np

STEP = 1e-30


def numbers(count, factor):
    """Multiples of 1/128, so that floats hold them."""
    return np.array([((i * factor) % 101 - 50) / 128 for i in range(count)])


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def cell(kind, x, h, c, w, u, b, r):
    of_x, of_h = w @ x + b, u @ h + r
    if kind == "lstm":
        i, f, g, o = np.split(of_x + of_h, 4)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        return sigmoid(o) * np.tanh(c), c
    if kind == "tanh":
        return np.tanh(of_x + of_h), c
    (xr, xz, xn), (hr, hz, hn) = np.split(of_x, 3), np.split(of_h, 3)
    reset, z = sigmoid(xr + hr), sigmoid(xz + hz)
    if kind == "gru_reset_before":
        n = len(h)
        hn = u[2 * n :] @ (reset * h) + r[2 * n :]
        new = np.tanh(xn + hn)
    else:
        new = np.tanh(xn + reset * hn)
    return (1 - z) * new + z * h, c


class Layers:
    def __init__(self, kind, layers, directions, features, hidden):
        self.kind, self.layers, self.directions, self.hidden = kind, layers, directions, hidden
        gates = {"lstm": 4, "tanh": 1}.get(kind, 3)
        matrices, biases = [], []
        for layer in range(layers):
            for _ in range(directions):
                matrices += [(gates * hidden, features if layer == 0 else directions * hidden), (gates * hidden, hidden)]
                biases += [(gates * hidden,)] * 2
        self.shapes = matrices + biases
        self.count = sum(int(np.prod(shape)) for shape in self.shapes)

    def forward(self, x, weights, initial=None):
        """All steps of one sample, and the last of every layer, {units, layers}, from initial states h and c like these, or zeros."""
        parts, at = [], 0
        for shape in self.shapes:
            size = int(np.prod(shape))
            parts.append(weights[at : at + size].reshape(shape))
            at += size
        half = len(parts) // 2
        last = []
        for layer in range(self.layers):
            made = []
            for d in range(self.directions):
                p = 2 * (layer * self.directions + d)
                units = slice(d * self.hidden, (d + 1) * self.hidden)
                h, c = np.zeros((2, self.hidden)) if initial is None else initial[:, units, layer]
                ys = [None] * len(x)
                for t in reversed(range(len(x))) if d else range(len(x)):
                    h, c = cell(self.kind, x[t], h, c, parts[p], parts[p + 1], parts[half + p], parts[half + p + 1])
                    ys[t] = h
                made.append(ys)
                last.append(h)
            x = np.concatenate([np.array(ys) for ys in made], 1)
        return x, np.array(last).reshape(self.layers, -1).T

    def batch(self, x, lengths, weights, initial=None):
        """`initial` is {samples, h and c, units, layers}."""
        kind = np.result_type(x, weights, 0.0 if initial is None else initial)
        steps, last = np.zeros((len(x), x.shape[1], self.directions * self.hidden), dtype=kind), []
        for n, length in enumerate(lengths):
            steps[n, :length], of_last = self.forward(x[n, :length], weights, None if initial is None else initial[n])
            last.append(of_last)
        return steps, np.array(last)


def gradient(f, at):
    """Of a function with several values, each with its own weights: {values, at}."""
    columns = []
    for i in range(at.size):
        moved = at.astype(complex)
        moved.flat[i] += 1j * STEP
        columns.append([value.imag / STEP for value in f(moved)])
    return np.array(columns).T


def golden(kind, layers, directions, lengths, steps, features=2, hidden=3):
    net = Layers(kind, layers, directions, features, hidden)
    weights, x = numbers(net.count, 37), numbers(len(lengths) * steps * features, 29).reshape(len(lengths), steps, features)
    y, last = net.batch(x, lengths, weights)
    dy, dlast = numbers(y.size, 23).reshape(y.shape), numbers(last.size, 23).reshape(last.shape)

    def objectives(x, weights):
        y, last = net.batch(x, lengths, weights)
        return (dy * y).sum(), (dlast * last).sum()

    of_x = gradient(lambda moved: objectives(moved, weights), x)
    of_weights = gradient(lambda moved: objectives(x, moved), weights)
    return {"steps": y, "layers": last, "dx": of_x[0], "weights": of_weights[0], "dx_of_layers": of_x[1],
            "weights_of_layers": of_weights[1]}


def known(path):
    cases, case = {}, None
    for line in open(path):
        name, *values = line.split()
        if values:
            case[name] = np.array([float(v) for v in values])
        else:
            case = cases[name] = {}
    return cases


if __name__ == "__main__":
    of_torch = known(__file__.replace("rnn_lengths.py", "rnn.txt"))
    with open(__file__.replace(".py", ".txt"), "w") as file:
        for kind in ("lstm", "gru", "gru_reset_before", "tanh"):
            for layers, directions in ((2, 1), (1, 2), (2, 2)):
                name = f"{kind}_{layers}_{directions}"
                if name in of_torch:
                    for part, values in of_torch[name].items():
                        assert abs(golden(kind, layers, directions, (3, 3), 3)[part].flatten() - values).max() < 1e-8, (name, part)
                file.write(f"{name}\n")
                for part, values in golden(kind, layers, directions, (2, 4, 1), 4).items():
                    file.write(" ".join([part] + [f"{v:.9g}" for v in values.flatten()]) + "\n")
