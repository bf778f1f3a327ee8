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
