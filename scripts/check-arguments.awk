# Writes a C++ file with the sizes and alignments of kernel arguments from PTX whose names are demangled by c++filt. The file
# compiles if the host's compiler finds the same sizes and alignments.

BEGIN {
  print "#include \"bodies.hpp\""
  print "#include <coldpress/cuda.hpp>"
  print "template <class Kernel>\nstruct Takes;"
  print "template <class Grid, class Body>\nstruct Takes<void(Grid, Body)> {"
  print "  static constexpr bool grid(unsigned long align, unsigned long size) { return align == alignof(Grid) && size == sizeof(Grid); }"
  print "  static constexpr bool body(unsigned long align, unsigned long size) { return align == alignof(Body) && size == sizeof(Body); }"
  print "};"
}
/^\.visible \.entry/ {
  kernel = $0
  sub(/^\.visible \.entry void coldpress::cuda::run<.*>\(coldpress::Grid, /, "void(coldpress::Grid, ", kernel)
  sub(/\($/, "", kernel)
  name[++kernels] = kernel; numbers = 0
  next
}
/^[ \t]*\.param \.align/ && numbers < 2 {
  match($0, /\.align [0-9]+/)
  align = substr($0, RSTART + 7, RLENGTH - 7)
  match($0, /\[[0-9]+\],?$/)
  size = substr($0, RSTART + 1); sub(/\],?$/, "", size)
  printf "static_assert(Takes<%s>::%s(%d, %d));\n", name[kernels], numbers++ == 0 ? "grid" : "body", align, size
  ++checked
}
END {
  print "static_assert(" checked + 0 " == 2 * " kernels + 0 " && " kernels + 0 " > 0);"
}
