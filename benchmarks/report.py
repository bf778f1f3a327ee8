#!/usr/bin/env python3
"""Measures every workload in one run and writes the figures and pictures of docs/performance.md.

  benchmarks/report.py [--peer NAME=PROGRAM ...] [--workloads T1,I1] [--seconds 1] [--rounds 2]
  benchmarks/report.py --modern [the same]          transformers, residual networks, a GRU, a WaveNet, a MobileNet
  benchmarks/report.py --amplifiers [the same]      the streams in blocks of models of amplifiers, and their training

In each round, one contender after another runs on one core; the best median of all rounds counts. A peer is any command that
is called as PROGRAM --workload ID --threads N --seconds S and prints NAME<TAB>ID<TAB>threads<TAB>median<TAB>minimum in
microseconds, as coldpress-bench does. Only Python's standard library is needed.
"""

import argparse
import datetime
import math
import os
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
END = "<!-- end of what is measured -->"

# Description; MFLOP: two per multiply-add forward and for each gradient (none for the network's input), four per parameter for the
# update; KiB: parameters, gradients, momentum and activations, each once per read and once per write.
WORKLOADS = {
    "T1": ("train 784-128-10, ReLU, batch 64", 26.59, 3117),
    "T2": ("train 784-512-512-10, ReLU, batch 128", 413.5, 20770),
    "T3": ("train LeNet, batch 64", 845.4, 30890),
    "T4": ("train 17-64-64-6, tanh, batch 256", 8.018, 708.9),
    "T5": ("train an LSTM of 32 units, 10 steps, batch 40", 10.06, 1321),
    "T6": ("train cifar10_quick, batch 100", 5736, 93300),
    "I1": ("infer 784-128-10, batch 1", 0.2033, 401.7),
    "I2": ("infer 17-64-64-6, tanh, batch 1", 0.01114, 23.39),
    "I4": ("infer LeNet, batch 1", 4.586, 1835),
    "I6": ("infer 784-128-10, batch 64", 13.01, 662.5),
    "I3h8": ("stream an LSTM of 8 units", 0.000592, 1.414),
    "I3h16": ("stream an LSTM of 16 units", 0.002208, 4.82),
    "I3h32": ("stream an LSTM of 32 units", 0.008512, 17.63),
    "I5conv": ("stream a convolution 16-16, kernel 15, dilation 4", 0.00768, 16.06),
    "I5full": ("stream dense, convolution, GRU, dense", 0.0008, 2.035),
}
# MFLOP as above, causal products counted half. KiB: weights and states of what handles one step at a time; for the others, which
# the arithmetic limits, 0.
MODERN = {
    "M1": ("train a transformer encoder of 2 blocks, 32 steps, batch 32", 658.8, 0),
    "M2": ("train a GPT of 4 blocks, 128 steps, batch 8", 5438, 0),
    "M3": ("train ResNet-20 with batch normalisation, batch 32", 7808, 0),
    "M4": ("train a GRU of 128 units, 64 steps, batch 32", 704.7, 0),
    "M5": ("train a WaveNet of 10 layers, 2,048 steps, batch 8", 1009, 0),
    "M6": ("infer a MobileNet, 3 x 96 x 96", 27.99, 0),
    "M7": ("train 1024-2048-2048-1024, tanh, batch 256", 11811, 0),
    "M8": ("decode a token of M2 after 127 others", 1.9, 3700),
    "M9": ("infer M3, one image", 81.62, 0),
    "M10": ("stream M5, one sample", 0.0205, 41),
}
AMPLIFIERS = {
    "N1": ("A1 standard, 64 samples", 1.697, 53.9),
    "N2": ("A2 full, 64 samples", 1.499, 47.5),
    "N3": ("A2 lite, 64 samples", 0.2204, 7.3),
    "N4": ("A1 nano, 64 samples", 0.09318, 3.3),
    "N5": ("LSTM of 16 units, 64 samples", 0.1413, 4.7),
    "N6": ("two LSTMs of 8 units, 64 samples", 0.1034, 3.5),
    "N7": ("A1 standard, 16 samples", 0.4242, 53.9),
    "N8": ("A1 standard, 1 sample", 0.02651, 53.9),
    "N9": ("train A1 standard, 16 segments of 8,192 samples", 14484, 0),
}
ALL_WORKLOADS = WORKLOADS | MODERN | AMPLIFIERS
OURS = ("static", "dynamic")
OURS_LINKED = ("linked", "dynamic")  # of the other two sets
COLOURS = {"static": "#0072b2", "linked": "#0072b2", "dynamic": "#56b4e9"}  # distinguishable for colour-blind readers (Okabe and Ito)
OTHER_COLOURS = ("#d55e00", "#e69f00", "#009e73", "#cc79a7", "#333333")


