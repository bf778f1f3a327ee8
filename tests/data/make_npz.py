"""Writes .npz files with NumPy for tests/data/npz.cpp into the folder that is given. Sample i is (3i, 3i + 1, 3i + 2),
and its target 2i."""

import sys
import warnings
import zipfile

import numpy

folder = sys.argv[1]
i = numpy.arange(100)
x, y = (3 * i[:, None] + numpy.arange(3)).astype("f4"), 2 * i
numpy.savez(f"{folder}/stored.npz", x=x, y=y)
numpy.savez_compressed(f"{folder}/deflated.npz", x=x, y=y)
numpy.savez(f"{folder}/types.npz", x_train=x.astype("f8"), y_train=y.astype("u1"), other=y)
numpy.savez(f"{folder}/many.npz", x=numpy.arange(15000.0).reshape(5000, 3), y=numpy.arange(5000))
for kind in ("?", "u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f4", "f8"):
    numbers = numpy.array([0, 1, 100, 200, 40000, 3e9, 2**40]).astype("?" if kind == "?" else "i8")
    most = {"?": 1, "f": 2**40}.get(kind[0]) or numpy.iinfo(kind).max
    numbers = numbers[:2] if kind == "?" else numbers[numbers <= most]
    numbers = numpy.concatenate([numbers, [-1]]) if kind[0] in "if" else numbers
    numpy.savez(f"{folder}/{kind.replace('?', 'b1')}.npz", x=numbers.astype(kind), y=numbers.astype("f4"))
numpy.savez_compressed(f"{folder}/zeros.npz", x=numpy.zeros((1000, 1000), "f4"), y=numpy.zeros(1000))
numpy.savez(f"{folder}/counts.npz", x=x, y=y[:99])
numpy.savez(f"{folder}/nan.npz", x=numpy.where(x == 31, numpy.nan, x), y=y)
numpy.savez(f"{folder}/fortran.npz", x=numpy.asfortranarray(x), y=y)
numpy.save(f"{folder}/x.npy", x)
numpy.save(f"{folder}/y.npy", y)
with zipfile.ZipFile(f"{folder}/mixed.npz", "w") as file:
    file.comment = b"PK\5\6" * 100  # which looks like the end
    file.write(f"{folder}/x.npy", "x.npy", zipfile.ZIP_DEFLATED)
    file.write(f"{folder}/y.npy", "y.npy", zipfile.ZIP_STORED)
with zipfile.ZipFile(f"{folder}/bzip2.npz", "w", zipfile.ZIP_BZIP2) as file:
    file.write(f"{folder}/x.npy", "x.npy")
warnings.simplefilter("ignore")  # of a name that is there twice
with zipfile.ZipFile(f"{folder}/twice.npz", "w") as file:
    for _ in range(2):
        file.writestr("x.npy", b"")
# The sizes are in 64 bits, in the member's own header alone, as where a file is not known to be small.
with zipfile.ZipFile(f"{folder}/64-bits.npz", "w") as file:
    for name in ("x.npy", "y.npy"):
        with file.open(name, "w", force_zip64=True) as member:
            member.write(open(f"{folder}/{name}", "rb").read())
# ... and in the directory as well, and so is the directory's place, as in files of more than 4 GiB.
zipfile.ZIP64_LIMIT = 100
with zipfile.ZipFile(f"{folder}/zip64.npz", "w", zipfile.ZIP_DEFLATED) as file:
    for name in ("x.npy", "y.npy"):
        file.write(f"{folder}/{name}", name)
