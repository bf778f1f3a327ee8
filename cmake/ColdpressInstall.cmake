# Install rules and the package for find_package(coldpress CONFIG COMPONENTS ...), with one export set per component, so that
# a user of the headers needs nothing but Boost.

include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/coldpress")
get_property(components GLOBAL PROPERTY COLDPRESS_COMPONENTS)

install(DIRECTORY include/coldpress DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" FILES_MATCHING PATTERN "*.hpp")
install(DIRECTORY examples/configs DESTINATION "${CMAKE_INSTALL_DATADIR}/coldpress/examples")
install(FILES LICENSE-MIT LICENSE-APACHE DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/coldpress")

foreach(component IN LISTS components)
  install(EXPORT coldpress-${component} NAMESPACE coldpress:: DESTINATION "${package_dir}")
endforeach()

configure_package_config_file(cmake/coldpressConfig.cmake.in coldpressConfig.cmake INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file(coldpressConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/coldpressConfig.cmake" "${CMAKE_CURRENT_BINARY_DIR}/coldpressConfigVersion.cmake"
  DESTINATION "${package_dir}")
if(TARGET coldpress_cuda_libs)
  install(FILES cmake/FindcuDNN.cmake cmake/NvidiaHints.cmake DESTINATION "${package_dir}")
endif()
