#!/usr/bin/env bash
# Installs the packages that are needed to build and test coldpress, on Debian and Ubuntu, as root or through sudo.
# Usage: scripts/install-deps.sh [--with-clang] [--with-arm] [--with-arm64] [--with-cuobjdump] [--with-clean-root]
#        [--with-chromium] [--with-tensorboard] [--with-python]
#   --with-clang   also clang 14 and 16 if the distribution has them: the compile-fail tests run on each compiler found,
#                  and the presets fuzz and ci-hostile need clang 14; and lld, which links tests sooner than GNU ld
#   --with-arm     also the compiler for Cortex-M and qemu's boards, for the tests embedded.cortex_m4 and cortex_m7
#   --with-arm64   also the compiler for 64-bit Arm, and qemu-user to run its programs, for the preset arm64
#   --with-cuobjdump  also NVIDIA's cuobjdump and nvdisasm, as Python packages in build/cuobjdump: without them,
#                  and if the CUDA toolkit has none, scripts/check-kernels.sh does not check machine code
#   --with-chromium  also Chromium (about 0.3 GB), in which a test opens the HTML report of a training
#   --with-tensorboard  also TensorBoard, as a Python package in build/tensorboard, with which a test reads event files
#   --with-python  also what the Python package is built and tested with, in a virtual environment in build/venv
#   --with-clean-root  also debootstrap, for scripts/gpu-pack.sh --clean-root
set -euo pipefail

packages=(g++ cmake ninja-build ccache git pkg-config
  libboost-dev libxtensor-dev libxtensor-blas-dev libopenblas-dev
  capnproto libcapnp-dev zlib1g-dev libcli11-dev catch2)
# Without these, tests report that they are skipped. Without HDF5, coldpress::hdf5 is left out, and coldpress::convert reads no
# files of Mocha and Keras; without protobuf, none of Caffe; without nlohmann-json, no .nam and .safetensors files, and none of
# RTNeural and Keras; without libpng or libjpeg, coldpress::images is left out, and without libsndfile, coldpress::sound. Without lv2-dev, there is no LV2 plugin; without
# libsamplerate, models play at their own sample rate only. The hosts play the plugin. Without libopenmpi-dev, coldpress::distributed
# and the command train on one process only; openmpi-bin has mpirun, which tests start,
# and with iproute2 a test makes the network between two hosts.
optional=(time valgrind libhdf5-dev python3-h5py libprotobuf-dev protobuf-compiler nlohmann-json3-dev libpng-dev libjpeg-dev
  libsndfile1-dev python3-pil help2man lv2-dev libsamplerate0-dev lilv-utils sordi jalv jackd2 zsh
  libopenmpi-dev openmpi-bin iproute2)

cuobjdump=0
tensorboard=0
python=0
for argument in "$@"; do
  case "$argument" in
    --with-clang) optional+=(clang-14 libclang-rt-14-dev clang-16 lld) ;;
    --with-arm) optional+=(gcc-arm-none-eabi libnewlib-arm-none-eabi libstdc++-arm-none-eabi-newlib qemu-system-arm) ;;
    --with-arm64) optional+=(g++-aarch64-linux-gnu qemu-user) ;;
    --with-cuobjdump) cuobjdump=1 ;;
    --with-chromium) optional+=(chromium) ;;
    --with-tensorboard) tensorboard=1 ;;
    --with-python) python=1; optional+=(python3-dev python3-venv) ;;
    --with-clean-root) optional+=(debootstrap) ;;
    *) sed -n 's/^# \{0,1\}//; 2,14p' "$0" >&2; exit 2 ;;
  esac
done

root="$(dirname "$0")/.."
if [ $cuobjdump = 1 ] && ! ls "$root"/build/cuobjdump/nvidia/*/bin/nvdisasm >/dev/null 2>&1; then
  python3 -m pip install --quiet --target "$root/build/cuobjdump" nvidia-cuda-cuobjdump nvidia-cuda-nvdisasm ||
    echo "install-deps: going on without cuobjdump, which pip could not install" >&2
fi

if [ $tensorboard = 1 ] && [ ! -d "$root/build/tensorboard/tensorboard" ]; then
  python3 -m pip install --quiet --target "$root/build/tensorboard" tensorboard ||
    echo "install-deps: going on without tensorboard, which pip could not install" >&2
fi

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
  echo "install-deps: this is neither Debian nor Ubuntu; install the counterparts of: ${packages[*]}" >&2
  exit 1
fi

# After the packages, of which it needs python3-venv.
make_venv() {
  [ $python = 1 ] || return 0
  local venv="$root/build/venv"
  "$venv/bin/python" -c 'import nanobind, numpy, pytest' 2>/dev/null && return 0
  { python3 -m venv "$venv" && "$venv/bin/python" -m pip install --quiet nanobind numpy pytest; } ||
    echo "install-deps: going on without the Python package, for which pip could not install nanobind" >&2
}

is_installed() {
  [ "$(dpkg-query --show --showformat '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

# A virtual package, as pkg-config is in newer releases, counts as installed if its program exists.
missing=()
for package in "${packages[@]}"; do
  is_installed "$package" || { [ "$package" = pkg-config ] && command -v pkg-config >/dev/null; } || missing+=("$package")
done
missing_optional=()
for package in ${optional[@]+"${optional[@]}"}; do
  is_installed "$package" || missing_optional+=("$package")
done
if [ $((${#missing[@]} + ${#missing_optional[@]})) -eq 0 ]; then
  make_venv
  exit 0
fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null; then
    if [ ${#missing[@]} -eq 0 ]; then
      echo "install-deps: going on without ${missing_optional[*]}, which only root can install" >&2
      exit 0
    fi
    echo "install-deps: run this as root, or install sudo; missing: ${missing[*]-} ${missing_optional[*]-}" >&2
    exit 1
  fi
  as_root=(sudo)
fi

apt() {
  ${as_root[@]+"${as_root[@]}"} env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Acquire::Retries=3 "$@"
}

apt update
for package in ${missing_optional[@]+"${missing_optional[@]}"}; do
  if [ -n "$(apt-cache --quiet=2 show "$package" 2>/dev/null)" ]; then
    missing+=("$package")
  else
    echo "install-deps: $package is not in this distribution; going on without it"
  fi
done
if [ ${#missing[@]} -gt 0 ]; then
  echo "install-deps: installing ${missing[*]}"
  apt install --yes --no-install-recommends "${missing[@]}" >/dev/null
fi
make_venv
