# find_package(NCCL [VERSION]): sets NCCL_FOUND and NCCL_VERSION, and defines coldpress::nccl. NCCL_ROOT is a place to look.

include("${CMAKE_CURRENT_LIST_DIR}/NvidiaHints.cmake")
find_path(NCCL_INCLUDE_DIR nccl.h HINTS ${NVIDIA_HINTS} PATH_SUFFIXES ${NVIDIA_INCLUDE_SUFFIXES})
find_library(NCCL_LIBRARY NAMES nccl libnccl.so.2 HINTS ${NVIDIA_HINTS} PATH_SUFFIXES ${NVIDIA_LIBRARY_SUFFIXES})
mark_as_advanced(NCCL_INCLUDE_DIR NCCL_LIBRARY)

unset(NCCL_VERSION)
if(NCCL_INCLUDE_DIR)
  file(STRINGS "${NCCL_INCLUDE_DIR}/nccl.h" lines REGEX "^#define NCCL_VERSION_CODE [0-9]+")
  if(lines MATCHES " ([0-9]+)([0-9][0-9])([0-9][0-9])$")  # the format since 2.9
    string(REGEX REPLACE "\\.0" "." NCCL_VERSION "${CMAKE_MATCH_1}.${CMAKE_MATCH_2}.${CMAKE_MATCH_3}")
  endif()
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(NCCL REQUIRED_VARS NCCL_LIBRARY NCCL_INCLUDE_DIR VERSION_VAR NCCL_VERSION)

if(NCCL_FOUND AND NOT TARGET coldpress::nccl)
  add_library(coldpress::nccl UNKNOWN IMPORTED)
  set_target_properties(coldpress::nccl PROPERTIES
    IMPORTED_LOCATION "${NCCL_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${NCCL_INCLUDE_DIR}")
endif()
