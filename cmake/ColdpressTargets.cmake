# How coldpress's targets are made: warnings, compiled components, and globbed sources.

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

# A compiled component: an archive whose symbols are hidden, so that a shared library such as a plugin can link it. Under a
# sanitizer it is a shared library, because each of some sixty tests would else hold a copy of half a gigabyte.
set(coldpress_library_type STATIC)
set(coldpress_hidden ON)
if(CMAKE_CXX_FLAGS MATCHES "-fsanitize")
  set(coldpress_library_type SHARED)
  set(coldpress_hidden OFF)
endif()
# What computes takes most of a sanitizer's build, and sees none of a file's bytes before they are checked.
option(COLDPRESS_SANITIZE_KERNELS "Under a sanitizer, compile for it also what computes: kernels and engines" ON)
set(coldpress_kernel_options "")
if(NOT COLDPRESS_SANITIZE_KERNELS)
  set(coldpress_kernel_options -fno-sanitize=all)
endif()

function(coldpress_compiled_component component)
  set(target coldpress_${component})
  add_library(${target} ${coldpress_library_type} ${ARGN})
  coldpress_component(${component} ${target})
  coldpress_compiled(${target})
endfunction()

option(COLDPRESS_PRECOMPILE "Read what most sources of a component include only once; with -Og at most, since g++ 12 else warns of the standard library" OFF)
# With precompiled headers g++ 12 forgets which expressions of templates it was not to warn of.
set(coldpress_with_precompiled "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-parentheses>")

# With it goes a linker that takes less time than GNU ld, for what is linked hundreds of times.
if(COLDPRESS_PRECOMPILE)
  include(CheckLinkerFlag)
  foreach(linker IN ITEMS lld gold)
    check_linker_flag(CXX -fuse-ld=${linker} COLDPRESS_LINKS_WITH_${linker})
    if(COLDPRESS_LINKS_WITH_${linker})
      add_link_options($<$<LINK_LANGUAGE:C,CXX>:-fuse-ld=${linker}>)
      break()
    endif()
  endforeach()
endif()

# The headers in ARGN are what most sources of the target include.
function(coldpress_precompile target)
  if(COLDPRESS_PRECOMPILE)
    target_precompile_headers(${target} PRIVATE ${ARGN})
    target_compile_options(${target} PRIVATE ${coldpress_with_precompiled})
  endif()
endfunction()

# With COLDPRESS_PRECOMPILE, small sources that instantiate the same templates are compiled together, ten at a time. So the names of a
# source's own functions differ from those of the others; the presets release and nightly, where each source is compiled alone, find
# what a source forgets to include.
function(coldpress_compile_together target)
  if(COLDPRESS_PRECOMPILE)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 10)
    target_compile_options(${target} PRIVATE -Wno-shadow "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>")
  endif()
endfunction()

# The same for components of which a program links only the sources that it uses: where they are archives each source stays apart,
# but a shared library is loaded as a whole.
function(coldpress_compile_together_if_shared target)
  if(coldpress_library_type STREQUAL "SHARED")
    coldpress_compile_together(${target})
  endif()
endfunction()

# What runs once, when a file is read or a network is loaded, and is in every program that does so, is to be small. Sources with
# options of their own are not compiled together with others, so these have them only where they may be optimised.
function(coldpress_optimise_for_size)  # SOURCES...
  if(NOT COLDPRESS_PRECOMPILE)
    set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS "$<$<CONFIG:Release>:-Os>")
  endif()
endfunction()

# The settings that all compiled parts of a component share.
function(coldpress_compiled target)
  coldpress_warnings(${target})
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF POSITION_INDEPENDENT_CODE ON)
  target_compile_options(${target} PRIVATE "$<$<COMPILE_LANG_AND_ID:CXX,GNU,Clang,AppleClang>:-fno-fast-math>")  # a parent's
  if(coldpress_hidden)
    set_target_properties(${target} PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  endif()
endfunction()

# Sets <result> to the files that match the patterns; the next build finds files that are added later.
function(coldpress_glob result)
  file(GLOB found CONFIGURE_DEPENDS ${ARGN})
  set(${result} "${found}" PARENT_SCOPE)
endfunction()
