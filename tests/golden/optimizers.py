"""Writes optimizers.hpp, the steps that torch.optim makes in double precision: python3 optimizers.py (needs PyTorch; written with 1.13).

All numbers are dyadic, so that float holds them exactly.
"""

import pathlib

import torch

start = [0.5, -1.25, 2.0, -0.03125]
gradients = [
    [1.0, -0.5, 0.25, 2.0],
    [0.5, 0.75, 0.0, -1.0],
    [-1.5, 0.125, 0.0, 0.5],
    [0.25, -2.0, 3.0, 0.0],
    [1.0, 1.0, -1.0, -0.0625],
    [-0.75, 0.5, 0.25, 1.25],
]
rate = 0.03125
betas = dict(betas=(0.875, 0.96875), eps=2.0**-20)


def steps(optimizer, l1=0.0, **options):
    weights = torch.tensor(start, dtype=torch.float64, requires_grad=True)
    solver = optimizer([weights], **options)
    rows = []
    for gradient in gradients:
        weights.grad = torch.tensor(gradient, dtype=torch.float64) + l1 * torch.sign(weights.detach())
        solver.step()
        rows.append(weights.tolist())
    return rows


cases = {
    "sgd": steps(torch.optim.SGD, lr=rate),
    "momentum": steps(torch.optim.SGD, lr=rate, momentum=0.75),
    "nesterov": steps(torch.optim.SGD, lr=rate, momentum=0.75, nesterov=True),
    "adam": steps(torch.optim.Adam, lr=rate, **betas),
    "adamw": steps(torch.optim.AdamW, lr=rate, weight_decay=0.125, **betas),
    "rmsprop": steps(torch.optim.RMSprop, lr=rate, alpha=0.9375, eps=2.0**-20),
    "adagrad": steps(torch.optim.Adagrad, lr=rate, eps=2.0**-20),
    "adadelta": steps(torch.optim.Adadelta, lr=0.5, rho=0.9375, eps=2.0**-10),
    "momentum_l2": steps(torch.optim.SGD, lr=rate, momentum=0.75, weight_decay=0.125),
    "momentum_l1": steps(torch.optim.SGD, lr=rate, momentum=0.75, l1=0.125),
    "adam_l2": steps(torch.optim.Adam, lr=rate, weight_decay=0.125, **betas),
}


def table(name, rows):
    lines = ",\n".join("    {" + ", ".join(f"{value:.15g}" for value in row) + "}" for row in rows)
    return f"inline constexpr double {name}[steps][size] = {{\n{lines}}};\n"


text = f"""// Written by optimizers.py with PyTorch {torch.__version__}: weights after each step of torch.optim in double precision.
#pragma once

// clang-format off
namespace coldpress::test::golden {{

inline constexpr int steps = {len(gradients)}, size = {len(start)};
inline constexpr double start[size] = {{{", ".join(map(str, start))}}};
{table("gradients", gradients)}
"""
text += "\n".join(table(name, rows) for name, rows in cases.items())
text += "\n}  // namespace coldpress::test::golden\n// clang-format on\n"
pathlib.Path(__file__).with_name("optimizers.hpp").write_text(text)
