# cmake -D CONFIG=... -D MODEL=... -D TYPE=... -P compare_exported.cmake: the type that was exported must print what the config computes.

execute_process(COMMAND "${CONFIG}" --outputs "${MODEL}" OUTPUT_VARIABLE expected COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND "${TYPE}" OUTPUT_VARIABLE found COMMAND_ERROR_IS_FATAL ANY)
if(expected STREQUAL "" OR NOT found STREQUAL expected)
  message(FATAL_ERROR "embedded: the exported type computes\n${found}and the config\n${expected}")
endif()
