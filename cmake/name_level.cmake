# cmake -D NM=nm -D OBJCOPY=objcopy -D LEVEL=v3 -D "OBJECTS=a.o;b.o" -D "OUTPUTS=a.v3.o;b.v3.o" -P name_level.cmake
# Copies the objects. Inline functions without the level in their names, of which the linker would keep that of any object in the
# program, get it as a suffix: each level then calls its own.

cmake_minimum_required(VERSION 3.25)
string(LENGTH "${LEVEL}" letters)  # which precede a name in what the compiler makes of it

foreach(object output IN ZIP_LISTS OBJECTS OUTPUTS)
  execute_process(COMMAND "${NM}" --defined-only --extern-only "${object}" OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "[0-9a-f]+ W [^\n]+" functions "${symbols}")
  list(FILTER functions EXCLUDE REGEX "[^0-9]${letters}${LEVEL}[^0-9]")
  list(TRANSFORM functions REPLACE "[0-9a-f]+ W (.+)" "\\1 \\1.${LEVEL}")
  list(JOIN functions "\n" names)
  file(WRITE "${output}.names" "${names}\n")
  execute_process(COMMAND "${OBJCOPY}" "--redefine-syms=${output}.names" "${object}" "${output}" COMMAND_ERROR_IS_FATAL ANY)
endforeach()