def run(command, core):
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("OPENBLAS_", "OMP_", "GOMP_", "MKL_", "DNNL_"))}
    environment |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(["taskset", "-c", core, *command], capture_output=True, text=True, env=environment, check=True)
    return [line.split("\t") for line in done.stdout.splitlines()]


def limits(bench, core):
    """Returns FLOP/s, and [(level, bytes/s, capacity)] beginning with the smallest level."""
    rows = [fields for fields in run([bench, "--limits"], core) if fields[0] == "limit"]
    return float(rows[0][2]), [(name, float(rate), int(size) or math.inf) for _, name, rate, size in rows[1:]]


def floor_of(workload, peak, levels):
    """The floor in microseconds: all FLOPs at the peak, or all bytes from the smallest level that holds them."""
    _, mflop, kib = ALL_WORKLOADS[workload]
    rate = next(rate for _, rate, size in levels if kib * 1024 <= size)
    return max(mflop * 1e12 / peak, kib * 1024e6 / rate)


def measure(contenders, workload, arguments):
    """{contender: (best median, its notes)}"""
    best = {}
    for _ in range(arguments.rounds):
        for name, command in contenders.items():
            options = ["--workload", workload, "--threads", "1", "--seconds", str(arguments.seconds)]
            for fields in run([*command, *options], arguments.core):
                if len(fields) < 5 or fields[1] != workload or fields[0].endswith("gemmonly"):
                    continue
                best[name] = min(best.get(name, math.inf), float(fields[3]))
    return best


def svg(width, height, body):
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
            f'font-family="sans-serif" font-size="12"><rect width="100%" height="100%" fill="white"/>{"".join(body)}</svg>\n')


def text(x, y, words, anchor="start", colour="black"):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}">{words}</text>'


def line(x1, y1, x2, y2, colour="#bbbbbb", width=1):
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" stroke-width="{width}"/>'


