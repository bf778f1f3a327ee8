#!/usr/bin/env python3
"""The same dense networks of coldpress and of emlearn on a Cortex-M4: see emlearn.sh, which starts it.

scikit-learn trains the networks. Both programs are built with the same flags, linker script, start-up code and measurement;
a third program has no network, and what it takes is subtracted from flash and RAM. All run in qemu on the same samples, and
their outputs must be those that numpy computes in double precision, to within the rounding of floats.
"""
import os
import re
import struct
import subprocess
import sys
import tempfile
import warnings

import emlearn
import numpy
import sklearn
from sklearn.neural_network import MLPClassifier, MLPRegressor

INPUTS, HIDDEN, OUTPUTS, SAMPLES = 16, (32, 16), 4, 40
NETWORKS = [(MLPRegressor, "relu"), (MLPClassifier, "relu"), (MLPRegressor, "tanh")]
FLAGS = ["@benchmarks/embedded/cortex_m4.flags", *sys.argv[2:]]
INFER = 'extern "C" void infer(float const* x, float* y) {'
PROGRAMS = {  # the file and what it has
    "none": ("none.cpp", INFER + " asm volatile(\"\" : : \"r\"(x), \"r\"(y)); }\n"),
    "coldpress": (
        "coldpress.cpp",
        f"""#include "network.hpp"
static network::Network net{{network::weights}};
{INFER}
  auto const outputs = net.forward(std::span<float const>{{x, {INPUTS}}});
  for (int i = 0; i < {OUTPUTS}; ++i) y[i] = outputs.values[i];
}}
""",
    ),
    "emlearn": (
        "emlearn.c",
        f"""#include "net.h"
void infer(float const* x, float* y) {{ CALL(&net, x, {INPUTS}, y, {OUTPUTS}); }}
""",
    ),
}


