#!/bin/sh
# Runs ccache with paths relative to the build folder, so that what one build folder compiled serves the others: generated
# headers lie in it. It is a script, not a list of words, because projects that are built by tests are given it, too.
: "${CCACHE_BASEDIR=$(cd "$(dirname "$0")/.." && pwd)}" "${CCACHE_NOHASHDIR=1}"
export CCACHE_BASEDIR CCACHE_NOHASHDIR
exec ccache "$@"
