# What coldpress needs from the system. Nothing is downloaded. A missing package stops coldpress's own build with the name to
# install; inside another project, only the components that need the package are left out.

# Imported targets must be visible in a project that added coldpress as a folder.
set(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL ON)

macro(coldpress_find result package target debian_package)
  find_package(${package} QUIET)
  set(${result} TRUE)
  if(NOT TARGET ${target})
    set(${result} FALSE)
    if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_CROSSCOMPILING)
      message(FATAL_ERROR "coldpress: ${package} was not found. On Debian and Ubuntu: apt install ${debian_package}, \
or run scripts/install-deps.sh for all packages at once.")
    endif()
    message(STATUS "coldpress: ${package} was not found; components that need it are left out")
  endif()
endmacro()

# With static libraries, programs also start on distributions where the libraries are different or missing.
option(COLDPRESS_STATIC_DEPENDENCIES "Link zlib, Cap'n Proto and BLAS as archives" OFF)
if(COLDPRESS_STATIC_DEPENDENCIES)
  set(ZLIB_USE_STATIC_LIBS ON)
  set(BLA_STATIC ON)
endif()

coldpress_find(COLDPRESS_HAS_BOOST Boost Boost::headers libboost-dev)
if(NOT COLDPRESS_HAS_BOOST)
  message(FATAL_ERROR "coldpress: the headers of Boost (Hana) are needed. On Debian and Ubuntu: apt install libboost-dev")
endif()

coldpress_find(COLDPRESS_HAS_XTENSOR xtensor xtensor libxtensor-dev)
coldpress_find(COLDPRESS_HAS_BLAS BLAS BLAS::BLAS libopenblas-dev)
coldpress_find(COLDPRESS_HAS_ZLIB ZLIB ZLIB::ZLIB zlib1g-dev)
# Cap'n Proto's package asks pkg-config for the location of its libraries.
coldpress_find(COLDPRESS_HAS_CAPNP CapnProto CapnProto::capnpc "capnproto libcapnp-dev pkg-config")
if(COLDPRESS_STATIC_DEPENDENCIES AND COLDPRESS_HAS_CAPNP)
  foreach(library kj capnp capnpc)
    get_target_property(location CapnProto::${library} IMPORTED_LOCATION)
    get_filename_component(folder "${location}" DIRECTORY)
    set(archive "${folder}/lib${library}.a")
    if(NOT EXISTS "${archive}")
      message(FATAL_ERROR "coldpress: COLDPRESS_STATIC_DEPENDENCIES is ON, but there is no ${archive}")
    endif()
    set_target_properties(CapnProto::${library} PROPERTIES IMPORTED_LOCATION "${archive}")
  endforeach()
  # The order of static libraries matters.
  set_property(TARGET CapnProto::capnpc APPEND PROPERTY INTERFACE_LINK_LIBRARIES CapnProto::capnp)
  set_property(TARGET CapnProto::capnp APPEND PROPERTY INTERFACE_LINK_LIBRARIES CapnProto::kj)
endif()

if(COLDPRESS_HAS_BLAS)
  coldpress_find(COLDPRESS_HAS_XTENSOR_BLAS xtensor-blas xtensor-blas libxtensor-blas-dev)
else()  # as for a foreign processor: xtensor computes by itself, but its package would require BLAS
  find_path(COLDPRESS_XTENSOR_BLAS_INCLUDE xtensor-blas/xblas.hpp)
  mark_as_advanced(COLDPRESS_XTENSOR_BLAS_INCLUDE)
  set(COLDPRESS_HAS_XTENSOR_BLAS ${COLDPRESS_XTENSOR_BLAS_INCLUDE})
endif()

find_package(Threads REQUIRED)

# These libraries are optional, and are used as shared ones of this machine. Their archives would need many others.
set(coldpress_optional TRUE)
if(COLDPRESS_STATIC_DEPENDENCIES OR CMAKE_CROSSCOMPILING)
  set(coldpress_optional FALSE)
endif()
# Sets <result> to whether all targets are there, and says what coldpress does without them.
function(coldpress_find_optional result libraries without packages)
  set(found ${coldpress_optional})
  foreach(target IN LISTS ARGN)
    if(NOT TARGET ${target})
      set(found FALSE)
    endif()
  endforeach()
  set(${result} ${found} PARENT_SCOPE)
  if(NOT coldpress_optional)
    message(STATUS "coldpress: ${without}, because ${libraries} would have to be a shared library of this machine")
  elseif(NOT found)
    message(STATUS "coldpress: ${libraries} was not found; ${without} (Debian and Ubuntu: ${packages})")
  endif()
endfunction()

if(coldpress_optional)
  find_package(HDF5 QUIET COMPONENTS C)
  find_package(Protobuf QUIET)
  find_package(PNG QUIET)
  find_package(JPEG QUIET)
  find_package(MPI QUIET COMPONENTS C)
  find_package(PkgConfig QUIET)
  if(PKG_CONFIG_FOUND)  # which alone finds libsndfile everywhere
    pkg_check_modules(SNDFILE QUIET IMPORTED_TARGET GLOBAL sndfile)
  endif()
endif()
coldpress_find_optional(COLDPRESS_HAS_HDF5 HDF5 "coldpress::hdf5 is left out" libhdf5-dev hdf5::hdf5)
coldpress_find_optional(COLDPRESS_HAS_PROTOBUF protobuf "coldpress::convert is built without Caffe's and ONNX's files"
  "libprotobuf-dev protobuf-compiler" protobuf::libprotobuf-lite protobuf::protoc)
coldpress_find_optional(COLDPRESS_HAS_IMAGES "libpng or libjpeg" "coldpress::images is left out" "libpng-dev libjpeg-dev"
  PNG::PNG JPEG::JPEG)
coldpress_find_optional(COLDPRESS_HAS_SOUND libsndfile "coldpress::sound is left out" libsndfile1-dev PkgConfig::SNDFILE)
coldpress_find_optional(COLDPRESS_HAS_MPI MPI "the ranks of coldpress::distributed are threads of one process"
  libopenmpi-dev MPI::MPI_C)

# NCCL's header alone, since its library and CUDA's runtime are loaded when a program first asks for ranks with NCCL.
set(COLDPRESS_HAS_NCCL FALSE)
if(coldpress_optional)
  find_path(COLDPRESS_NCCL_INCLUDE nccl.h PATHS /usr/local/cuda/include)
  find_path(COLDPRESS_CUDART_INCLUDE cuda_runtime_api.h PATHS /usr/local/cuda/include)
  mark_as_advanced(COLDPRESS_NCCL_INCLUDE COLDPRESS_CUDART_INCLUDE)
  if(COLDPRESS_NCCL_INCLUDE AND COLDPRESS_CUDART_INCLUDE)
    set(COLDPRESS_HAS_NCCL TRUE)
  endif()
endif()

# So is nlohmann-json optional, of which nothing but headers is used: without it, models of Neural Amp Modeler cannot be read.
find_package(nlohmann_json 3.11 QUIET)
set(COLDPRESS_HAS_JSON FALSE)
if(TARGET nlohmann_json::nlohmann_json)
  set(COLDPRESS_HAS_JSON TRUE)
else()
  message(STATUS "coldpress: nlohmann-json was not found; coldpress::convert is built without the .nam files of Neural Amp Modeler \
(Debian and Ubuntu: nlohmann-json3-dev)")
endif()

set(COLDPRESS_HAS_REFERENCE FALSE)
if(COLDPRESS_HAS_XTENSOR AND COLDPRESS_HAS_XTENSOR_BLAS)
  set(COLDPRESS_HAS_REFERENCE TRUE)
endif()
