#!/usr/bin/python3
"""Writes joins.txt beside it: layers of several inputs and blocks of them, as PyTorch computes them. Beside y, gradients of
Σ dy y: da and db of the inputs, d0, d1, ... of the parameters p0, p1, ..."""

import torch
from torch.nn import functional

from cases import lines, numbers, put, write


def case(name, y, inputs, parameters=()):
    dy = torch.randint(-128, 129, y.shape) / 64
    y.backward(dy)
    lines.append(name)
    for word, values in {"dy": dy, "y": y, **inputs, **{"d" + word: v.grad for word, v in inputs.items()}}.items():
        put(word, torch.zeros_like(inputs[word[1]]) if values is None else values.detach())
    for k, values in enumerate(parameters):
        put(f"p{k}", values.detach())
        put(f"d{k}", values.grad)


def two(name, a_shape, b_shape, function):
    a, b = numbers(*a_shape), numbers(*b_shape)
    case(name, function(a, b), {"a": a, "b": b})


two("add", (3, 2, 9), (3, 2, 9), lambda a, b: a + b)
two("subtract", (3, 18), (3, 18), lambda a, b: a - b)
two("multiply", (3, 18), (3, 18), lambda a, b: a * b)
a, b = numbers(3, 18), (torch.randint(16, 129, (3, 18)) / 64).requires_grad_()
case("divide", a / b, {"a": a, "b": b})
two("concat_first", (2, 3, 5), (2, 4, 5), lambda a, b: torch.cat([a, b], 1))
two("concat_last", (2, 3, 5), (2, 3, 2), lambda a, b: torch.cat([a, b], 2))
two("product", (2, 3, 4, 5), (2, 3, 5, 6), lambda a, b: a @ b)
two("product_transposed", (2, 4, 5), (2, 6, 5), lambda a, b: 0.5 * a @ b.transpose(1, 2))

x = numbers(2, 3, 4, 5)
case("permute", x.permute(0, 3, 1, 2), {"a": x})

x, w, b, back = numbers(3, 7), numbers(4, 7), numbers(4), numbers(7)
case("tied", functional.linear(torch.sigmoid(functional.linear(x, w, b)), w.t(), back), {"a": x}, [w, b, back])

x = numbers(2, 5, 6)
attention = torch.nn.MultiheadAttention(6, 2, batch_first=True)
parameters = [attention.in_proj_weight, attention.in_proj_bias, attention.out_proj.weight, attention.out_proj.bias]
with torch.no_grad():
    for parameter in parameters:
        parameter.copy_(torch.randint(-64, 65, parameter.shape) / 64)
case("attention", attention(x, x, x)[0], {"a": x}, parameters)

x, w1, b1, w2, b2 = numbers(2, 2, 4, 5), numbers(2, 2, 3, 3), numbers(2), numbers(2, 2, 3, 3), numbers(2)
y = functional.conv2d(functional.relu(functional.conv2d(x, w1, b1, padding=1)), w2, b2, padding=1)
case("residual", functional.relu(y + x), {"a": x}, [w1, b1, w2, b2])


def attended(q, k, v, heads, kv_heads, **options):
    """torch's scaled_dot_product_attention of {batch, steps, features}, with the heads side by side"""
    apart = [x.reshape(x.shape[0], x.shape[1], h, -1).transpose(1, 2) for x, h in ((q, heads), (k, kv_heads), (v, kv_heads))]
    y = functional.scaled_dot_product_attention(*apart, enable_gqa=heads != kv_heads, **options)
    return y.transpose(1, 2).reshape(q.shape[0], q.shape[1], -1)


x = numbers(2, 7, 18)
case("attention_causal", attended(*x.split(6, 2), 2, 2, is_causal=True), {"a": x})
x = numbers(2, 20, 40)
case("attention_grouped", attended(x[..., :24], x[..., 24:32], x[..., 32:], 6, 2, scale=0.25), {"a": x})
x = numbers(2, 20, 12)
steps = torch.arange(20)
near = (steps[:, None] >= steps) & (steps[:, None] - steps < 5)
case("attention_window", attended(*x.split(4, 2), 2, 2, attn_mask=near), {"a": x})
x, mask = numbers(2, 3, 8), numbers(2, 3, 3)
case("attention_mask", attended(x, x, x, 2, 2, attn_mask=mask[:, None]), {"a": x, "b": mask})

two("max", (3, 18), (3, 18), torch.maximum)
two("min", (3, 18), (3, 18), torch.minimum)
for name, extreme in ("max_ties", torch.maximum), ("min_ties", torch.minimum):
    a, b = [(torch.randint(-1, 2, (3, 18)) / 2).requires_grad_() for _ in range(2)]
    case(name, extreme(a, b), {"a": a, "b": b})

condition, a, b = torch.randint(0, 2, (3, 18)) - 0.5 * torch.randint(0, 2, (3, 18)), numbers(3, 18), numbers(3, 18)
case("where", torch.where(condition != 0, a, b), {"a": a, "b": b, "c": condition.requires_grad_()})
for name, shape, axis in ("gather_first", (3, 5, 2), 0), ("gather_middle", (3, 2, 4, 3), 1), ("gather_last", (3, 7), 0):
    a, b = numbers(*shape), torch.randint(0, shape[axis + 1], (3, 6)).double().requires_grad_()
    y = torch.stack([x.index_select(axis, places.long()) for x, places in zip(a, b)])
    case(name, y, {"a": a, "b": b})

write(__file__)
