"""Small networks of Keras: keras_networks.py FOLDER writes some as NAME.keras and NAME.h5, and those for RTNeural as
NAME.json, in the format of its Python exporter, with inputs as NAME.x.npy, and the outputs that Keras computes as
NAME.y.npy. Needs keras, torch and h5py."""

import json
import os
import pathlib
import sys
import tempfile
import zipfile

os.environ["KERAS_BACKEND"] = "torch"

import h5py
import keras
import numpy
from keras import layers

from smaller_hdf5 import copy

folder = pathlib.Path(sys.argv[1])
temporary = tempfile.mkdtemp() + "/model"
keras.utils.set_random_seed(1)


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
separate = {"depthwise_initializer": small["kernel_initializer"], "pointwise_initializer": small["kernel_initializer"]}
slopes = {"alpha_initializer": small["kernel_initializer"]}
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


# Models in Keras' own files.
def own(name, model, batch=2, words=0, expected=None, legacy=True):
    trained(model)
    shape = (batch, *(extent or 5 for extent in model.input_shape[1:]))
    random = numpy.random.default_rng(2)
    x = random.integers(0, words, shape) if words else random.uniform(-1, 1, shape)
    model.save(temporary + ".keras")
    if legacy:
        model.save(temporary + ".h5")
    with zipfile.ZipFile(temporary + ".keras") as old, zipfile.ZipFile(folder / f"{name}.keras", "w") as new:
        for member in old.namelist():
            new.writestr(zipfile.ZipInfo(member), old.read(member), zipfile.ZIP_DEFLATED)
    if legacy:
        with h5py.File(temporary + ".h5") as old, h5py.File(folder / f"{name}.h5", "w", libver="latest") as new:
            copy(old, new)
    save(name, x, expected(x) if expected else model.predict(x, verbose=0))


def trained(model):  # with the layers in models and wrappers
    random = numpy.random.default_rng(1)
    model.set_weights([(w + random.uniform(0.05, 0.45, w.shape)).astype("float32") for w in model.get_weights()])
    return model


own("cnn", keras.Sequential([
    keras.Input((7, 6, 2)), layers.Rescaling(0.5, 0.1), layers.Conv2D(4, 3, padding="same", activation="relu", name="first", **small),
    layers.BatchNormalization(momentum=0.9), layers.AveragePooling2D(2), layers.Conv2D(4, (2, 3), strides=2, padding="same", groups=2, **small),
    layers.PReLU(shared_axes=[1, 2]), layers.Flatten(), layers.Dropout(0.3), layers.Activation("tanh"), layers.Dense(5, "elu", **small),
    layers.Dense(3, **small), layers.Softmax()]))


def block(x, filters):
    y = layers.DepthwiseConv2D(3, padding="same", depth_multiplier=2, depthwise_initializer=small["kernel_initializer"])(x)
    y = layers.SeparableConv2D(filters, 2, padding="same", activation="hard_silu")(y)
    gate = layers.Dense(filters, "sigmoid", **small)(layers.GlobalAveragePooling2D()(y))
    y = layers.Multiply()([y, layers.Reshape((1, 1, filters))(gate)])
    return layers.Add()([x, layers.GroupNormalization(2)(y)])


x = keras.Input((5, 4, 3), name="picture")
y = layers.Conv2D(4, 1, **small)(x)
y = block(y, 4)
up = layers.Conv2DTranspose(3, 3, strides=2, padding="same", **small)(y)
wide = layers.UpSampling2D(2)(layers.Cropping2D(((0, 0), (1, 1)))(layers.ZeroPadding2D(((0, 0), (2, 0)))(layers.Conv2D(3, 2, padding="same", **small)(y))))
y = layers.Concatenate()([up, wide, layers.Maximum()([up, wide])])
y = layers.Concatenate()([layers.GlobalMaxPooling2D()(y), layers.BatchNormalization()(layers.Flatten()(layers.MaxPooling2D(3, 2, "same")(y)))])
own("graph", keras.Model(x, layers.Dense(3, "softmax", **small)(y)), legacy=False)

