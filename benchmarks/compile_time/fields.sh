#!/usr/bin/env bash
# Measures what it costs to compile fields of layers declared with COLDPRESS_FIELDS and with the macros of Boost.Hana, and folds
# over lists of types with for_each_type and with hana::for_each: CPU seconds, the median of five.
# Usage: benchmarks/compile_time/fields.sh [COMPILER]     default: c++
set -euo pipefail
cd "$(dirname "$0")/../.."

compiler=${1:-c++} structs=63 types=57 folds=10
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

seconds() {  # SOURCE
  local TIMEFORMAT='%U %S'
  "$compiler" -std=c++20 -I include -fsyntax-only "$1" || return
  for _ in 1 2 3 4 5; do { time "$compiler" -std=c++20 -I include -fsyntax-only "$1" >/dev/null; } 2>&1; done |
    awk '{ print $1 + $2 }' | sort -n | sed -n 3p
}
measure() {  # NAME HEADERS FUNCTION: of the program that FUNCTION prints
  printf '#include <%s>\n' $2 >"$folder/empty.cpp"
  { cat "$folder/empty.cpp" && $3; } >"$folder/program.cpp"
  local headers all
  headers=$(seconds "$folder/empty.cpp") all=$(seconds "$folder/program.cpp")
  printf '%-45s %8s %8s %8.2f\n' "$1" "$all" "$headers" "$(awk "BEGIN { print $all - $headers }")"
}

members='int first = 1; float second = 2; bool third = false;'
layers() {  # MACRO
  for ((i = 0; i < structs; ++i)); do
    echo "namespace n { struct Layer$i { $members }; }"
    echo "$1(n::Layer$i, first, second, third);"
  done
}
coldpress_fields() { layers COLDPRESS_FIELDS; }
hana_adapt() { layers BOOST_HANA_ADAPT_STRUCT; }
hana_define() {
  for ((i = 0; i < structs; ++i)); do
    echo "struct Layer$i { BOOST_HANA_DEFINE_STRUCT(Layer$i, (int, first), (float, second), (bool, third)); };"
  done
}
list() {
  for ((i = 0; i < types; ++i)); do echo "struct Type$i { static constexpr int value = $i; };"; done
  printf 'template <class... T> struct List {};\nusing All = List<Type0%s>;\n' "$(seq -f ', Type%.0f' -s '' $((types - 1)))"
}
own_fold() {
  list | sed 's/List</coldpress::TypeList</; /struct List/d; /template <class... T>/d'
  for ((i = 0; i < folds; ++i)); do
    echo "int sum$i() { int all = 0; coldpress::for_each_type(All{}, [&]<class T> { all += T::value; }); return all; }"
  done
}
hana_fold() {
  list | sed 's/List</boost::hana::tuple</; /template <class... T>/d; s/\(Type[0-9]*\)\([,>]\)/boost::hana::type<\1>\2/g'
  for ((i = 0; i < folds; ++i)); do
    echo "int sum$i() { int all = 0; boost::hana::for_each(All{}, [&](auto t) { all += decltype(t)::type::value; }); return all; }"
  done
}

printf '%-45s %8s %8s %8s\n' '' all headers rest
measure "$structs structs with COLDPRESS_FIELDS" coldpress/core/fields.hpp coldpress_fields
measure "$structs structs with BOOST_HANA_ADAPT_STRUCT" boost/hana/adapt_struct.hpp hana_adapt
measure "$structs structs with BOOST_HANA_DEFINE_STRUCT" boost/hana/define_struct.hpp hana_define
measure "$folds folds over $types types with for_each_type" coldpress/core/type_list.hpp own_fold
measure "$folds folds over $types types with hana::for_each" 'boost/hana/tuple.hpp boost/hana/for_each.hpp boost/hana/type.hpp' hana_fold
