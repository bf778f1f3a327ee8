"""What is done to samples before a network is part of the network: it is kept, applied and written, or refused."""

import os
import subprocess

import numpy as np
import pytest

import coldpress
from test_network import LSTM, MLP, samples

SCALE = "(scale = (factor = 5, offset = 2))"
STANDARDIZE = "(standardize = (mean = [1, 2, 3, 4], deviation = [1, 2, 4, 8]))"
CLASSES = """(
  network = (name = "network", layerType = (sequential = (
    layers = [(name = "linear1", layerType = (linear = (outputSize = 3)))],
    inputs = [(name = "x", sampleShape = [4])]))),
  loss = (name = "loss", layerType = (meanSquaredError = void)),
  seed = 7
)"""
PICTURES = """(
  network = (name = "network", layerType = (sequential = (
    layers = [(name = "linear1", layerType = (linear = (outputSize = 3)))],
    inputs = [(name = "x", sampleShape = [1, 2, 3])]))),
  transforms = [(crop = (extents = [2, 3])), (scale = (factor = 0.5))]
)"""


def with_transforms(config, *transforms):
    return config.rstrip().removesuffix(")") + ", transforms = [" + ", ".join(transforms) + "])"


def by_numpy(x):
    """In the order and precision of the transforms."""
    x = np.asarray(x, np.float32) * np.float32(5) + np.float32(2)
    return (x - np.array([1, 2, 3, 4], np.float32)) / np.array([1, 2, 4, 8], np.float32)


def plain_and_prepared(config=MLP, *transforms):
    """The same network without and with transforms."""
    return (coldpress.Network.from_text(text) for text in (config, with_transforms(config, *transforms)))


def written(path, text):
    path.write_text(text)
    return path


def test_predict_applies_them():
    plain, prepared = plain_and_prepared(MLP, SCALE, STANDARDIZE)
    x = samples(9, 4)
    np.testing.assert_array_equal(prepared.predict(x), plain.predict(by_numpy(x)))
    np.testing.assert_array_equal(prepared.predict(x[0]), plain.predict(by_numpy(x[0])))
    assert prepared.predict(x[:0]).shape == (0, 3)
    with pytest.raises(coldpress.ShapeError, match=r"\(2, 5\), expected \(samples, 4\) or \(4\)"):
        prepared.predict(samples(2, 5))


def test_files_keep_them(tmp_path):
    plain, prepared = plain_and_prepared(MLP, SCALE, STANDARDIZE)
    x = samples(9, 4)
    for path in (tmp_path / "one.juice", tmp_path / "two.juice"):  # the second is of the first
        prepared.save(path)
        prepared = coldpress.load(path)
        np.testing.assert_array_equal(prepared.predict(x), plain.predict(by_numpy(x)))


@pytest.mark.skipif("COLDPRESS_COMMAND" not in os.environ, reason="needs the command coldpress")
def test_the_command_gives_the_same_bits(tmp_path):
    def coldpress_command(*arguments):
        subprocess.run([os.environ["COLDPRESS_COMMAND"], *arguments], check=True, cwd=tmp_path, capture_output=True)

    x = samples(50, 4)
    lines = [f"{'ab'[int(a > b)]},{a},{b},{c},{d}" for a, b, c, d in x]
    written(tmp_path / "data.csv", "label,p,q,r,s\n" + "\n".join(lines) + "\n")
    config = CLASSES.replace("outputSize = 3", "outputSize = 2")
    written(tmp_path / "net.capnp.txt", with_transforms(config, SCALE, "(standardize = ())", "(oneHot = ())"))
    coldpress_command("train", "--config", "net.capnp.txt", "--data", "csv:data.csv?label=label", "--save", "net.juice")
    network = coldpress.load(tmp_path / "net.juice")
    assert network.classes == ("a", "b")
    network.save(tmp_path / "again.juice")
    np.save(tmp_path / "x.npy", x)
    for name in ("net", "again"):
        coldpress_command("predict", "--model", f"{name}.juice", "--input", "x.npy", "--output", f"{name}.npy")
        np.testing.assert_array_equal(np.load(tmp_path / f"{name}.npy"), network.predict(x))
    assert coldpress.load(tmp_path / "again.juice").classes == ("a", "b")


def test_a_solver_applies_them_to_samples_and_targets(tmp_path):
    plain = coldpress.Solver(written(tmp_path / "plain.capnp.txt", CLASSES))
    transforms = (SCALE, STANDARDIZE, "(oneHot = (classes = 3))")
    config = written(tmp_path / "net.capnp.txt", with_transforms(CLASSES, *transforms))
    solver = coldpress.Solver(config)
    for seed in range(3):
        x, labels = samples(8, 4, seed=seed), np.arange(8) % 3
        loss = plain.train_minibatch(by_numpy(x), np.eye(3)[labels])
        assert solver.train_minibatch(x, labels) == loss
    for name, values in plain.network.weights.items():
        np.testing.assert_array_equal(values, solver.network.weights[name])
    with pytest.raises(coldpress.DataError, match="label"):
        solver.train_minibatch(x, labels + 1)
    x = samples(9, 4)
    solver.network.save(tmp_path / "net.juice")
    np.testing.assert_array_equal(coldpress.load(tmp_path / "net.juice").predict(x), plain.network.predict(by_numpy(x)))
    solver.save_checkpoint(tmp_path / "checkpoint.juice")
    coldpress.Solver(config).load_checkpoint(tmp_path / "checkpoint.juice")
    with pytest.raises(coldpress.MismatchError, match="other transforms"):
        plain.load_checkpoint(tmp_path / "checkpoint.juice")


