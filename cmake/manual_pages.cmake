# Makes the manual pages of the command and of each of its commands from their --help, with help2man.
# Usage: cmake -D COMMAND=... -D HELP2MAN=... -D FOLDER=... -P manual_pages.cmake

cmake_minimum_required(VERSION 3.25)

execute_process(COMMAND "${COMMAND}" --version OUTPUT_VARIABLE version OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
string(REGEX REPLACE ".* " "" version "${version}")
file(REMOVE_RECURSE "${FOLDER}")
file(MAKE_DIRECTORY "${FOLDER}")

# A page is called after the program that help2man runs, so each has a link of its own for that time.
function(make_page name meaning words)
  list(JOIN words " " arguments)
  set(link "${FOLDER}/${name}")
  file(CREATE_LINK "${COMMAND}" "${link}" SYMBOLIC)
  execute_process(COMMAND "${HELP2MAN}" --no-info "--name=${meaning}" "--version-string=${version}"
    "--help-option=${arguments} --help" "--output=${link}.1" "${link}" COMMAND_ERROR_IS_FATAL ANY)
  file(REMOVE "${link}")

  execute_process(COMMAND "${COMMAND}" ${words} --help OUTPUT_VARIABLE help COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX REPLACE ";" "," help "${help}")
  string(REGEX REPLACE ".*\nSubcommands:\n" "" commands "${help}\n")
  if(commands STREQUAL "${help}\n")
    return()
  endif()
  string(REGEX REPLACE "\n\n.*" "" commands "${commands}")
  string(REPLACE "\n" ";" commands "${commands}")
  foreach(line IN LISTS commands)
    if(line MATCHES "^  ([a-z-]+)  +(.+)$")
      set(inner ${words} ${CMAKE_MATCH_1})
      make_page("${name}-${CMAKE_MATCH_1}" "${CMAKE_MATCH_2}" "${inner}")
    endif()
  endforeach()
endfunction()

make_page(coldpress "neural networks in files" "")
