import gc

import numpy as np
import pytest

import coldpress
from test_network import MLP, mlp, samples  # noqa: F401


@pytest.fixture
def config(tmp_path):
    path = tmp_path / "mlp.capnp.txt"
    path.write_text(MLP)
    return path


def numpy_step(w, x, t, rate):
    """One step of gradient descent for the squared error of an MLP: its sum over outputs, its mean over samples."""
    h = np.tanh(x @ w["linear1-0"].T + w["linear1-0-bias"])
    y = h @ w["linear2-0"].T + w["linear2-0-bias"]
    dy = 2 * (y - t) / len(y)
    dh = dy @ w["linear2-0"] * (1 - h * h)
    new = dict(w)
    new["linear2-0"] = w["linear2-0"] - rate * dy.T @ h
    new["linear2-0-bias"] = w["linear2-0-bias"] - rate * dy.sum(0, keepdims=True)
    new["linear1-0"] = w["linear1-0"] - rate * dh.T @ x
    new["linear1-0-bias"] = w["linear1-0-bias"] - rate * dh.sum(0, keepdims=True)
    return ((y - t) ** 2).sum() / len(y), new


def test_a_step_is_gradient_descent(config):
    solver = coldpress.Solver(config)
    before = {name: w.astype(np.float64) for name, w in solver.network.weights.items()}
    x, t = samples(8, 4), samples(8, 3, seed=1)
    loss, after = numpy_step(before, x, t, 0.1)
    assert solver.train_minibatch(x, t) == pytest.approx(loss, rel=1e-5)
    for name, values in solver.network.weights.items():
        np.testing.assert_allclose(values, after[name], atol=1e-6)
    assert solver.iteration == 1


def test_a_given_network_is_trained(config, mlp):  # noqa: F811
    solver = coldpress.Solver(config, mlp, changes=["solver.baseLr=0.5"])
    assert solver.learning_rate == 0.5
    x, t = samples(8, 4), samples(8, 3, seed=1)
    first = solver.train_minibatch(x, t)
    for _ in range(50):
        last = solver.train_minibatch(x, t)
    assert last < first / 2
    np.testing.assert_array_equal(mlp.predict(x), solver.network.predict(x))
    with pytest.raises(coldpress.ConfigError, match="already has a solver"):
        coldpress.Solver(config, mlp)


def test_what_a_given_network_has_is_not_said_again(config, mlp):  # noqa: F811
    for option in ({"threads": 2}, {"seed": 1}, {"input_shape": [4]}):
        with pytest.raises(coldpress.ConfigError, match="threads are those of the network"):
            coldpress.Solver(config, mlp, **option)
    coldpress.Solver(config, threads=2)


def test_a_network_is_free_again_without_its_solver(config, mlp):  # noqa: F811
    changes = ["solver.momentum=0.9"]
    x, t = samples(8, 4), samples(8, 3, seed=1)
    solver = coldpress.Solver(config, mlp, changes=changes)
    for _ in range(3):
        solver.train_minibatch(x, t)
    del solver
    gc.collect()
    fresh = coldpress.Network.from_text(MLP)
    fresh.set_weights(mlp.weights)
    np.testing.assert_array_equal(mlp.predict(x), fresh.predict(x))
    second, other = (coldpress.Solver(config, network, changes=changes) for network in (mlp, fresh))
    assert second.iteration == 0
    for _ in range(3):  # without the momentum of the first solver
        assert second.train_minibatch(x, t) == other.train_minibatch(x, t)
    for name, values in mlp.weights.items():
        np.testing.assert_array_equal(values, fresh.weights[name])
    network = second.network
    del second
    gc.collect()
    np.testing.assert_array_equal(network.predict(x), fresh.predict(x))


