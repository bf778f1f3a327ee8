# Writes a C++ file that defines headers(): -D OUTPUT=FILE -D SHIM=FILE -D INCLUDE=FOLDER -D "HEADERS=FILES" (with |
# between the files).
string(REPLACE "|" ";" HEADERS "${HEADERS}")
set(standard algorithm array atomic bit cmath concepts cstddef cstdint cstring exception initializer_list limits memory
  new optional span string string_view tuple type_traits utility vector)

# Some compilers limit a string literal to 64 KiB, so a text becomes several literals.
function(literal result file)
  file(READ "${file}" text)
  string(REGEX REPLACE "\n *//[^\n]*" "" text "\n${text}")  # comments that take a whole line
  set(parts "")
  string(LENGTH "${text}" length)
  foreach(begin RANGE 0 ${length} 16000)
    string(SUBSTRING "${text}" ${begin} 16000 part)
    string(APPEND parts "R\"coldpress(${part})coldpress\"\n")
  endforeach()
  set(${result} "${parts}" PARENT_SCOPE)
endfunction()

set(all "#include \"headers.hpp\"\n\nnamespace coldpress::cuda {\nstd::span<Header const> headers() {\n")
literal(shim "${SHIM}")
string(APPEND all "  static constexpr Header all[] = {\n{\"std.hpp\", ${shim}},\n")
foreach(name IN LISTS standard)
  string(APPEND all "{\"${name}\", \"#include <std.hpp>\"},\n")
endforeach()
string(APPEND all "{\"boost/hana/fwd/accessors.hpp\",\n  \"namespace boost::hana { template <class, class = void> struct accessors_impl; }\"},\n")
foreach(header IN LISTS HEADERS)
  file(RELATIVE_PATH name "${INCLUDE}" "${header}")
  literal(text "${header}")
  string(APPEND all "{\"${name}\", ${text}},\n")
endforeach()
file(WRITE "${OUTPUT}" "${all}};\n  return all;\n}\n}  // namespace coldpress::cuda\n")
