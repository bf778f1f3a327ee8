"""A small LeNet as Mocha and as Caffe define it, in numpy: lenet.py FOLDER writes its weights as Mocha's HDF5 files with
h5py; lenet.py --print prints the outputs that tests/convert/lenet.hpp has; lenet.py --same A B compares the datasets of
two HDF5 files, and fails unless they are equal.

Images are 9 wide and 6 high, with 2 channels; 3 filters are 3 wide and 2 high; maxima over 2 x 2 with stride 2, rounded
up; 5 values with ReLU; 2 values."""

import sys

import numpy

width, height, channels, filters = 9, 6, 2, 3
shapes = {  # as they are in memory, the last extent fastest
    "conv1": [(3, 2, 2, 3), (3,)],  # {filters, channels, height, width}
    "ip1": [(5, 3 * 3 * 4), (5,)],  # {out, in}
    "ip2": [(2, 5), (2,)],
}


def pattern(number, size):
    return ((numpy.arange(size) * 37 + 11 * number) % 101 - 50) / 64


weights = {}
for layer, both in shapes.items():
    weights[layer] = [pattern(len(weights) * 2 + k, int(numpy.prod(shape))).reshape(shape) for k, shape in enumerate(both)]
images = pattern(9, 2 * channels * height * width).reshape(2, channels, height, width)


def caffe():
    """num x channels x height x width, row-major."""
    outputs = []
    for image in images:
        filter, bias = weights["conv1"]
        maps = numpy.zeros((filters, height - 1, width - 2))
        for k, i, j in numpy.ndindex(maps.shape):
            maps[k, i, j] = numpy.sum(filter[k] * image[:, i : i + 2, j : j + 3]) + bias[k]
        pooled = numpy.zeros((filters, 3, 4))
        for k, i, j in numpy.ndindex(pooled.shape):
            pooled[k, i, j] = maps[k, 2 * i : 2 * i + 2, 2 * j : 2 * j + 2].max()
        hidden = numpy.maximum(0, weights["ip1"][0] @ pooled.reshape(-1) + weights["ip1"][1])
        outputs.append(weights["ip2"][0] @ hidden + weights["ip2"][1])
    return numpy.array(outputs)


def julia(array):
    """The array that Julia sees in the same memory: extents in reverse, the first one fastest."""
    return numpy.asfortranarray(array.T)


def mocha():
    """width x height x channels x num, column-major, as in Mocha's documentation."""
    x = julia(images)
    filter, bias = (julia(w) for w in weights["conv1"])
    outputs = []
    for n in range(x.shape[3]):
        maps = numpy.zeros((width - 2, height - 1, filters))
        for i, j, k in numpy.ndindex(maps.shape):
            maps[i, j, k] = numpy.sum(filter[:, :, :, k] * x[i : i + 3, j : j + 2, :, n]) + bias[k]
        pooled = numpy.zeros((4, 3, filters))
        for i, j, k in numpy.ndindex(pooled.shape):
            pooled[i, j, k] = maps[2 * i : 2 * i + 2, 2 * j : 2 * j + 2, k].max()
        flat = pooled.reshape(-1, order="F")  # Julia's reshape
        w, b = (julia(each) for each in weights["ip1"])
        assert w.shape == (flat.size, 5)  # (in, out)
        hidden = numpy.maximum(0, w.T @ flat + b)
        w, b = (julia(each) for each in weights["ip2"])
        outputs.append(w.T @ hidden + b)
    return numpy.array(outputs)


def write(folder):
    import h5py

    def put(name, change=lambda name, values: values.astype("f4"), leave=(), more={}):
        with h5py.File(f"{folder}/{name}", "w") as file:
            for layer, (first, bias) in weights.items():
                for parameter, values in (("filter" if layer == "conv1" else "weight", first), ("bias", bias)):
                    key = f"{layer}___{parameter}"
                    if key not in leave:
                        file[key] = change(key, values)
            for key, values in more.items():
                file[key] = values

    def with_ones(name, values):  # as Mocha's and Caffe's older arrays
        shape = {"conv1___bias": (1, 3), "ip1___weight": (1, 1, 5, 36), "ip1___bias": (1, 5), "ip2___bias": (1, 1, 1, 2)}
        return values.astype("f4").reshape(shape.get(name, values.shape))

    put("plain.hdf5")
    put("doubles.hdf5", lambda name, values: values.astype(">f8"))
    put("ones.hdf5", with_ones)
    put("integers.hdf5", lambda name, values: (64 * values).astype("i4"))
    put("no-bias.hdf5", leave=("ip1___bias", "conv1___bias"))
    put("no-weight.hdf5", leave=("ip2___weight", "ip2___bias"))
    put("more.hdf5", more={"ip9___weight": numpy.zeros((4, 2), "f4"), "group/ip8___bias": numpy.zeros(3, "f4"), "other": 1})
    put("no-such-weight.hdf5", more={"ip1___slope": numpy.zeros(5, "f4")})
    put("transposed.hdf5", lambda name, values: values.astype("f4").T if name == "ip1___weight" else values.astype("f4"))
    put("text.hdf5", leave=("ip1___bias",), more={"ip1___bias": numpy.array([b"one"] * 5)})
    put("huge.hdf5", lambda name, values: values * (1e300 if name == "ip2___bias" else 1))
    with h5py.File(f"{folder}/linked.hdf5", "w") as file:
        for key in ("conv1___filter", "conv1___bias", "ip1___weight", "ip1___bias", "ip2___weight", "ip2___bias"):
            file[key] = h5py.ExternalLink("plain.hdf5", key)
    with h5py.File(f"{folder}/other.hdf5", "w") as file:
        file["data"] = numpy.zeros(3)
    mean = pattern(1, channels * height * width).reshape(channels, height, width)
    for name, values in (("mean", mean), ("mean-of-a-batch", mean[None]), ("mean-of-two", numpy.stack([mean, mean]))):
        with h5py.File(f"{folder}/{name}.hdf5", "w") as file:
            file["mean"] = values.astype("f4")


def same(one, other):
    import h5py

    def datasets(path):
        found = {}
        with h5py.File(path, "r") as file:
            file.visititems(lambda name, item: found.update({name: item[()]}) if isinstance(item, h5py.Dataset) else None)
        return found

    a, b = datasets(one), datasets(other)
    return a.keys() == b.keys() and all(a[key].dtype == "f4" and numpy.array_equal(a[key], b[key]) for key in a)


assert numpy.array_equal(caffe(), mocha())
if sys.argv[1] == "--print":
    print(", ".join(f"{value:.9g}" for value in caffe().reshape(-1)))
elif sys.argv[1] == "--same":
    sys.exit(0 if same(*sys.argv[2:4]) else 1)
else:
    write(sys.argv[1])
