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

# HDF5 is optional everywhere: without it, data in HDF5 files cannot be read. Debian's archive of it needs many others.
set(COLDPRESS_HAS_HDF5 FALSE)
if(COLDPRESS_STATIC_DEPENDENCIES OR CMAKE_CROSSCOMPILING)
  message(STATUS "coldpress: coldpress::hdf5 is left out, because it needs HDF5 as a shared library of this machine")
else()
  find_package(HDF5 QUIET COMPONENTS C)
  if(TARGET hdf5::hdf5)
    set(COLDPRESS_HAS_HDF5 TRUE)
  else()
    message(STATUS "coldpress: HDF5 was not found; coldpress::hdf5 is left out (Debian and Ubuntu: libhdf5-dev)")
  endif()
endif()

# Protobuf is optional, too: without it, Caffe's models cannot be read.
set(COLDPRESS_HAS_PROTOBUF FALSE)
if(COLDPRESS_STATIC_DEPENDENCIES OR CMAKE_CROSSCOMPILING)
  message(STATUS "coldpress: coldpress::convert is built without Caffe's files, which need protobuf of this machine")
else()
  find_package(Protobuf QUIET)
  if(TARGET protobuf::libprotobuf-lite AND TARGET protobuf::protoc)
    set(COLDPRESS_HAS_PROTOBUF TRUE)
  else()
    message(STATUS "coldpress: protobuf was not found; coldpress::convert is built without Caffe's files (Debian and \
Ubuntu: libprotobuf-dev protobuf-compiler)")
  endif()
endif()

# So is nlohmann-json, of which nothing but headers is used: without it, models of Neural Amp Modeler cannot be read.
find_package(nlohmann_json 3.11 QUIET)
set(COLDPRESS_HAS_JSON FALSE)
if(TARGET nlohmann_json::nlohmann_json)
  set(COLDPRESS_HAS_JSON TRUE)
else()
  message(STATUS "coldpress: nlohmann-json was not found; coldpress::convert is built without the .nam files of Neural Amp Modeler \
(Debian and Ubuntu: nlohmann-json3-dev)")
endif()

# So are libpng and libjpeg: without them, pictures cannot be read.
set(COLDPRESS_HAS_IMAGES FALSE)
if(COLDPRESS_STATIC_DEPENDENCIES OR CMAKE_CROSSCOMPILING)
  message(STATUS "coldpress: coldpress::images is left out, because it needs libpng and libjpeg as shared libraries of this machine")
else()
  find_package(PNG QUIET)
  find_package(JPEG QUIET)
  if(TARGET PNG::PNG AND TARGET JPEG::JPEG)
    set(COLDPRESS_HAS_IMAGES TRUE)
  else()
    message(STATUS "coldpress: libpng or libjpeg was not found; coldpress::images is left out (Debian and Ubuntu: libpng-dev libjpeg-dev)")
  endif()
endif()

# So is libsndfile, which only pkg-config finds everywhere: without it, sound cannot be read.
set(COLDPRESS_HAS_SOUND FALSE)
if(COLDPRESS_STATIC_DEPENDENCIES OR CMAKE_CROSSCOMPILING)
  message(STATUS "coldpress: coldpress::sound is left out, because it needs libsndfile as a shared library of this machine")
else()
  find_package(PkgConfig QUIET)
  if(PKG_CONFIG_FOUND)
    pkg_check_modules(SNDFILE QUIET IMPORTED_TARGET GLOBAL sndfile)
  endif()
  if(TARGET PkgConfig::SNDFILE)
    set(COLDPRESS_HAS_SOUND TRUE)
  else()
    message(STATUS "coldpress: libsndfile was not found; coldpress::sound is left out (Debian and Ubuntu: libsndfile1-dev)")
  endif()
endif()

# So is MPI, Open MPI or MPICH: without it, the ranks of coldpress::distributed are threads of one process.
set(COLDPRESS_HAS_MPI FALSE)
if(COLDPRESS_STATIC_DEPENDENCIES OR CMAKE_CROSSCOMPILING)
  message(STATUS "coldpress: coldpress::distributed is built without MPI, which it needs as a shared library of this machine")
else()
  find_package(MPI QUIET COMPONENTS C)
  if(TARGET MPI::MPI_C)
    set(COLDPRESS_HAS_MPI TRUE)
  else()
    message(STATUS "coldpress: MPI was not found; coldpress::distributed is built without it (Debian and Ubuntu: libopenmpi-dev)")
  endif()
endif()

set(COLDPRESS_HAS_REFERENCE FALSE)
if(COLDPRESS_HAS_XTENSOR AND COLDPRESS_HAS_XTENSOR_BLAS)
  set(COLDPRESS_HAS_REFERENCE TRUE)
endif()
