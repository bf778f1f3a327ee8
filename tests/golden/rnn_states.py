"""Writes the expected values of the golden test in tests/dynamic/rnn_states.cpp to rnn_states.txt, by numpy in float64: python3 rnn_states.py.

The samples start from initial states, and have numbers of steps. rnn_lengths.py computes them and their gradients. If torch is installed,
its packed sequences have to give the same; it has no GRU whose reset gate is applied before the product.
"""

import numpy as np

from rnn_lengths import Layers, gradient, numbers

try:
    import torch
except ImportError:
    torch = None

FEATURES, HIDDEN, STEPS, LENGTHS = 2, 3, 4, (2, 4, 1)


def given(kind, layers, directions):
    """x, weights, initial states, and the gradients of all steps and of the last ones."""
    net = Layers(kind, layers, directions, FEATURES, HIDDEN)
    samples, units = len(LENGTHS), directions * HIDDEN
    shapes = (samples, STEPS, FEATURES), (net.count,), (2, samples, units, layers), (samples, STEPS, units), (samples, units, layers)
    x, weights, initial, dy, dlast = (
        numbers(int(np.prod(shape)), factor).reshape(shape) for shape, factor in zip(shapes, (29, 37, 31, 23, 23))
    )
    return net, x, weights, initial.swapaxes(0, 1), dy, dlast


def golden(kind, layers, directions):
    net, x, weights, initial, dy, dlast = given(kind, layers, directions)
    y, last = net.batch(x, LENGTHS, weights, initial)

    def objectives(x, weights, initial):
        y, last = net.batch(x, LENGTHS, weights, initial)
        return (dy * y).sum(), (dlast * last).sum()

    of_x = gradient(lambda moved: objectives(moved, weights, initial), x)
    of_weights = gradient(lambda moved: objectives(x, moved, initial), weights)
    of_initial = gradient(lambda moved: objectives(x, weights, moved), initial).reshape(2, *initial.shape)
    return {
        "steps": y, "layers": last, "dx": of_x[0], "weights": of_weights[0], "dh": of_initial[0][:, 0], "dc": of_initial[0][:, 1],
        "dx_of_layers": of_x[1], "weights_of_layers": of_weights[1], "dh_of_layers": of_initial[1][:, 0],
        "dc_of_layers": of_initial[1][:, 1],
    }


def by_torch(kind, layers, directions):
    _, x, weights, initial, dy, dlast = (torch.tensor(a) if isinstance(a, np.ndarray) else a for a in given(kind, layers, directions))
    module = {"lstm": torch.nn.LSTM, "gru": torch.nn.GRU, "tanh": torch.nn.RNN}[kind](
        FEATURES, HIDDEN, layers, batch_first=True, bidirectional=directions == 2, dtype=torch.float64
    )
    ends = [f"l{layer}{'_reverse' if d else ''}" for layer in range(layers) for d in range(directions)]
    parts = [getattr(module, f"weight_{which}_{end}") for end in ends for which in ("ih", "hh")]
    parts += [getattr(module, f"bias_{which}_{end}") for end in ends for which in ("ih", "hh")]
    with torch.no_grad():
        for part, values in zip(parts, weights.split([part.numel() for part in parts])):
            part.copy_(values.view_as(part))
    x.requires_grad_(), initial.requires_grad_()

    # {samples, directions * units, layers} to {layers * directions, samples, units}, and back
    def theirs(state):
        return state.permute(2, 0, 1).unflatten(2, (directions, HIDDEN)).permute(0, 2, 1, 3).flatten(0, 1).contiguous()

    def ours(state):
        return state.unflatten(0, (layers, directions)).permute(2, 1, 3, 0).flatten(1, 2)

    h, c = theirs(initial[:, 0]), theirs(initial[:, 1])
    packed = torch.nn.utils.rnn.pack_padded_sequence(x, LENGTHS, batch_first=True, enforce_sorted=False)
    y, last = module(packed, (h, c) if kind == "lstm" else h)
    y = torch.nn.utils.rnn.pad_packed_sequence(y, batch_first=True, total_length=STEPS)[0]
    last = ours(last[0] if kind == "lstm" else last)
    made = {"steps": y, "layers": last}
    for end, objective in ("", (dy * y).sum()), ("_of_layers", (dlast * last).sum()):
        dx, dinitial, *dparts = torch.autograd.grad(objective, [x, initial, *parts], retain_graph=True)
        made["dx" + end], made["weights" + end] = dx, torch.cat([part.flatten() for part in dparts])
        made["dh" + end], made["dc" + end] = dinitial[:, 0], dinitial[:, 1]
    return {part: values.detach().numpy() for part, values in made.items()}


if __name__ == "__main__":
    with open(__file__.replace(".py", ".txt"), "w") as file:
        for kind in ("lstm", "gru", "gru_reset_before", "tanh"):
            for layers, directions in ((2, 1), (1, 2), (2, 2)):
                name, made = f"{kind}_{layers}_{directions}", golden(kind, layers, directions)
                if torch and kind != "gru_reset_before":
                    for part, values in by_torch(kind, layers, directions).items():
                        assert abs(made[part].flatten() - values.flatten()).max() < 1e-12, (name, part)
                    print(name, "is PyTorch's")
                file.write(f"{name}\n")
                for part, values in made.items():
                    if kind == "lstm" or not part.startswith("dc"):
                        file.write(" ".join([part] + [f"{v:.9g}" for v in values.flatten()]) + "\n")
