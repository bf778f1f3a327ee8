# cmake -D STRIP=strip -D NM=nm -D PROGRAM=a.out -D COPY=b.out -D LIMIT=4000000 -D WITHOUT=REGEX -P check_size.cmake
# Passes if the stripped program has at most LIMIT bytes (if LIMIT is empty, any number), and no name in it matches WITHOUT.

cmake_minimum_required(VERSION 3.25)
execute_process(COMMAND "${NM}" --demangle "${PROGRAM}" OUTPUT_VARIABLE names COMMAND_ERROR_IS_FATAL ANY)
if(names MATCHES "(${WITHOUT})[^\n]*")  # a prefix in the pattern would make the search start at each letter
  message(FATAL_ERROR "${PROGRAM} links what it does not use: ${CMAKE_MATCH_0}")
endif()

execute_process(COMMAND "${STRIP}" -o "${COPY}" "${PROGRAM}" COMMAND_ERROR_IS_FATAL ANY)
file(SIZE "${COPY}" size)
file(REMOVE "${COPY}")
if(LIMIT STREQUAL "")
  set(LIMIT "none")
elseif(size GREATER LIMIT)
  message(FATAL_ERROR "${PROGRAM} has ${size} bytes, stripped; the limit is ${LIMIT}")
endif()
message(STATUS "${size} bytes, stripped; the limit is ${LIMIT}")
