# find_package(cuDNN [VERSION]): sets cuDNN_FOUND and cuDNN_VERSION, and defines coldpress::cudnn. cuDNN_ROOT is a place to look.
# At least 9.0 is needed, since when one library loads the others.

include("${CMAKE_CURRENT_LIST_DIR}/NvidiaHints.cmake")
find_path(cuDNN_INCLUDE_DIR cudnn_version.h HINTS ${NVIDIA_HINTS} PATH_SUFFIXES ${NVIDIA_INCLUDE_SUFFIXES})
find_library(cuDNN_LIBRARY NAMES cudnn libcudnn.so.9 HINTS ${NVIDIA_HINTS} PATH_SUFFIXES ${NVIDIA_LIBRARY_SUFFIXES})
mark_as_advanced(cuDNN_INCLUDE_DIR cuDNN_LIBRARY)

unset(cuDNN_VERSION)
if(cuDNN_INCLUDE_DIR)
  file(STRINGS "${cuDNN_INCLUDE_DIR}/cudnn_version.h" lines REGEX "^#define CUDNN_(MAJOR|MINOR|PATCHLEVEL) [0-9]+")
  string(REGEX MATCHALL "[0-9]+" lines "${lines}")
  list(JOIN lines "." cuDNN_VERSION)
endif()

if(cuDNN_FIND_VERSION VERSION_LESS 9.0)
  set(cuDNN_FIND_VERSION 9.0)
endif()
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(cuDNN REQUIRED_VARS cuDNN_LIBRARY cuDNN_INCLUDE_DIR VERSION_VAR cuDNN_VERSION)

if(cuDNN_FOUND AND NOT TARGET coldpress::cudnn)
  add_library(coldpress::cudnn UNKNOWN IMPORTED)
  set_target_properties(coldpress::cudnn PROPERTIES
    IMPORTED_LOCATION "${cuDNN_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${cuDNN_INCLUDE_DIR}")
endif()