def roofline_picture(results, peak, levels):
    """GFLOP/s over FLOP per byte, both logarithmic, under the lines of the machine."""
    width, height, left, top, right, bottom = 880, 520, 70, 30, 860, 460
    intensity = {w: WORKLOADS[w][1] * 1e6 / (WORKLOADS[w][2] * 1024) for w in results}
    lowest, highest = math.log10(0.2), math.log10(100)
    bottom_rate, top_rate = 0, math.log10(peak / 1e9) + 0.15
    x = lambda v: left + (math.log10(v) - lowest) / (highest - lowest) * (right - left)
    y = lambda v: bottom - (math.log10(v) - bottom_rate) / (top_rate - bottom_rate) * (bottom - top)
    body = [text(left, 18, f"One core: GFLOP/s over FLOP per byte moved; filled: static, hollow: dynamic")]
    for v in (0.2, 0.5, 1, 2, 5, 10, 20, 50, 100):
        body += [line(x(v), top, x(v), bottom, "#eeeeee"), text(x(v), bottom + 16, f"{v:g}", "middle")]
    for v in (1, 2, 5, 10, 20, 50, 100, 200):
        if v < 10**top_rate:
            body += [line(left, y(v), right, y(v), "#eeeeee"), text(left - 6, y(v) + 4, f"{v:g}", "end")]
    for name, rate, _ in levels:
        ridge = min(peak / rate, 100)
        start = max(0.2, 1e9 / rate)
        body += [line(x(start), y(start * rate / 1e9), x(ridge), y(ridge * rate / 1e9), "#888888", 1.5),
                 text(x(start) + 30, y(start * rate / 1e9) - 2, f"{name} {rate / 1e9:.0f} GB/s", colour="#666666")]
    flat = min(peak / levels[0][1], 100)
    body += [line(x(flat), y(peak / 1e9), right, y(peak / 1e9), "#888888", 1.5),
             text(right, y(peak / 1e9) - 5, f"fused multiply-add {peak / 1e9:.0f} GFLOP/s", "end", "#666666")]
    for workload, medians in results.items():
        for path in OURS:
            if path not in medians:
                continue
            at = x(intensity[workload]), y(max(1, WORKLOADS[workload][1] * 1e3 / medians[path]))
            fill = COLOURS[path] if path == "static" else "none"
            body.append(f'<circle cx="{at[0]:.1f}" cy="{at[1]:.1f}" r="4" fill="{fill}" stroke="{COLOURS["static"]}"/>')
            if path == "static":
                body.append(text(at[0] + 7, at[1] + 4, workload))
    return svg(width, height, body)


def bars_picture(results, floors, names):
    """Median over floor, one group of bars per workload; a bar that leaves the picture has its value written on it."""
    most, bar, gap, left, top, plot = 6.0, 9, 14, 50, 50, 300
    colours = dict(COLOURS) | dict(zip((n for n in names if n not in COLOURS), OTHER_COLOURS))
    body, at = [], left
    y = lambda v: top + plot * (1 - min(v, most) / most)
    for workload, medians in results.items():
        begin = at
        for name in names:
            if name in medians:
                v = medians[name] / floors[workload]
                body.append(f'<rect x="{at}" y="{y(v):.1f}" width="{bar}" height="{top + plot - y(v):.1f}" fill="{colours[name]}"/>')
                if v > most:
                    body.append(f'<text transform="translate({at + bar - 1},{top + 34}) rotate(-90)" fill="white" font-size="9">{v:.0f}</text>')
                at += bar
        body.append(text((begin + at) / 2, top + plot + 16, workload, "middle"))
        at += gap
    grid = [part for v in range(1, 7) for part in (line(left, y(v), at, y(v), "#999999" if v == 1 else "#eeeeee"),
                                                   text(left - 6, y(v) + 4, str(v), "end"))]
    legend = [text(left, 18, "Median time over what the machine allows (1: the floor), one thread; less is better")]
    for i, name in enumerate(names):
        legend += [f'<rect x="{left + 130 * i}" y="28" width="10" height="10" fill="{colours[name]}"/>', text(left + 14 + 130 * i, 38, name)]
    return svg(max(at + 20, left + 130 * len(names)), top + plot + 30, grid + body + legend)


def significant(value):
    return f"{value:.3g}" if value < 1000 else f"{value:.0f}"


