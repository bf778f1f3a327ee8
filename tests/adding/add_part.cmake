# cmake -D GIT=... -D SOURCE=... -D PATCH=... -D SCRATCH=... -D TESTS=A,B ... -P add_part.cmake: a copy of SOURCE in SCRATCH with
# the patch, where TESTS are built and run.

function(run)
  execute_process(COMMAND ${ARGN} WORKING_DIRECTORY "${SCRATCH}/source" RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "adding: ${result} from: ${ARGN}")
  endif()
endfunction()

file(REMOVE_RECURSE "${SCRATCH}")
file(MAKE_DIRECTORY "${SCRATCH}/source")
file(REAL_PATH "${SCRATCH}" SCRATCH)
file(GLOB entries "${SOURCE}/*")
list(FILTER entries EXCLUDE REGEX "/build$")
file(COPY ${entries} DESTINATION "${SCRATCH}/source")

set(ENV{GIT_CEILING_DIRECTORIES} "${SCRATCH}")  # the copy is not part of the repository around it
run("${GIT}" apply -p0 -C1 "${PATCH}")

run("${CMAKE_COMMAND}" -S . -B "${SCRATCH}/build" -G "${GENERATOR}" -D "CMAKE_BUILD_TYPE=${BUILD_TYPE}" -D "CMAKE_CXX_COMPILER=${CXX}"
  -D "CMAKE_C_COMPILER=${CC}" -D "CMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER}" -D "CMAKE_CXX_FLAGS=${FLAGS}" -D COLDPRESS_CUDA=OFF
  -D COLDPRESS_BUILD_TESTS=ON -D COLDPRESS_BUILD_TOOLS=OFF -D COLDPRESS_BUILD_EXAMPLES=OFF -D COLDPRESS_BUILD_BENCHMARKS=OFF
  -D "COLDPRESS_TEST_KERNELS=${KERNELS}" -D COLDPRESS_TEST_DATA=)

string(REPLACE "," ";" tests "${TESTS}")
list(TRANSFORM tests REPLACE "\\." "_" OUTPUT_VARIABLE targets)
list(TRANSFORM targets PREPEND "test_")
run("${CMAKE_COMMAND}" --build "${SCRATCH}/build" --target ${targets})
list(TRANSFORM tests REPLACE "\\." "\\\\." OUTPUT_VARIABLE patterns)
list(JOIN patterns "|" pattern)
run("${CMAKE_CTEST_COMMAND}" --test-dir "${SCRATCH}/build" --output-on-failure --no-tests=error -R "^(${pattern})$")