@pytest.mark.parametrize("transform", ["(standardize = ())", "(subtractMean = ())", "(oneHot = ())"])
def test_numbers_that_are_in_the_whole_data_are_not_guessed(tmp_path, transform):
    text = with_transforms(MLP, transform)
    config = written(tmp_path / "net.capnp.txt", text)
    for make in (lambda: coldpress.Solver(config), lambda: coldpress.Network.from_text(text)):
        with pytest.raises(coldpress.UnsupportedError, match="let `coldpress train` find them") as refused:
            make()
        assert refused.value.field.startswith("transforms[0]")
    coldpress.Solver(config, changes=["transforms=[]"])


@pytest.mark.parametrize("transform", ["(noise = (deviation = 1))", "(mixup = ())"])
def test_random_ones_are_not_left_out_of_a_training(tmp_path, transform):
    config = written(tmp_path / "net.capnp.txt", with_transforms(MLP, SCALE, transform))
    with pytest.raises(coldpress.UnsupportedError, match=r"transforms\[1\].*random numbers"):
        coldpress.Solver(config)
    network = coldpress.Network(config)
    x = samples(3, 4)
    plain = coldpress.Network.from_text(MLP)
    np.testing.assert_array_equal(network.predict(x), plain.predict(x * np.float32(5) + np.float32(2)))


def test_a_given_network_keeps_its_own(tmp_path):
    _, network = plain_and_prepared(MLP, SCALE, STANDARDIZE)
    for others in ((SCALE,), (SCALE.replace("5", "4"), STANDARDIZE), (STANDARDIZE, SCALE)):
        with pytest.raises(coldpress.MismatchError, match="transforms"):
            coldpress.Solver(written(tmp_path / "other.capnp.txt", with_transforms(MLP, *others)), network)
    for same in ((SCALE, STANDARDIZE), (SCALE, "(standardize = ())"), ()):
        config = written(tmp_path / "same.capnp.txt", with_transforms(MLP, *same))
        _, network = plain_and_prepared(MLP, SCALE, STANDARDIZE)
        solver = coldpress.Solver(config, network)
        plain = coldpress.Solver(written(tmp_path / "plain.capnp.txt", MLP))
        x, t = samples(8, 4), samples(8, 3, seed=1)
        assert solver.train_minibatch(x, t) == plain.train_minibatch(by_numpy(x), t)


def test_pictures_are_cropped(tmp_path):
    network = coldpress.Network.from_text(PICTURES)
    plain = coldpress.Network.from_text(PICTURES.split("transforms")[0].rstrip(", \n") + ")")
    x = samples(5, 1, 4, 7)
    centre = x[:, :, 1:3, 2:5] * np.float32(0.5)
    np.testing.assert_array_equal(network.predict(x), plain.predict(centre))
    np.testing.assert_array_equal(network.predict(x[0]), plain.predict(centre[0]))
    for shape in ((5, 1, 1, 7), (5, 2, 4, 7), (4, 7)):
        with pytest.raises(coldpress.ShapeError):
            network.predict(samples(*shape))
    with pytest.raises(coldpress.UnsupportedError, match="crop"):
        network.step(x[0])
    with pytest.raises(coldpress.UnsupportedError, match="crop"):
        coldpress.Solver(written(tmp_path / "net.capnp.txt", PICTURES.replace("transforms =", "loss = (name = \"loss\", "
                         "layerType = (meanSquaredError = void)), transforms =")))


def test_streams_apply_what_is_the_same_for_every_step():
    x = samples(1, 12, 3)
    config = with_transforms(LSTM, SCALE)
    whole = coldpress.Network.from_text(config, input_shape=[12, 3]).predict(x)
    stream = coldpress.Network.from_text(config, input_shape=[3])
    np.testing.assert_array_equal(np.concatenate([stream.step(x[:, t]) for t in range(12)], axis=1), whole)
    blocks = coldpress.Network.from_text(config, input_shape=[4, 3])
    np.testing.assert_array_equal(
        np.concatenate([blocks.step(x[:, t : t + 4]).reshape(1, 4, 2) for t in range(0, 12, 4)], axis=1), whole.reshape(1, 12, 2))
    each = ", ".join(["1"] * 36)
    for_values = with_transforms(LSTM, f"(subtractMean = (mean = [{each}]))")
    with pytest.raises(coldpress.UnsupportedError, match="whole samples"):
        coldpress.Network.from_text(for_values, input_shape=[12, 3]).step(x)
    with pytest.raises(coldpress.ShapeError, match="36 numbers"):
        coldpress.Network.from_text(for_values, input_shape=[3]).step(x[:, 0])


def test_onnx_models_cannot_hold_them(tmp_path):
    _, network = plain_and_prepared(MLP, SCALE)
    with pytest.raises(coldpress.UnsupportedError, match=r"transforms\[0\] scale"):
        network.write_onnx(tmp_path / "net.onnx")
    assert not (tmp_path / "net.onnx").exists()
