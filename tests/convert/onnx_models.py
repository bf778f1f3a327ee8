#!/usr/bin/env python3
"""Writes the models of onnx/: small networks of PyTorch with random weights, exported by both of its exporters, with an
input and PyTorch's output for it as .npy. They are what tests/convert/onnx.cpp reads.

    pip install torch torchvision onnx onnxruntime onnxscript
    tests/convert/onnx_models.py [FOLDER [NAME...]]

With --large it writes ResNet-18 and MobileNetV2 instead, which are too large to be kept.
"""
import pathlib
import sys
import warnings

import numpy as np
import onnx
import torch
from torch import nn
from torch.nn import functional as F

BATCH = 2


class LeNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 4, 5), nn.Conv2d(4, 6, 5)
        self.fc1, self.fc2 = nn.Linear(6 * 4 * 4, 20), nn.Linear(20, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        x = x.view(x.size(0), -1)
        return F.log_softmax(self.fc2(F.dropout(F.relu(self.fc1(x)), training=self.training)), dim=1)


class Residual(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(outputs)
        self.downsample = None
        if stride != 1 or inputs != outputs:
            self.downsample = nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))

    def forward(self, x):
        y = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
        return F.relu(y + (x if self.downsample is None else self.downsample(x)))


class ResNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(3, 4, 7, 2, 3, bias=False), nn.BatchNorm2d(4)
        self.layer1 = nn.Sequential(Residual(4, 4, 1))
        self.layer2 = nn.Sequential(Residual(4, 6, 2))
        self.fc = nn.Linear(6, 5)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.bn1(self.conv1(x))), 3, 2, 1)
        x = F.adaptive_avg_pool2d(self.layer2(self.layer1(x)), 1)
        return self.fc(torch.flatten(x, 1))