x = keras.Input((9, 3))
y = layers.Conv1D(4, 3, padding="same", activation="gelu", **small)(x)
y = layers.Concatenate(axis=1)([layers.Conv1D(4, 2, strides=2, **small)(y), layers.Conv1D(4, 4, dilation_rate=2, **causal)(y),
                                layers.Conv1D(4, 3, strides=3, padding="same", **small)(y)])
y = layers.LayerNormalization()(layers.MaxPooling1D(2)(y))
y = layers.Bidirectional(layers.LSTM(3, return_sequences=True, **small))(y)
y = layers.GRU(4, return_sequences=True, **small)(y)
z = layers.TimeDistributed(layers.Dense(4, "tanh", **small))(y)
y = layers.Average()([y, z, layers.Subtract()([y, z])])
y = layers.Bidirectional(layers.SimpleRNN(2, **small))(y)
own("sequences", keras.Model(x, layers.Dense(2, **small)(y)))

words = keras.Sequential([keras.Input((6,)), layers.Embedding(7, 4), layers.GlobalAveragePooling1D()], name="words")
x = keras.Input((6,))
y = keras.Sequential([layers.Dense(3, "relu", **small), layers.Dense(2, **small)], name="head")(words(x))
own("nested", keras.Model(x, y), words=7)

x = keras.Input((3, 4, 2))
own("picture", keras.Model(x, layers.Permute((2, 1, 3))(layers.Reshape((4, 3, 2))(layers.Conv2D(2, 1, **small)(x)))))

x = keras.Input((5, 4))
y = layers.MultiHeadAttention(2, 3, value_dim=2, **small)(x, x, use_causal_mask=True)
z = layers.RepeatVector(3)(layers.GlobalAveragePooling1D()(x))
z = layers.MultiHeadAttention(2, 3, use_bias=False, **small)(y, z, layers.Dense(5, **small)(z))
own("attention", keras.Model(x, layers.Add()([y, z, layers.GlobalMaxPooling1D(keepdims=True)(x)])))

x = keras.Input((4, 5, 3))
y = layers.RandomFlip()(layers.RandomZoom(0.2)(x))
y = layers.Normalization()(layers.RandomContrast(0.2)(layers.RandomTranslation(0.1, 0.1)(layers.RandomRotation(0.1)(y))))
gate = layers.Conv2D(3, 1, activation="sigmoid", **small)(layers.GlobalAveragePooling2D(keepdims=True)(y))
own("augmented", keras.Model(x, layers.Multiply()([y, gate])))


# Sequences, each layer of which images have, too; slopes of their own for some or all places.
x = keras.Input((6, 4))
y = layers.SeparableConv1D(5, 3, padding="same", depth_multiplier=2, activation="selu", **separate)(x)
y = layers.DepthwiseConv1D(2, strides=2, depth_multiplier=2, depthwise_initializer=small["kernel_initializer"])(layers.Identity()(y))
y = layers.Conv1DTranspose(3, 4, strides=3, padding="same", activation="relu", **small)(layers.PReLU(**slopes)(y))
z = layers.Cropping1D((1, 0))(layers.UpSampling1D(2)(layers.Conv1DTranspose(3, 2, strides=3, **small)(layers.MaxPooling1D(3)(x))))
y = layers.Concatenate(axis=1)([y, z])
y = layers.PReLU(shared_axes=[1], **slopes)(layers.Reshape((5, 2, 6))(layers.Activation("hard_sigmoid")(y)))
own("steps", keras.Model(x, layers.PReLU(**slopes)(y)))

# Two readers of one network, which has a layer that is called twice itself; a layer with two calls whose order is not that of the graph.
own_again = layers.Dense(4, "tanh", name="again", **small)
x = keras.Input((4,))
reader = keras.Model(x, layers.Dense(3, **small)(own_again(own_again(x))), name="reader")
x = keras.Input((2, 2, 4))
left, right = layers.Reshape((4,))(layers.Cropping2D(((0, 1), (0, 1)))(x)), layers.Reshape((4,))(layers.Cropping2D(((1, 0), (1, 0)))(x))
shared, y = layers.Conv1D(3, 2, padding="same", name="scan", **small), layers.Reshape((2, 8))(x)
y = layers.Concatenate()([shared(y), layers.PReLU(name="bend", **slopes)(shared(layers.Conv1D(8, 1, **small)(y)))])
y = layers.Concatenate()([reader(right), layers.Flatten()(y), reader(left), layers.Subtract()([reader(left), reader(right)])])
own("siamese", keras.Model(x, layers.Dense(2, **small)(y)))


