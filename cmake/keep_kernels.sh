#!/usr/bin/env bash
# Compiles a source for GPUs and keeps in FOLDER what scripts/check-kernels.sh looks at: the object, the GPU's code as
# text (PTX) and as machine code, and what the assembler says of registers.
# Usage: keep_kernels.sh FOLDER NVCC ARGUMENTS... -o OBJECT
set -euo pipefail

folder=$1 object=${!#}
shift
name=$folder/$(basename "$object" .cu.o)
mkdir -p "$folder"
status=0
"$@" -Xptxas -v -keep -keep-dir "$folder" 2>"$name.log" || status=$?
grep -vE '^ptxas info|^ +[0-9]+ bytes (stack|cumulative)' "$name.log" >&2 || true
[ $status = 0 ] || exit $status
rm -f "$name".*.ii "$name".cudafe* "$name".fatbin* "$name".module_id
ln -f "$object" "$name.o"
