import threading

import numpy as np
import pytest

import coldpress

MLP = """(
  network = (name = "network", layerType = (sequential = (
    layers = [
      (name = "linear1", layerType = (linear = (outputSize = 5))),
      (name = "tanh1", layerType = (tanh = void)),
      (name = "linear2", layerType = (linear = (outputSize = 3)))],
    inputs = [(name = "x", sampleShape = [4])]))),
  loss = (name = "loss", layerType = (meanSquaredError = void)),
  solver = (baseLr = 0.1),
  seed = 7
)"""
LSTM = """(
  network = (name = "network", layerType = (sequential = (
    layers = [
      (name = "rnn1", layerType = (rnn = (hiddenSize = 6, numLayers = 1, rnnType = "LSTM", output = "Sequence"))),
      (name = "linear1", layerType = (linear = (outputSize = 2, lastAxis = true)))]))),
  seed = 3
)"""


@pytest.fixture
def mlp():
    return coldpress.Network.from_text(MLP)


def by_numpy(network, x):
    w = network.weights
    hidden = np.tanh(x @ w["linear1-0"].T + w["linear1-0-bias"])
    return hidden @ w["linear2-0"].T + w["linear2-0-bias"]


def samples(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def test_predict_is_what_the_weights_say(mlp):
    x = samples(9, 4)
    y = mlp.predict(x)
    assert y.dtype == np.float32 and y.shape == (9, 3)
    np.testing.assert_allclose(y, by_numpy(mlp, x), atol=1e-6)


def test_one_sample_has_no_axis_of_the_minibatch(mlp):
    x = samples(4)
    assert mlp.predict(x).shape == (3,)
    np.testing.assert_array_equal(mlp.predict(x), mlp.predict(x[None])[0])
    assert mlp.predict(np.empty((0, 4), np.float32)).shape == (0, 3)


def test_results_stay_as_they_are(mlp):
    first = mlp.predict(samples(2, 4))
    kept = first.copy()
    mlp.predict(samples(2, 4, seed=1))
    np.testing.assert_array_equal(first, kept)


def test_other_types_and_orders_are_converted(mlp):
    x = samples(6, 4)
    wanted = mlp.predict(x)
    np.testing.assert_array_equal(mlp.predict(np.asfortranarray(x)), wanted)
    np.testing.assert_array_equal(mlp.predict(x.astype(np.float64)), wanted)
    np.testing.assert_array_equal(mlp.predict(np.repeat(x, 2, axis=0)[::2]), wanted)


def test_lists_and_numbers_of_other_machines_are_converted(mlp):
    x = samples(2, 4)
    np.testing.assert_array_equal(mlp.predict(x.astype(">f4")), mlp.predict(x))
    np.testing.assert_array_equal(mlp.predict([[1, 2, 3, 4]]), mlp.predict(np.array([[1, 2, 3, 4]], np.float32)))
    with pytest.raises((TypeError, ValueError)):
        mlp.predict("abcd")
    with pytest.raises(coldpress.ShapeError):
        mlp.predict(None)  # a NaN to NumPy


def test_shapes(mlp):
    assert mlp.input_shape == (4,) and mlp.output_shape == (3,)
    assert mlp.input_shapes == ((4,),) and mlp.output_shapes == ((3,),)
    assert "{4} -> {3}" in repr(mlp)
    assert "linear1" in mlp.describe()


@pytest.mark.parametrize("shape", [(5,), (2, 5), (2, 4, 1), ()])
def test_another_shape_is_an_error(mlp, shape):
    with pytest.raises(coldpress.ShapeError, match=r"input 0 has the shape .*, expected \(samples, 4\) or \(4\)"):
        mlp.predict(np.zeros(shape, np.float32))


def test_another_number_of_inputs_is_an_error(mlp):
    with pytest.raises(coldpress.ShapeError, match="takes 1 input, got 2"):
        mlp.predict(samples(1, 4), samples(1, 4))


LENGTHS = """(
  network = (name = "network", layerType = (sequential = (
    inputs = [(name = "x", sampleShape = [6, 2]), (name = "lengths", sampleShape = [1])],
    layers = [(name = "rnn", layerType = (rnn = (hiddenSize = 4, output = "LastStep")), inputs = ["x", "lengths"])]))),
  seed = 3
)"""


@pytest.mark.parametrize("count", [1, 5])
def test_one_value_of_each_sample_needs_no_extent_of_its_own(count):
    network = coldpress.Network.from_text(LENGTHS)
    x, lengths = samples(count, 6, 2), np.arange(count) % 6 + 1
    y = network.predict(x, lengths)
    assert y.shape == (count, 4)
    np.testing.assert_array_equal(y, network.predict(x, lengths[:, None]))
    np.testing.assert_allclose(y[0], network.predict(x[0], lengths[:1]), atol=1e-6)
    with pytest.raises(coldpress.ShapeError, match=f"input 1 has {count + 1} samples, input 0 has {count}"):
        network.predict(x, np.ones(count + 1))


def test_names_of_weights_are_texts(mlp):
    for name in (1, None, b"linear1-0"):
        with pytest.raises(TypeError, match="names of weights"):
            mlp.set_weights({name: np.zeros((5, 4))})


@pytest.mark.parametrize("threads", [-1, 4097, 100000])
def test_numbers_of_threads_that_make_no_sense_are_errors(threads):
    with pytest.raises(coldpress.UnsupportedError, match="threads"):
        coldpress.Network.from_text(MLP, threads=threads)


def test_the_version_is_that_of_the_package():
    assert coldpress.__version__.count(".") == 2


def test_files_keep_all_bits(mlp, tmp_path):
    path = tmp_path / "mlp.juice"
    mlp.save(path)
    loaded = coldpress.load(path)
    x = samples(3, 4)
    np.testing.assert_array_equal(loaded.predict(x), mlp.predict(x))
    assert list(loaded.weights) == ["linear1-0", "linear1-0-bias", "linear2-0", "linear2-0-bias"]


def test_onnx_models_are_written_and_read(tmp_path):
    mlp = coldpress.Network.from_text(MLP)
    path = tmp_path / "mlp.onnx"
    mlp.write_onnx(path)
    x = samples(3, 4)
    np.testing.assert_allclose(coldpress.load(path).predict(x), mlp.predict(x), rtol=1e-5, atol=1e-6)
    with pytest.raises(coldpress.FileError) as nowhere:
        mlp.write_onnx(tmp_path / "missing" / "mlp.onnx")
    assert nowhere.value.file == str(tmp_path / "missing" / "mlp.onnx")
    mlp.set_weights({"linear2-0-bias": np.full_like(mlp.weights["linear2-0-bias"], np.nan)})
    with pytest.raises(coldpress.DataError, match="weight 'linear2-0-bias': value 0 is infinite or NaN"):
        mlp.write_onnx(tmp_path / "nan.onnx")
    assert not (tmp_path / "nan.onnx").exists()


def test_errors_have_fields(tmp_path):
    with pytest.raises(coldpress.FileError) as missing:
        coldpress.load(tmp_path / "missing.juice")
    assert missing.value.file == str(tmp_path / "missing.juice") and missing.value.layer is None
    assert isinstance(missing.value, coldpress.Error)
    damaged = tmp_path / "damaged.juice"
    coldpress.Network.from_text(MLP).save(damaged)
    data = bytearray(damaged.read_bytes())
    data[len(data) // 2] ^= 1
    damaged.write_bytes(data)
    with pytest.raises(coldpress.FormatError, match="damaged.juice"):
        coldpress.load(damaged)
    with pytest.raises(coldpress.ConfigError) as wrong:
        coldpress.Network.from_text(MLP.replace("outputSize = 5", "outputSize = 0"))
    assert "linear1" in wrong.value.layer and "outputSize" in wrong.value.field
    with pytest.raises(coldpress.FormatError, match="<text>"):
        coldpress.Network.from_text("(network = ")


def test_paths_that_are_not_utf8_are_named(tmp_path):
    with pytest.raises(coldpress.FileError, match=r"\\xff"):
        coldpress.load(bytes(tmp_path) + b"/\xff.juice")


def test_errors_of_python_have_the_fields_too():
    assert coldpress.Error("x").sentence is None and coldpress.ShapeError("x").layer is None


def test_weights_are_set_by_name(mlp):
    x = samples(2, 4)
    before = mlp.predict(x)
    bias = np.array([[1, 2, 3]], np.float32)
    old = mlp.weights["linear2-0-bias"]
    mlp.set_weights({"linear2-0-bias": old + bias})
    np.testing.assert_allclose(mlp.predict(x), before + bias, atol=1e-6)


def test_weights_are_all_set_or_none(mlp):
    before = mlp.weights
    with pytest.raises(coldpress.ConfigError, match="no weight 'linear9-0'"):
        mlp.set_weights({"linear1-0": np.zeros((5, 4)), "linear9-0": np.zeros(1)})
    with pytest.raises(coldpress.ShapeError, match=r"\(5, 4\), got \(4, 5\)"):
        mlp.set_weights({"linear2-0": np.zeros((3, 5)), "linear1-0": np.zeros((4, 5))})
    for name, values in mlp.weights.items():
        np.testing.assert_array_equal(values, before[name])


def test_streams_give_the_bits_of_the_whole_sequence():
    x = samples(1, 12, 3)
    whole = coldpress.Network.from_text(LSTM, input_shape=[12, 3]).predict(x)
    stream = coldpress.Network.from_text(LSTM, input_shape=[3])
    for _ in range(2):
        steps = np.concatenate([stream.step(x[:, t]) for t in range(12)], axis=1)
        np.testing.assert_array_equal(steps, whole)
        stream.reset()


def test_seeds():
    one, other = (coldpress.Network.from_text(MLP, seed=s).weights["linear1-0"] for s in (7, 8))
    np.testing.assert_array_equal(one, coldpress.Network.from_text(MLP).weights["linear1-0"])
    assert (one != other).any()


def test_threads_share_a_network(mlp):
    x = samples(64, 4)
    wanted = mlp.predict(x)
    wrong = []

    def work():
        for _ in range(200):
            if not np.array_equal(mlp.predict(x), wanted):
                wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