# Volumes, and what else there is of them.
x = keras.Input((3, 6, 5, 2))
y = layers.Conv3D(4, (2, 3, 2), padding="same", activation="relu", **small)(x)
y = layers.BatchNormalization()(layers.MaxPooling3D((1, 2, 2))(y))
up = layers.Conv3DTranspose(4, (3, 2, 2), strides=(1, 2, 1), padding="same", **small)(y)
y = layers.Cropping3D(((0, 1), (0, 0), (1, 0)))(layers.ZeroPadding3D(((1, 0), (0, 0), (0, 1)))(up))
y = layers.Concatenate()([y, layers.Conv3D(2, 1, groups=2, **small)(up)])
y = layers.Dense(3, "tanh", **small)(layers.AveragePooling3D((1, 3, 2))(layers.PReLU(shared_axes=[1, 2, 3], **slopes)(y)))
y = layers.Concatenate()([layers.GlobalMaxPooling3D()(y), layers.GlobalAveragePooling3D()(y), layers.Dense(2, **small)(layers.Flatten()(y))])
own("volumes", keras.Model(x, layers.Dense(2, **small)(y)))


def means(x):
    """What TensorFlow and JAX compute: zeros around a picture are not counted. The backend torch does otherwise."""
    padded = numpy.pad(x, ((0, 0), (1, 1), (0, 1), (0, 0)), constant_values=numpy.nan)
    windows = [[numpy.nanmean(padded[:, 2 * i : 2 * i + 3, 2 * j : 2 * j + 3], axis=(1, 2)) for j in range(2)] for i in range(3)]
    return numpy.array(windows).transpose(2, 0, 1, 3)


own("means", keras.Sequential([keras.Input((5, 4, 2)), layers.AveragePooling2D(3, 2, "same")]), expected=means)

# Files that are to be refused, and one in the older format of HDF5, which has no checksums.
model = keras.Sequential([keras.Input((3, 4, 2)), layers.Conv2D(2, 1), layers.Flatten(), layers.Dense(2, name="last")], name="old")
trained(model).save(folder / "old.h5")
keras.Sequential([keras.Input((2,)), layers.Dense(2, "hard_sigmoid", name="hard")]).save(folder / "hard.h5")
text = model.to_json().replace('"units": 2', '"units": 16384').replace("[null, 3, 4, 2]", "[null, 128, 128, 2]")
with h5py.File(folder / "bomb.h5", "w", libver="latest") as file:
    file.attrs["model_config"] = text
    group = file.create_group("model_weights")
    for name, shape in {"conv2d/kernel": (1, 1, 2, 2), "conv2d/bias": (2,), "last/kernel": (32768, 16384), "last/bias": (16384,)}.items():
        conv = next(layer.name for layer in model.layers if isinstance(layer, layers.Conv2D))
        group.create_dataset(name.replace("conv2d", conv), shape, "float32", chunks=shape)
with zipfile.ZipFile(folder / "bomb.keras", "w") as file:
    file.writestr(zipfile.ZipInfo("config.json"), b" " * (1 << 22), zipfile.ZIP_DEFLATED)
    file.writestr(zipfile.ZipInfo("model.weights.h5"), b"")


# GRUs that apply their reset gate before the product.
rtneural("gru_reset_before", 9, (2,), layers.GRU(4, return_sequences=True, reset_after=False, **small), layers.Dense(2, **small))
x = keras.Input((6, 3))
y = layers.Bidirectional(layers.GRU(4, return_sequences=True, reset_after=False, **small))(x)
own("reset_before", keras.Model(x, layers.GRU(3, reset_after=False, use_bias=False, **small)(y)))
