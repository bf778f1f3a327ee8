#!/usr/bin/env python3
"""PyTorch beside `coldpress amp train`: the same network, recipe and parts of the same two sounds.

train.py IN.wav OUT.wav [--epochs N] [--threads N] [--seed N] prints the error to signal ratio of what is held out after
each epoch (WAV files of one channel, of 16 or 24 bits or of floats; needs torch and numpy).

With --start FILE.nam the weights begin as those of an A1 standard model, and with --order FILE an epoch takes the
segments in the order of that line of the file. Then the losses of the first N steps, which --losses N prints, are those
of `coldpress amp train --log`. docs/audio.md has the commands."""
import argparse
import json
import struct
import sys
import time

import numpy as np
import torch
from torch import nn

options = argparse.ArgumentParser()
options.add_argument("input")
options.add_argument("output")
options.add_argument("--epochs", type=int, default=20)
options.add_argument("--threads", type=int, default=2)
options.add_argument("--seed", type=int, default=0)
options.add_argument("--start", help="a .nam file of the initial weights")
options.add_argument("--order", help="a file with a line of segments for each epoch")
options.add_argument("--losses", type=int, default=0, help="print the losses of so many steps, and stop")
options = options.parse_args()
torch.set_num_threads(options.threads)
torch.manual_seed(options.seed)
run_in, length, batch = 4092, 8192, 16


def read(path):
    with open(path, "rb") as file:
        riff = file.read()
    chunks, at = {}, 12
    while at + 8 <= len(riff):
        name, size = struct.unpack_from("<4sI", riff, at)
        chunks[name] = riff[at + 8 : at + 8 + size]
        at += 8 + size + size % 2
    format, size = struct.unpack("<H12xH", chunks[b"fmt "][:16])
    if format == 3 and size == 32:
        return torch.from_numpy(np.frombuffer(chunks[b"data"], "<f4").copy())
    raw = np.frombuffer(chunks[b"data"], np.uint8).reshape(-1, size // 8)
    size //= 8
    whole = np.zeros((len(raw), 4), np.uint8)
    whole[:, 4 - size :] = raw
    return torch.from_numpy((whole.view("<i4")[:, 0] / 2.0**31).astype(np.float32))


class Amp(nn.Module):
    """A1 standard, without the padding that a run-in makes needless."""

    def __init__(self):
        super().__init__()
        self.into = nn.ModuleList([nn.Conv1d(1, 16, 1, bias=False), nn.Conv1d(16, 8, 1, bias=False)])
        self.out = nn.ModuleList([nn.Conv1d(16, 8, 1, bias=False), nn.Conv1d(8, 1, 1)])
        self.dilated = nn.ModuleList([nn.ModuleList([nn.Conv1d(c, c, 3, dilation=2**i) for i in range(10)]) for c in (16, 8)])
        self.signal = nn.ModuleList([nn.ModuleList([nn.Conv1d(1, c, 1, bias=False) for i in range(10)]) for c in (16, 8)])
        self.mixed = nn.ModuleList([nn.ModuleList([nn.Conv1d(c, c, 1) for i in range(10 - (c == 8))]) for c in (16, 8)])

    def forward(self, signal):
        x, head = signal, None
        for a in range(2):
            x = self.into[a](x)
            for i in range(10):
                y = self.dilated[a][i](x)
                y = torch.tanh(y + self.signal[a][i](signal[:, :, -y.shape[2] :]))
                head = y if head is None else head[:, :, -y.shape[2] :] + y
                if a == 0 or i < 9:
                    x = x[:, :, -y.shape[2] :] + self.mixed[a][i](y)
            head = self.out[a](head)
        return 0.02 * head

    def load(self, path):
        """Reads the weights of a .nam file: in the order of the calls, with a last 1 x 1 that is not used."""
        with open(path) as file:
            weights = torch.tensor(json.load(file)["weights"])
        at = 0

        def take(shape):
            nonlocal at
            at += shape.numel()
            return weights[at - shape.numel() : at].view(shape)

        def fill(convolution):
            for parameter in convolution.parameters():
                parameter.data.copy_(take(parameter.shape))

        for a, channels in enumerate((16, 8)):
            fill(self.into[a])
            for i in range(10):
                fill(self.dilated[a][i])
                fill(self.signal[a][i])
                if a == 0 or i < 9:
                    fill(self.mixed[a][i])
                else:
                    at += channels * (channels + 1)
            fill(self.out[a])
        assert at + 1 == len(weights) and abs(weights[-1] - 0.02) < 1e-6, f"{path} is not an A1 standard model"


x, t = read(options.input), read(options.output)
count = (min(len(x), len(t)) - run_in) // length
samples = torch.stack([x[i * length : i * length + run_in + length] for i in range(count)])[:, None]
targets = torch.stack([t[i * length + run_in : (i + 1) * length + run_in] for i in range(count)])[:, None]
kept = count - round(0.1 * count)
net = Amp()
if options.start:
    net.load(options.start)
orders = []
if options.order:
    with open(options.order) as file:
        orders = [torch.tensor([int(at) for at in line.split()]) for line in file]
    fits = all(sorted(order.tolist()) == list(range(kept)) for order in orders)
    assert fits, f"{options.order} is not an order of {kept} segments"
optimizer = torch.optim.Adam(net.parameters(), lr=0.004)
policy = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.993)
best = float("inf")
begin = time.time()
for epoch in range(1, options.epochs + 1):
    order, total = orders[epoch - 1] if epoch <= len(orders) else torch.randperm(kept), 0.0
    for step, chosen in enumerate(order.split(batch), (epoch - 1) * -(-kept // batch) + 1):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(net(samples[chosen]), targets[chosen])
        loss.backward()
        optimizer.step()
        total += loss.item() * len(chosen)
        if options.losses:
            print(step, f"{loss.item():.9g}", flush=True)
            if step == options.losses:
                sys.exit()
    policy.step()
    with torch.no_grad():
        y = torch.cat([net(part) for part in samples[kept:].split(batch)])
    ratio = ((y - targets[kept:]).square().sum() / targets[kept:].square().sum()).item()
    best = min(best, ratio)
    print(f"epoch {epoch}  loss {total / kept:.4g}  ratio {ratio:.4g}  best {best:.4g}  {time.time() - begin:.0f} s", flush=True)
