"""Networks of PyTorch as their users write them, for exported_models.py: MODELS has for each a function that makes it, and
one that makes a minibatch for it."""

import torch
from torch import nn
from torch.nn import functional as F

BATCH = 2


def images(size, channels=3):
    return lambda: torch.randn(BATCH, channels, size, size)


def words(steps):
    return lambda: torch.randint(0, 50, (BATCH, steps))


def sequences(channels, steps):
    return lambda: torch.randn(BATCH, channels, steps)


class UNet(nn.Module):
    """Two levels, with batch normalisation, skips and transposed convolutions."""

    @staticmethod
    def double(inputs, outputs):
        return nn.Sequential(nn.Conv2d(inputs, outputs, 3, padding=1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU(inplace=True),
                             nn.Conv2d(outputs, outputs, 3, padding=1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU(inplace=True))

    def __init__(self, bilinear=False):
        super().__init__()
        self.inc, self.down1, self.down2 = self.double(3, 8), self.double(8, 16), self.double(16, 32)
        self.pool = nn.MaxPool2d(2)
        self.up1 = nn.Upsample(scale_factor=2, mode="bilinear", align_corners=False) if bilinear else nn.ConvTranspose2d(32, 16, 2, 2)
        self.up2 = nn.Upsample(scale_factor=2, mode="nearest") if bilinear else nn.ConvTranspose2d(16, 8, 2, 2)
        self.conv1, self.conv2 = self.double(48 if bilinear else 32, 16), self.double(24 if bilinear else 16, 8)
        self.outc = nn.Conv2d(8, 2, 1)

    def forward(self, x):
        x1 = self.inc(x)
        x2 = self.down1(self.pool(x1))
        x3 = self.down2(self.pool(x2))
        y = self.conv1(torch.cat([x2, self.up1(x3)], dim=1))
        y = self.conv2(torch.cat([x1, self.up2(y)], dim=1))
        return torch.sigmoid(self.outc(y))


class CausalSelfAttention(nn.Module):
    """As in minGPT: scores, a mask of -inf from a buffer, softmax."""

    def __init__(self, size, heads, steps, fused):
        super().__init__()
        self.c_attn, self.c_proj = nn.Linear(size, 3 * size), nn.Linear(size, size)
        self.register_buffer("bias", torch.tril(torch.ones(steps, steps)).view(1, 1, steps, steps))
        self.heads, self.fused = heads, fused

    def forward(self, x):
        n, t, c = x.size()
        q, k, v = self.c_attn(x).split(c, dim=2)
        q, k, v = (y.view(n, t, self.heads, c // self.heads).transpose(1, 2) for y in (q, k, v))
        if self.fused:
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        else:
            scores = (q @ k.transpose(-2, -1)) * (1.0 / (k.size(-1) ** 0.5))
            scores = scores.masked_fill(self.bias[:, :, :t, :t] == 0, float("-inf"))
            y = F.softmax(scores, dim=-1) @ v
        return self.c_proj(y.transpose(1, 2).contiguous().view(n, t, c))


class Gpt(nn.Module):
    class Block(nn.Module):
        def __init__(self, size, heads, steps, fused):
            super().__init__()
            self.ln_1, self.attn = nn.LayerNorm(size), CausalSelfAttention(size, heads, steps, fused)
            self.ln_2 = nn.LayerNorm(size)
            self.mlp = nn.Sequential(nn.Linear(size, 4 * size), nn.GELU(), nn.Linear(4 * size, size), nn.Dropout(0.1))

        def forward(self, x):
            x = x + self.attn(self.ln_1(x))
            return x + self.mlp(self.ln_2(x))

    def __init__(self, fused=True, size=32, heads=4, layers=2, steps=16, vocabulary=50):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(vocabulary, size), nn.Embedding(steps, size)
        self.drop = nn.Dropout(0.1)
        self.h = nn.ModuleList(self.Block(size, heads, steps, fused) for _ in range(layers))
        self.ln_f, self.lm_head = nn.LayerNorm(size), nn.Linear(size, vocabulary, bias=False)
        self.lm_head.weight = self.wte.weight

    def forward(self, ids):
        n, t = ids.size()
        x = self.drop(self.wte(ids) + self.wpe(torch.arange(0, t, dtype=torch.long, device=ids.device)))
        for block in self.h:
            x = block(x)
        return self.lm_head(self.ln_f(x))


class Tagger(nn.Module):
    def __init__(self, kind=nn.LSTM):
        super().__init__()
        self.embedding, self.rnn = nn.Embedding(50, 16), kind(16, 12, num_layers=2, bidirectional=True, batch_first=True, dropout=0.2)
        self.hidden2tag = nn.Linear(24, 7)

    def forward(self, ids):
        return F.log_softmax(self.hidden2tag(self.rnn(self.embedding(ids))[0]), dim=-1)


class Classifier(nn.Module):
    """Reads the last hidden states."""

    def __init__(self, kind):
        super().__init__()
        self.rnn, self.fc, self.kind = kind(16, 12, num_layers=2, batch_first=True), nn.Linear(12, 3), kind

    def forward(self, x):
        hidden = self.rnn(x)[1]
        return self.fc((hidden[0] if self.kind is nn.LSTM else hidden)[-1])


class WaveNet(nn.Module):
    """Dilated causal convolutions with gates, residuals and skips."""

    def __init__(self, normalize=lambda layer: layer, channels=8, dilations=(1, 2, 4, 8, 1, 2, 4, 8), taps=3):
        super().__init__()
        self.taps, self.dilations = taps, dilations
        self.front = nn.Conv1d(1, channels, 1)
        self.filters = nn.ModuleList(normalize(nn.Conv1d(channels, channels, taps, dilation=d)) for d in dilations)
        self.gates = nn.ModuleList(normalize(nn.Conv1d(channels, channels, taps, dilation=d)) for d in dilations)
        self.residuals = nn.ModuleList(nn.Conv1d(channels, channels, 1) for _ in dilations)
        self.skips = nn.ModuleList(nn.Conv1d(channels, channels, 1) for _ in dilations)
        self.end1, self.end2 = nn.Conv1d(channels, channels, 1), nn.Conv1d(channels, 1, 1)

    def forward(self, x):
        x, total = self.front(x), 0
        for d, f, g, residual, skip in zip(self.dilations, self.filters, self.gates, self.residuals, self.skips):
            padded = F.pad(x, ((self.taps - 1) * d, 0))
            y = torch.tanh(f(padded)) * torch.sigmoid(g(padded))
            total = total + skip(y)
            x = x + residual(y)
        return self.end2(F.relu(self.end1(F.relu(total))))


class Tcn(nn.Module):
    """As in the TCN paper's code: padding on both sides that is chomped off behind, weight normalisation, residuals."""

    class Block(nn.Module):
        def __init__(self, inputs, outputs, taps, dilation, normalize):
            super().__init__()
            self.padding = (taps - 1) * dilation
            self.conv1 = normalize(nn.Conv1d(inputs, outputs, taps, padding=self.padding, dilation=dilation))
            self.conv2 = normalize(nn.Conv1d(outputs, outputs, taps, padding=self.padding, dilation=dilation))
            self.downsample = nn.Conv1d(inputs, outputs, 1) if inputs != outputs else None

        def forward(self, x):
            y = x
            for conv in (self.conv1, self.conv2):
                y = F.dropout(F.relu(conv(y)[:, :, :-self.padding].contiguous()), 0.2, self.training)
            return F.relu(y + (x if self.downsample is None else self.downsample(x)))

    def __init__(self, normalize=lambda layer: layer):
        super().__init__()
        self.network = nn.Sequential(self.Block(2, 8, 3, 1, normalize), self.Block(8, 8, 3, 2, normalize))
        self.linear = nn.Linear(8, 4)

    def forward(self, x):
        return self.linear(self.network(x)[:, :, -1])


class Separable1d(nn.Module):
    """Conv1d and BatchNorm1d, as in networks for speech and sensors."""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Conv1d(3, 8, 5, stride=2, padding=2, bias=False), nn.BatchNorm1d(8), nn.ReLU(),
                                    nn.Conv1d(8, 8, 3, padding=1, groups=8), nn.BatchNorm1d(8), nn.ReLU6(),
                                    nn.Conv1d(8, 12, 1), nn.BatchNorm1d(12), nn.SiLU(), nn.AdaptiveAvgPool1d(1), nn.Flatten(),
                                    nn.Linear(12, 5), nn.BatchNorm1d(5))

    def forward(self, x):
        return self.layers(x)


class VisionTransformer(nn.Module):
    """Patches, a token for the class, learned positions, an encoder that normalises first."""

    def __init__(self, size=32, patch=4, image=16, classes=10):
        super().__init__()
        self.patches = nn.Conv2d(3, size, patch, stride=patch)
        self.token = nn.Parameter(torch.randn(1, 1, size))
        self.positions = nn.Parameter(torch.randn(1, (image // patch) ** 2 + 1, size))
        layer = nn.TransformerEncoderLayer(size, 4, 64, 0.1, activation="gelu", batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.norm, self.head = nn.LayerNorm(size), nn.Linear(size, classes)

    def forward(self, x):
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.token.expand(x.shape[0], -1, -1), x], dim=1) + self.positions
        return self.head(self.norm(self.encoder(x))[:, 0])


class EncoderDecoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.both = nn.Transformer(16, 4, 2, 2, 32, batch_first=True)

    def forward(self, x):
        return self.both(x, 0.5 * x)


def torchvision_model(name, **options):
    def make():
        import torchvision

        return getattr(torchvision.models, name)(weights=None, **options)
    return make


def torchvision_vit():
    from torchvision.models.vision_transformer import VisionTransformer as Vit

    return Vit(image_size=32, patch_size=8, num_layers=2, num_heads=4, hidden_dim=32, mlp_dim=64, num_classes=10)


weight_norm = nn.utils.parametrizations.weight_norm
old_weight_norm = nn.utils.weight_norm

MODELS = {
    "U-Net": (UNet, images(16)),
    "U-Net, upsampled": (lambda: UNet(bilinear=True), images(16)),
    "ResNet-18": (torchvision_model("resnet18"), images(64)),
    "MobileNetV2": (torchvision_model("mobilenet_v2"), images(64)),
    "ResNet-50": (torchvision_model("resnet50"), images(64)),
    "MobileNetV3": (torchvision_model("mobilenet_v3_small"), images(64)),
    "EfficientNet-B0": (torchvision_model("efficientnet_b0"), images(64)),
    "ConvNeXt-T": (torchvision_model("convnext_tiny"), images(64)),
    "Swin-T": (torchvision_model("swin_t"), images(64)),
    "DenseNet-121": (torchvision_model("densenet121"), images(64)),
    "GoogLeNet": (torchvision_model("googlenet", aux_logits=False, init_weights=False), images(64)),
    "Inception v3": (torchvision_model("inception_v3", aux_logits=False, init_weights=False), images(96)),
    "RegNetX-400MF": (torchvision_model("regnet_x_400mf"), images(64)),
    "ShuffleNetV2": (torchvision_model("shufflenet_v2_x0_5"), images(64)),
    "SqueezeNet": (torchvision_model("squeezenet1_1"), images(64)),
    "MNASNet": (torchvision_model("mnasnet0_5"), images(64)),
    "nn.Transformer": (EncoderDecoder, lambda: torch.randn(BATCH, 9, 16)),
    "Vision Transformer": (VisionTransformer, images(16)),
    "Vision Transformer of torchvision": (torchvision_vit, images(32)),
    "GPT": (Gpt, words(12)),
    "GPT with a mask": (lambda: Gpt(fused=False), words(12)),
    "LSTM tagger": (Tagger, words(9)),
    "GRU tagger": (lambda: Tagger(nn.GRU), words(9)),
    "LSTM classifier": (lambda: Classifier(nn.LSTM), lambda: torch.randn(BATCH, 9, 16)),
    "GRU classifier": (lambda: Classifier(nn.GRU), lambda: torch.randn(BATCH, 9, 16)),
    "WaveNet": (WaveNet, sequences(1, 64)),
    "WaveNet with weight_norm": (lambda: WaveNet(weight_norm), sequences(1, 64)),
    "WaveNet with the older weight_norm": (lambda: WaveNet(old_weight_norm), sequences(1, 64)),
    "TCN with weight_norm": (lambda: Tcn(weight_norm), sequences(2, 20)),
    "Conv1d and BatchNorm1d": (Separable1d, sequences(3, 24)),
}


def trained(model):
    """As after training, so that nothing has a value with which a mistake would not show."""
    for parameter in model.parameters():
        if not parameter.any():
            nn.init.normal_(parameter, 0, 0.1)
    for module in model.modules():
        if isinstance(module, (nn.BatchNorm1d, nn.BatchNorm2d)):
            nn.init.normal_(module.running_mean, 0, 0.2)
            nn.init.uniform_(module.running_var, 0.5, 2)
            nn.init.uniform_(module.weight, 0.5, 1.5)
            nn.init.normal_(module.bias, 0, 0.1)
    return model


def export(model, x, exporter, path):
    if exporter == "older":
        torch.onnx.export(model, (x,), path, dynamo=False, input_names=["x"], output_names=["y"], dynamic_axes={"x": {0: "batch"}})
    else:
        torch.onnx.export(model, (x,), path, dynamo=True, optimize=exporter == "newer", input_names=["x"], output_names=["y"],
                          dynamic_shapes=({0: torch.export.Dim("batch", max=64)},), external_data=False, verbose=False)
