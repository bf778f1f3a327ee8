# How coldpress's targets are made: warnings, static components, and globbed sources.

# Warnings for coldpress's own sources; a user's build never sees them.
function(coldpress_warnings target)
  target_compile_options(${target} PRIVATE
    "$<$<COMPILE_LANG_AND_ID:CXX,GNU,Clang,AppleClang>:-Wall;-Wextra;-Wpedantic;-Wshadow>"
    # GCC bug 105651: g++ 12 reports overlapping copies in any concatenation of strings.
    "$<$<AND:$<COMPILE_LANG_AND_ID:CXX,GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict>"
    "$<$<AND:$<BOOL:${COLDPRESS_WERROR}>,$<COMPILE_LANG_AND_ID:CXX,GNU,Clang,AppleClang>>:-Werror>")
endfunction()

# Gives a target the name coldpress::<name> and adds it to the export set of its component.
function(coldpress_component component target)
  set(name ${component})
  if(ARGC GREATER 2)
    set(name ${ARGV2})
  endif()
  add_library(coldpress::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  set_property(GLOBAL APPEND PROPERTY COLDPRESS_COMPONENTS ${component})
  if(COLDPRESS_INSTALL)
    install(TARGETS ${target} EXPORT coldpress-${component} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  endif()
endfunction()

# A static component with hidden symbols, suitable for linking into a shared library such as a plugin.
function(coldpress_static_component component)
  set(target coldpress_${component})
  add_library(${target} STATIC ${ARGN})
  coldpress_component(${component} ${target})
  coldpress_compiled(${target})
endfunction()

# The settings that all compiled parts of a component share.
function(coldpress_compiled target)
  coldpress_warnings(${target})
  set_target_properties(${target} PROPERTIES
    CXX_EXTENSIONS OFF CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON POSITION_INDEPENDENT_CODE ON)
endfunction()

# Sets <result> to the files that match the patterns; the next build finds files that are added later.
function(coldpress_glob result)
  file(GLOB found CONFIGURE_DEPENDS ${ARGN})
  set(${result} "${found}" PARENT_SCOPE)
endfunction()
