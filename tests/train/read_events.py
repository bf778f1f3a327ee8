"""Prints what TensorBoard's own reader finds in a folder of event files, one fact a line; exits with 3 without tensorboard.

Usage: read_events.py DIRECTORY           scalar TAG STEP VALUE, histogram TAG STEP COUNT SUM BUCKETS MIN MAX,
                                          image TAG STEP WIDTH HEIGHT BYTES, text TAG STEP TEXT
       read_events.py --records FILE      record LENGTH for each record of a file, up to where it is cut off; its
                                          checksums are compared with those that TensorBoard computes
"""
import os
import struct
import sys

# Where scripts/install-deps.sh --with-tensorboard puts it.
sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "build", "tensorboard"))
try:
    from tensorboard.backend.event_processing import event_accumulator
    from tensorboard.compat.tensorflow_stub.pywrap_tensorflow import masked_crc32c
except ImportError:
    sys.exit(3)


def records(path):
    bytes_ = open(path, "rb").read()
    at = 0
    while at + 12 <= len(bytes_):
        (length,) = struct.unpack_from("<Q", bytes_, at)
        if at + 16 + length > len(bytes_):
            break
        for first, size in ((at, 8), (at + 12, length)):
            (stored,) = struct.unpack_from("<I", bytes_, first + size)
            assert stored == masked_crc32c(bytes_[first : first + size]), (path, first)
        print("record", length)
        at += 16 + length
    print("rest", len(bytes_) - at)


def facts(directory):
    keep_all = {kind: 0 for kind in event_accumulator.DEFAULT_SIZE_GUIDANCE}
    events = event_accumulator.EventAccumulator(directory, size_guidance=keep_all)
    events.Reload()
    tags = events.Tags()
    for tag in tags["scalars"]:
        for event in events.Scalars(tag):
            print("scalar", tag, event.step, repr(event.value))
    for tag in tags["histograms"]:
        for event in events.Histograms(tag):
            h = event.histogram_value
            print("histogram", tag, event.step, h.num, repr(h.sum), sum(h.bucket), repr(h.min), repr(h.max))
    for tag in tags["images"]:
        for event in events.Images(tag):
            print("image", tag, event.step, event.width, event.height, event.encoded_image_string.hex())
    for tag in tags["tensors"]:
        for event in events.Tensors(tag):
            print("text", tag, event.step, event.tensor_proto.string_val[0].decode().encode("unicode_escape").decode())


if sys.argv[1] == "--records":
    records(sys.argv[2])
else:
    facts(sys.argv[1])
