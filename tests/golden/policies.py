"""Writes policies.hpp: the rates and momenta of PyTorch's schedulers, as the goldens of tests/optim/policy.cpp.

Run it with a Python that has PyTorch (2.2.2 made the file): python3 tests/golden/policies.py > tests/golden/policies.hpp,
and then clang-format.
"""
import torch
from torch.optim import lr_scheduler as schedulers

base = 0.1


def run(make, steps, momentum=0.9, number="lr"):
    weight = torch.nn.Parameter(torch.zeros(1))
    optimizer = torch.optim.SGD([weight], lr=base, momentum=momentum)
    scheduler = make(optimizer)
    values = []
    for step in range(steps):
        values.append(optimizer.param_groups[0][number])
        optimizer.step()
        if step + 1 < steps:
            scheduler.step()
    return values


def sequence(optimizer):
    return schedulers.SequentialLR(
        optimizer,
        [schedulers.LinearLR(optimizer, start_factor=0.25, total_iters=5),
         schedulers.CosineAnnealingLR(optimizer, T_max=8),
         schedulers.ConstantLR(optimizer, factor=0.5, total_iters=100)],
        milestones=[5, 13])


def one_cycle(optimizer):
    return schedulers.OneCycleLR(optimizer, max_lr=base, total_steps=20)


goldens = {
    "step": run(lambda o: schedulers.StepLR(o, step_size=3, gamma=0.5), 8),
    "multistep": run(lambda o: schedulers.MultiStepLR(o, milestones=[2, 5], gamma=0.25), 8),
    "exp": run(lambda o: schedulers.ExponentialLR(o, gamma=0.75), 6),
    "poly": run(lambda o: schedulers.PolynomialLR(o, total_iters=6, power=2), 8),
    "warmup": run(lambda o: schedulers.LinearLR(o, start_factor=0.25, total_iters=5), 8),
    "cosine": run(lambda o: schedulers.CosineAnnealingLR(o, T_max=10, eta_min=0.2 * base), 11),
    "restarts": run(lambda o: schedulers.CosineAnnealingWarmRestarts(o, T_0=4, eta_min=0.2 * base), 13),
    "longer_restarts": run(lambda o: schedulers.CosineAnnealingWarmRestarts(o, T_0=3, T_mult=2), 25),
    "one_cycle": run(one_cycle, 20),
    "one_cycle_momentum": run(one_cycle, 20, number="momentum"),
    "sequence": run(sequence, 20),
}

print("// Made by policies.py with PyTorch: the numbers of iterations 0, 1, ..., of rates that start from 0.1.")
print("#pragma once\n\n#include <vector>\n\nnamespace coldpress::test::golden {\n")
for name, values in goldens.items():
    print(f"inline std::vector<double> const {name}{{{', '.join(f'{value:.10g}' for value in values)}}};")
print("\n}  // namespace coldpress::test::golden")
