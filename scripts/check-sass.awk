# Checks machine code as cuobjdump -sass prints it, with names demangled by c++filt: what nvcc must not get wrong where
# blocks wait for each other and, with -v limits=1, how many instructions the loops of matrix products have. Prints what is
# wrong, and exits with 1 if anything is. With -v table=1 it also prints how many instructions these loops have; with
# -v library=1 there are no kernels of network types.

BEGIN {
  # The number of loads per kernel, at most, through a cache that does not see the writes of other blocks. Such loads may
  # only read tables that are never written.
  constants["RandomNormal"] = 4         # tables of sine and cosine, as in the next three
  constants["RotaryPositions"] = 7
  constants["SinusoidalPositions"] = 7
  constants["StftLoss"] = 43
  constants["ChunkedStepOf"] = 10       # a program's table of parameters (cuda/program.hpp)
  # The number of instructions in a loop over the terms of a product, by its multiply-adds, 64 or 256: at most, and on average.
  # They are what nvcc 13.0 generates for sm_90. Lower them when a change reduces the number.
  limit("Linear", 64, 81, 78)
  limit("Linear", 256, 856, 628)
  limit("TiedLinear", 64, 77, 77)
  limit("TiedLinear", 256, 599, 588)
  limit("Convolution", 64, 77, 77)
  limit("Convolution", 256, 1673, 1202)
  limit("OfVolumes", 64, 77, 77)  # both convolutions of volumes
  limit("OfVolumes", 256, 2242, 1424)
  limit("Rnn", 256, 892, 758)
  if (!library) {  # passes of network types
    limit("ForwardOf", 256, 771, 494)
    limit("StepOf", 64, 81, 81)
    limit("StepOf", 256, 854, 598)
    limit("ChunkedStepOf", 64, 85, 83)
    limit("ChunkedStepOf", 256, 576, 573)
  }
  subjects = split("RandomNormal RotaryPositions SinusoidalPositions StftLoss ChunkedStepOf StepOf ForwardOf OfVolumes TiedLinear Linear Convolution Rnn", subject_of, " ")
  near = 12  # instructions from a fence to what it is for, at most
}

function limit(name, adds, any, mean) {
  groups[++group_count] = name SUBSEP adds
  most[name, adds] = any
  means[name, adds] = mean
}
function hex(text,   i, n) {
  for (i = 3; i <= length(text); ++i) n = n * 16 + index("0123456789abcdef", substr(text, i, 1)) - 1
  return n
}
function wrong(what) {
  print kernel ": " what
  ++faults
}
# Whether an instruction that matches is near instruction n, in steps of 1 or -1, with none in between that must not be there.
function has_fence(pattern, number, step, between,   i) {
  for (i = number + step; i > 0 && i <= count && i != number + step * near; i += step) {
    if (text[i] ~ pattern) return 1
    if (text[i] ~ between) return 0
  }
  return 0
}
# The part of a kernel's name that identifies it: the layer, or the pass.
function subject(   i) {
  for (i = 1; i <= subjects; ++i)
    if (kernel ~ "[:<]" subject_of[i] "[,<> ]") return subject_of[i]
  return ""
}
function judge(   i, j, k, name, adds, inner, size) {
  name = subject()
  if (loads > constants[name] + 0)
    wrong(loads " loads through the cache of constants, of at most " constants[name] + 0)
  for (i = 1; i <= count; ++i) {
    if (text[i] ~ /UCGABAR_ARV|(ATOMG|REDG?)\..*STRONG\.GPU/ && !has_fence("MEMBAR\\.ALL\\.GPU", i, -1, "STG?\\.|REDG?\\."))
      wrong("no MEMBAR before " text[i])
    if (text[i] ~ /UCGABAR_WAIT|(ATOMG|LDG)\..*STRONG\.GPU/ && !has_fence("CCTL\\.IVALL", i, 1, "LDG?\\."))
      wrong("no CCTL.IVALL after " text[i])
    if (text[i] ~ /UCGABAR_ARV/) ++arrivals
    if (text[i] ~ /UCGABAR_WAIT/) ++waits
  }
  # A loop begins at the target of a backward jump. It is the innermost loop of a product if its multiply-adds are those of
  # a panel or of a quarter of one.
  for (i = 1; i <= loops; ++i) {
    adds = fused[last[i]] - fused[first[i] - 1]; size = last[i] - first[i] + 1
    if (adds != 64 && adds != 256) continue
    inner = 1
    for (j = 1; j <= loops; ++j)
      if (j != i && first[j] >= first[i] && last[j] <= last[i] && fused[last[j]] - fused[first[j] - 1] >= 64) inner = 0
    if (!inner || !((name, adds) in most)) continue
    ++products[name, adds]; sizes[name, adds] += size
    if (size > largest[name, adds]) largest[name, adds] = size
    if (limits && size > most[name, adds])
      wrong("a loop of a product has " size " instructions for " adds " multiply-adds; the limit is " most[name, adds])
  }
}
function reset() {
  split("", text); split("", at); split("", fused)
  count = loads = loops = 0
}

/Function : / {
  if (kernel != "") judge()
  reset()
  sub(/.*Function : /, "")
  kernel = $0
  sub(/^void coldpress::cuda::run</, "", kernel)
  next
}
/^[ \t]*\/\*[0-9a-f]+\*\/ +[^ ]/ {
  address = $1; instruction = $0
  gsub(/[\/*]/, "", address)
  sub(/^[ \t]*\/\*[0-9a-f]+\*\/ +/, "", instruction)
  sub(/ *;.*/, "", instruction)
  text[++count] = instruction; at[hex("0x" address)] = count
  fused[count] = fused[count - 1] + (instruction ~ /FFMA/)
  loads += instruction ~ /LDG.*CONSTANT/
  if (instruction ~ /BRA.* 0x[0-9a-f]+$/) {
    target = hex($NF ~ /^0x/ ? $NF : substr(instruction, match(instruction, /0x[0-9a-f]+$/)))
    if (target in at) { first[++loops] = at[target]; last[loops] = count }
  }
}
END {
  if (kernel != "") judge()
  for (i = 1; i <= group_count; ++i) {
    group = groups[i]
    split(group, part, SUBSEP)
    if (!(group in products)) {
      if (!limits) continue
      print "no loop of " part[1] " with " part[2] " multiply-adds was found; has it another form now?"
      ++faults
      continue
    }
    mean = sizes[group] / products[group]
    if (table)
      printf "%-14s %4d multiply-adds: %3d loops, %6.1f instructions in the mean, %4d at most\n", part[1], part[2],
        products[group], mean, largest[group]
    if (limits && mean > means[group]) {
      printf "loops of %s for %d multiply-adds have %.1f instructions in the mean; the limit is %d\n", part[1], part[2],
        mean, means[group]
      ++faults
    }
  }
  if (arrivals != waits) {
    print arrivals + 0 " arrivals at barriers of a cluster, and " waits + 0 " waits"
    ++faults
  }
  exit faults > 0
}
