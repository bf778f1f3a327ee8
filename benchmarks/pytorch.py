#!/usr/bin/env python3
"""Times PyTorch on the workloads of coldpress-bench: eager, compiled, and as a captured CUDA graph.

Usage: benchmarks/pytorch.py [--device cuda|cpu] [--seconds S] [--tf32] [WORKLOAD ...]
Prints a line for each: library, workload, mode, median in microseconds, and whether TF32 was allowed. Training is forward,
loss, backward and an SGD step with momentum 0.9 on a batch that is in memory; inference gives logits. On a GPU times
are of whole calls that were waited for, in turn, after a warm-up.
"""
import argparse
import statistics
import sys
import time

import torch
from torch import nn
from torch.nn import functional as F


class LastStep(nn.Module):
    """An LSTM over ten steps of one feature, and a dense layer on its last step."""

    def __init__(self):
        super().__init__()
        self.lstm, self.dense = nn.LSTM(1, 32, batch_first=True), nn.Linear(32, 1)

    def forward(self, x):
        return self.dense(self.lstm(x)[0][:, -1])


def mlp(sizes, activation):
    layers = []
    for inputs, outputs in zip(sizes, sizes[1:]):
        layers += [nn.Linear(inputs, outputs), activation()]
    return nn.Sequential(*layers[:-1])


def lenet():
    return nn.Sequential(nn.Conv2d(1, 20, 5), nn.MaxPool2d(2), nn.Conv2d(20, 50, 5), nn.MaxPool2d(2), nn.Flatten(),
                         nn.Linear(800, 500), nn.ReLU(), nn.Linear(500, 10))


def cifar10_quick():
    def pool(kind):
        return kind(3, 2, ceil_mode=True)

    return nn.Sequential(nn.Conv2d(3, 32, 5, padding=2), pool(nn.MaxPool2d), nn.ReLU(), nn.Conv2d(32, 32, 5, padding=2),
                         nn.ReLU(), pool(nn.AvgPool2d), nn.Conv2d(32, 64, 5, padding=2), nn.ReLU(), pool(nn.AvgPool2d),
                         nn.Flatten(), nn.Linear(1024, 64), nn.Linear(64, 10))


def cross_entropy(y, t):
    return F.nll_loss(F.log_softmax(y, 1), t)


# network, input, classes (None: values, of so many outputs), or no loss for inference
TRAINING = {
    "T1": (lambda: mlp([784, 128, 10], nn.ReLU), (64, 784), 10),
    "T2": (lambda: mlp([784, 512, 512, 10], nn.ReLU), (128, 784), 10),
    "T3": (lenet, (64, 1, 28, 28), 10),
    "T4": (lambda: mlp([17, 64, 64, 6], nn.Tanh), (256, 17), None),
    "T5": (LastStep, (40, 10, 1), None),
    "T6": (cifar10_quick, (100, 3, 32, 32), 10),
}
INFERENCE = {
    "I1": (lambda: mlp([784, 128, 10], nn.ReLU), (1, 784)),
    "I4": (lenet, (1, 1, 28, 28)),
    "I6": (lambda: mlp([784, 128, 10], nn.ReLU), (64, 784)),
}


def steps(workload, mode, device):
    """A function that does one step of the workload."""
    torch.manual_seed(7)
    make, shape = (TRAINING.get(workload) or INFERENCE[workload])[:2]
    net, x = make().to(device), torch.randn(shape, device=device)
    if workload in INFERENCE:
        net.eval()
        run = torch.compile(net) if mode == "compile" else net

        def step():
            with torch.no_grad():
                return run(x)
    else:
        classes = TRAINING[workload][2]
        if classes:
            target, loss = torch.randint(0, classes, (shape[0],), device=device), cross_entropy
        else:
            with torch.no_grad():
                target, loss = torch.randn_like(net(x)), F.mse_loss
        options = {"fused": True} if device == "cuda" and "fused" in torch.optim.SGD.__init__.__code__.co_varnames else {}
        optimizer = torch.optim.SGD(net.parameters(), lr=1e-3, momentum=0.9, **options)

        def forward(inputs, targets):
            return loss(net(inputs), targets)

        run = torch.compile(forward) if mode == "compile" else forward

        def step():
            optimizer.zero_grad(set_to_none=mode != "graph")
            run(x, target).backward()
            optimizer.step()

    if mode != "graph":
        return step
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    return graph.replay


def median_of(step, seconds, wait):
    for _ in range(10):
        step()
    wait()
    samples, end = [], time.perf_counter() + seconds
    while time.perf_counter() < end or len(samples) < 30:
        begin = time.perf_counter()
        step()
        wait()
        samples.append(time.perf_counter() - begin)
    return statistics.median(samples) * 1e6


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="cuda", choices=["cuda", "cpu"])
    parser.add_argument("--seconds", type=float, default=0.3)
    parser.add_argument("--tf32", action="store_true")
    parser.add_argument("workloads", nargs="*", default=[*TRAINING, *INFERENCE])
    arguments = parser.parse_args()
    if arguments.device == "cuda" and not torch.cuda.is_available():
        sys.exit("pytorch.py: PyTorch sees no GPU")
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = arguments.tf32
    torch.set_num_threads(1)
    on_gpu = arguments.device == "cuda"
    wait = torch.cuda.synchronize if on_gpu else lambda: None
    for workload in arguments.workloads:
        for mode in ["eager", "compile", "graph"] if on_gpu else ["eager"]:
            try:
                time_us = median_of(steps(workload, mode, arguments.device), arguments.seconds, wait)
            except Exception as error:  # a mode that this version or GPU cannot
                print(f"pytorch.py: {workload} {mode}: {str(error).splitlines()[0]}", file=sys.stderr)
                continue
            print(f"pytorch {torch.__version__}\t{workload}\t{mode}\t{time_us:.4g}\t{'tf32' if arguments.tf32 else 'fp32'}",
                  flush=True)


if __name__ == "__main__":
    main()
