"""Small networks of PyTorch: torch_weights.py FOLDER writes the weights of each as NAME.safetensors, which are its
state_dict, inputs as NAME.x.npy, and the outputs that PyTorch computes as NAME.y.npy; the first also with the other
types of numbers, and as npz. torch_weights.py --load NAME FILE loads a file of weights into the module of that name with
load_state_dict, and fails unless its outputs are those of NAME.y.npy. Needs torch and safetensors."""

import pathlib
import sys

import numpy
import torch
from safetensors.torch import load_file, save_file
from torch import nn


class Images(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(2, 4, 3, padding=1), nn.BatchNorm2d(4), nn.PReLU(4), nn.MaxPool2d(2), nn.Conv2d(4, 6, 2, groups=2, bias=False))
        self.norm = nn.GroupNorm(3, 6)
        self.up = nn.ConvTranspose2d(6, 4, 3, stride=2, padding=1, output_padding=1, groups=2)
        self.classifier = nn.Linear(4 * 4 * 4, 3)

    def forward(self, x):
        return self.classifier(torch.flatten(self.up(self.norm(self.features(x))), 1))

    inputs = [(2, 2, 6, 6)]


class Volumes(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv3d(2, 4, (2, 3, 3), padding=(0, 1, 1)), nn.BatchNorm3d(4), nn.ReLU(), nn.MaxPool3d((1, 2, 2)),
            nn.Conv3d(4, 6, (3, 1, 2), groups=2, bias=False), nn.ConvTranspose3d(6, 2, 2, stride=(2, 1, 1)))

    def forward(self, x):
        return self.layers(x)

    inputs = [(2, 2, 4, 6, 6)]


class Sequences(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(2, 3, 2, dilation=2)
        self.lstm = nn.LSTM(3, 4, num_layers=2, bidirectional=True, batch_first=True)
        self.gru = nn.GRU(8, 5, num_layers=2, batch_first=True)
        self.rnn = nn.RNN(5, 3, nonlinearity="relu", batch_first=True)
        self.head = nn.Linear(3, 2)

    def forward(self, x):
        x = self.conv(nn.functional.pad(x.transpose(1, 2), (2, 0))).transpose(1, 2)  # causal
        for layer in (self.lstm, self.gru, self.rnn):
            x, _ = layer(x)
        return self.head(x)

    inputs = [(2, 7, 2)]


class Block(nn.Module):
    """A transformer block of 6 features and 2 heads, after words and their positions."""

    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(9, 6)
        self.positions = nn.Embedding(8, 6)
        self.norm = nn.LayerNorm(6)
        self.attention = nn.MultiheadAttention(6, 2, batch_first=True)
        self.mlp = nn.Sequential(nn.RMSNorm(6, eps=1e-5), nn.Linear(6, 10), nn.GELU(), nn.Linear(10, 6))

    def forward(self, words):
        words = words.long()
        x = self.words(words) + self.positions(torch.arange(words.shape[1]))
        y = self.norm(x)
        x = x + self.attention(y, y, y, need_weights=False)[0]
        return x + self.mlp(x)

    inputs = [(2, 5)]


class Mlp(nn.Sequential):
    """That of docs/pytorch.md."""

    def __init__(self):
        super().__init__(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))

    inputs = [(1, 3)]


networks = {"images": Images, "volumes": Volumes, "sequences": Sequences, "block": Block, "mlp": Mlp}


def made(name):
    torch.manual_seed(1)
    module = networks[name]()
    for key, value in module.state_dict().items():  # so that nothing has the value with which it begins
        if value.dtype == torch.float32:
            value.add_(0.25 * torch.rand_like(value))
    module.eval()
    shape = module.inputs[0]
    x = torch.randint(0, 9, shape).float() if name == "block" else torch.randn(shape)
    if name == "mlp":
        x = torch.tensor([[0.5, -1, 2]])
    with torch.no_grad():
        return module, x, module(x)


def write(folder):
    for name in networks:
        module, x, y = made(name)
        numpy.save(folder / f"{name}.x.npy", x.numpy())
        numpy.save(folder / f"{name}.y.npy", y.numpy())
        state = module.state_dict()
        save_file(state, folder / f"{name}.safetensors", metadata={"format": "pt"})
        if name != "images":
            continue
        save_file({key: value.double() for key, value in state.items()}, folder / "images.f64.safetensors")
        save_file({key: value.half() for key, value in state.items()}, folder / "images.f16.safetensors")
        save_file({key: value.bfloat16() for key, value in state.items()}, folder / "images.bf16.safetensors")
        numpy.savez(folder / "images.npz", **{key: value.numpy() for key, value in state.items()})
        numpy.savez_compressed(folder / "images.f16.npz", **{key: value.half().numpy() for key, value in state.items()})
        numpy.savez_compressed(folder / "bomb.npz", **{"classifier.weight": numpy.zeros(1 << 21, numpy.float32)})
        torch.save(nn.Linear(1, 1).state_dict(), folder / "pickles.pt")
        torch.save(nn.Linear(1, 1).state_dict(), folder / "pickle.pt", _use_new_zipfile_serialization=False)


def load(name, file):
    module, x, y = made(name)
    with torch.no_grad():
        for value in module.state_dict().values():
            value.fill_(0)
        state = {k: torch.from_numpy(v) for k, v in numpy.load(file).items()} if file.endswith(".npz") else load_file(file)
        module.load_state_dict(state)
        assert torch.equal(module(x), y), "the outputs are others"


if sys.argv[1] == "--load":
    load(*sys.argv[2:])
else:
    write(pathlib.Path(sys.argv[1]))
