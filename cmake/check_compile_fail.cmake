# cmake -D COMPILER=... -D SOURCE=... -D FLAGS="..." -D FAMILY=gcc|clang -D LINES=12 -D ONE_ERROR=-fmax-errors=1
#   -P check_compile_fail.cmake
# Passes if SOURCE does not compile and the compiler prints each text that the leading lines "// error: TEXT" name, in at
# most LINES lines of output, none of which contains the list of built-in layers, and prints the first text also with
# ONE_ERROR, a flag that stops it at the first error. "// lines gcc: N" or "// lines clang: N" after these lines is
# another limit for compilers of that FAMILY; "// only gcc: TEXT" is a text for it.

function(refuse sentence)
  message(NOTICE "${sentence}")  # printed unwrapped; FATAL_ERROR would wrap it
  message(FATAL_ERROR "refused")
endfunction()

file(READ "${SOURCE}" source)
set(expected_count 0)
while(source MATCHES "^// error: ([^\n]+)\n")
  set(expected_${expected_count} "${CMAKE_MATCH_1}")
  math(EXPR expected_count "${expected_count} + 1")
  string(LENGTH "${CMAKE_MATCH_0}" length)
  string(SUBSTRING "${source}" ${length} -1 source)
endwhile()
if(expected_count EQUAL 0)
  refuse("${SOURCE}: the first line must be '// error: TEXT'")
endif()
while(source MATCHES "^// (lines|only) (gcc|clang): ([^\n]+)\n")
  if(CMAKE_MATCH_2 STREQUAL FAMILY)
    if(CMAKE_MATCH_1 STREQUAL "lines")
      set(LINES ${CMAKE_MATCH_3})
    else()
      set(expected_${expected_count} "${CMAKE_MATCH_3}")
      math(EXPR expected_count "${expected_count} + 1")
    endif()
  endif()
  string(LENGTH "${CMAKE_MATCH_0}" length)
  string(SUBSTRING "${source}" ${length} -1 source)
endwhile()

separate_arguments(flags UNIX_COMMAND "${FLAGS}")
set(ENV{LC_ALL} C)
# Compiles SOURCE with further flags. g++ writes a quotation mark in a template argument as \'.
function(compile out out_status)
  execute_process(COMMAND "${COMPILER}" -std=c++20 -fsyntax-only -fdiagnostics-color=never ${ARGN} ${flags} "${SOURCE}"
    RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  string(REPLACE "\\'" "'" output "${output}")
  set(${out} "${output}" PARENT_SCOPE)
  set(${out_status} "${status}" PARENT_SCOPE)
endfunction()
compile(output status)

if(status EQUAL 0)
  refuse("${SOURCE}: it compiles, but must not")
endif()
if(NOT output MATCHES "error: ")
  refuse("${COMPILER} failed without an error (status ${status}):\n${output}")
endif()

math(EXPR last "${expected_count} - 1")
foreach(i RANGE ${last})
  string(FIND "${output}" "${expected_${i}}" position)
  if(position EQUAL -1)
    refuse("${SOURCE}: the compiler does not print '${expected_${i}}' but:\n${output}")
  endif()
endforeach()

string(REGEX MATCHALL "\n" newlines "${output}")
list(LENGTH newlines count)
message(NOTICE "${count} lines of at most ${LINES}")
if(count GREATER LINES)
  refuse("${SOURCE}: the compiler prints ${count} lines, more than ${LINES}:\n${output}")
endif()
# Two layers that stand one after the other in the list only.
if(output MATCHES "LeakyReLU, *(coldpress::)?Exponential")
  refuse("${SOURCE}: the compiler prints the list of built-in layers:\n${output}")
endif()

string(REGEX MATCHALL "error: " errors "${output}")
list(LENGTH errors count)
if(count EQUAL 1)  # which is what the compiler prints with ONE_ERROR, too
  return()
endif()
compile(output status ${ONE_ERROR})
string(FIND "${output}" "${expected_0}" position)
if(position EQUAL -1)
  refuse("${SOURCE}: with ${ONE_ERROR} the compiler does not print '${expected_0}' but:\n${output}")
endif()
