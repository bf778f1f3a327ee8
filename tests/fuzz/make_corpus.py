"""Writes corpus/, the files that the harnesses are replayed on and that a fuzzer begins with: python3 make_corpus.py
(needs the tool capnp). Each is small, and is there for a reason that its name says."""

import gzip
import io
import pathlib
import struct
import subprocess

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
