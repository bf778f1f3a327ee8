# cmake -D NM=nm -D OBJCOPY=objcopy -D LEVEL=v3 -D "OBJECTS=a.o;b.o" -D "OUTPUTS=a.v3.o;b.v3.o" -P name_level.cmake
# Copies the objects. Inline functions without the level in their names, of which the linker would keep that of any object in the
# program, get it as a suffix: each level then calls its own.

cmake_minimum_required(VERSION 3.25)
string(LENGTH "${LEVEL}" letters)  # in a function's name, a number of letters precedes each part

foreach(object output IN ZIP_LISTS OBJECTS OUTPUTS)
  cmake_path(GET output PARENT_PATH folder)
  file(MAKE_DIRECTORY "${folder}")
  execute_process(COMMAND "${NM}" --defined-only --extern-only "${object}" OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "[0-9a-f]+ W [^\n]+" functions "${symbols}")
  list(FILTER functions EXCLUDE REGEX "[^0-9]${letters}${LEVEL}")
  list(TRANSFORM functions REPLACE "[0-9a-f]+ W (.+)" "\\1 \\1.${LEVEL}")
  list(JOIN functions "\n" names)
  file(WRITE "${output}.names" "${names}\n")
  execute_process(COMMAND "${OBJCOPY}" "--redefine-syms=${output}.names" "${object}" "${output}" COMMAND_ERROR_IS_FATAL ANY)
endforeach()
