import numpy as np
import pytest

import coldpress


def test_modules_of_pytorch():
    torch = pytest.importorskip("torch")
    nn = torch.nn
    torch.manual_seed(1)
    module = nn.Sequential(
        nn.Conv2d(3, 8, 3, stride=2, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Dropout(),
        nn.Linear(8 * 4 * 4, 5)
    )
    module.train()
    module[1].eval()  # a frozen normalisation
    x = torch.randn(4, 3, 16, 16)
    network = coldpress.from_torch(module, x)
    assert module.training and not module[1].training and network.input_shape == (3, 16, 16) and network.output_shape == (5,)
    module.eval()
    y = torch.randn(7, 3, 16, 16)
    np.testing.assert_allclose(network.predict(y.numpy()), module(y).detach().numpy(), atol=1e-5)


def test_what_cannot_be_expressed_is_said():
    torch = pytest.importorskip("torch")

    class Sorts(torch.nn.Module):
        def forward(self, x):
            return torch.linalg.det(x.reshape(-1, 2, 2))

    with pytest.raises(coldpress.UnsupportedError, match="Det"):
        coldpress.from_torch(Sorts(), torch.randn(3, 4))


def test_models_of_keras():
    keras = pytest.importorskip("keras")
    layers = keras.layers
    model = keras.Sequential([
        layers.Input((8, 8, 3)), layers.Conv2D(4, 3, padding="same", activation="relu"), layers.MaxPooling2D(), layers.Flatten(),
        layers.Dense(5, activation="softmax")
    ])
    x = np.random.default_rng(1).standard_normal((6, 8, 8, 3)).astype(np.float32)
    network = coldpress.from_keras(model, x)
    np.testing.assert_allclose(network.predict(np.moveaxis(x, -1, 1)), model.predict(x, verbose=0), atol=1e-5)
