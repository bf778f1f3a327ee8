# cmake -D OUTPUT=FILE -D TESTS=FOLDER/TEST.cpp,... -P: writes one source of several tests, first what they include and then each test
# in a namespace of its own. A test that is written in a namespace of coldpress finds there what that namespace has.
string(REPLACE "," ";" tests "${TESTS}")
set(headers "")
set(namespaces "")
foreach(test IN LISTS tests)
  string(MAKE_C_IDENTIFIER "${test}" name)
  string(APPEND namespaces "namespace ${name} {\n")
  file(STRINGS "${CMAKE_CURRENT_LIST_DIR}/${test}" lines REGEX "^(#include |namespace coldpress)")
  foreach(line IN LISTS lines)
    if(line MATCHES "^namespace coldpress {")
      message(FATAL_ERROR "${test}: what is compiled together with other tests may be in a namespace below coldpress, but not in "
        "coldpress itself; tests/CMakeLists.txt says which tests are left apart")
    elseif(line MATCHES "^namespace coldpress::([a-z_:]+)")
      string(APPEND namespaces "namespace coldpress { using namespace ::coldpress; }\n"
        "namespace coldpress::${CMAKE_MATCH_1} { using namespace ::coldpress::${CMAKE_MATCH_1}; }\n")
    else()
      list(APPEND headers "${line}")
    endif()
  endforeach()
  string(APPEND namespaces "#include \"${test}\"\n}\n")
endforeach()
list(REMOVE_DUPLICATES headers)
list(JOIN headers "\n" headers)
file(CONFIGURE OUTPUT "${OUTPUT}" CONTENT "${headers}\n${namespaces}" @ONLY)  # is not written again where it would be the same
