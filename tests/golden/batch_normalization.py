#!/usr/bin/python3
"""Writes batch_normalization.txt beside it: BatchNorm as PyTorch (python3-torch in Debian) computes it in float64.

A case is a line of its name and then lines of a word and numbers: three minibatches x0, x1 and x2, weight, bias, dy; y, dx,
dweight and dbias of the first minibatch in training; mean and variance, the running ones after all three; and inferred, the
output for the first one in inference. Numbers that go in are multiples of 1/64, exact in every format."""

import pathlib

import torch

torch.manual_seed(2)
torch.set_default_dtype(torch.float64)
lines = []


def numbers(*shape):
    return torch.randint(-128, 129, shape) / 64


def put(word, values):
    lines.append(" ".join([word, *(f"{v:.15g}" for v in values.detach().flatten().tolist())]))


class LastAxis(torch.nn.BatchNorm1d):
    def forward(self, x):
        return super().forward(x.mT).mT


def case(name, kind, *shape):
    channels = shape[-1 if kind is LastAxis else 1]
    layer = kind(channels, eps=1 / 1024, momentum=0.125)
    x, dy = [numbers(*shape).requires_grad_() for _ in range(3)], numbers(*shape)
    with torch.no_grad():
        layer.weight.copy_(numbers(channels))
        layer.bias.copy_(numbers(channels))
    y = [layer(minibatch) for minibatch in x]
    y[0].backward(dy)
    layer.eval()
    lines.append(name)
    words = {"x0": x[0], "x1": x[1], "x2": x[2], "weight": layer.weight, "bias": layer.bias, "dy": dy, "y": y[0], "dx": x[0].grad}
    words |= {"dweight": layer.weight.grad, "dbias": layer.bias.grad}
    words |= {"mean": layer.running_mean, "variance": layer.running_var, "inferred": layer(x[0])}
    for word, values in words.items():
        put(word, values)


case("features", torch.nn.BatchNorm1d, 5, 7)
case("image", torch.nn.BatchNorm2d, 2, 3, 4, 5)
case("one_image", torch.nn.BatchNorm2d, 1, 2, 5, 7)
case("steps", LastAxis, 3, 4, 5)

target = pathlib.Path(__file__).with_suffix(".txt")
target.write_text("\n".join(lines) + "\n")
print(f"{target}: {len(lines)} lines")
