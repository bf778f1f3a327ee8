"""Small networks of Keras: keras_networks.py FOLDER writes those for RTNeural as NAME.json, in the format of its Python
exporter, with inputs as NAME.x.npy, and the outputs that Keras computes as NAME.y.npy. Needs keras and torch."""

import json
import os
import pathlib
import sys

os.environ["KERAS_BACKEND"] = "torch"

import keras
import numpy
from keras import layers

folder = pathlib.Path(sys.argv[1])


def trained(model):
    """So that nothing has the value with which it begins."""
    random = numpy.random.default_rng(1)
    for layer in model.layers:
        layer.set_weights([(w + random.uniform(0.05, 0.45, w.shape)).astype("float32") for w in layer.get_weights()])
    return model


def save(name, x, y):
    numpy.save(folder / f"{name}.x.npy", x.astype("float32"))
    numpy.save(folder / f"{name}.y.npy", numpy.asarray(y).astype("float32"))


# Models of RTNeural.
def described(layer):
    kinds = {layers.Dense: "dense", layers.Conv1D: "conv1d", layers.Conv2D: "conv2d", layers.GRU: "gru", layers.LSTM: "lstm",
             layers.PReLU: "prelu", layers.BatchNormalization: "batchnorm", layers.Activation: "activation"}
    kind = kinds[type(layer)]
    if kind == "batchnorm" and len(layer.input.shape) == 4:
        kind = "batchnorm2d"
    activation = getattr(layer, "activation", None)
    name = activation.__name__ if activation else ""
    entry = {"type": kind, "activation": "" if name == "linear" else name, "shape": list(layer.output.shape)}
    if kind == "conv1d":
        entry |= {"kernel_size": layer.kernel_size, "dilation": layer.dilation_rate, "groups": layer.groups}
    if kind == "conv2d":
        entry |= {"kernel_size_time": layer.kernel_size[0], "kernel_size_feature": layer.kernel_size[1],
                  "dilation": layer.dilation_rate[0], "strides": layer.strides[1], "num_filters_in": layer.input.shape[3],
                  "num_features_in": layer.input.shape[2], "num_filters_out": layer.output.shape[3], "padding": layer.padding}
    if kind.startswith("batchnorm"):
        entry["epsilon"] = layer.epsilon
    if kind == "batchnorm2d":
        entry |= {"num_filters_in": layer.input.shape[3], "num_features_in": layer.input.shape[2]}
    return entry | {"weights": [w.tolist() for w in layer.get_weights()]}


def rtneural(name, steps, shape, *parts):
    model = trained(keras.Sequential([keras.Input((steps, *shape)), *parts]))
    x = numpy.random.default_rng(2).uniform(-1, 1, (1, steps, *shape))
    text = {"in_shape": list(model.input_shape), "layers": [described(layer) for layer in model.layers]}
    (folder / f"{name}.json").write_text(json.dumps(text, indent=1))
    save(name, x, model.predict(x, verbose=0))


small = {"kernel_initializer": keras.initializers.RandomUniform(-0.6, 0.2, seed=3)}
causal = {"padding": "causal"} | small
rtneural("dense", 6, (2,), layers.Dense(4, "tanh", **small), layers.Dense(3, "elu", use_bias=False, **small), layers.Activation("softmax"),
         layers.Dense(5, "relu", **small), layers.Dense(1, "sigmoid", **small))
rtneural("convolutions", 12, (2,), layers.Conv1D(4, 3, dilation_rate=2, activation="tanh", **causal), layers.BatchNormalization(epsilon=0.01),
         layers.PReLU(shared_axes=[1]), layers.Conv1D(6, 2, groups=2, **causal), layers.BatchNormalization(center=False, scale=False),
         layers.PReLU(shared_axes=[1, 2]), layers.Dense(1, **small))
rtneural("gru", 9, (1,), layers.Dense(3, "tanh", **small), layers.GRU(4, return_sequences=True, **small), layers.Dense(2, **small))
rtneural("lstm", 9, (2,), layers.LSTM(3, return_sequences=True, **small), layers.Dense(1, "sigmoid", **small))
rtneural("images", 9, (7, 1), layers.Conv2D(2, (3, 3), dilation_rate=(2, 1), **small), layers.BatchNormalization(),
         layers.Activation("relu"), layers.Conv2D(3, (1, 3), strides=(1, 2), padding="same", **small),
         layers.BatchNormalization(center=False, scale=False), layers.Conv2D(1, (2, 2), **small))
