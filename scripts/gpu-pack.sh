#!/usr/bin/env bash
# Builds the archive to take to a machine with a GPU. It contains coldpress-gpu-check, which has the tests that are useful
# on a GPU and coldpress-bench, for sm_80, sm_90 and, as PTX, later GPUs, and also scripts/gpu-check.sh and
# benchmarks/pytorch.py. The program needs a driver and a C library, and looks for cuDNN, cuBLASLt and NVRTC when it runs.
# Usage: scripts/gpu-pack.sh ARCHIVE.tar.xz [CMAKE ARGUMENTS]   with nvcc 13; half an hour of one core
#        scripts/gpu-pack.sh --clean-root ARCHIVE|FOLDER   as root: starts the program in a fresh Debian 13, and
#                                                          runs a test there; skipped without root or debootstrap.
#                                                          DEBIAN_MIRROR names the mirror, CLEAN_ROOT a root to reuse
set -euo pipefail
cd "$(dirname "$0")/.."

limit=$((40 * 1024 * 1024))
newest_glibc=2.35

if [ "${1-}" = --clean-root ] && [ $# -eq 2 ]; then
  [ "$(id -u)" -eq 0 ] || { echo "skipped: only root can make a clean root"; exit 77; }
  command -v debootstrap >/dev/null || { echo "skipped: there is no debootstrap"; exit 77; }
  root=${CLEAN_ROOT-}
  if [ -z "$root" ]; then
    root=$(mktemp -d)
    trap 'rm -rf "$root"' EXIT
  fi
  if [ ! -e "$root/etc/debian_version" ]; then
    debootstrap --variant=minbase trixie "$root" ${DEBIAN_MIRROR:+"$DEBIAN_MIRROR"} >"$root.log" 2>&1 ||
      { tail -3 "$root.log"; echo "skipped: debootstrap has failed, see $root.log"; exit 77; }
    rm "$root.log"
  fi
  rm -rf "$root/check"
  mkdir "$root/check"
  if [ -d "$2" ]; then
    cp "$2/coldpress-gpu-check" "$root/check"
  else
    tar -xf "$2" -C "$root/check"
  fi
  echo "Debian $(cat "$root/etc/debian_version"), $(chroot "$root" ldd --version | head -1)"
  chroot "$root" /check/coldpress-gpu-check list
  chroot "$root" env COLDPRESS_TEST_DEVICE=cuda:emulated /check/coldpress-gpu-check cuda.barriers
  chroot "$root" /check/coldpress-gpu-check bench --path static --backend cuda:emulated --workload T4 --seconds 0.01
  exit
fi
[ $# -ge 1 ] && [[ $1 == *.tar.xz ]] || { sed -n 's/^# \{0,1\}//; 2,10p' "$0" >&2; exit 2; }
mkdir -p "$(dirname "$1")"
archive=$(realpath "$1")
shift

cmake --preset cuda -D COLDPRESS_CUDA_ARCHITECTURES="80-real;90" -D COLDPRESS_TYPE_ARCHITECTURES="80-real;90" \
  -D COLDPRESS_STATIC_DEPENDENCIES=ON -D COLDPRESS_NATIVE=OFF -D COLDPRESS_NIGHTLY=ON -D COLDPRESS_BUILD_EXAMPLES=OFF -D COLDPRESS_BUILD_TOOLS=OFF \
  -B build/gpu-check "$@"
cmake --build build/gpu-check --target coldpress-gpu-check
folder=build/gpu-check/pack
rm -rf "$folder"
mkdir -p "$folder"
cp build/gpu-check/benchmarks/gpu_check/coldpress-gpu-check scripts/gpu-check.sh benchmarks/pytorch.py LICENSE-MIT LICENSE-APACHE "$folder"
program=$folder/coldpress-gpu-check
strip "$program"

failed=0
needed=$(objdump -p "$program" | awk '$1 == "NEEDED" { print $2 }')
echo "needed: ${needed//$'\n'/ }"
if grep -vE '^(libc|libm|libdl|librt|libpthread|ld-linux-x86-64)\.so' <<<"$needed"; then
  echo "gpu-pack: these libraries are not the C library's" >&2
  failed=1
fi
versions=$(objdump -T "$program" | grep -oE 'GLIBC_[0-9.]+' | sort -uV)
echo "newest symbol version: $(tail -1 <<<"$versions")"
if [ "$(printf 'GLIBC_%s\n%s\n' "$newest_glibc" "$versions" | sort -V | tail -1)" != "GLIBC_$newest_glibc" ]; then
  echo "gpu-pack: these symbols are newer than glibc $newest_glibc:" >&2
  objdump -T "$program" | grep -E "$(sort -V <<<"$versions" | awk -F_ -v most="$newest_glibc" \
    '{ split($2, v, "."); split(most, m, "."); if (v[1] > m[1] || (v[1] == m[1] && v[2] > m[2])) printf "%s%s", sep, $0; sep = "|" }')" >&2 || true
  failed=1
fi
tar -C "$folder" -cf - . | xz -9e -T1 >"$archive"
size=$(stat -c %s "$archive")
echo "$archive: $((size / 1024)) KiB of at most $((limit / 1024)); unpacked $(($(stat -c %s "$program") / 1024)) KiB"
[ "$size" -le "$limit" ] || { echo "gpu-pack: the archive is too large" >&2; failed=1; }
exit "$failed"
