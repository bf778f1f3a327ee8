# 64-bit Arm on Debian: the cross compiler, and qemu-user to run its programs. Libraries' headers are those of the building
# machine; there are no compiled libraries, so components that need some are left out.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_CROSSCOMPILING_EMULATOR "qemu-aarch64;-L;/usr/aarch64-linux-gnu")

set(CMAKE_FIND_ROOT_PATH /usr/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE BOTH)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE BOTH)
file(GLOB header_only "/usr/lib/*-linux-gnu/cmake/xtensor" "/usr/lib/*-linux-gnu/cmake/xtensor-blas" "/usr/lib/*-linux-gnu/cmake/xtl")
foreach(package IN LISTS header_only)
  get_filename_component(name "${package}" NAME)
  set(${name}_DIR "${package}" CACHE PATH "Header-only")
endforeach()
