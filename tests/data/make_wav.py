#!/usr/bin/env python3
"""make_wav.py FOLDER: WAV files of integers, with the module wave of Python's standard library."""
import pathlib
import sys
import wave

folder = pathlib.Path(sys.argv[1])


def write(name, bits, channels, values):
    size = bits // 8
    full = 1 << (bits - 1)
    with wave.open(str(folder / name), "wb") as file:
        file.setnchannels(channels)
        file.setsampwidth(size)
        file.setframerate(44100)
        # 8 bits are unsigned, the others are not.
        offset = full if bits == 8 else 0
        file.writeframes(b"".join((min(int(v * full), full - 1) + offset).to_bytes(size, "little", signed=bits > 8) for v in values))


for bits in 8, 16, 24, 32:
    write(f"mono{bits}.wav", bits, 1, [-1, 1, 0, 0.5, -0.25])
    write(f"stereo{bits}.wav", bits, 2, [0, 0.5, 0.25, -0.5])
