# Where NVIDIA's libraries may be, besides the places that CMake knows: in the toolkit that was found, and in Python wheels with
# folders nvidia/<library>/{include,lib}. Sets NVIDIA_HINTS, and NVIDIA_{INCLUDE,LIBRARY}_SUFFIXES for PATH_SUFFIXES.

if(NOT CUDAToolkit_FOUND)
  find_package(CUDAToolkit QUIET)
endif()
set(NVIDIA_HINTS ${CUDAToolkit_INCLUDE_DIRS} ${CUDAToolkit_LIBRARY_DIR} ${CUDAToolkit_LIBRARY_ROOT})
foreach(nvidia_prefix IN ITEMS "$ENV{VIRTUAL_ENV}" "$ENV{CONDA_PREFIX}" "$ENV{HOME}/.local" /usr/local /usr)
  if(nvidia_prefix)
    file(GLOB nvidia_wheels "${nvidia_prefix}/lib/python3*/*-packages/nvidia/*")
    list(APPEND NVIDIA_HINTS ${nvidia_wheels})
  endif()
endforeach()
set(NVIDIA_INCLUDE_SUFFIXES include)
set(NVIDIA_LIBRARY_SUFFIXES lib lib64 "lib/${CMAKE_LIBRARY_ARCHITECTURE}")
