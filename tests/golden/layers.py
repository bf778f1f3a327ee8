#!/usr/bin/python3
"""Writes layers.txt beside it: layers and losses as PyTorch computes them."""

import torch
from torch.nn import functional

from cases import case, layer, lines, numbers, put, write


def linear(name, shape, outputs):
    x, w, b = numbers(*shape), numbers(outputs, torch.Size(shape[1:]).numel()), numbers(outputs)
    case(name, x, functional.linear(x.flatten(1), w, b), weight=w, bias=b)


def linear_along(name, shape, outputs):
    """The last axis alone, without a bias."""
    x, w = numbers(*shape), numbers(outputs, shape[-1])
    case(name, x, functional.linear(x, w), weight=w)


def loss(name, shape, target, function):
    """The mean over the batch, and the gradient of the sum over it."""
    x = numbers(*shape)
    total = function(x, target)
    total.backward()
    lines.append(name)
    for word, values in {"in": shape, "x": x, "target": target, "y": total / shape[0], "dx": x.grad}.items():
        put(word, torch.as_tensor(values).detach())


def image(name, shape, outputs, filter_shape, groups=1, **options):
    x, w, b = numbers(*shape), numbers(outputs, shape[1] // groups, *filter_shape), numbers(outputs)
    case(name, x, functional.conv2d(x, w, b, groups=groups, **options), weight=w, bias=b)


def sequence(name, shape, outputs, taps, dilation=1, stride=1, groups=1):
    """{batch, steps, features}: causal, so padded on the left alone."""
    x, w, b = numbers(*shape), numbers(outputs, shape[2] // groups, taps), numbers(outputs)
    padded = functional.pad(x.transpose(1, 2), ((taps - 1) * dilation, 0))
    y = functional.conv1d(padded, w, b, stride=stride, dilation=dilation, groups=groups).transpose(1, 2)
    case(name, x, y, weight=w, bias=b)


def pooling(name, shape, pool, *arguments, **options):
    x = numbers(*shape)
    case(name, x, pool(x, *arguments, **options))


image("plain", (2, 2, 5, 4), 3, (3, 2))
image("strided", (1, 3, 7, 8), 2, (3, 3), stride=(2, 3), padding=(2, 1))
image("dilated", (2, 2, 6, 7), 2, (2, 3), dilation=(3, 2), padding=(1, 2))
image("grouped", (1, 4, 4, 4), 6, (2, 2), groups=2, padding=1)
sequence("sequence", (2, 5, 3), 4, 3)
sequence("dilated_sequence", (1, 7, 2), 3, 3, dilation=2)
sequence("strided_sequence", (1, 8, 4), 2, 4, stride=3, groups=2)
pooling("max", (1, 2, 5, 6), functional.max_pool2d, (3, 2), (2, 2), (1, 0))
pooling("max_ceil", (1, 2, 6, 5), functional.max_pool2d, 3, 2, 1, ceil_mode=True)
pooling("average", (1, 2, 5, 6), functional.avg_pool2d, (3, 2), (2, 1), (1, 1), count_include_pad=False)
pooling("average_ceil", (2, 1, 6, 5), functional.avg_pool2d, 3, 2, ceil_mode=True, count_include_pad=False)
pooling("average_counting", (1, 2, 5, 5), functional.avg_pool2d, 3, 2, 1, count_include_pad=True)
pooling("volume", (1, 2, 4, 3, 5), functional.max_pool3d, (2, 2, 3), (2, 1, 2), (1, 0, 1))

linear("linear", (3, 2, 3), 4)
for size, shape in {"row": (3, 7), "image": (2, 2, 3, 2)}.items():
    layer("relu_" + size, shape, torch.relu)
    layer("tanh_" + size, shape, torch.tanh)
    layer("sigmoid_" + size, shape, torch.sigmoid)
    layer("softmax_" + size, shape, lambda x: x.flatten(1).softmax(1).view(x.shape))
    layer("log_softmax_" + size, shape, lambda x: x.flatten(1).log_softmax(1).view(x.shape))
loss("negative_log_likelihood", (4, 5), torch.tensor([3, 0, 4, 3]), lambda x, t: functional.nll_loss(x, t, reduction="sum"))
loss("mean_squared_error", (3, 4), numbers(3, 4).detach(), lambda x, t: functional.mse_loss(x, t, reduction="sum"))
layer("leaky_relu", (3, 7), lambda x: functional.leaky_relu(x, 0.25))
layer("exponential", (3, 7), torch.exp)
for power in 2, 3:
    layer(f"power_{power}", (3, 7), lambda x: (0.5 * x + 0.1328125) ** power)
for power in -1, 0.5, -0.5, 2.25:
    layer(f"power_{power}", (3, 7), lambda x: (0.5 * x + 1.25) ** power)
layer("threshold", (3, 7), lambda x: functional.threshold(x, -0.3828125, -0.3828125))
layer("gelu", (3, 7), functional.gelu)
layer("gelu_approximate", (3, 7), lambda x: functional.gelu(x, approximate="tanh"))
layer("silu", (3, 7), functional.silu)
layer("softplus", (3, 7), functional.softplus)
layer("softplus_beta", (3, 7), lambda x: functional.softplus(x, beta=2.5))
layer("elu", (3, 7), functional.elu)
layer("elu_alpha", (3, 7), lambda x: functional.elu(x, alpha=0.75))
layer("hard_sigmoid", (3, 7), lambda x: (0.75 * x + 0.25).clamp(0, 1))
layer("mish", (3, 7), functional.mish)
layer("log_sigmoid", (3, 7), functional.logsigmoid)
layer("clip", (3, 7), lambda x: x.clamp(-0.5, 1.25))
linear_along("linear_last_axis", (2, 3, 2, 4), 5)
linear_along("linear_last_axis_one", (3, 4, 3), 1)


def transposed(name, shape, outputs, filter_shape, groups=1, **options):
    x, w, b = numbers(*shape), numbers(shape[1], outputs // groups, *filter_shape), numbers(outputs)
    case(name, x, functional.conv_transpose2d(x, w, b, groups=groups, **options), weight=w, bias=b)


transposed("transposed", (2, 3, 3, 4), 2, (3, 2))
transposed("transposed_strided", (1, 3, 4, 3), 2, (3, 4), stride=(2, 3), padding=(1, 2), output_padding=(1, 0))
transposed("transposed_dilated", (2, 2, 3, 4), 3, (2, 3), dilation=(3, 2), padding=(1, 2), output_padding=(2, 1))
transposed("transposed_grouped", (1, 4, 3, 3), 6, (2, 2), groups=2, stride=3)
transposed("transposed_depthwise", (17, 3, 2, 2), 3, (4, 4), groups=3, stride=2, padding=1)


def across(name, shape, outputs, taps, zeros, dilation=1, stride=1, groups=1):
    """{batch, steps, features} with zeros on both sides, as many as are given or PyTorch's `same`."""
    x, w, b = numbers(*shape), numbers(outputs, shape[2] // groups, taps), numbers(outputs)
    padding, given = ("same", (0, 0)) if zeros == "same" else (0, zeros)
    padded = functional.pad(x.transpose(1, 2), given)
    y = functional.conv1d(padded, w, b, stride=stride, padding=padding, dilation=dilation, groups=groups)
    case(name, x, y.transpose(1, 2), weight=w, bias=b)


def around(name, shape, outputs, filter_shape, zeros, **options):
    """Images with other zeros on each side: left, right, above, below."""
    x, w, b = numbers(*shape), numbers(outputs, shape[1], *filter_shape), numbers(outputs)
    case(name, x, functional.conv2d(functional.pad(x, zeros), w, b, **options), weight=w, bias=b)


def transposed_sequence(name, shape, outputs, taps, groups=1, **options):
    x, w, b = numbers(*shape), numbers(shape[2], outputs // groups, taps), numbers(outputs)
    y = functional.conv_transpose1d(x.transpose(1, 2), w, b, groups=groups, **options)
    case(name, x, y.transpose(1, 2), weight=w, bias=b)


across("sequence_same", (2, 6, 3), 4, 4, "same", dilation=2)
across("sequence_valid", (1, 9, 4), 2, 3, (0, 0), stride=2, groups=2)
across("sequence_padded", (2, 7, 2), 3, 3, (1, 3), stride=2)
across("sequence_far", (1, 3, 2), 3, 5, (6, 7), dilation=2)
around("around", (1, 2, 4, 5), 3, (3, 2), (0, 2, 3, 1), stride=(2, 1))
x, w, b = numbers(2, 2, 5, 4), numbers(3, 2, 2, 4), numbers(3)
case("same", x, functional.conv2d(x, w, b, padding="same"), weight=w, bias=b)
layer("max_around", (1, 2, 5, 4), lambda x: functional.max_pool2d(functional.pad(x, (0, 1, 1, 0), value=-torch.inf), 3, 2))
layer("average_around", (1, 2, 5, 5), lambda x: functional.avg_pool2d(functional.pad(x, (1, 0, 0, 2)), 3, 2))
transposed_sequence("transposed_sequence", (2, 4, 3), 2, 3)
transposed_sequence("transposed_sequence_strided", (1, 5, 4), 6, 4, groups=2, stride=3, padding=1, output_padding=2)
transposed_sequence("transposed_sequence_dilated", (3, 1, 2), 17, 3, stride=2, dilation=2)


def volumes(name, shape, outputs, filter_shape, groups=1, **options):
    x, w, b = numbers(*shape), numbers(outputs, shape[1] // groups, *filter_shape), numbers(outputs)
    case(name, x, functional.conv3d(x, w, b, groups=groups, **options), weight=w, bias=b)


def transposed_volumes(name, shape, outputs, filter_shape, groups=1, **options):
    x, w, b = numbers(*shape), numbers(shape[1], outputs // groups, *filter_shape), numbers(outputs)
    case(name, x, functional.conv_transpose3d(x, w, b, groups=groups, **options), weight=w, bias=b)


volumes("volumes", (2, 2, 3, 4, 5), 3, (2, 3, 2))
volumes("volumes_strided", (1, 3, 5, 4, 7), 2, (3, 2, 3), stride=(2, 1, 3), padding=(2, 0, 1))
volumes("volumes_dilated", (2, 2, 4, 5, 6), 2, (2, 2, 3), dilation=(3, 1, 2), padding=(1, 0, 2))
volumes("volumes_grouped", (3, 4, 3, 2, 4), 6, (3, 2, 2), groups=2, padding=1)
volumes("volumes_depthwise", (1, 3, 4, 9, 8), 3, (3, 3, 3), groups=3, padding=1)
volumes("volumes_same", (2, 1, 3, 4, 3), 2, (4, 3, 2), padding="same")
transposed_volumes("transposed_volumes", (2, 3, 2, 3, 4), 2, (2, 3, 2))
transposed_volumes("transposed_volumes_strided", (1, 4, 3, 2, 3), 6, (3, 2, 4), groups=2, stride=(2, 1, 3),
                   padding=(1, 0, 2), output_padding=(1, 0, 2))

write(__file__)
