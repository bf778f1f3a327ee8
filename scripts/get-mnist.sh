#!/usr/bin/env bash
# Fetches the MNIST digits (11 MB), or Fashion-MNIST (30 MB), into a folder and checks them. Correct files that exist are kept.
# Usage: scripts/get-mnist.sh DIR [fashion]
set -euo pipefail

if [ $# -lt 1 ] || [ $# -gt 2 ] || [ "${2:-fashion}" != fashion ]; then
  sed -n 's/^# \{0,1\}//; 2,3p' "$0" >&2
  exit 2
fi
directory=$1
if [ $# -eq 1 ]; then
  source=https://ossci-datasets.s3.amazonaws.com/mnist
  files='f68b3c2dcbeaaa9fbdd348bbdeb94873 train-images-idx3-ubyte.gz
d53e105ee54ea40749a09fcbcd1e9432 train-labels-idx1-ubyte.gz
9fb629c4189551a2d022fa330f9573f3 t10k-images-idx3-ubyte.gz
ec29112dd5afa0611ce80d1b7f02629c t10k-labels-idx1-ubyte.gz'
else
  source=http://fashion-mnist.s3-website.eu-central-1.amazonaws.com
  files='8d4fb7e6c68d591d4c3dfef9ec88bf0d train-images-idx3-ubyte.gz
25c81989df183df01b3e8a0aad5dffbe train-labels-idx1-ubyte.gz
bef4ecab320f06d8554ea6380940ec79 t10k-images-idx3-ubyte.gz
bb300cfdad3c16e7a12a480ee83cd310 t10k-labels-idx1-ubyte.gz'
fi
mkdir -p "$directory"

matches() {  # FILE MD5
  [ -f "$1" ] && [ "$(md5sum <"$1" | cut -d ' ' -f 1)" = "$2" ]
}

fetch() {  # URL FILE
  if command -v curl >/dev/null; then
    curl --fail --location --silent --show-error --retry 3 --output "$2" "$1"
  elif command -v wget >/dev/null; then
    wget --quiet --tries 3 --output-document "$2" "$1"
  else
    echo "get-mnist: neither curl nor wget is installed" >&2
    exit 1
  fi
}

while read -r md5 name; do
  file=$directory/$name
  if matches "$file" "$md5"; then
    echo "$file: there"
    continue
  fi
  trap 'rm -f "$file.part"' EXIT
  fetch "$source/$name" "$file.part"
  if ! matches "$file.part" "$md5"; then
    echo "get-mnist: $source/$name is not the file it should be (md5 differs)" >&2
    exit 1
  fi
  mv "$file.part" "$file"
  echo "$file: fetched"
done <<<"$files"
