"""A small network of Keras 2: keras2_network.py FOLDER writes it as keras2.keras and keras2.h5, with inputs as
keras2.x.npy, and the outputs that TensorFlow computes as keras2.y.npy. Needs tensorflow 2.15, the last one with
Keras 2."""

import pathlib
import sys
import tempfile
import zipfile

import h5py
import numpy
from tensorflow import keras
from tensorflow.keras import layers

from smaller_hdf5 import copy

folder = pathlib.Path(sys.argv[1])
temporary = tempfile.mkdtemp() + "/model"
keras.utils.set_random_seed(1)

x = keras.Input((6, 5, 2))
y = layers.DepthwiseConv2D(2)(layers.AveragePooling2D(3, 1, "same")(x))
y = layers.Reshape((5, 8))(y)
z = layers.Bidirectional(layers.LSTM(3, return_sequences=True))(y)
y = layers.Add()([layers.TimeDistributed(layers.Dense(6, "tanh"))(y), z])
y = layers.GRU(3)(y)
y = keras.Sequential([layers.Dense(4, "relu", input_shape=(3,)), layers.LeakyReLU(), layers.Dense(2)], name="head")(y)
model = keras.Model(x, y)
random = numpy.random.default_rng(1)
model.set_weights([w + random.uniform(-0.3, 0.4, w.shape) for w in model.get_weights()])

inputs = random.uniform(-1, 1, (2, 6, 5, 2)).astype("float32")
numpy.save(folder / "keras2.x.npy", inputs)
numpy.save(folder / "keras2.y.npy", model.predict(inputs, verbose=0))
model.save(temporary + ".keras")
model.save(temporary + ".h5")

with zipfile.ZipFile(temporary + ".keras") as old, zipfile.ZipFile(folder / "keras2.keras", "w") as new:
    for member in old.namelist():
        new.writestr(zipfile.ZipInfo(member), old.read(member), zipfile.ZIP_DEFLATED)
with h5py.File(temporary + ".h5") as old, h5py.File(folder / "keras2.h5", "w", libver="latest") as new:
    copy(old, new)