SEQUENCES = """(
  network = (name = "network", layerType = (sequential = (
    inputs = [(name = "x", sampleShape = [6, 2]), (name = "lengths", sampleShape = [1])],
    layers = [
      (name = "rnn", layerType = (rnn = (hiddenSize = 4, output = "LastStep")), inputs = ["x", "lengths"]),
      (name = "linear", layerType = (linear = (outputSize = 2)))]))),
  loss = (name = "loss", layerType = (softmaxLoss = ())),
  solver = (baseLr = 0.1),
  seed = 3
)"""
OWN_LOSS = """(
  network = (name = "network", layerType = (sequential = (
    inputs = [(name = "x", sampleShape = [6, 2]), (name = "lengths", sampleShape = [1]), (name = "label", sampleShape = [1])],
    layers = [
      (name = "rnn", layerType = (rnn = (hiddenSize = 4, output = "LastStep")), inputs = ["x", "lengths"]),
      (name = "linear", layerType = (linear = (outputSize = 2)), outputs = ["scores"]),
      (name = "loss", layerType = (softmaxLoss = ()), inputs = ["scores", "label"])])),
    outputs = ["scores"]),
  solver = (baseLr = 0.1),
  seed = 3
)"""


def solver_of(tmp_path, text):
    path = tmp_path / "config.capnp.txt"
    path.write_text(text)
    return coldpress.Solver(path)


def test_a_network_with_its_own_losses_learns_what_one_with_the_loss_of_the_config_does(tmp_path):
    x, lengths, labels = samples(8, 6, 2), np.arange(8) % 6 + 1, np.arange(8) % 2
    outside, inside, apart = (solver_of(tmp_path, text) for text in (SEQUENCES, OWN_LOSS, OWN_LOSS))
    for _ in range(5):
        loss = outside.train_minibatch((x, lengths), labels)
        assert inside.train_minibatch((x, lengths, labels)) == pytest.approx(loss, rel=1e-6)
        assert apart.train_minibatch([x, lengths[:, None]], labels) == pytest.approx(loss, rel=1e-6)
    for name, values in outside.network.weights.items():
        np.testing.assert_allclose(inside.network.weights[name], values, rtol=1e-5, atol=1e-6)
        np.testing.assert_array_equal(inside.network.weights[name], apart.network.weights[name])
    assert len(inside.network.input_shapes) == 3
    np.testing.assert_array_equal(inside.network.predict(x, lengths), inside.network.predict(x, lengths, labels))
    np.testing.assert_allclose(inside.network.predict(x, lengths), outside.network.predict(x, lengths), atol=1e-5)


def test_one_input_may_be_given_in_a_tuple_or_a_list(config):
    x, t = samples(8, 4), samples(8, 3, seed=1)
    plain, *others = (coldpress.Solver(config) for _ in range(4))
    for _ in range(3):
        loss = plain.train_minibatch(x, t)
        for solver, given in zip(others, ((x,), [x], (x.tolist(),))):
            assert solver.train_minibatch(given, t) == loss
    one = [coldpress.Solver(config) for _ in range(3)]  # a list may also be that of the samples
    losses = {solver.train_minibatch(given, t[:1]) for solver, given in zip(one, (x[:1], [x[0]], [x[0].tolist()]))}
    assert len(losses) == 1
    with pytest.raises(coldpress.ShapeError):
        plain.train_minibatch((x, x), t)


def test_inputs_that_are_missing_or_too_many_are_errors(tmp_path):
    x, lengths, labels = samples(8, 6, 2), np.full(8, 6), np.arange(8) % 2
    outside = solver_of(tmp_path, SEQUENCES)
    for arguments in ((x, labels), ((x,), labels), ((x, lengths, labels), labels), ((x, lengths), None), ((x, lengths), labels[:7])):
        with pytest.raises(coldpress.ShapeError):
            outside.train_minibatch(*arguments)
    inside = solver_of(tmp_path, OWN_LOSS)
    for arguments in (((x, lengths),), ((x, lengths, labels), labels), ((x, lengths), labels[:7]), ((x, lengths, labels[:7]),)):
        with pytest.raises(coldpress.ShapeError):
            inside.train_minibatch(*arguments)
    with pytest.raises(coldpress.ShapeError, match="3 inputs, of which those that only losses read may be left out, got 1"):
        inside.network.predict(x)
    assert inside.iteration == 0


