"""What the golden scripts of layers share: numbers, and cases of PyTorch (python3-torch in Debian) in float64.

A case is a line of its name and then lines of a word and numbers: the shapes, x, weight, bias, dy, and what PyTorch
makes of them: y, dx, dweight, dbias. Numbers are multiples of 1/64, exact in every format."""

import pathlib

import torch

torch.manual_seed(1)
torch.set_default_dtype(torch.float64)
lines = []


def numbers(*shape):
    return (torch.randint(-128, 129, shape) / 64).requires_grad_()


def put(word, values):
    lines.append(" ".join([word, *(f"{v:.15g}" for v in torch.as_tensor(values).flatten().tolist())]))


def case(name, x, y, **parameters):
    dy = torch.randint(-128, 129, y.shape) / 64
    if y.requires_grad:
        y.backward(dy)
    lines.append(name)
    put("in", x.shape)
    put("out", y.shape)
    for word, values in {"x": x, **parameters, "dy": dy, "y": y, "dx": x.grad}.items():
        if values is not None:
            put(word, values.detach())
    for word, values in parameters.items():
        put("d" + word, values.grad)


def layer(name, shape, function):
    x = numbers(*shape)
    case(name, x, function(x))


def write(script):
    target = pathlib.Path(script).with_suffix(".txt")
    target.write_text("\n".join(lines) + "\n")
    print(f"{target}: {len(lines)} lines")
