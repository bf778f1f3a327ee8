# Settings for coldpress's own build, which do not apply to a project that adds coldpress as a folder.

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release, RelWithDebInfo or MinSizeRel" FORCE)
endif()

set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# By default g++ collects garbage from 128 MB on, many times in files with many networks, which takes a seventh of its time. From
# 1 GB on, most files take half as much memory again; the largest tests take 2.3 GB each, whatever the number of jobs.
add_compile_options("$<$<COMPILE_LANG_AND_ID:CXX,GNU>:--param=ggc-min-heapsize=1048576>")

# ccache keeps what was compiled, for this build folder and for others.
if(NOT CMAKE_CXX_COMPILER_LAUNCHER)
  find_program(COLDPRESS_CCACHE ccache)
  mark_as_advanced(COLDPRESS_CCACHE)
  if(COLDPRESS_CCACHE)  # fails if it has no folder to write to
    execute_process(COMMAND "${COLDPRESS_CCACHE}" "${CMAKE_CXX_COMPILER}" -c -x c++ /dev/null -o "${PROJECT_BINARY_DIR}/ccache_works.o"
      RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
  endif()
  if(COLDPRESS_CCACHE AND NOT failed)
    set(CMAKE_CXX_COMPILER_LAUNCHER "${PROJECT_SOURCE_DIR}/cmake/ccache.sh")
  endif()
endif()
