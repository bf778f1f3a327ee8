"""Small models as Keras saves them, written without Keras: keras_by_hand.py FOLDER writes files that are refused, and
files of Keras 2 with what keras2_network.py does not have: an attention, attention2.h5, with inputs as attention2.x.npy
and the outputs that this script computes as attention2.y.npy, and a model in a model with a layer of the same name,
same_name.h5. Needs h5py."""

import io
import json
import pathlib
import sys
import zipfile

import h5py
import numpy

folder = pathlib.Path(sys.argv[1])
random = numpy.random.default_rng(1)


def store(file, values):
    for name, value in values.items():
        if isinstance(value, bytes):  # numbers of 8 bits: 4 of the exponent, 3 of the fraction
            kind = h5py.h5t.IEEE_F32LE.copy()
            kind.set_fields(7, 3, 4, 0, 3)
            kind.set_precision(8)
            kind.set_size(1)
            kind.set_ebias(7)
            groups, _, last = name.rpartition("/")
            group = file.require_group(groups).id
            space = h5py.h5s.create_simple((len(value) // 2, 2))
            h5py.h5d.create(group, last.encode(), kind, space)
        else:
            file[name] = value


def keras3(name, config, values):
    weights = io.BytesIO()
    with h5py.File(weights, "w", libver="latest") as file:
        store(file, values)
    with zipfile.ZipFile(folder / f"{name}.keras", "w") as file:
        texts = {"metadata.json": json.dumps({"keras_version": "3.8.0"}), "config.json": json.dumps(config)}
        for member, content in (texts | {"model.weights.h5": weights.getvalue()}).items():
            file.writestr(zipfile.ZipInfo(member), content, zipfile.ZIP_DEFLATED)


def keras2(name, config, values):
    with h5py.File(folder / f"{name}.h5", "w", libver="latest") as file:
        file.attrs["model_config"] = json.dumps(config)
        file.attrs["keras_version"] = "2.15.0"
        store(file.create_group("model_weights"), {key: numpy.asarray(value, "float32") for key, value in values.items()})


def dense(name, config, values):
    layers = [{"class_name": "InputLayer", "config": {"batch_shape": [None, 3], "name": "input"}},
              {"class_name": "Dense", "config": {"units": 2, "activation": "linear", "name": "scores"} | config}]
    keras3(name, {"class_name": "Sequential", "config": {"name": "model", "layers": layers}},
           {f"layers/dense/vars/{i}": value for i, value in enumerate(values)})


def policy(kind, mode):
    config = {"mode": mode, "source_name": "float32"}
    return {"module": "keras", "class_name": kind, "config": config, "registered_name": None}


kernel, bias = random.uniform(-1, 1, (3, 2)).astype("float32"), numpy.zeros(2, "float32")
scale = 127 / numpy.abs(kernel).max(0)
whole = numpy.round(kernel * scale).astype("int8")
quantised = policy("QuantizedDTypePolicy", "int8")
dense("quantised", {"dtype": quantised}, [whole, bias, scale.astype("float32")])
dense("quantised_float8", {"dtype": policy("QuantizedFloat8DTypePolicy", "float8")}, [kernel, bias])
dense("quantised_by_name", {"dtype": "int8_from_float32"}, [whole, bias])
dense("quantised_by_map", {"dtype": {"class_name": "DTypePolicyMap", "config": {"policy_map": {"scores": quantised}}}},
      [whole, bias])
dense("integers", {"dtype": "float32"}, [whole, bias])
dense("float8", {"dtype": "float32"}, [bytes(6), bias])
dense("half", {"dtype": {"class_name": "DTypePolicy", "config": {"name": "float16"}}}, [kernel.astype("float16"), bias])
dense("nan", {}, [numpy.where(kernel == kernel[1, 0], numpy.nan, kernel), bias])
dense("beyond_float", {"dtype": "float64"}, [kernel.astype("float64"), numpy.array([0, 1e300])])
layers = [{"class_name": "InputLayer", "config": {"batch_shape": [None, 2], "name": "input"}},
          {"class_name": "Normalization", "config": {"axis": [-1], "name": "scaled"}}]
keras3("variance", {"class_name": "Sequential", "config": {"name": "model", "layers": layers}},
       {"layers/normalization/vars/0": bias, "layers/normalization/vars/1": numpy.array([1, -0.5], "float32")})


def layer(kind, name, config, inputs, keywords=None):
    return {"class_name": kind, "name": name, "config": {"name": name} | config,
            "inbound_nodes": [[[given, 0, 0, keywords or {}] for given in inputs]] if inputs else []}


def functional(inputs, *layers):
    begins = [layer("InputLayer", name, {"batch_input_shape": [None, *shape]}, []) for name, shape in inputs.items()]
    return {"class_name": "Functional", "config": {
        "name": "model", "layers": [*begins, *layers], "input_layers": [[name, 0, 0] for name in inputs],
        "output_layers": [[layers[-1]["name"], 0, 0]]}}


def mean(keywords):
    return functional({"x": (4, 3), "m": (4,)},
                      layer("GlobalAveragePooling1D", "mean", {"data_format": "channels_last"}, ["x"], keywords))


keras2("call_mask", mean({"mask": ["m", 0, 0]}), {})
keras2("call_no_mask", mean({"mask": None, "training": False}), {})
keras2("call_training", functional({"x": (4,)}, layer("Dropout", "drop", {"rate": 0.5}, ["x"], {"training": True})), {})

# Attention of x to itself, and of the result to x as values and to itself as keys.
weights = {}


def attention(name, query, value, key, keywords):
    for part, count in zip(("query", "key", "value"), (2, 2, 3)):
        weights[f"{name}/{name}/{part}/kernel:0"] = random.uniform(-1, 1, (3, 2, count))
        weights[f"{name}/{name}/{part}/bias:0"] = random.uniform(-1, 1, (2, count))
    weights[f"{name}/{name}/attention_output/kernel:0"] = random.uniform(-1, 1, (2, 3, 3))
    weights[f"{name}/{name}/attention_output/bias:0"] = random.uniform(-1, 1, 3)
    given = {"value": [value, 0, 0]} | ({"key": [key, 0, 0]} if key else {}) | keywords
    config = {"num_heads": 2, "key_dim": 2, "value_dim": 3, "use_bias": True, "output_shape": None}
    return layer("MultiHeadAttention", name, config, [query], given)


def attended(name, query, value, key, causal):
    def part(part, x):
        kernel, bias = (weights[f"{name}/{name}/{part}/{kind}:0"] for kind in ("kernel", "bias"))
        return numpy.einsum("btf,fhn->bthn", x, kernel) + bias
    scores = numpy.einsum("bthn,bshn->bhts", part("query", query), part("key", key)) / numpy.sqrt(2)
    if causal:
        scores = numpy.where(numpy.tri(*scores.shape[2:]), scores, -numpy.inf)
    shares = numpy.exp(scores - scores.max(-1, keepdims=True))
    shares /= shares.sum(-1, keepdims=True)
    seen = numpy.einsum("bhts,bshn->bthn", shares, part("value", value))
    kernel, bias = (weights[f"{name}/{name}/attention_output/{kind}:0"] for kind in ("kernel", "bias"))
    return numpy.einsum("bthn,hnf->btf", seen, kernel) + bias


x = random.uniform(-1, 1, (2, 4, 3)).astype("float32")
first = attention("first", "x", "x", None, {"use_causal_mask": True, "training": None})
second = attention("second", "first", "x", "first", {})
keras2("attention2", functional({"x": (4, 3)}, first, second), weights)
y = attended("first", x, x, x, True)
numpy.save(folder / "attention2.x.npy", x)
numpy.save(folder / "attention2.y.npy", attended("second", y, x, y, False).astype("float32"))


def linear(name):
    return {"class_name": "Dense", "config": {"batch_input_shape": [None, 3], "units": 3, "activation": "linear", "use_bias": False, "name": name}}


def sequential(name, *layers):
    return {"class_name": "Sequential", "config": {"name": name, "layers": list(layers)}}


keras2("same_name", sequential("model", linear("d"), sequential("inner", linear("d"))),
       {"d/d/kernel:0": numpy.eye(3), "inner/d/kernel:0": 2 * numpy.eye(3)})
