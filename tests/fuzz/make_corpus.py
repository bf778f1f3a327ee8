"""Writes corpus/, the files that the harnesses are replayed on and that a fuzzer begins with: python3 make_corpus.py
(needs the tool capnp). Each is small, and is there for a reason that its name says."""

import gzip
import io
import json
import pathlib
import struct
import subprocess
import zipfile
import zlib

here = pathlib.Path(__file__).parent
schemas = here / "../../capnp"


def put(harness, name, content):
    folder = here / "corpus" / harness
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(content)


def zipped(content):
    buffer = io.BytesIO()
    with gzip.GzipFile(fileobj=buffer, mode="wb", mtime=0) as file:
        file.write(content)
    return buffer.getvalue()


def flipped(content, *bits):
    spoilt = bytearray(content)
    for bit in bits:
        spoilt[bit // 8] ^= 1 << bit % 8
    return bytes(spoilt)


def spoilt(harness, name, content):
    """The file itself, cut in the middle and at its end, and with bits flipped."""
    put(harness, name, content)
    put(harness, name + "-cut-in-the-middle", content[: len(content) // 2])
    put(harness, name + "-cut-at-the-end", content[:-1])
    put(harness, name + "-flipped-at-the-start", flipped(content, 3))
    put(harness, name + "-flipped-twice", flipped(content, 4 * len(content), 8 * len(content) - 5))


# Arrays and tables.
def idx(extents, values):
    return struct.pack(">BBBB", 0, 0, 8, len(extents)) + struct.pack(f">{len(extents)}I", *extents) + values


images, labels = idx([2, 1, 3], bytes([0, 51, 102, 127, 128, 255])), idx([2], bytes([7, 4]))
spoilt("idx", "images", images)
spoilt("idx", "labels-compressed", zipped(labels))
put("idx", "two-members", zipped(labels[:5]) + zipped(labels[5:]))
put("idx", "extents-overflow", idx([2**32 - 1] * 3, b"1234"))
put("idx", "no-sample", idx([0, 28, 28], b""))
put("idx", "bomb", zipped(idx([1, 256, 256], bytes(1 << 16))))
put("idx", "bomb-that-goes-on", zipped(labels + bytes(1 << 16)))
put("idx", "promise-within-the-ratio", zipped(idx([60, 250, 1], b"")) + bytes(16))

spoilt("csv", "table", b"\xef\xbb\xbftarget,a,b\r\n1,2,3\r\n4,5.5,-6e-3\r\n")
spoilt("csv", "compressed", zipped(b"1,2\n3,4\n"))
put("csv", "quoted", b'"x","y"\n"1"," 2 "\n')
put("csv", "beyond-a-float", b"1,1e39\n")
put("csv", "below-a-float", b"1,1e-400\n2,-1e-46\n")
put("csv", "not-a-number", b"1,nan\n2,inf\n")
put("csv", "ragged", b"1,2\n3\n")
put("csv", "blank-line", b"1,2\n\n3,4\n")
put("csv", "quote-without-end", b'"1,2\n')
put("csv", "controls", b"1,\x1b[2J\xc2\x9b31m\xe2\x80\xae\x00\n")
put("csv", "one-long-field", b"1" * 3000 + b"\n")
put("csv", "bomb", zipped(b"1,2\n" * 4096))
put("csv", "bomb-in-a-line", zipped(b"1," + b" " * (1 << 16) + b"2\n"))


def npy(text, values, version=1):
    before = 10 if version == 1 else 12
    header = text.encode().ljust(-(-(before + len(text) + 1) // 64) * 64 - before - 1) + b"\n"
    return b"\x93NUMPY" + struct.pack("<BBH" if version == 1 else "<BBI", version, 0, len(header)) + header + values


def header(kind, shape, order="False"):
    return f"{{'descr': '{kind}', 'fortran_order': {order}, 'shape': {shape}, }}"


floats = npy(header("<f4", "(2, 2)"), struct.pack("<4f", 1.5, -2, 0.25, 3e38))
spoilt("npy", "floats", floats)
spoilt("npy", "doubles", npy(header("<f8", "(2,)"), struct.pack("<2d", 0.1, -2.5), 2))
put("npy", "double-beyond-a-float", npy(header("<f8", "(1,)"), struct.pack("<d", 1e300)))
put("npy", "longs", npy(header("<i8", "(2, 1)"), struct.pack("<2q", -3, 2**40), 3))
put("npy", "ints", npy(header("<i4", "(1,)"), struct.pack("<i", -2)))
put("npy", "scalar", npy(header("|u1", "()"), b"\x07"))
put("npy", "empty", npy(header("<f4", "(0, 9000000000000000000, 9000000000000000000)"), b""))
put("npy", "extents-overflow", npy(header("<f4", "(4294967296, 4294967296, 4)"), b"1234"))
put("npy", "33-extents", npy(header("|u1", "(" + "1, " * 33 + ")"), b"\x01"))
put("npy", "fortran", npy(header("<f4", "(1, 1)", "True"), b"1234"))
put("npy", "objects", npy(header("|O", "(1,)"), b"cos\nsystem\n"))
put("npy", "longest-header", b"\x93NUMPY\x02\x00" + struct.pack("<I", 2**32 - 1) + b"{")
put("npy", "bomb", zipped(npy(header("<f4", "(16384,)"), bytes(1 << 16))))
put("npy", "bomb-in-the-header", zipped(b"\x93NUMPY\x02\x00" + struct.pack("<I", 65535) + b" " * 65535))


def dataset(kind, first, second=b""):
    both = len(first) + len(second)
    cut = next(c for c in range(256) if both * c // 256 == len(first)) if second else 0
    return bytes([kind, cut]) + first + second


put("dataset", "mnist", dataset(0, images, labels))
put("dataset", "mnist-test", dataset(1, images, labels))
put("dataset", "mnist-of-other-counts", dataset(0, images, idx([3], b"\x01\x02\x03")))
put("dataset", "mnist-compressed", dataset(0, zipped(images), zipped(labels)))
put("dataset", "csv", dataset(2, b"1,2,3\n4,5,6\n"))
put("dataset", "csv-of-one-column", dataset(2, b"1\n2\n"))
numbers = npy(header("|u1", "(2,)"), b"\x01\x02")
put("dataset", "npy", dataset(3, floats, numbers))
put("dataset", "npy-of-other-counts", dataset(3, numbers, npy(header("|u1", "(3,)"), b"\x01\x02\x03")))
put("dataset", "npy-not-finite", dataset(3, numbers, npy(header("<f4", "(2,)"), struct.pack("<2f", 1, float("nan")))))
put("dataset", "npy-of-10-extents", dataset(3, npy(header("|u1", "(" + "1," * 10 + ")"), b"1"), numbers))


# Caffe's messages in protobuf's wire format.
def varint(value):
    encoded = b""
    while value >= 128:
        encoded, value = encoded + bytes([value & 127 | 128]), value >> 7
    return encoded + bytes([value])


def part(field, content):
    return varint(field << 3 | 2) + varint(len(content)) + content


def blob(shape, double=False):
    count = 1
    for extent in shape:
        count *= extent
    values = struct.pack(f"<{count}{'d' if double else 'f'}", *(i / 4 for i in range(count)))
    return part(7, part(1, b"".join(map(varint, shape)))) + part(8 if double else 5, values)


def legacy_blob(num, channels, height, width):
    extents = b"".join(varint(i + 1 << 3) + varint(v) for i, v in enumerate((num, channels, height, width)))
    count = num * channels * height * width
    return extents + part(5, struct.pack(f"<{count}f", *(i / 4 for i in range(count))))


def caffe_layer(name, kind, *blobs, bottom=b"x", top=b"x", more=b""):
    names = part(1, name) + part(2, kind) + part(3, bottom) + part(4, top)
    return part(100, names + b"".join(part(7, blob) for blob in blobs) + more)


conv = caffe_layer(b"conv", b"Convolution", blob([2, 1, 1, 2]), blob([2]))
bn = caffe_layer(b"bn", b"BatchNorm", blob([2]), blob([2]), part(7, part(1, b"\x01")) + part(5, struct.pack("<f", 2)))
scale = caffe_layer(b"scale", b"Scale", blob([2]), blob([2]))
dense = caffe_layer(b"ip", b"InnerProduct", blob([2, 8]), blob([2], double=True))
spoilt("caffe", "network", part(1, b"net") + conv + bn + scale + dense)
put("caffe", "transposed", conv + bn + caffe_layer(b"ip", b"InnerProduct", blob([8, 2]), more=part(117, b"\x30\x01")))
old = lambda name, kind, *blobs: part(2, part(4, name) + b"\x28" + varint(kind) + b"".join(part(6, b) for b in blobs))
old_dense = old(b"ip", 14, legacy_blob(1, 1, 2, 8), legacy_blob(1, 1, 1, 2))
put("caffe", "old", old(b"conv", 4, legacy_blob(2, 1, 1, 2)) + bn + old_dense)
put("caffe", "oldest", part(2, part(1, part(1, b"ip") + part(2, b"innerproduct") + part(50, legacy_blob(1, 1, 2, 8)))))
spoilt("caffe", "mean", legacy_blob(1, 2, 1, 2))
put("caffe", "unpacked", part(7, varint(8) + varint(3)) + b"".join(varint(5 << 3 | 5) + struct.pack("<f", v) for v in (1, 2, 3)))
put("caffe", "extents-overflow", part(7, part(1, varint(2**40) * 4)) + part(5, bytes(4)))
put("caffe", "extents-below-0", part(7, part(1, varint(2**64 - 1) * 2)) + part(5, bytes(4)))
put("caffe", "promise-of-2-32", caffe_layer(b"conv", b"Convolution", varint(5 << 3 | 2) + varint(2**32 - 1)))
put("caffe", "many-layers", part(100, b"") * 1024)
put("caffe", "many-blobs", caffe_layer(b"conv", b"Convolution", *[b""] * 512))
put("caffe", "groups", part(100, part(117, b"\x4b" * 200)))
put("caffe", "text", b'name: "LeNet"')
put("caffe", "not-finite", caffe_layer(b"conv", b"Convolution", part(7, part(1, b"\x04")) + part(5, b"\xff\xff\xff\x7f" * 4)))


# Models of amplifiers.
def nam(architecture, config, count, **more):
    weights = [round(0.125 * (i % 7 - 3), 3) for i in range(count)]
    return {"version": "0.7.0", "architecture": architecture, "config": config, "weights": weights, **more}


def wavenet_array(**fields):
    array = {"input_size": 1, "condition_size": 1, "channels": 2, "head_size": 1, "head_bias": True, "kernel_size": 2,
             "dilations": [1, 4], "activation": "Tanh", "gated": False}
    return {key: value for key, value in (array | fields).items() if value is not None}


def films(*places, shift=True):
    return {f"{place}_film": {"active": True, "shift": shift, "groups": 1} for place in places}


plain_array = wavenet_array()
plain_wavenet = {"layers": [plain_array], "head": None, "head_scale": 0.5}
plain_count = 2 + 2 * (8 + 2 + 2 + 4 + 2) + 3 + 1
full_array = wavenet_array(
    channels=2, bottleneck=1, head_size=None, head={"out_channels": 1, "kernel_size": 2, "bias": True},
    kernel_size=None, kernel_sizes=[1, 2], gated=None, gating_mode=["gated", "blended"],
    activation=[{"type": "PReLU", "negative_slopes": [-0.5]}, {"type": "LeakyHardtanh", "min_val": -0.5}],
    secondary_activation=["Sigmoid", "Hardswish"], head1x1={"active": True, "out_channels": 2, "groups": 1},
    **films("conv_pre", "conv_post", "input_mixin_pre", "input_mixin_post"),
    **films("activation_pre", "activation_post", "layer1x1_post", "head1x1_post", shift=False))
full_films = 2 * (4 + 4 + 2 + 4) + 2 * (2 + 1 + 2 + 2)
full_count = 2 + sum(4 * taps + 2 + 2 + 4 + 4 + full_films for taps in (1, 2)) + 5 + 1
head = {"channels": 2, "out_channels": 1, "kernel_sizes": [1, 2], "activation": "Softsign"}
amp = nam("WaveNet", plain_wavenet, plain_count, sample_rate=48000, metadata={"name": "a", "loudness": -18.5, "date": {"year": 1}})
lstm = nam("LSTM", {"input_size": 1, "hidden_size": 2, "num_layers": 2}, 36 + 44 + 3)
slim = {"slimmable": {"method": "slice_channels_uniform", "kwargs": {"allowed_channels": [1, 2]}}}
nams = {
    "wavenet": amp,
    "wavenet-full": nam("WaveNet", plain_wavenet | {"layers": [full_array]}, full_count),
    "wavenet-head": nam("WaveNet", plain_wavenet | {"head": head}, plain_count + 4 + 5),
    "wavenet-condition": nam("WaveNet", plain_wavenet | {"condition_dsp": lstm}, plain_count),
    "wavenet-slimmable": nam("WaveNet", plain_wavenet | {"layers": [plain_array | slim]}, plain_count),
    "lstm": lstm,
    "convnet": nam("ConvNet", {"channels": 2, "dilations": [1, 2], "batchnorm": False, "activation": "ReLU"}, 6 + 10 + 3),
    "convnet-normalised": nam("ConvNet", {"channels": 1, "dilations": [1], "batchnorm": True, "activation": "SiLU"}, 9)
        | {"weights": [1, 2, 0.5, 0.25, 1, 0.5, 0.125, 1, 0.5]},
    "linear": nam("Linear", {"receptive_field": 3, "bias": True}, 4),
    "container": nam("SlimmableContainer", {"submodels": [{"max_value": 0.5, "model": lstm}, {"max_value": 1, "model": amp}]}, 0),
    "one-weight-too-many": nam("Linear", {"receptive_field": 3, "bias": False}, 4),
    "weights-of-2-40": nam("LSTM", {"input_size": 4096, "hidden_size": 4096, "num_layers": 1024}, 1),
    "history-of-2-40": nam("WaveNet", plain_wavenet | {"layers": [plain_array | {"kernel_size": 2**20, "dilations": [2**20]}]}, 1),
    "slopes-for-other-channels": nam("WaveNet", plain_wavenet | {"layers": [
        plain_array | {"activation": {"type": "PReLU", "negative_slopes": [1, 2, 3]}}]}, plain_count),
}
for name, model in nams.items():
    put("nam", name, json.dumps(model, separators=(",", ":")).encode())
put("nam", "wavenet-cut-in-the-middle", json.dumps(amp).encode()[:300])
put("nam", "deep", b"[" * 500)
put("nam", "number-too-large", b'{"version":"0.5.4","architecture":"Linear","config":{"receptive_field":1,"bias":false},"weights":[1e39]}')
put("nam", "not-utf-8", b'{"version":"0.5.4\xff"}')


# Models of RTNeural.
def rtneural(kind, outputs, *weights, **more):
    return {"type": kind, "activation": "", "shape": [None, None, outputs], "weights": list(weights)} | more


def zeros_of(*extents):
    return [zeros_of(*extents[1:]) for _ in range(extents[0])] if extents else 0.25


conv = {"kernel_size": [2], "dilation": [2], "groups": 1}
conv2d = {"kernel_size_time": 2, "kernel_size_feature": 2, "dilation": 1, "strides": 1, "num_filters_in": 1, "num_features_in": 3,
          "num_filters_out": 2, "padding": "valid", "shape": [None, None, 2, 2]}
rtneurals = {
    "dense": (1, [rtneural("dense", 2, zeros_of(1, 2), zeros_of(2), activation="tanh"), rtneural("prelu", 2, zeros_of(1, 2)),
                  rtneural("dense", 1, zeros_of(2, 1), activation="softmax")]),
    "convolution": (2, [rtneural("conv1d", 2, zeros_of(2, 2, 2), zeros_of(2), **conv), rtneural("batchnorm", 2, *[zeros_of(2)] * 4, epsilon=0.1)]),
    "gru": (1, [rtneural("gru", 2, zeros_of(1, 6), zeros_of(2, 6), zeros_of(2, 6), activation="tanh"), rtneural("activation", 2, activation="elu")]),
    "lstm": (1, [rtneural("lstm", 1, zeros_of(1, 4), zeros_of(1, 4), zeros_of(4))]),
    "conv2d": (3, [rtneural("conv2d", 4, zeros_of(2, 2, 1, 2), zeros_of(2), **conv2d),
                   rtneural("batchnorm2d", 4, zeros_of(2), zeros_of(2), epsilon=0.1, num_filters_in=2, shape=[None, None, 2, 2])]),
    "conv2d-of-2-48": (65536, [rtneural("conv2d", 4, [], **(conv2d | {"num_features_in": 65536, "kernel_size_time": 65536,
                                                                   "shape": [None, None, 65535, 1], "num_filters_out": 1}))]),
    "history-of-2-40": (1, [rtneural("conv1d", 1, zeros_of(1, 1, 1), **(conv | {"kernel_size": 2**20, "dilation": 2**20}))]),
    "features-of-2-40": (2**40, [rtneural("activation", 2**40, activation="tanh")]),
    "unknown": (1, [rtneural("flatten", 1)]),
}
for name, (features, layers) in rtneurals.items():
    put("rtneural", name, json.dumps({"in_shape": [None, None, features], "layers": layers}, separators=(",", ":")).encode())
put("rtneural", "deep", b"[" * 500)
put("rtneural", "cut-in-the-middle", json.dumps({"in_shape": [None, 1], "layers": rtneurals["gru"][1]}).encode()[:300])


def archive(members, method=zipfile.ZIP_DEFLATED, **how):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as file:
        for name, content in members:
            described = zipfile.ZipInfo(name)
            described.compress_type = method
            with file.open(described, "w", **how) as member:
                member.write(content)
    return buffer.getvalue()


for name, method in (("stored", zipfile.ZIP_STORED), ("deflated", zipfile.ZIP_DEFLATED)):
    pair = archive([("x.npy", floats), ("y.npy", numbers)], method)
    spoilt("dataset", "npz-" + name, dataset(4, pair))
    for i in range(4):  # the directory is most of a small file
        put("dataset", f"npz-{name}-flipped-in-the-directory-{i}",
            dataset(4, flipped(pair, 8 * (len(pair) - 30 * i) - 83)))
put("dataset", "npz-of-64-bits", dataset(4, archive([("x.npy", floats), ("y.npy", numbers)], force_zip64=True)))
zeros = npy(header("<f4", "(65536,)"), bytes(1 << 18))
put("dataset", "npz-bomb", dataset(4, archive([("x.npy", zeros), ("y.npy", numbers)])))
put("dataset", "npz-without-members", dataset(4, archive([])))
put("dataset", "npz-directory-elsewhere", dataset(4, b"PK\5\6" + struct.pack("<4HIIH", 0, 0, 1, 1, 46, 2**32 - 50, 0)))
put("dataset", "npz-64-bits-elsewhere", dataset(4, b"PK\6\7" + struct.pack("<IQI", 0, 2**64 - 20, 1)
                                                + b"PK\5\6" + struct.pack("<4HIIH", 0, 0, 1, 1, 46, 2**32 - 1, 0)))


# Configs of models of Keras, without what is not read.
def bare(value):
    unread = ("registered_name", "build_config", "dtype", "trainable", "compile_config", "_initializer", "_regularizer", "_constraint")
    if isinstance(value, dict):
        return {key: bare(one) for key, one in value.items() if not key.endswith(unread)}
    return [bare(one) for one in value] if isinstance(value, list) else value


def compact(value):
    return json.dumps(value, separators=(",", ":")).encode()


for name in ("attention", "augmented", "cnn", "keras2", "means", "nested", "picture"):
    with zipfile.ZipFile(here / f"../convert/keras/{name}.keras") as file:
        put("keras", name, compact(bare(json.loads(file.read("config.json")))))


def sequential(shape, *layers):
    listed = [{"class_name": "InputLayer", "config": {"batch_shape": [None, *shape]}}]
    return compact({"class_name": "Sequential", "config": {
        "layers": listed + [{"class_name": kind, "config": config} for kind, config in layers]}})


put("keras", "deep", b"[" * 500)
put("keras", "not-utf-8", b'{"class_name":"\xff"}')
put("keras", "cut-in-the-middle", sequential([2], ("Dense", {"units": 2, "use_bias": True, "activation": "relu"}))[:150])
put("keras", "units-of-2-24", sequential([2**24], ("Dense", {"units": 2**24, "use_bias": True, "activation": "relu"})))
put("keras", "slopes-of-2-32", sequential([16, 16, 2**24], ("PReLU", {"shared_axes": [3]})))
put("keras", "ones-of-2-30", sequential([2**24], *[("LayerNormalization", {"scale": False, "center": False})] * 32))
put("keras", "extents-of-2-72", sequential([2**24] * 3, ("Flatten", {})))


# Weights with PyTorch's names, for the network of state_dict.hpp.
state_dict = {"c.weight": (2, 2, 2), "c.bias": (2,), "n.running_mean": (2,), "n.running_var": (2,), "r.weight_ih_l0": (3, 2),
              "r.weight_hh_l0": (3, 1), "r.bias_ih_l0": (3,), "r.bias_hh_l0": (3,), "l.weight": (1, 2), "l.bias": (1,)}


def floats_of(extents):
    size = 1
    for extent in extents:
        size *= extent
    return struct.pack(f"<{size}f", *(i / 4 for i in range(size)))


def safetensors(tensors, values, length=None):
    text = json.dumps(tensors, separators=(",", ":")).encode() if isinstance(tensors, dict) else tensors
    return struct.pack("<Q", len(text) if length is None else length) + text + values


def entry(shape, begin, end, dtype="F32"):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": [begin, end]}


entries, values = {}, b""
for name, shape in state_dict.items():
    content = floats_of(shape)
    entries[name] = entry(shape, len(values), len(values) + len(content))
    values += content
spoilt("safetensors", "network", safetensors({"__metadata__": {"format": "pt"}, **entries}, values))
put("safetensors", "hole", safetensors({"l.bias": entry([1], 4, 8)}, bytes(8)))
put("safetensors", "overlap", safetensors({"l.bias": entry([1], 0, 4), "c.bias": entry([2], 0, 8)}, bytes(8)))
put("safetensors", "twice", safetensors(b'{"a":{"dtype":"F32","shape":[],"data_offsets":[0,4]},"a":{}}', bytes(4)))
put("safetensors", "extents-overflow", safetensors({"a": entry([2**32, 2**32, 2**32], 0, 4)}, bytes(4)))
put("safetensors", "offsets-beyond", safetensors({"a": entry([1], 2**64 - 4, 2**64 - 1)}, bytes(4)))
put("safetensors", "header-of-2-64", safetensors({}, b"", 2**64 - 1))
put("safetensors", "deep", safetensors(b'{"a":' + b"[" * 500, b""))
put("safetensors", "empty", safetensors({}, b""))
put("safetensors", "halves", safetensors({"l.weight": entry([1, 2], 0, 4, "F16"), "l.bias": entry([1], 4, 6, "BF16")}, b"\xff\x03\x00\xb8\x80\x3f"))
put("safetensors", "integers", safetensors({"l.weight": entry([2], 0, 16, "I64"), "l.bias": entry([], 16, 17, "BOOL")}, bytes(17)))
put("safetensors", "double-beyond-a-float", safetensors({"l.bias": entry([1], 0, 8, "F64")}, struct.pack("<d", 1e300)))
put("safetensors", "many-tensors", safetensors({str(i): entry([0], 0, 0) for i in range(300)}, b""))
put("safetensors", "many-extents", safetensors({"a": entry([1] * 40, 0, 4)}, bytes(4)))
put("safetensors", "own-names", safetensors({"l-0": entry([1, 2], 0, 8), "r-0": entry([21, 1, 1], 8, 92)}, bytes(92)))
put("safetensors", "pickle", b"\x80\x02}q\x00.")
arrays = [(f"{name}.npy", npy(header("<f4", f"({', '.join(map(str, shape))},)"), floats_of(shape))) for name, shape in state_dict.items()]
for name, method in (("stored", zipfile.ZIP_STORED), ("deflated", zipfile.ZIP_DEFLATED)):
    spoilt("npz", name, archive(arrays, method))
put("npz", "halves", archive([("l.bias.npy", npy(header("<f2", "(1,)"), b"\x00\x3c"))]))
put("npz", "bomb", archive([("l.weight.npy", npy(header("<f4", "(524288,)"), bytes(1 << 21)))]))
put("npz", "twice", archive([arrays[0], arrays[0]]))
whole = archive([arrays[0]])
begin, end = whole.index(b"PK\1\2"), whole.index(b"PK\5\6")
overlap = whole[begin:end] * 16
put("npz", "overlap", whole[:begin] + overlap + whole[end : end + 12] + struct.pack("<I", len(overlap)) + whole[end + 16 :])
put("npz", "pickle", archive([("archive/data.pkl", b"\x80\x02.")]))

table = b'a,b,c\n1,u,2\n3,"v",4\n'
put("dataset", "csv-label", dataset(5, table.replace(b"1,u", b"x,7").replace(b'"v"', b"8")))
put("dataset", "csv-label-is-missing", dataset(5, b"u,1\n,2\n"))
put("dataset", "csv-quotes", dataset(5, b'"a""b",1\n"""",2\n'))
put("dataset", "csv-classes", dataset(6, table.replace(b",", b";")))
put("dataset", "csv-another-class", dataset(6, table.replace(b",", b";").replace(b"u", b"w")))
put("dataset", "csv-targets", dataset(7, b"a,b,c\n1,2,3\n4,5,6\n"))
put("dataset", "csv-targets-without-samples", dataset(7, b"a,b\n1,2\n"))
pixels = bytes(i % 251 for i in range(3072))
put("dataset", "cifar10", dataset(8, b"\x09" + pixels))
put("dataset", "cifar10-label-of-no-class", dataset(8, b"\x0a" + pixels))
put("dataset", "cifar10-cut", dataset(8, b"\x09" + pixels[:-1]))
put("dataset", "cifar100", dataset(9, b"\x01\x63" + pixels))
put("dataset", "cifar100-names", bytes([9, 255]) + b"\x01\x02" + pixels + b"apple\nfish\n")

for name, spec in {
    "mnist": "mnist:DIR", "cifar": "cifar100-test:DIR?labels=coarse", "images": "images:DIR?width=8&height=8&skip=1",
    "csv": "csv:odd?.csv?label=a b&delimiter=;&classes=u,v", "npy-alone": "npy:x.npy", "npy": "npy:x.npy,/y.npy",
    "quotes": 'npy:"a,b",c?', "quotes-option": 'csv:t?ignore="a,b&?""",c', "quote-open": 'npy:"a,b',
    "npz": "npz:a.npz?x=x_train", "hdf5": "hdf5:a.h5,b.h5?x=u&y=v&block=2", "hdf5-list": "hdf5:missing.txt",
    "sound": "sound:x.wav,y.wav?length=64&run-in=3&delay=-2", "sound-alone": "sound:x.wav",
    "no-file": "npy:a,,b", "no-value": "npz:a?x=", "twice": "npz:a?x=b&x=c", "question-marks": "npy:a?b??", "empty": "",
    "unknown-option": "csv:a?&=&", "three-files": "npy:a,b,c", "controls": "csv:\u009b2J\0?label=\n",
}.items():
    put("spec", name, spec.encode())


# Pictures.
def png(width, height, kind, rows, depth=8, more=b"", interlaced=0):
    def chunk(name, content):
        return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, kind, 0, 0, interlaced))
            + more + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def palette(colours):
    return struct.pack(">I", len(colours)) + b"PLTE" + colours + struct.pack(">I", zlib.crc32(b"PLTE" + colours))


spoilt("images", "rgb", png(3, 2, 2, b"\0" + bytes(range(9)) + b"\1" + bytes(range(9))))
spoilt("images", "palette", png(4, 4, 3, b"\0\x1b" * 4, 2, palette(bytes(range(12)))))
put("images", "palette-too-short", png(4, 4, 3, b"\0\x1b" * 4, 2, palette(bytes(range(6)))))
put("images", "alpha-interlaced", png(2, 2, 6, b"\0" + bytes(4) + b"\0" + bytes(4) + b"\0" + bytes(8), interlaced=1))
put("images", "grey-of-16-bits", png(2, 2, 0, b"\0\x12\x34\xff\xff" * 2, 16))
put("images", "rows-are-missing", png(8, 8, 0, b"\0" + bytes(8)))
put("images", "of-2-31-pixels", png(2**31 - 1, 2**31 - 1, 2, b""))
put("images", "bomb", png(8191, 8192, 0, bytes(1 << 16)))
# By PIL, of 8 x 8 pixels.
spoilt("images", "grey-jpeg", bytes.fromhex("""
    ffd8ffe000104a46494600010100000100010000ffdb0043000d090a0b0a080d0b0a0b0e0e0d0f13201513121213271c1e17202e2931302e
    292d2c333a4a3e333646372c2d405741464c4e525352323e5a615a50604a51524fffc0000b080008000801011100ffc40014000100000000
    000000000000000000000001ffc4001910000105000000000000000000000000000004062331a1ffda0008010100003f0013b16a1c3fffd9"""))
progressive = bytes.fromhex("""
    ffd8ffe000104a46494600010100000100010000ffdb004300100b0c0e0c0a100e0d0e1211101318281a181616183123251d283a333d3c39
    33383740485c4e404457453738506d51575f626768673e4d71797064785c656763ffdb0043011112121815182f1a1a2f6342384263636363
    63636363636363636363636363636363636363636363636363636363636363636363636363636363636363636363ffc20011080008000803
    012200021101031101ffc4001500010100000000000000000000000000000004ffc4001501010100000000000000000000000000000305ff
    da000c03010002100310000001901d3fffc40014100100000000000000000000000000000000ffda00080101000105027fffc40014110100
    000000000000000000000000000000ffda0008010301013f017fffc40014110100000000000000000000000000000000ffda000801020101
    3f017fffc40014100100000000000000000000000000000000ffda0008010100063f027fffc4001410010000000000000000000000000000
    0000ffda0008010100013f217fffda000c03010002000300000010ff00ffc40014110100000000000000000000000000000000ffda000801
    0301013f107fffc40014110100000000000000000000000000000000ffda0008010201013f107fffc4001710000301000000000000000000
    0000000000112161ffda0008010100013f108b4fffd9""")
spoilt("images", "progressive-jpeg", progressive)
scan = progressive[progressive.rindex(b"\xff\xc4"):-2]
put("images", "jpeg-of-many-scans", progressive[:-2] + scan * 60 + b"\xff\xd9")
put("images", "jpeg-of-65500-pixels-squared", bytes.fromhex("ffd8ffc0000b08ffdcffdc0101110000ffda000801010000003f00"))
put("images", "neither", b"GIF89a")


# Networks.
def capnp(text, root="Layer", packed=True):
    schema = schemas / ("juice.capnp" if root == "Layer" else "coldpress.capnp")
    command = ["capnp", "encode", *(["--packed"] if packed else []), str(schema), root]
    return subprocess.run(command, input=text.encode(), stdout=subprocess.PIPE, check=True).stdout


def layer(name, kind, fields="void", more=""):
    return f'(name = "{name}", layerType = ({kind} = {fields}){more})'


def wired(name, kind, fields, inputs, outputs):
    names = lambda list: ", ".join(f'"{name}"' for name in list)
    return layer(name, kind, fields, f", inputs = [{names(inputs)}], outputs = [{names(outputs)}]")


def sequential(inputs, layers, outputs=()):
    shapes = ", ".join(f'(name = "{name}", shape = {shape})' for name, shape in inputs)
    more = ", outputs = [" + ", ".join(f'"{name}"' for name in outputs) + "]" if outputs else ""
    return layer("net", "sequential", f"(inputs = [{shapes}], layers = [{', '.join(layers)}])", more)


def tensor(name, shape):
    count = 1
    for extent in shape:
        count *= extent
    values = ", ".join(str((i * 37 % 101 - 40) / 64) for i in range(count))
    return f'(name = "{name}", tensor = (shape = {list(shape)}, data = [{values}]))'


def model(config, weights=(), packed=True):
    return capnp(f'(name = "net", config = {config}, weightsData = [{", ".join(weights)}])', packed=packed)


fc = layer("fc", "linear", "(outputSize = 2)")
fc_weights = [tensor("fc-0", [2, 3]), tensor("fc-0-bias", [1, 2])]
dense = sequential([("x", [1, 3])], [fc, layer("t", "tanh"), layer("s", "logSoftmax")])
spoilt("model", "dense", model(dense, fc_weights))
spoilt("model", "dense-plain", model(dense, fc_weights, packed=False))
put("model", "weights-are-missing", model(dense))
put("model", "weight-of-nobody", model(dense, [*fc_weights, tensor("other", [1])]))
put("model", "weights-of-another-shape", model(dense, [tensor("fc-0", [3, 2])]))
# 132 bytes that ask for 4 GB; without its weights.
put("model", "large-without-weights",
           model(sequential([("x", [1, 32768])], [layer("a", "linear", "(outputSize = 32768)")])))
put("model", "orthogonal-without-weights", model(sequential(
    [("x", [1, 4096])], [layer("a", "linear", "(outputSize = 4096, weight = (orthogonal = 1))")])))
put("model", "layers-of-eight-inputs", model(sequential(
    [("x", [1, 1])],
    [one for i in range(20) for one in (
        wired(f"c{i}", "concat", "(axis = 0)", [f"v{i - k}" if i > k else "x" for k in range(8)], [f"c{i}"]),
        wired(f"s{i}", "slice", "(axis = 0, begin = 0, end = 1)", [f"c{i}"], [f"v{i + 1}"]))])))
put("model", "layers-in-reverse", model(sequential(
    [("x", [1, 2])],
    [wired(f"l{i}", "tanh", "void", [f"v{i}" if i else "x"], [f"v{i + 1}"]) for i in reversed(range(60))])))
put("model", "many-inputs-and-outputs", model(sequential(
    [(f"x{i}", [1, 1]) for i in range(60)], [wired(f"l{i}", "tanh", "void", [f"x{i}"], [f"y{i}"]) for i in range(60)],
    [f"y{i}" for i in range(60)])))
put("model", "eight-inputs-and-outputs", model(sequential(
    [(f"x{i}", [1, 1]) for i in range(8)], [wired(f"l{i}", "tanh", "void", [f"x{i}"], [f"y{i}"]) for i in range(8)],
    [f"y{i}" for i in range(8)]), packed=False))
put("model", "reads-itself", model(sequential([("x", [1, 2])], [wired("a", "tanh", "void", ["b"], ["c"]),
                                                              wired("d", "tanh", "void", ["c"], ["b"])])))
put("model", "controls-in-names", model(sequential(
    [("x", [1, 3])], [layer("\u009b31mfc\u202e", "linear", "(outputSize = 2)")])))
for depth in (30, 33):
    nested = fc
    for _ in range(depth - 1):
        nested = layer("c", "sequential", f"(layers = [{nested}])")
    put("model", f"nested-{depth}", model(nested, fc_weights))
    put("training", f"nested-{depth}", f"(network = {nested})".encode())
image = sequential([("x", [1, 2, 6, 6])], [
    layer("c", "convolution", "(numOutput = 3, filterShape = [3, 2], stride = [2], padding = [1, 0])"),
    layer("p", "pooling", "(mode = max, filterShape = [2], stride = [2], padding = [0])"),
    layer("n", "batchNormalization", "()"), layer("g", "globalAveragePooling")])
put("model", "image", model(image, [tensor("c-0", [3, 2, 3, 2])], packed=False))
put("model", "window-larger-than-image", model(sequential([("x", [1, 1, 2, 2])], [
    layer("p", "pooling", "(mode = average, filterShape = [1099511627776], padding = [1099511627775])")])))
put("model", "sequence", model(sequential([("x", [1, 1, 2])], [
    layer("r", "rnn", '(hiddenSize = 2, numLayers = 1, rnnType = "GRU")')]), [tensor("r-0", [36, 1, 1])], packed=False))
put("model", "several-readers", model(sequential([("x", [1, 4]), ("y", [1, 4]), ("t", [1, 1])], [
    wired("a", "add", "void", ["x", "y"], ["s"]), wired("b", "multiply", "void", ["s", "x"], ["m"]),
    wired("c", "softmaxLoss", "()", ["m", "t"], ["l"]), wired("e", "squareLoss", "void", ["m", "y"], ["q"]),
    wired("d", "softmax", "void", ["m"], ["o"])], ["o", "s"]), packed=False))
put("model", "dropout-slice-reduce", model(sequential([("x", [1, 4, 3])], [
    layer("d", "dropout", "(probability = 0.5, seed = 3)"), layer("s", "slice", "(axis = 0, begin = 1, end = 3)"),
    layer("p", "permute", "(axes = [1, 0])"), layer("r", "reduce", "()"), layer("l", "layerNormalization", "()")]), packed=False))
put("model", "pointwise-and-tables", model(sequential([("x", [1, 2, 3])], [
    layer("e", "embedding", "(vocabulary = 5, features = 2)"), layer("u", "leakyRelu", "()"),
    layer("k", "softmaxOver", "()"), layer("i", "identity"), layer("v", "reshape", "(shape = [1, 2, 3, 2])"),
    layer("n", "lrn", "()"), layer("h", "channelPooling", "(filterSize = 1)"), layer("f", "flatten"),
    layer("a", "argmax", "()"), layer("o", "onehot", "(numClasses = 12)")]), packed=False))
put("model", "stranger", model(sequential([("x", [1, 3])], [layer("o", "custom", '(name = "own")')])))

for name, entries in {"metadata": '(key = "loudness", value = "-18.5"), (key = "nam_metadata", value = "{}")',
                      "metadata-twice": '(key = "a", value = "1"), (key = "a", value = "2")',
                      "metadata-without-key": '(value = "1")'}.items():
    put("model", name, capnp(f'(name = "net", config = {layer("r", "relu")}, metadata = [{entries}])'))

prepared = sequential([("x", [1, 1, 2, 2])], [layer("fc", "linear", "(outputSize = 2)")])
transforms = """(subtractMean = (per = channel, mean = [0.5])), (scale = (factor = 0.25)), (oneHot = (classes = 2)),
(standardize = (mean = [1], deviation = [2])), (crop = (extents = [2])), (mirror = void), (shift = (pixels = [0, 1])),
(rotate = (degrees = 9)), (noise = (deviation = 0.5)), (cutout = (extents = [1, 2])), (mixup = (alpha = 0.5))"""
for name, those in {"transforms": transforms, "transforms-unfinished": "(standardize = ())",
                    "transforms-of-a-file": '(subtractMean = (file = "/dev/zero"))', "transforms-none": "()",
                    "transforms-of-many-classes": "(oneHot = (classes = 18446744073709551615))"}.items():
    put("model", name, capnp(f'(name = "net", config = {prepared}, transforms = [{those}], classes = ["a", "b"])',
                             packed=False))
    for corpus in "training", "transforms":
        put(corpus, name, f"(network = {prepared}, transforms = [{those}])".encode())


def words(*list):
    return struct.pack(f"<{len(list)}Q", *list)


def struct_pointer(offset, data, pointers):
    return offset << 2 | data << 32 | pointers << 48


many = 2**29 - 1
for name, content in {
    "empty": b"",
    "not-a-message": b"not a message",
    "segments": words(0xFFFFFFFF),
    "segment-of-2-32-words": words(0xFFFFFFFF00000000, 0),
    "pointer-out-of-bounds": words(1 << 32, struct_pointer(1 << 28, 9, 9)),
    "structs-of-no-size": words(8 << 32, struct_pointer(0, 0, 3), 0, struct_pointer(2, 2, 5), 1 | 7 << 32, many << 2,
                                0, 0, 0),
    "circle": words(10 << 32, struct_pointer(0, 0, 3), 0, struct_pointer(1, 1, 6), 0, 4, 0, 0, 0, 0, 0),
    "packed-bomb": b"\x70\xff\xff\x0f" + b"\x00\xff" * 1024,
}.items():
    for harness in ("model", "checkpoint", "training"):
        put(harness, name, content)


# Trainings and checkpoints.
mlp = f"""# Two layers.
(network = {dense},
loss = (name = "loss", layerType = (negativeLogLikelihood = (numClasses = 2))),
solver = (name = "sgd", minibatchSize = 4, baseLr = 0.02, momentum = 0.9, clipGradients = 5, weightDecay = 5e-4),
data = "csv:x.csv", epochs = 2, batch = 4, seed = 42)
"""
spoilt("training", "text", mlp.encode())
spoilt("training", "message", capnp(mlp, "Training"))
put("training", "brackets", b"(data = " + b"[" * 2000)
put("training", "brackets-of-136", b"(network = " + b"(layerType = (sequential = (layers = [" * 33 + b")" * 132)
put("training", "rate-beyond-reason", mlp.replace("0.02", "1e38").encode())
put("training", "minibatch-of-2-40", mlp.replace("minibatchSize = 4", "minibatchSize = 1099511627776").encode())
put("training", "path-of-a-device", mlp.replace("x.csv", "/dev/zero").encode())
put("training", "embeds-a-file", mlp.replace('"csv:x.csv"', 'embed "/etc/passwd"').encode())
put("training", "controls", mlp.replace("csv:x.csv", "csv:\u009b2J\u202ex").encode())
put("training", "every-optimizer-and-policy", b"(network = (layerType = (linear = (outputSize = 3))), solver = (solver = "
    b"(adamw = (beta2 = 0.9)), lrPolicy = (multistep = (steps = [1, 5, 9])), accumulate = 3))")
put("training", "lists-of-policies", b"(network = (layerType = (linear = (outputSize = 3))), solver = (momentum = 0.5, "
    b"lrPolicy = (staged = [(iterations = 9, policy = (staged = [(iterations = 5, policy = (warmup = (maxIter = 5))), (policy = "
    b"(multistep = (steps = [1, 2])))])), (factor = 0.5)]), momentumPolicy = (linear = (max = 0.9)), clipValues = 0.1))")
policies = "(exp = ())"
for _ in range(12):
    policies = f"(staged = [(iterations = 1, policy = {policies}), (iterations = 1, policy = {policies})])"
    if len(policies) > 6000:
        break
put("training", "too-many-lists-of-policies",
    f"(network = (layerType = (linear = (outputSize = 3))), solver = (lrPolicy = {policies}))".encode())
for name, network in {"image": image, "dense": dense}.items():
    put("training", f"network-{name}", f"(network = {network})".encode())

# Without its checksum a checkpoint is refused; a fuzzer's build, which takes any, reads on.
run = (f'(model = (name = "net", config = {dense}, weightsData = [{", ".join(fc_weights)}]), '
       'loss = (name = "l", layerType = (meanSquaredError = void)), data = "csv:/etc/passwd", epochs = 1, batch = 1, '
       'optimizerState = [' + tensor("fc-0/state0", [2, 3]) + '], randomState = [1, 2], iteration = 1, epoch = 1')

spoilt("checkpoint", "without-checksum", capnp(run + ")", "Checkpoint"))
put("checkpoint", "with-another-checksum", capnp(run + ', checksum = 1, checksumKind = "coldpress 1")', "Checkpoint"))
put("checkpoint", "of-a-later-kind", capnp(run + ', checksum = 1, checksumKind = "coldpress 2")', "Checkpoint"))
put("checkpoint", "a-model", model(dense, fc_weights))
# Sound.
def wav(kind, bits, channels, content, rate=48000, more=b"", promised=None, magic=b"RIFF"):
    size = bits // 8 * channels
    header = struct.pack("<HHIIHH", kind, channels, rate, rate * size % (1 << 32), size % (1 << 16), bits)
    chunks = b"fmt " + struct.pack("<I", len(header)) + header + more
    chunks += b"data" + struct.pack("<I", len(content) if promised is None else promised) + content
    return magic + struct.pack("<I", 4 + len(chunks)) + b"WAVE" + chunks


spoilt("sound", "16-bit", wav(1, 16, 1, bytes(range(16))))
spoilt("sound", "24-bit-stereo", wav(1, 24, 2, bytes(range(24)), 44100, b"LIST" + struct.pack("<I", 4) + b"INFO"))
spoilt("sound", "float", wav(3, 32, 1, struct.pack("<4f", 0, 0.5, -1, 2)))
put("sound", "8-bit", wav(1, 8, 1, b"\0\x80\xff"))
put("sound", "double", wav(3, 64, 1, struct.pack("<2d", 0.25, -1e300)))
put("sound", "not-finite", wav(3, 32, 1, struct.pack("<2f", 0, float("nan"))))
put("sound", "without-frames", wav(1, 16, 1, b""))
put("sound", "without-channels", wav(1, 16, 0, bytes(4)))
put("sound", "of-many-channels", wav(1, 16, 65535, bytes(8)))
put("sound", "without-a-rate", wav(1, 16, 1, bytes(4), 0))
put("sound", "compressed", wav(0x11, 4, 1, bytes(64)))
put("sound", "mu-law", wav(7, 8, 1, bytes(8)))
put("sound", "promises-more", wav(1, 16, 1, bytes(8), promised=1 << 31))
put("sound", "of-64-bits-without-its-chunk", wav(1, 16, 1, bytes(8), promised=0xFFFFFFFF, magic=b"RF64"))
put("sound", "neither", b"OggS")

# Models of ONNX: those of the tests that are small, and what is wrong with them.
models = here / "../convert/onnx"
for name in ["mlp.script", "mlp.opset13", "gru.script", "tcn.dynamo", "wavenet.dynamo", "channels_last.dynamo"]:
    spoilt("onnx", name, (models / f"{name}.onnx").read_bytes())


def onnx_node(op, *inputs):
    return part(1, part(4, op) + b"".join(part(1, name) for name in inputs) + part(2, b"y"))


def onnx_tensor(name, dims, more):
    return part(5, part(8, name) + b"".join(varint(1 << 3) + varint(dim) for dim in dims) + more)


def onnx_model(nodes, tensors=b"", output=b"y", inputs=(b"x",)):
    dims = part(1, varint(1 << 3) + varint(1)) + part(1, varint(1 << 3) + varint(3))
    given = b"".join(part(11, part(1, x) + part(2, part(1, varint(1 << 3) + varint(1) + part(2, dims)))) for x in inputs)
    graph = part(7, nodes + tensors + given + part(12, part(1, output)))
    return varint(1 << 3) + varint(8) + graph + part(8, varint(2 << 3) + varint(17))


whole = varint(2 << 3) + varint(7)  # int64
put("onnx", "cycle", onnx_model(onnx_node(b"Add", b"x", b"y")))
put("onnx", "unknown", onnx_model(onnx_node(b"Erf", b"x")))
put("onnx", "external", onnx_model(onnx_node(b"Add", b"x", b"w"), onnx_tensor(b"w", [3], part(13, part(1, b"location") + part(2, b"w.bin")))))
put("onnx", "extents-overflow", onnx_model(onnx_node(b"Add", b"x", b"w"), onnx_tensor(b"w", [2**40] * 4, whole)))
put("onnx", "constant-of-2-40", onnx_model(onnx_node(b"ConstantOfShape", b"s"), onnx_tensor(b"s", [1], whole + part(7, varint(2**40)))))
put("onnx", "expand-to-2-40", onnx_model(onnx_node(b"Expand", b"x", b"s"), onnx_tensor(b"s", [3], whole + part(7, varint(2**40) + varint(1) + varint(3)))))
axes_of_1024 = [(b"abc"[axis : axis + 1], [1024 if i == axis else 1 for i in range(3)]) for axis in range(3)]
put("onnx", "where-of-2-30", onnx_model(onnx_node(b"Where", b"a", b"b", b"c"), b"".join(
    onnx_tensor(name, dims, whole + part(7, b"\1" * 1024)) for name, dims in axes_of_1024)))
put("onnx", "places-without-values", onnx_model(onnx_node(b"Transpose", b"w"), onnx_tensor(b"w", [0, 2**62, 2**62], whole)))
put("onnx", "many-places-without-values", onnx_model(onnx_node(b"Transpose", b"w"), onnx_tensor(b"w", [0, 2**33], whole)))
put("onnx", "output-without-name", onnx_model(onnx_node(b"Relu", b"x"), output=b""))
put("onnx", "input-without-name", onnx_model(onnx_node(b"Sub", b"x", b"x"), inputs=(b"x", b"")))
put("onnx", "many-nodes", onnx_model(part(1, b"") * 4096))
