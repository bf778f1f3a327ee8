"""Networks of PyTorch and Keras, as networks of coldpress."""

import importlib.util
import pathlib
import tempfile

import numpy as np

from ._coldpress import MismatchError, Network, UnsupportedError, load


def from_torch(module, example, *, tolerance=1e-4, backend="cpu", threads=1):
    """The network of a torch.nn.Module in evaluation mode, by ONNX.

    `example` is a minibatch that the module takes, or a tuple of them; its extents but the first are those of a sample. The outputs for
    it are compared with PyTorch's: raises MismatchError if one differs by more than `tolerance` times the largest, and UnsupportedError,
    which lists all operators that are in the way, if a layer cannot be expressed. The module does not change.
    """
    import torch

    examples = tuple(example) if isinstance(example, (tuple, list)) else (example,)
    modes = [(part, part.training) for part in module.modules()]
    module.eval()
    try:
        with torch.no_grad(), tempfile.TemporaryDirectory() as folder:
            wanted = module(*examples)
            path = pathlib.Path(folder, "module.onnx")
            if importlib.util.find_spec("onnxscript"):
                torch.onnx.export(module, examples, path, dynamo=True, external_data=False, verbose=False)
            else:
                torch.onnx.export(module, examples, str(path), dynamo=False)
            network = load(path, backend=backend, threads=threads)
    finally:
        for part, was_training in modes:
            part.training = was_training
    wanted = wanted if isinstance(wanted, (tuple, list)) else (wanted,)
    if not all(isinstance(y, torch.Tensor) for y in wanted):
        raise UnsupportedError("the module's outputs are not tensors: " + ", ".join(type(y).__name__ for y in wanted))
    _compare(network, [x.numpy(force=True) for x in examples], [y.numpy(force=True) for y in wanted], tolerance)
    return network


def from_keras(model, example=None, *, tolerance=1e-4, backend="cpu", threads=1):
    """The network of a Keras model, Sequential or functional, by its .keras file.

    It takes images with the channels first: (samples, channels, height, width). With an `example`, a minibatch as Keras takes it, its
    outputs are compared with those of Keras, as from_torch does.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "model.keras")
        model.save(path)
        network = load(path, backend=backend, threads=threads)
    if example is not None:
        x = np.asarray(example)
        wanted = np.asarray(model.predict(x, verbose=0))
        _compare(network, [_channels_first(x)], [_channels_first(wanted)], tolerance)
    return network


def _channels_first(images):
    return np.moveaxis(images, -1, 1) if images.ndim == 4 else images


def _compare(network: Network, inputs, wanted, tolerance):
    found = network.predict(*inputs)
    found = found if isinstance(found, tuple) else (found,)
    if len(found) != len(wanted):
        raise MismatchError(f"the network has {len(found)} outputs, the model {len(wanted)}")
    for k, (ours, theirs) in enumerate(zip(found, wanted)):
        if ours.size != theirs.size:
            raise MismatchError(f"output {k} has the shape {ours.shape}, that of the model {theirs.shape}")
        error, scale = np.abs(ours.reshape(-1) - theirs.reshape(-1)).max(), np.abs(theirs).max()
        if not error <= tolerance * max(scale, np.finfo(np.float32).tiny):
            raise MismatchError(f"output {k} differs by {error:.3g} from that of the model, whose largest value is {scale:.3g}")
