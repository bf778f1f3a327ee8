"""Neural networks, pressed at compile time: networks of configs and files, run and trained by fused kernels.

    import coldpress

    network = coldpress.load("lenet.juice")
    probabilities = network.predict(images)      # float32 (samples, 10)
"""

from ._coldpress import (
    ChecksumError,
    ConfigError,
    DataError,
    DeviceError,
    DivergenceError,
    Error,
    FileError,
    FormatError,
    MemoryError,
    MismatchError,
    Network,
    ShapeError,
    Solver,
    UnsupportedError,
    load,
)
from ._coldpress import version as __version__
from .frameworks import from_keras, from_torch

__all__ = [
    "ChecksumError",
    "ConfigError",
    "DataError",
    "DeviceError",
    "DivergenceError",
    "Error",
    "FileError",
    "FormatError",
    "MismatchError",
    "Network",
    "ShapeError",
    "Solver",
    "UnsupportedError",
    "from_keras",
    "from_torch",
    "load",
]
