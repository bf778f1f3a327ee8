#!/usr/bin/python3
"""Writes compute.txt beside it: layers that move, reduce and normalise along an axis, as PyTorch computes them."""

import torch
from torch.nn import functional

from cases import case, layer, numbers, write


def pooling(name, shape, dim, size, stride, before, after, windows, largest):
    """Pooling along one dimension, after padding it so that the last of `windows` is whole."""

    def function(x):
        x = x.transpose(dim, -1)
        beyond = (windows - 1) * stride + size - before - x.shape[-1]
        x = functional.pad(x, (before, max(beyond, after)), value=-torch.inf if largest else 0)
        x = x.unfold(-1, size, stride)[..., :windows, :]
        return (x.max(-1).values if largest else x.mean(-1)).transpose(dim, -1)

    layer(name, shape, function)


def normalization(name, shape):
    x, w, b = numbers(*shape), numbers(shape[-1]), numbers(shape[-1])
    case(name, x, functional.layer_norm(x, shape[-1:], w, b, eps=2**-10), weight=w, bias=b)


# The channels of the second case in reverse: of an even size PyTorch's window has one more value before than after.
across = functional.local_response_norm
layer("lrn_across", (2, 7, 2, 3), lambda x: across(x, 5, alpha=0.5, beta=0.75, k=2.0))
layer("lrn_across_even", (2, 6, 2, 1), lambda x: across(x.flip(1), 4, alpha=1.5, beta=0.625, k=1.0).flip(1))
layer("lrn_row", (3, 9), lambda x: across(x[:, :, None], 3, alpha=1.0, beta=0.75, k=1.0)[:, :, 0])
layer("lrn_within", (2, 2, 4, 5), lambda x: x / (1 + 0.5 * functional.avg_pool2d(x * x, 3, 1, 1)) ** 0.75)
layer("lrn_within_wide", (1, 2, 2, 3), lambda x: x / (2 + functional.avg_pool2d(x * x, 5, 1, 2)) ** 1.25)

pooling("channel_max", (2, 7, 2, 3), 1, 3, 2, 1, 0, 4, True)
pooling("channel_max_ceil", (2, 6, 2), 1, 3, 2, 0, 0, 3, True)
pooling("channel_average", (2, 3, 6), 2, 3, 2, 1, 1, 4, False)
pooling("channel_average_ceil", (1, 8, 3), 1, 3, 3, 0, 2, 3, False)

layer("crop", (2, 2, 5, 7), lambda x: x[..., 1:4, 2:5])
layer("crop_plane", (1, 4, 3), lambda x: x[..., 1:3, 0:3])
layer("slice_middle", (2, 3, 5, 2), lambda x: x[:, :, 1:4])
layer("slice_last", (3, 7), lambda x: x[:, -2:])
layer("sum_middle", (2, 3, 4, 2), lambda x: x.sum(2))
layer("mean_last", (2, 3, 19), lambda x: x.mean(-1))
layer("sum_row", (3, 7), lambda x: x.sum(1, keepdim=True))
layer("global_average", (2, 3, 4, 5), lambda x: functional.adaptive_avg_pool2d(x, 1).flatten(1))
layer("softmax_channels", (2, 5, 2, 3), lambda x: x.softmax(1))
layer("log_softmax_last", (2, 3, 17), lambda x: x.log_softmax(-1))
layer("log_softmax_middle", (1, 2, 4, 3), lambda x: x.log_softmax(2))
normalization("layer_norm_row", (3, 19))
normalization("layer_norm_last", (2, 3, 2, 5))

layer("argmax_channels", (2, 5, 2, 3), lambda x: x.argmax(1, keepdim=True).double())
layer("argmax_last", (2, 3, 9), lambda x: x.argmax(-1, keepdim=True).double())
labels = torch.randint(0, 4, (2, 1, 2, 3)).double()
case("onehot", labels, functional.one_hot(labels[:, 0].long(), 4).movedim(-1, 1).double())
words, table = torch.randint(0, 6, (3, 5)).double(), numbers(6, 3)
case("embedding", words, functional.embedding(words.long(), table), weight=table)

for name, shape, axis, slopes in (
    ("prelu", (2, 3, 4), 1, 1),
    ("prelu_channels", (2, 3, 2, 4), 1, 3),
    ("prelu_features", (2, 3, 5), 2, 5),
):
    x, w = numbers(*shape), numbers(slopes)
    case(name, x, functional.prelu(x.movedim(axis, 1), w).movedim(1, axis), weight=w)
gates = {"tanh": torch.tanh, "relu": torch.relu, "silu": functional.silu, "gelu": functional.gelu}
gates["gelu_approximate"] = lambda x: functional.gelu(x, approximate="tanh")
layer("glu", (3, 14), functional.glu)
layer("glu_channels", (2, 6, 2, 3), lambda x: functional.glu(x, 1))
for name, gate in gates.items():
    layer("glu_" + name, (2, 3, 38), lambda x: x[..., :19] * gate(x[..., 19:]))

