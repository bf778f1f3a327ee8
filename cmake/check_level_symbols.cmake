# cmake -D NM=nm -D LEVEL=v3 -D "OBJECTS=a.o;b.o" -P check_level_symbols.cmake
# Passes if every function that the objects share with others (global or weak) has the level in its name, or only returns a
# constant.

cmake_minimum_required(VERSION 3.25)
set(constants "coldpress::Executor::piece_cost() const")
string(LENGTH "${LEVEL}" letters)

execute_process(COMMAND "${NM}" --demangle --defined-only --extern-only ${OBJECTS} OUTPUT_VARIABLE symbols
  COMMAND_ERROR_IS_FATAL ANY)

set(shared "")
while(symbols MATCHES "^([^\n]*)\n")
  set(line "${CMAKE_MATCH_1}")
  string(LENGTH "${CMAKE_MATCH_0}" length)
  string(SUBSTRING "${symbols}" ${length} -1 symbols)
  if(line MATCHES "^[0-9a-f]+ [TWiu] (.*)$")
    set(name "${CMAKE_MATCH_1}")
    # In names that are too long for nm to demangle, each part is preceded by its number of letters.
    if(NOT name MATCHES "(^|[^A-Za-z0-9])${LEVEL}([^A-Za-z0-9_]|$)" AND NOT name MATCHES "^_Z.*[^0-9]${letters}${LEVEL}[0-9]"
        AND NOT name IN_LIST constants)
      string(APPEND shared "  ${name}\n")
    endif()
  endif()
endwhile()

if(shared)
  message(NOTICE "compiled for ${LEVEL}, but without it in the name, so that another level or the whole program may run them:\n${shared}"
    "Put them into the namespace of the level, or let the kernels do without.")
  message(FATAL_ERROR "refused")
endif()
