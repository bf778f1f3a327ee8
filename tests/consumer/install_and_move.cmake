# Installs BUILD and moves the result to PREFIX, so that an absolute path left in the package would be found out.
file(REMOVE_RECURSE "${PREFIX}" "${PREFIX}-before")
execute_process(COMMAND "${CMAKE_COMMAND}" --install "${BUILD}" --config "${CONFIG}" --prefix "${PREFIX}-before"
  OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
file(RENAME "${PREFIX}-before" "${PREFIX}")

# Every config of the examples is there.
cmake_path(GET CMAKE_CURRENT_LIST_DIR PARENT_PATH tests)
cmake_path(GET tests PARENT_PATH source)
file(GLOB configs RELATIVE "${source}" "${source}/examples/configs/*")
foreach(config IN LISTS configs)
  file(GLOB_RECURSE installed "${PREFIX}/*/coldpress/${config}")
  if(NOT installed)
    message(FATAL_ERROR "${config} is not installed")
  endif()
endforeach()
if(NOT configs)
  message(FATAL_ERROR "${source} has no examples/configs")
endif()
