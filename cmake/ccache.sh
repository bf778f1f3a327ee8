#!/bin/sh
# Runs ccache with paths relative to the build folder, so that what one build folder compiled serves the others: generated
# headers lie in it. It is a script, not a list of words, because projects that are built by tests are given it, too.
project=$(cd "$(dirname "$0")/.." && pwd)
: "${CCACHE_BASEDIR=$project}" "${CCACHE_NOHASHDIR=1}"
export CCACHE_BASEDIR CCACHE_NOHASHDIR

# Sources that include a precompiled header are kept, too. ccache tells precompiled headers apart by the file HEADER.sum beside
# them: a sum of all that was included, which is the same in all build folders, as the precompiled header's bytes are not.
# The precompiled header itself is compiled in each build folder, because g++ would not know its headers again elsewhere.
export CCACHE_PCH_EXTSUM=1 CCACHE_SLOPPINESS=pch_defines,time_macros
case " $* " in
  *' -Xclang -emit-pch '*) preprocess='-Xclang -E' ;;  # which wins over a plain -E
  *' -x c++-header '*) preprocess=-E ;;
  *) exec ccache "$@" ;;
esac
before=
for word; do  # all words but -o HEADER stay
  shift
  case $before in -o) header=$word ;; *) [ "$word" = -o ] || set -- "$@" "$word" ;; esac
  before=$word
done
rm -f "$header"  # the command includes it where it exists
"$@" $preprocess -dD -o - | sed "s|$PWD/||g; s|$project/||g" | sha256sum >"$header.sum" || rm -f "$header.sum"
exec "$@" -o "$header"