MASKED = """(
  network = (name = "network", layerType = (sequential = (
    inputs = [(name = "x", sampleShape = [2]), (name = "t", sampleShape = [3]), (name = "mask", sampleShape = [3])],
    layers = [
      (name = "linear", layerType = (linear = (outputSize = 3)), inputs = ["x"], outputs = ["y"]),
      (name = "seen", layerType = (multiply = void), inputs = ["y", "mask"], outputs = ["seen"]),
      (name = "wanted", layerType = (multiply = void), inputs = ["t", "mask"], outputs = ["wanted"]),
      (name = "loss", layerType = (meanSquaredError = void), inputs = ["seen", "wanted"])])),
    outputs = ["y"]),
  solver = (baseLr = 0.1)
)"""


def test_a_network_predicts_without_the_mask_of_its_loss(tmp_path):
    masked = solver_of(tmp_path, MASKED)
    x, t, mask = samples(8, 2), samples(8, 3, seed=1), np.ones((8, 3), np.float32)
    masked.train_minibatch((x, t, mask))
    assert masked.network.predict(x).shape == (8, 3)
    np.testing.assert_array_equal(masked.network.predict(x), masked.network.predict(x, t, mask))


def test_frozen_weights_stay(config, mlp):  # noqa: F811
    mlp.freeze("linear1")
    before = mlp.weights
    solver = coldpress.Solver(config, mlp)
    solver.train_minibatch(samples(8, 4), samples(8, 3, seed=1))
    np.testing.assert_array_equal(mlp.weights["linear1-0"], before["linear1-0"])
    assert (mlp.weights["linear2-0"] != before["linear2-0"]).any()


def test_a_training_goes_on_from_a_checkpoint(config, tmp_path):
    whole, first, second = (coldpress.Solver(config, changes=["solver.momentum=0.9"]) for _ in range(3))
    batches = [(samples(8, 4, seed=i), samples(8, 3, seed=100 + i)) for i in range(6)]
    for x, t in batches:
        whole.train_minibatch(x, t)
    for x, t in batches[:3]:
        first.train_minibatch(x, t)
    first.save_checkpoint(tmp_path / "half.juice")
    second.load_checkpoint(tmp_path / "half.juice")
    assert second.iteration == 3
    for x, t in batches[3:]:
        second.train_minibatch(x, t)
    for name, values in second.network.weights.items():
        np.testing.assert_array_equal(values, whole.network.weights[name])


def test_a_changed_learning_rate_is_that_of_the_checkpoint(config, tmp_path):
    x, t = samples(8, 4), samples(8, 3, seed=1)
    first, second, third = (coldpress.Solver(config) for _ in range(3))
    third.save_checkpoint(tmp_path / "begin.juice")
    first.learning_rate = 0.25
    first.save_checkpoint(tmp_path / "changed.juice")
    second.load_checkpoint(tmp_path / "changed.juice")
    assert second.learning_rate == 0.25
    assert [first.train_minibatch(x, t) for _ in range(2)] == [second.train_minibatch(x, t) for _ in range(2)]
    second.load_checkpoint(tmp_path / "begin.juice")
    assert second.learning_rate == third.learning_rate


def test_wrong_data_changes_nothing(config):
    solver = coldpress.Solver(config)
    before = solver.network.weights
    x, t = samples(8, 4), samples(8, 3)
    with pytest.raises(coldpress.DataError):
        solver.train_minibatch(np.full_like(x, np.nan), t)
    with pytest.raises(coldpress.ShapeError):
        solver.train_minibatch(x, t[:7])
    with pytest.raises(coldpress.ShapeError):
        solver.train_minibatch(x[:, :3], t)
    for name, values in solver.network.weights.items():
        np.testing.assert_array_equal(values, before[name])


def test_a_learning_rate_that_makes_no_sense_is_an_error(config):
    solver = coldpress.Solver(config)
    for rate in (-1, float("nan"), float("inf")):
        with pytest.raises(coldpress.ConfigError, match="learning_rate"):
            solver.learning_rate = rate
    assert solver.learning_rate == pytest.approx(0.1)


def test_an_unknown_field_is_an_error(config):
    with pytest.raises(coldpress.FormatError, match="baseRate"):
        coldpress.Solver(config, changes=["solver.baseRate=1"])
