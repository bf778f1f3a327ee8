#!/usr/bin/env python3
"""PyTorch beside `coldpress amp train`: the same network, recipe and parts of the same two sounds.

train.py IN.wav OUT.wav [--epochs N] [--threads N] [--seed N] prints the error to signal ratio of what is held out after
each epoch (24-bit or 16-bit WAV files of one channel; needs torch and numpy)."""
import argparse
import time
import wave

import numpy as np
import torch
from torch import nn

options = argparse.ArgumentParser()
options.add_argument("input")
options.add_argument("output")
options.add_argument("--epochs", type=int, default=20)
options.add_argument("--threads", type=int, default=2)
options.add_argument("--seed", type=int, default=0)
options = options.parse_args()
torch.set_num_threads(options.threads)
torch.manual_seed(options.seed)
run_in, length, batch = 4092, 8192, 16


def read(path):
    with wave.open(path) as file:
        size = file.getsampwidth()
        raw = np.frombuffer(file.readframes(file.getnframes()), np.uint8).reshape(-1, size)
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


x, t = read(options.input), read(options.output)
count = (min(len(x), len(t)) - run_in) // length
samples = torch.stack([x[i * length : i * length + run_in + length] for i in range(count)])[:, None]
targets = torch.stack([t[i * length + run_in : (i + 1) * length + run_in] for i in range(count)])[:, None]
kept = count - round(0.1 * count)
net = Amp()
optimizer = torch.optim.Adam(net.parameters(), lr=0.004)
policy = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.993)
best = float("inf")
begin = time.time()
for epoch in range(1, options.epochs + 1):
    order, total = torch.randperm(kept), 0.0
    for chosen in order.split(batch):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(net(samples[chosen]), targets[chosen])
        loss.backward()
        optimizer.step()
        total += loss.item() * len(chosen)
    policy.step()
    with torch.no_grad():
        y = torch.cat([net(part) for part in samples[kept:].split(batch)])
    ratio = ((y - targets[kept:]).square().sum() / targets[kept:].square().sum()).item()
    best = min(best, ratio)
    print(f"epoch {epoch}  loss {total / kept:.4g}  ratio {ratio:.4g}  best {best:.4g}  {time.time() - begin:.0f} s", flush=True)