class MobileNet(nn.Module):
    """A stem and inverted residual blocks of MobileNetV2, and a squeeze and excitation of MobileNetV3."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 4, 3, 2, 1, bias=False), nn.BatchNorm2d(4), nn.ReLU6())
        self.block = nn.Sequential(
            nn.Conv2d(4, 8, 1, bias=False), nn.BatchNorm2d(8), nn.ReLU6(),
            nn.Conv2d(8, 8, 3, 1, 1, groups=8, bias=False), nn.BatchNorm2d(8), nn.Hardswish(),
            nn.Conv2d(8, 4, 1, bias=False), nn.BatchNorm2d(4))
        self.squeeze, self.excite = nn.Conv2d(4, 2, 1), nn.Conv2d(2, 4, 1)
        self.classifier = nn.Sequential(nn.Dropout(0.2), nn.Linear(4, 5))

    def forward(self, x):
        x = self.stem(x)
        x = x + self.block(x)
        gate = F.hardsigmoid(self.excite(F.silu(self.squeeze(x.mean((2, 3), keepdim=True)))))
        return self.classifier((x * gate).mean([2, 3]))


class Recurrent(nn.Module):
    def __init__(self, kind, **options):
        super().__init__()
        self.rnn = kind(3, 5, batch_first=True, **options)
        self.fc = nn.Linear(10 if self.rnn.bidirectional else 5, 4)

    def forward(self, x):
        return self.fc(self.rnn(x)[0][:, -1])


class Transformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(11, 8)
        self.positions = nn.Parameter(torch.randn(1, 6, 8))
        layer = nn.TransformerEncoderLayer(8, 2, 16, activation="gelu", batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.fc = nn.Linear(8, 4)

    def forward(self, ids):
        return self.fc(self.encoder(self.embedding(ids) + self.positions).mean(1))


class EncoderDecoder(nn.Module):
    """Attention to another value, for which PyTorch splits the weights when it runs; samples are the second axis inside."""

    def __init__(self):
        super().__init__()
        self.both = nn.Transformer(8, 2, 1, 1, 16, batch_first=True)

    def forward(self, x):
        return self.both(x, 0.5 * x)


def swin():
    """Windows of which every second is shifted, with a mask that is written into zeros."""
    from torchvision.models.swin_transformer import SwinTransformer

    return SwinTransformer([2, 2], 8, [2], [2], [2, 2], num_classes=3)


def convnext():
    """Averages of images with channels last, which the newer exporter writes as numbers that select all values."""
    from torchvision.models.convnext import CNBlockConfig, ConvNeXt

    return ConvNeXt([CNBlockConfig(4, 8, 1), CNBlockConfig(8, None, 1)], num_classes=3, layer_scale=0.5)


class Gpt(nn.Module):
    """A block of a causal transformer as nanoGPT writes it, with the approximate GELU and a token of its own."""

    def __init__(self, size=8, heads=2):
        super().__init__()
        self.heads = heads
        self.start = nn.Parameter(torch.randn(1, 1, size))
        self.ln1, self.ln2 = nn.LayerNorm(size), nn.LayerNorm(size)
        self.qkv, self.proj = nn.Linear(size, 3 * size), nn.Linear(size, size)
        self.up, self.down = nn.Linear(size, 2 * size), nn.Linear(2 * size, size)

    def forward(self, x):
        x = torch.cat([self.start.expand(x.size(0), -1, -1), x], dim=1)
        n, t, c = x.shape
        q, k, v = (y.view(n, t, self.heads, c // self.heads).transpose(1, 2) for y in self.qkv(self.ln1(x)).split(c, 2))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.proj(y.transpose(1, 2).reshape(n, t, c))
        return x + self.down(F.gelu(self.up(self.ln2(x)), approximate="tanh"))


class WaveNet(nn.Module):
    """Dilated causal convolutions with gates, residuals and skips."""

    def __init__(self, channels=4, dilations=(1, 2, 4)):
        super().__init__()
        self.dilations = dilations
        self.input = nn.Conv1d(1, channels, 1)
        self.dilated = nn.ModuleList(nn.Conv1d(channels, 2 * channels, 2, dilation=d) for d in dilations)
        self.residual = nn.ModuleList(nn.Conv1d(channels, channels, 1) for d in dilations)
        self.output = nn.Conv1d(channels, 1, 1)

    def forward(self, x):
        x, skips = self.input(x), 0
        for dilation, conv, residual in zip(self.dilations, self.dilated, self.residual):
            filtered, gate = conv(F.pad(x, (dilation, 0))).chunk(2, 1)
            y = torch.tanh(filtered) * torch.sigmoid(gate)
            skips = skips + y
            x = x + residual(y)
        return self.output(F.relu(skips))


class Tcn(nn.Module):
    """A temporal convolutional network: padding on both sides, of which the end is cut off."""

    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv1d(2, 4, 3, padding=4, dilation=2), nn.Conv1d(4, 3, 3, padding=1)

    def forward(self, x):
        return self.conv2(F.leaky_relu(self.conv1(x)[:, :, :-4]))


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 6 * 3 * 3)
        self.up1 = nn.ConvTranspose2d(6, 4, 3, stride=2, padding=1, output_padding=1)
        self.norm = nn.GroupNorm(2, 4)
        self.up2 = nn.ConvTranspose2d(4, 1, 4, stride=2, padding=1)

    def forward(self, z):
        x = F.elu(self.fc(z)).reshape(-1, 6, 3, 3)
        return torch.sigmoid(self.up2(F.silu(self.norm(self.up1(x)))))


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down, self.middle = nn.Conv2d(1, 3, 3, padding=1), nn.Conv2d(3, 3, 3, padding=1, padding_mode="reflect")
        self.up = nn.Conv2d(6, 2, 3, padding=1)

    def forward(self, x):
        x = F.mish(self.down(x))
        y = F.interpolate(F.softplus(self.middle(F.avg_pool2d(x, 2))), scale_factor=2, mode="bilinear")
        return F.softmax(self.up(torch.cat([x, y], 1)), dim=1)


class ChannelsLast(nn.Module):
    """As the models of Keras: [samples, height, width, channels], and transposed around each convolution."""

    def __init__(self):
        super().__init__()
        self.conv1, self.conv2, self.fc = nn.Conv2d(2, 3, 3), nn.Conv2d(3, 4, 3, stride=2), nn.Linear(3 * 2 * 4, 5)

    def forward(self, x):
        for conv in [self.conv1, self.conv2]:
            x = F.relu(conv(x.permute(0, 3, 1, 2)).permute(0, 2, 3, 1))
        return self.fc(x.flatten(1))


def mlp():
    return nn.Sequential(nn.Linear(4, 8), nn.GELU(), nn.LayerNorm(8), nn.Linear(8, 8), nn.SiLU(), nn.Linear(8, 3),
                         nn.Softmax(-1))


def images(channels, height, width):
    return lambda: torch.randn(BATCH, channels, height, width)


MODELS = {
    "mlp": (mlp, lambda: torch.randn(BATCH, 4)),
    "lenet": (LeNet, images(1, 28, 28)),
    "resnet": (ResNet, images(3, 20, 20)),
    "mobilenet": (MobileNet, images(3, 16, 16)),
    "lstm": (lambda: Recurrent(nn.LSTM, num_layers=2, bidirectional=True), lambda: torch.randn(BATCH, 6, 3)),
    "gru": (lambda: Recurrent(nn.GRU), lambda: torch.randn(BATCH, 6, 3)),
    "rnn": (lambda: Recurrent(nn.RNN, nonlinearity="relu"), lambda: torch.randn(BATCH, 6, 3)),
    "transformer": (Transformer, lambda: torch.randint(0, 11, (BATCH, 6))),
    "encoder_decoder": (EncoderDecoder, lambda: torch.randn(BATCH, 5, 8)),
    "swin": (swin, images(3, 8, 8)),
    "convnext": (convnext, images(3, 16, 16)),
    "gpt": (Gpt, lambda: torch.randn(BATCH, 5, 8)),
    "wavenet": (WaveNet, lambda: torch.randn(BATCH, 1, 24)),
    "tcn": (Tcn, lambda: torch.randn(BATCH, 2, 12)),
    "decoder": (Decoder, lambda: torch.randn(BATCH, 3)),
    "unet": (UNet, images(1, 8, 8)),
    "channels_last": (ChannelsLast, lambda: torch.randn(BATCH, 9, 7, 2)),
}


# Exported as older versions of PyTorch do, with operators of these versions.
OLDER = {"mlp": 13, "gpt": 14, "lenet": 7, "lstm": 9, "decoder": 11}
# Exported without dynamic axes, for one sample.
SINGLE = ["encoder_decoder", "convnext"]


def large_models():
    import torchvision

    return {
        "resnet18": (lambda: torchvision.models.resnet18(weights=None), images(3, 224, 224)),
        "mobilenet_v2": (lambda: torchvision.models.mobilenet_v2(weights=None), images(3, 224, 224)),
    }


def randomise_statistics(model):
    """As after training, so that a mistake in them shows."""
    for module in model.modules():
        if isinstance(module, nn.BatchNorm2d):
            nn.init.normal_(module.running_mean, 0, 0.5)
            nn.init.uniform_(module.running_var, 0.5, 2)
            nn.init.uniform_(module.weight, 0.5, 1.5)
            nn.init.normal_(module.bias, 0, 0.1)


def strip(path):
    """Drops what says where in a program a node comes from, which is most of a small file."""
    model = onnx.load(path)
    del model.metadata_props[:]
    del model.graph.metadata_props[:], model.graph.value_info[:]
    for node in model.graph.node:
        del node.metadata_props[:]
        node.doc_string = ""
    for value in [*model.graph.input, *model.graph.output, *model.graph.initializer]:
        del value.metadata_props[:]
    onnx.checker.check_model(model)
    onnx.save(model, path)


def export(folder, name, make, sample):
    torch.manual_seed(7)
    model, x = make().eval(), sample()
    randomise_statistics(model)
    with torch.no_grad():
        y = model(x)
    np.save(folder / f"{name}.x.npy", x.numpy().astype(np.float32))
    np.save(folder / f"{name}.y.npy", y.numpy())
    torch.onnx.export(model, (x,), folder / f"{name}.script.onnx", dynamo=False, input_names=["x"], output_names=["y"],
                      dynamic_axes={"x": {0: "batch"}})
    torch.onnx.export(model, (x,), folder / f"{name}.dynamo.onnx", dynamo=True, input_names=["x"], output_names=["y"],
                      dynamic_shapes=({0: torch.export.Dim("batch", max=64)},), external_data=False, verbose=False)
    exporters = ["script", "dynamo"]
    if name in OLDER:
        exporters.append(f"opset{OLDER[name]}")
        torch.onnx.export(model, (x,), folder / f"{name}.{exporters[-1]}.onnx", dynamo=False, input_names=["x"],
                          output_names=["y"], dynamic_axes={"x": {0: "batch"}}, opset_version=OLDER[name])
    if name == "resnet":  # with its batch normalisation
        exporters.append("unfolded")
        torch.onnx.export(model, (x,), folder / f"{name}.unfolded.onnx", dynamo=False, input_names=["x"],
                          output_names=["y"], training=torch.onnx.TrainingMode.PRESERVE, do_constant_folding=False)
    if name in SINGLE:
        exporters += ["single", "single_dynamo"]
        for exporter in exporters[-2:]:
            dynamo = exporter == "single_dynamo"
            torch.onnx.export(model, (x[:1],), folder / f"{name}.{exporter}.onnx", dynamo=dynamo, input_names=["x"],
                              output_names=["y"], verbose=False, **({"external_data": False} if dynamo else {}))
    for exporter in exporters:
        strip(folder / f"{name}.{exporter}.onnx")
        ops = [node.op_type for node in onnx.load(folder / f"{name}.{exporter}.onnx").graph.node]
        print(f"{name}.{exporter}: {' '.join(ops)}")


def main(arguments):
    warnings.filterwarnings("ignore")
    large = "--large" in arguments
    arguments = [argument for argument in arguments if argument != "--large"]
    folder = pathlib.Path(arguments[0]) if arguments else pathlib.Path(__file__).parent / "onnx"
    folder.mkdir(parents=True, exist_ok=True)
    models = large_models() if large else MODELS
    for name in arguments[1:] or models:
        export(folder, name, *models[name])


if __name__ == "__main__":
    main(sys.argv[1:])
