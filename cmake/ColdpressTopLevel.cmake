# Habits of our own build, which a project that adds coldpress as a folder is spared.

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release, RelWithDebInfo or MinSizeRel" FORCE)
endif()

set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# g++ collects its garbage from 128 MB on, many times in files of many networks: a seventh of its time. From 1 GB on, most files
# take half as much memory again; the largest tests take 2.3 GB each, whatever the number of jobs.
add_compile_options("$<$<COMPILE_LANG_AND_ID:CXX,GNU>:--param=ggc-min-heapsize=1048576>")

# What was compiled is kept, but for what includes precompiled headers, as ccache comes. It could be told to keep that, too; but
# precompiled headers that it brings from another build folder make g++ read headers twice.
if(NOT CMAKE_CXX_COMPILER_LAUNCHER)
  find_program(COLDPRESS_CCACHE ccache)
  mark_as_advanced(COLDPRESS_CCACHE)
  if(COLDPRESS_CCACHE)  # which fails where it has no folder to write to
    execute_process(COMMAND "${COLDPRESS_CCACHE}" "${CMAKE_CXX_COMPILER}" -c -x c++ /dev/null -o "${PROJECT_BINARY_DIR}/ccache_works.o"
      RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
  endif()
  if(COLDPRESS_CCACHE AND NOT failed)
    set(CMAKE_CXX_COMPILER_LAUNCHER "${COLDPRESS_CCACHE}")
  endif()
endif()
