"""Writes pictures with PIL for tests/data/images.cpp into the folder that is given, and as .npy what they are."""

import sys

import numpy
from PIL import Image

folder = sys.argv[1]
random = numpy.random.default_rng(1)


def smooth(height, width):
    """A picture with slopes and an edge, in which JPEG finds something to do."""
    y, x = numpy.mgrid[0:height, 0:width]
    rgb = numpy.stack([255 * x / width, 255 * y / height, 255 * (x + y < 20)], -1)
    return Image.fromarray(rgb.astype("u1"))


def expect(name, picture, size=None):
    picture = picture.resize(size, Image.Resampling.BILINEAR) if size else picture
    values = numpy.asarray(picture, "f4") / 255
    numpy.save(f"{folder}/{name}.npy", values.transpose(2, 0, 1) if values.ndim == 3 else values[None])


picture = smooth(24, 32)
noise = Image.fromarray(random.integers(0, 256, (24, 32, 3), "u1"))
alpha = Image.fromarray(random.integers(0, 256, (24, 32, 4), "u1"))
deep = Image.fromarray(random.integers(0, 65536, (24, 32), "u2"))
written = {
    "rgb.png": (noise, {}),
    "grey.png": (noise.convert("L"), {}),
    "palette.png": (picture.quantize(16), {}),
    "alpha.png": (alpha, {}),
    "grey-alpha.png": (alpha.convert("LA"), {}),
    "bit.png": (noise.convert("1"), {}),
    "rgb.jpg": (picture, {"quality": 90}),
    "grey.jpg": (picture.convert("L"), {"quality": 90}),
    "progressive.jpg": (picture, {"quality": 80, "progressive": True}),
    "print.jpg": (picture.convert("CMYK"), {"quality": 95}),
}
for name, (image, how) in written.items():
    image.save(f"{folder}/{name}", **how)
    read = Image.open(f"{folder}/{name}")
    expect(name, read.convert("RGB"))
    expect(name + ".grey", read.convert("RGB").convert("L"))
    expect(name + ".small", read.convert("RGB"), (9, 7))
    expect(name + ".large", read.convert("RGB"), (50, 31))
    expect(name + ".mixed", read.convert("RGB"), (45, 5))
deep.save(f"{folder}/deep.png")
numpy.save(f"{folder}/deep.png.npy", (numpy.asarray(deep)[None] / 65535).repeat(3, 0).astype("f4"))
