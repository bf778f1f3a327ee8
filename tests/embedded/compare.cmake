# cmake -D HOST=... -D BOARD=... -D MACHINE=... -D QEMU=... -D CXX=... -P compare.cmake: runs the program on the host and on the board MACHINE. Their outputs
# must be equal, the program must have neither a heap nor exceptions, and its weights must be among its constants.

execute_process(COMMAND "${HOST}" OUTPUT_VARIABLE on_host COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND "${QEMU}" -machine "${MACHINE}" -nographic -semihosting -kernel "${BOARD}"
  OUTPUT_VARIABLE on_board ERROR_VARIABLE on_board TIMEOUT 600 RESULT_VARIABLE result)
if(NOT result EQUAL 0 OR on_host STREQUAL "" OR NOT on_board STREQUAL on_host)
  message(FATAL_ERROR "embedded: the board ended with ${result}. Its outputs:\n${on_board}Those of the host:\n${on_host}")
endif()

string(REGEX REPLACE "g\\+\\+$" "nm" nm "${CXX}")
execute_process(COMMAND "${nm}" "${BOARD}" OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[^\n]* (_?malloc|_?sbrk|_Zn[aw][^\n]*|_Zd[al][^\n]*|__cxa_throw|_ZNSt8ios_base[^\n]*)\n" unwanted "${symbols}\n")
if(unwanted)
  message(FATAL_ERROR "embedded: the program has a heap, exceptions or streams:\n${unwanted}")
endif()
if(NOT symbols MATCHES "(^|\n)0[0-9a-f]* [tTrR] _ZN8embeddedL7weightsE\n")
  message(FATAL_ERROR "embedded: the weights are not among the constants of the program, which begin at 0:\n${symbols}")
endif()
