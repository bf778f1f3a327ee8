# cmake -D COMPILER=... -D SOURCE=... -D FLAGS="..." [-D FIRST_ERROR_WITHIN=20] -P check_compile_fail.cmake
# Passes if SOURCE does not compile and the compiler prints each text that the leading lines "// error: TEXT" name.
# FIRST_ERROR_WITHIN is the last output line on which the first error may be.

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

separate_arguments(flags UNIX_COMMAND "${FLAGS}")
set(ENV{LC_ALL} C)
execute_process(COMMAND "${COMPILER}" -std=c++20 -fsyntax-only -fdiagnostics-color=never ${flags} "${SOURCE}"
  RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)

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

if(FIRST_ERROR_WITHIN)
  string(FIND "${output}" "error: " position)
  string(SUBSTRING "${output}" 0 ${position} before)
  string(REGEX REPLACE "[^\n]" "" newlines "${before}")
  string(LENGTH "${newlines}" line)
  math(EXPR line "${line} + 1")
  if(line GREATER FIRST_ERROR_WITHIN)
    refuse("${SOURCE}: the first error is on line ${line} of the output, later than ${FIRST_ERROR_WITHIN}:\n${output}")
  endif()
endif()