def table(results, floors, names, ours):
    peers = [n for n in names if n not in ours]
    head = ["workload", "floor us", *(f"{n} us" for n in ours), *(f"{n} / floor" for n in ours), "best peer us", f"{ours[0]} / peer"]
    rows = [head, ["---"] * len(head)]
    for workload, medians in results.items():
        peer = min((n for n in peers if n in medians), key=medians.get, default=None)
        rows.append([f"{workload}: {ALL_WORKLOADS[workload][0]}", significant(floors[workload]),
                     *(significant(medians[n]) for n in ours), *(f"{medians[n] / floors[workload]:.2f}" for n in ours),
                     f"{significant(medians[peer])} ({peer})" if peer else "none",
                     f"{medians[ours[0]] / medians[peer]:.2f}" if peer else "-"])
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def latencies(bench, arguments):
    rows = ["| workload | first call us | p50 | p99 | p99.9 | longest |", "| --- | --- | --- | --- | --- | --- |"]
    for workload in WORKLOADS:
        if workload[0] != "I" or workload == "I6" or workload not in arguments.workloads:
            continue
        for fields in run([bench, "--workload", workload, "--latency", "1000000"], arguments.core):
            rows.append("| " + " | ".join([workload, *fields[3:8]]) + " |")
    return "\n".join(rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bench", default=str(ROOT / "build/release/benchmarks/coldpress-bench"))
    parser.add_argument("--peer", action="append", default=[], metavar="NAME=PROGRAM")
    parser.add_argument("--workloads", type=lambda s: s.split(","))
    parser.add_argument("--modern", dest="set", action="store_const", const="modern")
    parser.add_argument("--amplifiers", dest="set", action="store_const", const="amplifiers")
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--core", default=str(max(os.sched_getaffinity(0))))
    arguments = parser.parse_args()

    arguments.workloads = arguments.workloads or list({None: WORKLOADS, "modern": MODERN, "amplifiers": AMPLIFIERS}[arguments.set])
    ours = OURS_LINKED if arguments.set else OURS

    contenders = {path: [arguments.bench, "--path", path] for path in ours}
    contenders |= {name: program.split() for name, program in (peer.split("=", 1) for peer in arguments.peer)}
    peak, levels = limits(arguments.bench, arguments.core)
    results, floors = {}, {}
    for workload in arguments.workloads:
        results[workload] = measure(contenders, workload, arguments)
        floors[workload] = floor_of(workload, peak, levels)
        print(workload, f"floor {significant(floors[workload])}",
              *(f"{n} {significant(t)} ({t / floors[workload]:.2f})" for n, t in results[workload].items()), flush=True)

    cpu = re.search(r"^model name\s*: (.*)$", pathlib.Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    family = re.findall(r"^(?:cpu family|model)\s*: (.*)$", pathlib.Path("/proc/cpuinfo").read_text(), re.MULTILINE)[:2]
    compiler = subprocess.run(["c++", "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]
    options = "-O2, ready-made kernels" if arguments.set else "-O3 -march=native"
    where = (f"{datetime.date.today()}, {cpu[1] if cpu else 'unknown CPU'} (family {', model '.join(family)}), one core of "
             f"{os.cpu_count()}, {compiler}, {options}. Limits of that core in the same run: {peak / 1e9:.0f} GFLOP/s; "
             f"read {', '.join(f'{name} {rate / 1e9:.0f}' for name, rate, _ in levels)} GB/s. Medians, the best of "
             f"{arguments.rounds} rounds of {arguments.seconds:g} s.")
    docs = ROOT / "docs"
    (docs / "performance").mkdir(exist_ok=True)
    names = list(contenders)
    figures = [where, table(results, floors, names, ours)]
    begin = f"<!-- measured: benchmarks/report.py{' --' + arguments.set if arguments.set else ''} -->"
    if arguments.set:
        (docs / f"performance/{arguments.set}.svg").write_text(bars_picture(results, floors, names))
        title = {"modern": "Modern networks", "amplifiers": "Models of amplifiers"}[arguments.set]
        figures += [f"![{title}](performance/{arguments.set}.svg)"]
    else:
        (docs / "performance/roofline.svg").write_text(roofline_picture(results, peak, levels))
        (docs / "performance/peers.svg").write_text(bars_picture(results, floors, names))
        figures += ["![Roofline](performance/roofline.svg)", "![Beside peers](performance/peers.svg)",
                    "The latency of single calls: a million of each, timed one by one, beginning with the very first:",
                    latencies(arguments.bench, arguments)]
    measured = "\n\n".join([begin, *figures, END])
    page = docs / "performance.md"
    before, _, rest = page.read_text().partition(begin)
    page.write_text(before + measured + rest.partition(END)[2])


if __name__ == "__main__":
    main()
