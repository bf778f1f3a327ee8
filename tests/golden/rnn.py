"""Writes the expected values of tests/layers/rnn_golden.cpp to rnn.txt, computed by PyTorch in float64: python3 rnn.py (needs torch).

With the path of Juice's mackey-glass-rnn.juice it also prints that network's predictions, which tests/persist/rnn.cpp quotes.
Everything is in the packed order of cuDNN; PyTorch's gates come in the same order.
"""

import struct
import sys

import torch

torch.set_default_dtype(torch.float64)


def numbers(count, factor):
    """Multiples of 1/128, so that floats hold them."""
    return torch.tensor([((i * factor) % 101 - 50) / 128 for i in range(count)])


def parts(module, layers, directions):
    ends = [f"l{layer}{'_reverse' if d else ''}" for layer in range(layers) for d in range(directions)]
    return [
        *(getattr(module, f"weight_{kind}_{end}") for end in ends for kind in ("ih", "hh")),
        *(getattr(module, f"bias_{kind}_{end}") for end in ends for kind in ("ih", "hh")),
    ]


def unpack(module, layers, directions, weights):
    with torch.no_grad():
        for part in parts(module, layers, directions):
            part.copy_(weights[: part.numel()].view_as(part))
            weights = weights[part.numel() :]
    assert weights.numel() == 0


def recurrent(kind, features, hidden, layers, directions):
    options = dict(num_layers=layers, bidirectional=directions == 2, batch_first=True)
    if kind in ("relu", "tanh"):
        return torch.nn.RNN(features, hidden, nonlinearity=kind, **options)
    return {"lstm": torch.nn.LSTM, "gru": torch.nn.GRU}[kind](features, hidden, **options)


def golden(out, kind, layers, directions, batch=2, steps=3, features=2, hidden=3):
    module = recurrent(kind, features, hidden, layers, directions)
    count = sum(part.numel() for part in parts(module, layers, directions))
    unpack(module, layers, directions, numbers(count, 37))
    x = numbers(batch * steps * features, 29).view(batch, steps, features).requires_grad_()
    y, state = module(x)
    last = state[0] if kind == "lstm" else state  # [layers * directions, batch, hidden]
    y.backward(numbers(y.numel(), 23).view_as(y))
    gradient = torch.cat([part.grad.flatten() for part in parts(module, layers, directions)])
    last = last.view(layers, directions, batch, hidden).permute(2, 1, 3, 0)  # {batch, units, layers}
    out.write(f"{kind}_{layers}_{directions}\n")
    for name, values in (("steps", y), ("layers", last), ("dx", x.grad), ("weights", gradient)):
        out.write(" ".join([name] + [f"{v:.9g}" for v in values.detach().flatten().tolist()]) + "\n")


def tensors_of(path):
    """Names and values of a packed Cap'n Proto message of one segment: Juice's Layer."""
    packed, raw = open(path, "rb").read(), bytearray()
    while packed:
        tag, packed = packed[0], packed[1:]
        for bit in range(8):
            if tag >> bit & 1:
                raw.append(packed[0])
                packed = packed[1:]
            else:
                raw.append(0)
        if tag in (0, 255):
            run, packed = packed[0] * 8, packed[1:]
            raw += bytes(run) if tag == 0 else packed[:run]
            packed = packed if tag == 0 else packed[run:]
    words = bytes(raw[8:])

    def pointer(at):
        value = struct.unpack_from("<Q", words, 8 * at)[0]
        offset = (value & 0xFFFFFFFF) >> 2
        return at + 1 + (offset - (1 << 30) if offset >> 29 else offset), value >> 32

    def fields(at, info):  # the pointers of a struct
        return [at + (info & 0xFFFF) + i for i in range(info >> 16)]

    found = {}
    start, _ = pointer(fields(*pointer(0))[2])
    tag = struct.unpack_from("<Q", words, 8 * start)[0]
    data, pointers, count = tag >> 32 & 0xFFFF, tag >> 48, (tag & 0xFFFFFFFF) >> 2
    for i in range(count):
        name_at, tensor_at = (start + 1 + i * (data + pointers) + data + k for k in range(2))
        at, info = pointer(name_at)
        name = words[8 * at : 8 * at + (info >> 3) - 1].decode()
        at, info = pointer(fields(*pointer(tensor_at))[1])
        found[name] = torch.tensor(struct.unpack_from(f"<{info >> 3}f", words, 8 * at))
    return found


def predictions(path):
    tensors = tensors_of(path)
    module = recurrent("lstm", 10, 5, 2, 1)
    unpack(module, 2, 1, tensors["LSTMInitial-0"])
    x = numbers(30, 29).view(3, 1, 10)
    last = module(x)[1][0].permute(1, 2, 0).flatten(1)  # of a sample: unit 0 of both layers, unit 1 of both, ...
    return torch.sigmoid(last @ tensors["linear1-0"].view(10, 1) + tensors["linear1-0-bias"]).flatten()


with open(__file__.replace(".py", ".txt"), "w") as file:
    for kind in ("lstm", "gru", "relu", "tanh"):
        golden(file, kind, 2, 1)
        golden(file, kind, 1, 2)
    golden(file, "lstm", 2, 2)
    golden(file, "gru", 2, 2)
if len(sys.argv) > 1:
    print(", ".join(f"{v:.9g}" for v in predictions(sys.argv[1]).tolist()))
