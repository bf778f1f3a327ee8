"""Writes transforms_expected.hpp, what numpy and scipy make of the samples that tests/data/transform.cpp transforms:
python3 make_transforms.py (needs numpy and scipy). The random numbers are made here a second time, from the papers."""

import pathlib

import numpy as np
import scipy.ndimage

M32, M64 = 2**32 - 1, 2**64 - 1


def philox(counter, key):
    """Philox4x32-10 (Salmon et al. 2011)."""
    c, k = list(counter), [key & M32, key >> 32]
    for _ in range(10):
        p, q = c[0] * 0xD2511F53, c[2] * 0xCD9E8D57
        c = [q >> 32 ^ c[1] ^ k[0], q & M32, p >> 32 ^ c[3] ^ k[1], p & M32]
        k = [k[0] + 0x9E3779B9 & M32, k[1] + 0xBB67AE85 & M32]
    return c


def fnv(text):
    h = 0xCBF29CE484222325
    for byte in text.encode():
        h = (h ^ byte) * 0x100000001B3 & M64
    return h


def mix(a, b):
    """The finaliser of SplitMix64."""
    z = a + 0x9E3779B97F4A7C15 * (b + 1) & M64
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & M64
    z = (z ^ z >> 27) * 0x94D049BB133111EB & M64
    return z ^ z >> 31


def words(seed, epoch, offset, place, name, element=0):
    key = mix(mix(mix(mix(seed, epoch), place), fnv(name)), offset)
    return philox([element & M32, element >> 32, 0, 0], key)


def whole(count, low, high):
    return (high << 32 | low) % count


SAMPLES, SHAPE, SEED, EPOCH = 5, (2, 4, 5), 7, 3
data = (((np.arange(SAMPLES * 40) * 37 % 101) - 40) / 64).astype(np.float32).reshape(SAMPLES, *SHAPE)
h, w = SHAPE[1:]


def crop(x, offset):
    r = words(SEED, EPOCH, offset, 0, "crop")
    top, left = whole(h - 3 + 1, r[0], r[1]), whole(w - 4 + 1, r[2], r[3])
    return x[:, top : top + 3, left : left + 4]


def mirror(x, offset):
    return x[:, :, ::-1] if words(SEED, EPOCH, offset, 0, "mirror")[0] & 1 else x


def shift(x, offset):
    r = words(SEED, EPOCH, offset, 0, "shift")
    down, right = whole(5, r[0], r[1]) - 2, whole(7, r[2], r[3]) - 3
    return scipy.ndimage.shift(x, (0, down, right), order=0, mode="grid-constant", cval=0)


def rotate(x, offset):
    a = np.radians((2 * (words(SEED, EPOCH, offset, 0, "rotate")[0] + 0.5) / 2**32 - 1) * 30)
    matrix = np.array([[np.cos(a), np.sin(a)], [-np.sin(a), np.cos(a)]])
    middle = np.array([(h - 1) / 2, (w - 1) / 2])
    return np.stack([
        scipy.ndimage.affine_transform(channel.astype(np.float64), matrix, middle - matrix @ middle, order=1,
                                       mode="grid-constant", cval=0) for channel in x])


def cutout(x, offset):
    r = words(SEED, EPOCH, offset, 0, "cutout")
    y, z = np.mgrid[:h, :w]
    top, left = whole(h, r[0], r[1]) - 3 // 2, whole(w, r[2], r[3]) - 4 // 2
    return np.where((y >= top) & (y < top + 3) & (z >= left) & (z < left + 4), np.float32(0), x)


def noise(x, offset):
    def normal(e):  # Box and Muller (1958), four of a block
        r = [(word + 0.5) / 2**32 for word in words(SEED, EPOCH, offset, 0, "noise", e // 4)]
        u, v = r[:2] if e % 4 < 2 else r[2:]
        return np.sqrt(-2 * np.log(u)) * (np.sin if e % 2 else np.cos)(2 * np.pi * v)

    return x + 0.5 * np.array([normal(e) for e in range(x.size)]).reshape(x.shape)


text = """// What numpy and scipy make of the samples of tests/data/transform.cpp. make_transforms.py has written it.
#pragma once

#include <vector>

namespace expected {

"""


def put(name, values):
    global text
    numbers = ", ".join(f"{v:.9g}" + ("" if "." in f"{v:.9g}" or "e" in f"{v:.9g}" else ".0") + "f"
                        for v in np.asarray(values, np.float32).ravel().tolist())
    text += f"inline std::vector<float> const {name}{{{numbers}}};\n"


for per, axes in {"value": 0, "channel": (0, 2, 3), "all": None}.items():
    mean, deviation = data.astype(np.float64).mean(axis=axes), data.astype(np.float64).std(axis=axes)
    put(f"mean_{per}", mean)
    put(f"deviation_{per}", deviation)
channels = data.astype(np.float64).mean(axis=(0, 2, 3)).astype(np.float32)[:, None, None]
put("centred", data - channels)
put("scaled", data * np.float32(0.3) + np.float32(-0.7))
mean, deviation = (np.float32([0.25, -0.125])[:, None, None], np.float32([0.3, 0.7])[:, None, None])
put("standardized", (data - mean) / deviation)
put("centre", data[:, :, 0:3, 0:4])
for transform in (crop, mirror, shift, rotate, cutout, noise):
    put(f"{transform.__name__}_in_training", [transform(x, i) for i, x in enumerate(data)])
far = np.float64(np.float32(1e6)) + np.arange(50) % 7
put("far_deviation", far.std())
text += "\n}  // namespace expected\n"
(pathlib.Path(__file__).parent / "transforms_expected.hpp").write_text(text)