for name, shape in ("rms_norm_row", (3, 19)), ("rms_norm_last", (2, 3, 2, 5)):
    x, w = numbers(*shape), numbers(shape[-1])
    case(name, x, functional.rms_norm(x, shape[-1:], w, eps=2**-10), weight=w)
for name, shape, groups in ("group_norm", (2, 6, 3, 2), 3), ("group_norm_row", (3, 8), 2), ("instance_norm", (2, 3, 4, 5), 3):
    x, w, b = numbers(*shape), numbers(shape[1]), numbers(shape[1])
    case(name, x, functional.group_norm(x, groups, w, b, eps=2**-10), weight=w, bias=b)

layer("max_middle", (2, 3, 4, 2), lambda x: x.max(2).values)
layer("min_last", (2, 3, 19), lambda x: x.min(-1).values)
layer("prod_middle", (2, 3, 4, 2), lambda x: x.prod(2))
layer("prod_last", (2, 3, 6), lambda x: x.prod(-1))

x, w = numbers(2, 4, 5), numbers(6, 5)
case("learned_positions", x, x + w[:4], weight=w)
for features in 6, 5:
    angles = torch.arange(7.0)[:, None] / 1000 ** (torch.arange(0, features, 2) / features)
    waves = torch.stack([angles.sin(), angles.cos()], -1).flatten(1)[:, :features]
    layer(f"sinusoidal_positions_{features}", (2, 7, features), lambda x: x + waves)

# Rotations as products of complex numbers, as in Llama's reference code, and by halves, as in the code of GPT-NeoX.
def rotations(steps, pairs):
    angles = torch.arange(float(steps))[:, None] / 1000 ** (torch.arange(pairs) / pairs)
    return torch.polar(torch.ones_like(angles), angles)


def by_halves(x, turn):
    angles = torch.cat([turn.angle()] * 2, -1)
    a, b = x.chunk(2, -1)
    return x * angles.cos() + torch.cat([-b, a], -1) * angles.sin()


layer("rotary_positions", (2, 7, 6), lambda x: by_halves(x, rotations(7, 3)))
layer("rotary_positions_interleaved", (2, 7, 6), lambda x: torch.view_as_real(
    torch.view_as_complex(x.unflatten(-1, (3, 2)).contiguous()) * rotations(7, 3)).flatten(-2))
layer("rotary_positions_heads", (2, 5, 24), lambda x: torch.cat(
    [torch.cat([by_halves(head[..., :4], rotations(5, 2)), head[..., 4:]], -1) if number < 2 else head
     for number, head in enumerate(x.split(8, -1))], -1))

layer("expand_positions", (2, 3, 1, 1), lambda x: x.expand(2, 3, 4, 5))
layer("expand_steps", (2, 5), lambda x: x[:, None].expand(2, 3, 5))

for name, shape, k, axis in ("top_k_row", (3, 19), 4, 1), ("top_k_middle", (2, 3, 5, 2), 3, 2):
    size = torch.tensor(shape).prod()
    # No two are equal, because PyTorch does not say which of them it takes first.
    x = ((torch.randperm(size) - size // 2) / 16).reshape(shape).requires_grad_()
    case(name, x, x.topk(k, axis).values)

for mode in "reflect", "replicate":
    layer(f"pad_{mode}", (2, 2, 4, 5), lambda x: functional.pad(x, (1, 3, 2, 0), mode))
    layer(f"pad_{mode}_volume", (1, 2, 3, 2, 4), lambda x: functional.pad(x, (3, 1, 0, 1, 2, 1), mode))
layer("pad_constant", (2, 2, 3, 4), lambda x: functional.pad(x, (1, 0, 2, 3), value=0.75))
layer("pad_channels", (2, 3, 2, 2), lambda x: functional.pad(x, (0, 0, 0, 0, 1, 2)))
layer("pad_row", (3, 4), lambda x: functional.pad(x, (2, 1), value=-1))
layer("resize_nearest", (2, 2, 3, 4), lambda x: functional.interpolate(x, scale_factor=(2, 3)))
layer("resize_nearest_size", (1, 3, 5, 7), lambda x: functional.interpolate(x, size=(8, 3)))
for name, shape, size in ("larger", (2, 2, 3, 4), (6, 8)), ("other", (1, 3, 7, 5), (3, 9)), ("one", (1, 2, 1, 4), (3, 1)):
    layer(f"resize_linear_{name}", shape, lambda x: functional.interpolate(x, size=size, mode="bilinear"))
layer("resize_steps", (2, 4, 3), lambda x: functional.interpolate(x.mT, size=7, mode="linear").mT)
layer("resize_steps_nearest", (2, 5, 2), lambda x: functional.interpolate(x.mT, scale_factor=2).mT)

write(__file__)