def run(*command):
    result = subprocess.run([str(part) for part in command], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if result.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\nended with {result.returncode}:\n{result.stdout}")
    return result.stdout


def write(path, text):
    with open(path, "w") as file:
        file.write(text)


def trained(kind, activation):
    """A network with weights of at most six decimals, since emlearn writes no more."""
    random = numpy.random.default_rng(1)
    x = random.uniform(-1, 1, (2000, INPUTS))
    y = numpy.sin(x @ random.uniform(-1, 1, (INPUTS, OUTPUTS)))
    network = kind(hidden_layer_sizes=HIDDEN, activation=activation, max_iter=30, random_state=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that 30 epochs are few
        network.fit(x, y.argmax(axis=1) if kind is MLPClassifier else y)
    network.coefs_ = [matrix.round(6) for matrix in network.coefs_]
    network.intercepts_ = [bias.round(6) for bias in network.intercepts_]
    return network


def write_network(network, command, folder):
    """Writes net.h of emlearn and network.hpp of coldpress."""
    return_type = "classifier" if isinstance(network, MLPClassifier) else "regressor"
    here = os.getcwd()
    os.chdir(folder)  # emlearn compiles the network for the host in ./tmp
    emlearn.convert(network, dtype="float", return_type=return_type).save(name="net", file="net.h")
    os.chdir(here)

    activations = [network.activation] * len(HIDDEN) + [network.out_activation_]
    layers, weights = [], {}
    for i, (matrix, bias, activation) in enumerate(zip(network.coefs_, network.intercepts_, activations)):
        layers.append(f'(name = "fc{i}", layerType = (linear = (outputSize = {len(bias)})))')
        if activation != "identity":
            layers.append(f'(name = "activation{i}", layerType = ({activation} = void))')
        weights |= {f"fc{i}.weight": matrix.T.astype("float32", order="C"), f"fc{i}.bias": bias.astype("float32")}
    numpy.savez(f"{folder}/weights.npz", **weights)
    inputs = f'inputs = [(name = "x", sampleShape = [{INPUTS}])], layers = [{", ".join(layers)}]'
    config = f'(network = (name = "network", layerType = (sequential = ({inputs}))))'
    write(f"{folder}/network.capnp.txt", config)
    run(command, "convert", f"{folder}/weights.npz", "--config", f"{folder}/network.capnp.txt", "-o", f"{folder}/net.juice")
    run(command, "export", "--cpp", f"{folder}/net.juice", "-o", f"{folder}/network.hpp")


def write_samples(folder):
    samples = numpy.random.default_rng(2).uniform(-1, 1, (SAMPLES, INPUTS)).astype("float32")
    rows = ",\n".join("{" + ", ".join(float(value).hex() + "f" for value in row) + "}" for row in samples)
    write(
        f"{folder}/samples.hpp",
        f"constexpr int count = {SAMPLES}, inputs = {INPUTS}, outputs = {OUTPUTS};\n"
        f"constexpr float samples[count][inputs] = {{\n{rows}}};\n",
    )
    return samples


def expected(network, samples):
    values = samples.astype("float64")
    for i, (matrix, bias) in enumerate(zip(network.coefs_, network.intercepts_)):
        values = values @ matrix.astype("float32").astype("float64") + bias.astype("float32").astype("float64")
        activation = network.activation if i < len(HIDDEN) else network.out_activation_
        if activation == "relu":
            values = numpy.maximum(values, 0)
        elif activation == "tanh":
            values = numpy.tanh(values)
        elif activation == "softmax":
            values = numpy.exp(values) / numpy.exp(values).sum(axis=1, keepdims=True)
    return values


def measured(name, network, folder):
    """What the program takes: bytes of flash, of RAM, of weights and of stack, instructions, and its outputs."""
    source, text = PROGRAMS[name]
    write(f"{folder}/{source}", text)
    call = "eml_net_predict_proba" if isinstance(network, MLPClassifier) else "eml_net_regress"
    if source.endswith(".c"):  # g++'s flags are ignored with a warning
        compiler, where = "arm-none-eabi-gcc", ["-I", os.path.dirname(emlearn.__file__), f"-DCALL={call}"]
    else:
        compiler, where = "arm-none-eabi-g++", ["-I", "include", "-isystem", folder]
    objects, program = f"{folder}/{name}.o", f"{folder}/{name}.elf"
    run(compiler, *FLAGS, *where, "-c", f"{folder}/{source}", "-o", objects)
    board = ["-nostartfiles", "-Wl,--gc-sections", "-I", "tests/embedded", "-I", folder, "-T", "tests/embedded/board.ld"]
    run("arm-none-eabi-g++", *FLAGS, *board, "tests/embedded/board.cpp", "benchmarks/embedded/infer.cpp", objects, "-o", program)

    text, data, bss = map(int, run("arm-none-eabi-size", program).splitlines()[-1].split()[:3])
    symbols = run("arm-none-eabi-nm", "--print-size", "--radix=d", "--demangle", program)
    sizes = re.findall(r"^\d+ (\d+) \w (?:network::weights|net_layer_\d+_(?:weights|biases))$", symbols, re.MULTILINE)
    qemu = ["qemu-system-arm", "-machine", "mps2-an386", "-nographic", "-icount", "shift=0", "-semihosting"]
    printed = run(*qemu, "-kernel", program)
    outputs = [struct.unpack(">f", bytes.fromhex(bits))[0] for bits in re.findall(r"output (\w{8})", printed)]
    return {
        "flash": text + data,  # the initial values of data are in flash too
        "weights": sum(map(int, sizes)),
        "RAM": data + bss,
        "stack": int(re.search(r"stack (\d+)", printed)[1]),
        "instructions": int(re.search(r"instructions (\d+)", printed)[1]),
        "outputs": numpy.array(outputs).reshape(SAMPLES, OUTPUTS),
    }


def main():
    compiler = run("arm-none-eabi-g++", "--version").splitlines()[0]
    print(f"emlearn {emlearn.__version__}, scikit-learn {sklearn.__version__}, {compiler}")
    print(f"{'-'.join(map(str, (INPUTS, *HIDDEN, OUTPUTS)))}, Cortex-M4", *(["with", *FLAGS[1:]] if FLAGS[1:] else []))
    print("\n| network | | flash | of which weights | RAM | stack | instructions | largest difference |")
    print("|---|---|---|---|---|---|---|---|")
    for kind, activation in NETWORKS:
        with tempfile.TemporaryDirectory() as folder:
            hana = run("sh", "-c", "echo '#include <boost/hana.hpp>' | c++ -x c++ -std=c++20 -M -")
            os.symlink(re.search(r"(\S+)/boost/hana\.hpp", hana)[1] + "/boost", f"{folder}/boost")
            network = trained(kind, activation)
            write_network(network, sys.argv[1], folder)
            samples = write_samples(folder)
            right = expected(network, samples)
            none = measured("none", network, folder)
            for name in ("coldpress", "emlearn"):
                found = measured(name, network, folder)
                difference = numpy.abs(found["outputs"] - right).max()
                if not difference <= 1e-5 * numpy.abs(right).max():
                    sys.exit(f"{name}: an output differs by {difference} from that of double precision")
                flash, ram = found["flash"] - none["flash"], found["RAM"] - none["RAM"]
                print(
                    f"| {activation}, {network.out_activation_} | {name} | {flash:,} | {found['weights']:,} | {ram:,} |"
                    f" {found['stack']:,} | {found['instructions']:,} | {difference:.1e} |"
                )


main()
