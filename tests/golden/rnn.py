"""Writes the expected values of tests/layers/rnn_golden.cpp to rnn.txt, computed by PyTorch in float64: python3 rnn.py (needs torch).

PyTorch has no GRU with its reset gate before the product. That one is written out here, and its outputs are compared with onnxruntime's
GRU with linear_before_reset = 0, in float32 (needs onnx and onnxruntime, too).
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


class ResetBefore(torch.nn.Module):
    """A GRU like torch.nn.GRU, but with n = tanh(W x + b_W + R (r h) + b_R)."""

    def __init__(self, features, hidden, num_layers, bidirectional, batch_first):
        super().__init__()
        assert batch_first
        self.hidden, self.layers, self.directions = hidden, num_layers, 2 if bidirectional else 1
        for layer in range(num_layers):
            for end in (f"l{layer}", f"l{layer}_reverse")[: self.directions]:
                columns = features if layer == 0 else self.directions * hidden
                for name, shape in (("weight_ih", (3 * hidden, columns)), ("weight_hh", (3 * hidden, hidden)), ("bias_ih", 3 * hidden),
                                    ("bias_hh", 3 * hidden)):
                    self.register_parameter(f"{name}_{end}", torch.nn.Parameter(torch.zeros(shape)))

    def forward(self, x):
        last = []
        for layer in range(self.layers):
            made = []
            for d in range(self.directions):
                w, u, b, c = (getattr(self, f"{name}_l{layer}{'_reverse' if d else ''}") for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"))
                h, ys = torch.zeros(len(x), self.hidden), [None] * x.shape[1]
                for t in reversed(range(x.shape[1])) if d else range(x.shape[1]):
                    (xr, xz, xn), (ur, uz, un), (cr, cz, cn) = (x[:, t] @ w.T + b).chunk(3, 1), u.chunk(3), c.chunk(3)
                    r, z = torch.sigmoid(xr + h @ ur.T + cr), torch.sigmoid(xz + h @ uz.T + cz)
                    n = torch.tanh(xn + (r * h) @ un.T + cn)
                    h = (1 - z) * n + z * h
                    ys[t] = h
                made.append(torch.stack(ys, 1))
                last.append(h)
            x = torch.cat(made, 2)
        return x, torch.stack(last)


def by_onnxruntime(module, x):
    """The same outputs, by one operator of ONNX for each layer. Its gates are in the order z, r, n."""
    import numpy
    import onnx
    import onnxruntime
    from onnx import helper

    x = x.detach().float().permute(1, 0, 2).numpy()
    last = []
    for layer in range(module.layers):
        ends = [f"l{layer}", f"l{layer}_reverse"][: module.directions]

        def ordered(name):
            tensors = (getattr(module, f"{name}_{end}").detach() for end in ends)
            return numpy.stack([torch.cat([t.chunk(3)[i] for i in (1, 0, 2)]).float().numpy() for t in tensors])

        inputs = {"X": x, "W": ordered("weight_ih"), "R": ordered("weight_hh"),
                  "B": numpy.concatenate([ordered("bias_ih"), ordered("bias_hh")], 1)}
        node = helper.make_node("GRU", list(inputs), ["Y", "Y_h"], hidden_size=module.hidden, linear_before_reset=0,
                                direction=("forward", "bidirectional")[module.directions - 1])
        of = lambda name, shape: helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, shape)  # noqa: E731
        graph = helper.make_graph([node], "gru", [of(k, v.shape) for k, v in inputs.items()], [of("Y", None), of("Y_h", None)])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=8)
        y, state = onnxruntime.InferenceSession(model.SerializeToString()).run(None, inputs)
        last.append(torch.from_numpy(state))
        x = y.transpose(0, 2, 1, 3).reshape(*y.shape[:1], y.shape[2], -1)
    return torch.from_numpy(x.copy()).permute(1, 0, 2), torch.cat(last)


def recurrent(kind, features, hidden, layers, directions):
    options = dict(num_layers=layers, bidirectional=directions == 2, batch_first=True)
    if kind in ("relu", "tanh"):
        return torch.nn.RNN(features, hidden, nonlinearity=kind, **options)
    return {"lstm": torch.nn.LSTM, "gru": torch.nn.GRU, "gru_reset_before": ResetBefore}[kind](features, hidden, **options)


def golden(out, kind, layers, directions, batch=2, steps=3, features=2, hidden=3):
    module = recurrent(kind, features, hidden, layers, directions)
    count = sum(part.numel() for part in parts(module, layers, directions))
    unpack(module, layers, directions, numbers(count, 37))
    x = numbers(batch * steps * features, 29).view(batch, steps, features).requires_grad_()
    y, state = module(x)
    if kind == "gru_reset_before":
        for mine, theirs in zip((y, state), by_onnxruntime(module, x)):
            assert (mine - theirs).abs().max() < 1e-6
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
    for layers, directions in ((2, 1), (1, 2), (2, 2)):
        golden(file, "gru_reset_before", layers, directions)
if len(sys.argv) > 1:
    print(", ".join(f"{v:.9g}" for v in predictions(sys.argv[1]).tolist()))
