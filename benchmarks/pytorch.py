#!/usr/bin/env python3
"""Times PyTorch on the workloads of coldpress-bench: eager, compiled, and as a captured CUDA graph.

Usage: benchmarks/pytorch.py [--device cuda|cpu] [--seconds S] [--until S] [--data resident|uploaded|both]
                             [--host pipelined|waited|both] [--tf32] [WORKLOAD ...]
Prints a line for each measurement: library, workload, mode, median in microseconds by the host's clock, whether TF32 was
allowed, and the median by the GPU's events around a step. Training is forward, loss, backward and an SGD step with momentum
0.9; inference computes logits. The conditions are those of coldpress-bench: a minibatch is resident on the GPU, or uploaded
in each call from ordinary host memory through pinned memory; calls are pipelined and waited for together, or each call is
waited for and its loss, or its output, is read. cuDNN chooses algorithms by trial (torch.backends.cudnn.benchmark).
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


# network, shape of the input, number of classes (None: values are compared); for inference without loss
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


class Places:
    """Two buffers on a GPU to which host data is uploaded alternately through pinned memory, as in coldpress."""

    def __init__(self, tensors, device):
        self.tensors, self.turn = tensors, 0
        self.pinned = [[t.clone().pin_memory() for t in tensors] for _ in range(2)]
        self.there = [[t.to(device) for t in tensors] for _ in range(2)]
        self.copied = [torch.cuda.Event() for _ in range(2)]

    def bring(self, to=None):
        """Uploads to the next buffer, or to tensors that a graph reads."""
        self.turn = turn = 1 - self.turn
        self.copied[turn].synchronize()  # the pinned memory may still be read
        for tensor, pinned, there in zip(self.tensors, self.pinned[turn], to or self.there[turn]):
            pinned.copy_(tensor)
            there.copy_(pinned, non_blocking=True)
        self.copied[turn].record()
        return to or self.there[turn]


def steps(workload, mode, device, resident):
    """A function that does one step of the workload on the GPU, and one that waits for its result and reads it."""
    torch.manual_seed(7)
    make, shape = (TRAINING.get(workload) or INFERENCE[workload])[:2]
    net, x = make().to(device), torch.randn(shape)
    given = [x]
    if workload in TRAINING:
        classes = TRAINING[workload][2]
        loss = cross_entropy if classes else F.mse_loss
        with torch.no_grad():
            given.append(torch.randint(0, classes, (shape[0],)) if classes else torch.randn_like(net(x.to(device)).cpu()))
        options = {"fused": True} if device == "cuda" and "fused" in torch.optim.SGD.__init__.__code__.co_varnames else {}
        optimizer = torch.optim.SGD(net.parameters(), lr=1e-3, momentum=0.9, **options)

        def forward(inputs, targets):
            return loss(net(inputs), targets)

        run = torch.compile(forward) if mode == "compile" else forward

        def step(*values):
            optimizer.zero_grad(set_to_none=mode != "graph")
            made = run(*values)
            made.backward()
            optimizer.step()
            return made
    else:
        net.eval()
        run = torch.compile(net) if mode == "compile" else net

        def step(*values):
            with torch.no_grad():
                return run(*values)

    made = [None]

    def wait():
        return made[0].detach().cpu()

    there = [t.to(device) for t in given]
    places = None if resident else Places(given, device)

    if mode != "graph":
        def once():
            made[0] = step(*(places.bring() if places else there))
        return once, wait
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            step(*there)
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        made[0] = step(*there)

    def again():
        if places:
            places.bring(there)
        graph.replay()
    return again, wait


def times(step, wait, seconds, waited, on_gpu):
    """Medians in microseconds: by the host's clock, and by the GPU's events around a step (0 without a GPU)."""
    def some(count):
        begin = time.perf_counter()
        for _ in range(count):
            step()
        wait()
        return time.perf_counter() - begin

    each = min(some(10) for _ in range(2)) / 10
    count = 1 if waited else max(1, min(2000, int(5e-3 / each)))
    samples, end = [], time.perf_counter() + seconds
    while time.perf_counter() < end or len(samples) < 5:
        samples.append(some(count) / count)
    by_gpu = 0
    if on_gpu:
        pairs = [[torch.cuda.Event(enable_timing=True) for _ in range(2)] for _ in range(max(10, min(100, count)))]
        for begin, after in pairs:
            begin.record()
            step()
            after.record()
        wait()
        torch.cuda.synchronize()
        by_gpu = statistics.median(begin.elapsed_time(after) for begin, after in pairs) * 1e3
    return statistics.median(samples) * 1e6, by_gpu


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="cuda", choices=["cuda", "cpu"])
    parser.add_argument("--seconds", type=float, default=0.3)
    parser.add_argument("--until", type=float, default=1e9, help="begin nothing after so many seconds")
    parser.add_argument("--data", choices=["resident", "uploaded", "both"], default="both")
    parser.add_argument("--host", choices=["pipelined", "waited", "both"], default="both")
    parser.add_argument("--tf32", action="store_true")
    parser.add_argument("workloads", nargs="*", default=[*TRAINING, *INFERENCE])
    arguments = parser.parse_intermixed_args()
    begin = time.perf_counter()
    on_gpu = arguments.device == "cuda"
    if on_gpu and not torch.cuda.is_available():
        sys.exit("pytorch.py: PyTorch sees no GPU")
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = arguments.tf32
    torch.backends.cudnn.benchmark = True
    torch.set_num_threads(1)
    data = ["resident", "uploaded"] if arguments.data == "both" else [arguments.data]
    hosts = ["pipelined", "waited"] if arguments.host == "both" else [arguments.host]
    if not on_gpu:
        data, hosts = ["resident"], ["waited"]
    # Modes that compile for seconds come last.
    for mode in ["graph", "eager", "compile"] if on_gpu else ["eager"]:
        for workload in arguments.workloads:
            for where in data:
                if time.perf_counter() - begin > arguments.until:
                    print(f"pytorch.py: no time was left for {workload}, {mode}, {where}", file=sys.stderr)
                    continue
                try:
                    step, wait = steps(workload, mode, arguments.device, where == "resident")
                    for host in hosts:
                        by_host, by_gpu = times(step, wait, arguments.seconds, host == "waited", on_gpu)
                        print(f"pytorch {torch.__version__}\t{workload}\t{mode}, {where}, {host}\t{by_host:.4g}\t"
                              f"{'tf32' if arguments.tf32 else 'fp32'}\t{by_gpu:.4g}", flush=True)
                except Exception as error:  # this version or GPU does not support the mode
                    print(f"pytorch.py: {workload}, {mode}, {where}: {(str(error) or repr(error)).splitlines()[0]}", file=sys.stderr)


if __name__ == "__main__":
    main()
