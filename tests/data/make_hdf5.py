"""Writes HDF5 files with h5py for tests/data/hdf5.cpp into the folder that is given. Sample i is (3i, 3i + 1, 3i + 2), its target 2i."""

import sys

import h5py
import numpy

folder = sys.argv[1]


def put(name, first, count, change=lambda x, y: (x, y), names=("data", "label"), **how):
    i = numpy.arange(first, first + count)
    x, y = change((3 * i[:, None] + numpy.arange(3)).astype("f4"), (2 * i).astype("f4"))
    with h5py.File(f"{folder}/{name}", "w") as file:
        file.create_dataset(names[0], data=x, **how)
        file.create_dataset(names[1], data=y)


put("contiguous.h5", 0, 100)
put("chunked.h5", 0, 100, chunks=(7, 2))
put("compressed.h5", 0, 100, chunks=(8, 3), compression="gzip", shuffle=True)
put("doubles.h5", 0, 100, lambda x, y: (x.astype(">f8"), y.astype("i8")))
put("named.h5", 0, 100, names=("inputs/x", "inputs/y"))
put("a.h5", 0, 30, chunks=(4, 3), compression="gzip")
put("b.h5", 30, 45, lambda x, y: (x.astype("i4"), y.astype("u2")))
put("c.h5", 75, 25, chunks=(10, 3))
open(f"{folder}/list.txt", "w").write("a.h5\nb.h5\nc.h5\n")
put("images.h5", 0, 20, lambda x, y: (x.reshape(20, 1, 3), y.reshape(20, 1)))
put("too-few-targets.h5", 0, 20, lambda x, y: (x, y[:19]))
put("nan.h5", 0, 20, lambda x, y: (numpy.where(x == 31, numpy.nan, x), y))
put("text.h5", 0, 20, lambda x, y: (x, numpy.array([b"one"] * 20)))
put("empty.h5", 0, 0)
put("wide.h5", 0, 20, lambda x, y: (numpy.concatenate([x, x], 1), y))
with h5py.File(f"{folder}/linked.h5", "w") as file:
    file["data"] = h5py.ExternalLink("contiguous.h5", "data")
    file["label"] = h5py.ExternalLink("contiguous.h5", "label")
layout = h5py.VirtualLayout(shape=(100, 3), dtype="f4")
layout[:] = h5py.VirtualSource(f"{folder}/contiguous.h5", "data", shape=(100, 3))
with h5py.File(f"{folder}/virtual.h5", "w") as file:
    file.create_virtual_dataset("data", layout)
    file["label"] = numpy.arange(100)
with h5py.File(f"{folder}/external.h5", "w") as file:
    file.create_dataset("data", (100, 3), "f4", external=[(f"{folder}/contiguous.h5", 0, 1200)])
    file["label"] = numpy.arange(100)
with h5py.File(f"{folder}/mean.hdf5", "w") as file:  # as Mocha's and Caffe's tools write it
    file.create_dataset("mean", data=numpy.arange(6, dtype="f4").reshape(1, 1, 2, 3) / 4)
