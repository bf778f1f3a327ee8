"""Networks of Keras as their users write them, for exported_models.py: MODELS has for each a function that makes it, and
one that makes a minibatch for it."""

import numpy as np
from keras import Input, Model, Sequential, applications, layers

random = np.random.default_rng(3)
BATCH = 4


def values(*shape):
    return lambda: random.normal(size=(BATCH, *shape)).astype("float32")


def words(steps):
    return lambda: random.integers(0, 50, (BATCH, steps)).astype("float32")


def branches():
    """Towers as in Inception, a squeeze and excitation, a residual."""
    x = Input((16, 16, 8))
    one = layers.Conv2D(4, 1, activation="relu")(x)
    three = layers.Conv2D(4, 3, padding="same", activation="relu")(layers.Conv2D(3, 1, activation="relu")(x))
    pooled = layers.Conv2D(4, 1)(layers.MaxPooling2D(3, strides=1, padding="same")(x))
    y = layers.BatchNormalization()(layers.Concatenate()([one, three, pooled]))
    gate = layers.GlobalAveragePooling2D(keepdims=True)(y)
    gate = layers.Dense(12, activation="sigmoid")(layers.Dense(4, activation="relu")(gate))
    y = layers.Multiply()([y, gate])
    y = layers.Activation("relu")(layers.Add()([layers.Conv2D(12, 1)(x), y]))
    y = layers.Dropout(0.2)(layers.GlobalAveragePooling2D()(y))
    return Model(x, layers.Dense(5, activation="softmax")(y))


def unet():
    def double(x, filters):
        for _ in range(2):
            x = layers.Conv2D(filters, 3, padding="same", use_bias=False)(x)
            x = layers.Activation("relu")(layers.BatchNormalization()(x))
        return x

    x = Input((16, 16, 3))
    first = double(x, 8)
    second = double(layers.MaxPooling2D()(first), 16)
    y = double(layers.MaxPooling2D()(second), 32)
    y = double(layers.concatenate([second, layers.Conv2DTranspose(16, 2, strides=2, padding="same")(y)]), 16)
    y = double(layers.concatenate([first, layers.UpSampling2D()(y)]), 8)
    return Model(x, layers.Conv2D(2, 1, activation="sigmoid")(y))


def mobilenet():
    return applications.MobileNetV2(input_shape=(32, 32, 3), alpha=0.35, weights=None, classes=10)


def tutorial():
    """Pictures from 0 to 255, with what changes them in training alone."""
    return Sequential([Input((20, 20, 3)), layers.RandomFlip("horizontal"), layers.RandomRotation(0.1), layers.RandomZoom(0.1),
                       layers.Rescaling(1 / 255), layers.Conv2D(8, 3, activation="relu"), layers.MaxPooling2D(),
                       layers.Conv2D(16, 3, activation="relu"), layers.MaxPooling2D(), layers.Flatten(), layers.Dropout(0.5),
                       layers.Dense(10, activation="softmax")])


def tagger():
    return Sequential([Input((9,)), layers.Embedding(50, 16), layers.Bidirectional(layers.LSTM(12, return_sequences=True, dropout=0.2)),
                       layers.TimeDistributed(layers.Dense(7, activation="softmax"))])


def classifier():
    return Sequential([Input((9,)), layers.Embedding(50, 16), layers.Bidirectional(layers.GRU(12)), layers.Dense(3, activation="softmax")])


def autoencoder():
    return Sequential([Input((12, 2)), layers.LSTM(8), layers.RepeatVector(12), layers.LSTM(8, return_sequences=True),
                       layers.TimeDistributed(layers.Dense(2))])


def wavenet(filters=8):
    x = Input((64, 1))
    y, skips = layers.Conv1D(filters, 1)(x), []
    for dilation in (1, 2, 4, 8):
        gate = layers.Conv1D(filters, 2, padding="causal", dilation_rate=dilation, activation="sigmoid")(y)
        signal = layers.Conv1D(filters, 2, padding="causal", dilation_rate=dilation, activation="tanh")(y)
        signal = layers.Conv1D(filters, 1)(layers.Multiply()([signal, gate]))
        skips.append(signal)
        y = layers.Add()([y, signal])
    return Model(x, layers.Conv1D(1, 1)(layers.Activation("relu")(layers.Add()(skips))))


def table():
    """Of years, for example, which differ by little."""
    normalization = layers.Normalization()
    normalization.adapt(random.normal(2000, 5, (100, 6)))
    return Sequential([Input((6,)), normalization, layers.Dense(16, activation="relu"), layers.Dense(1)])


def transformer():
    x = Input((9, 16))
    y = layers.LayerNormalization()(layers.Add()([x, layers.MultiHeadAttention(2, 8)(x, x)]))
    y = layers.LayerNormalization()(layers.Add()([y, layers.Dense(16)(layers.Dense(32, activation="gelu")(y))]))
    return Model(x, layers.Dense(3)(layers.GlobalAveragePooling1D()(y)))


def masked():
    return Sequential([Input((9, 2)), layers.Masking(), layers.LSTM(4), layers.Dense(1)])


MODELS = {
    "functional model with branches": (branches, values(16, 16, 8)),
    "U-Net": (unet, values(16, 16, 3)),
    "MobileNetV2": (mobilenet, values(32, 32, 3)),
    "classifier of pictures with augmentation": (tutorial, values(20, 20, 3)),
    "LSTM tagger": (tagger, words(9)),
    "GRU classifier": (classifier, words(9)),
    "LSTM autoencoder": (autoencoder, values(12, 2)),
    "WaveNet": (wavenet, values(64, 1)),
    "table with Normalization": (table, lambda: random.normal(2000, 5, (BATCH, 6)).astype("float32")),
    "Transformer": (transformer, values(9, 16)),
    "LSTM with Masking": (masked, values(9, 2)),
}
REFUSED = ["LSTM with Masking"]


def trained(model):
    """As after training, so that nothing has a value with which a mistake would not show."""

    def changed(weight):
        if weight.dtype.kind != "f":
            return weight
        by = random.normal(0, 0.05, weight.shape) if weight.ndim > 1 else random.uniform(0.01, 0.3, weight.shape)
        return (weight + by).astype(weight.dtype)

    model.set_weights([changed(weight) for weight in model.get_weights()])
    return model
