// Turns any text into a name that C++ allows and that is not taken, or into a string literal.
#include "cpp_names.hpp"

#include <coldpress/core/error.hpp>

#include <algorithm>
#include <array>

namespace coldpress::dynamic {
namespace {

/// The words of C++ that cannot be names.
constexpr std::array<std::string_view, 92> keywords{
    "alignas",     "alignof",   "and",        "and_eq",    "asm",      "auto",         "bitand",
    "bitor",       "bool",      "break",      "case",      "catch",    "char",         "char8_t",
    "char16_t",    "char32_t",  "class",      "compl",     "concept",  "const",        "consteval",
    "constexpr",   "constinit", "const_cast", "continue",  "co_await", "co_return",    "co_yield",
    "decltype",    "default",   "delete",     "do",        "double",   "dynamic_cast", "else",
    "enum",        "explicit",  "export",     "extern",    "false",    "float",        "for",
    "friend",      "goto",      "if",         "inline",    "int",      "long",         "mutable",
    "namespace",   "new",       "noexcept",   "not",       "not_eq",   "nullptr",      "operator",
    "or",          "or_eq",     "private",    "protected", "public",   "register",     "reinterpret_cast",
    "requires",    "return",    "short",      "signed",    "sizeof",   "static",       "static_assert",
    "static_cast", "struct",    "switch",     "template",  "this",     "thread_local", "throw",
    "true",        "try",       "typedef",    "typeid",    "typename", "union",        "unsigned",
    "using",       "virtual",   "void",       "volatile",  "wchar_t",  "while",        "xor",
    "xor_eq"};

/// Macros of C and of compilers in lower case, and namespaces that are not the user's.
constexpr std::array<std::string_view, 12> taken_everywhere{"assert", "coldpress", "errno",  "far",   "i386",   "linux",
                                                            "near",   "std",       "stderr", "stdin", "stdout", "unix"};
/// What headers of C declare, as far as a file may have such a name.
constexpr std::array<std::string_view, 169> declared_by_c{
    "abort",     "abs",      "accept",      "access",    "acct",     "acos",    "acosh",  "alarm",    "asin",
    "asinh",     "atan",     "atan2",       "atanh",     "basename", "bind",    "brk",    "calloc",   "canonicalize",
    "cbrt",      "ceil",     "chdir",       "chmod",     "chown",    "chroot",  "clock",  "clone",    "close",
    "connect",   "copysign", "cos",         "cosh",      "creat",    "crypt",   "ctime",  "daemon",   "daylight",
    "difftime",  "div",      "drem",        "dup",       "environ",  "erf",     "erfc",   "exit",     "exp",
    "exp10",     "exp2",     "fabs",        "fdim",      "ffs",      "finite",  "flock",  "floor",    "fma",
    "fmax",      "fmin",     "fmod",        "fork",      "free",     "frexp",   "gamma",  "getchar",  "getline",
    "getopt",    "gettext",  "hypot",       "index",     "j0",       "j1",      "jn",     "kill",     "lconv",
    "ldexp",     "lgamma",   "linger",      "link",      "listen",   "lockf",   "log",    "log10",    "log1p",
    "log2",      "logb",     "longjmp",     "main",      "malloc",   "mkdir",   "mktime", "mmap",     "modf",
    "nan",       "nice",     "obstack",     "open",      "optarg",   "pause",   "perror", "pipe",     "poll",
    "pow",       "printf",   "profil",      "putchar",   "puts",     "raise",   "rand",   "random",   "read",
    "realloc",   "realpath", "recv",        "remainder", "remove",   "rename",  "revoke", "rewind",   "rindex",
    "rint",      "rmdir",    "round",       "scalb",     "scanf",    "select",  "send",   "setjmp",   "shutdown",
    "sigaction", "signal",   "significand", "sin",       "sincos",   "sinh",    "sleep",  "socket",   "splice",
    "sqrt",      "stat",     "swab",        "symlink",   "sync",     "syscall", "system", "tan",      "tanh",
    "tee",       "tgamma",   "time",        "times",     "timespec", "timeval", "timex",  "timezone", "tm",
    "tolower",   "toupper",  "trunc",       "truncate",  "uint",     "ulong",   "umask",  "unlink",   "unshare",
    "ushort",    "usleep",   "wait",        "write",     "y0",       "y1",      "yn"};
/// The names that the function of a network uses, and its own.
constexpr std::array<std::string_view, 10> taken_in_functions{"along",   "apply",   "concat", "graph",  "name",
                                                              "network", "outputs", "shared", "source", "tied"};

bool is_in(auto const& words, std::string_view word) { return std::ranges::find(words, word) != words.end(); }

constexpr std::size_t longest_variable = 40;

bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// The letters and digits of a text in lower case, with single underscores between its words; the end of what is long.
std::string words_of(std::string_view text) {
  std::string words;
  for (std::size_t i = 0; i < text.size(); ++i) {
    char const c = text[i];
    bool const begins_word = is_upper(c) && i > 0 && is_lower(text[i - 1]);
    if ((begins_word || !(is_upper(c) || is_lower(c) || is_digit(c))) && !words.empty() && words.back() != '_')
      words += '_';
    if (is_upper(c)) words += static_cast<char>(c - 'A' + 'a');
    if (is_lower(c) || is_digit(c)) words += c;
  }
  if (words.size() > longest_variable) {
    words.erase(0, words.size() - longest_variable);
    words.erase(0, words.find('_') + 1);  // the rest of a word
  }
  while (words.ends_with('_')) words.pop_back();
  return words;
}

}  // namespace

bool is_cpp_name(std::string_view text) {
  auto const letter = [](char c) { return is_lower(c) || is_upper(c) || c == '_'; };
  return !text.empty() && letter(text[0]) &&
         std::ranges::all_of(text, [&](char c) { return letter(c) || is_digit(c); }) && !is_in(keywords, text);
}

bool is_declared_by_c(std::string_view name) { return is_in(declared_by_c, name); }

void check_cpp_namespace(std::string_view name) {
  for (std::string_view rest = name;;) {
    std::string_view const part = rest.substr(0, rest.find("::"));
    if (!is_cpp_name(part))
      throw ConfigError{"the namespace must be a C++ name such as amp or my::amp, got '" + std::string{name} + "'"};
    if (part == "coldpress" || part == "std")
      throw ConfigError{"the namespace '" + std::string{name} + "' has the part '" + std::string{part} +
                        "', which is taken"};
    if (rest.size() == name.size() && is_declared_by_c(part))
      throw ConfigError{"the namespace '" + std::string{name} + "' begins with '" + std::string{part} +
                        "', which headers of C declare; expected another name, such as '" + std::string{part} + "_'"};
    if (part.size() == rest.size()) return;
    rest.remove_prefix(part.size() + 2);
  }
}

std::string cpp_quoted(std::string_view text) {
  std::string result = "\"";
  for (char const c : text) {
    if (c == '"' || c == '\\' || c == '?') result += '\\';  // two ? may begin a trigraph
    if (c >= ' ' && c <= '~') {
      result += c;
    } else {
      unsigned const byte = static_cast<unsigned char>(c);
      result += '\\';
      for (int const shift : {6, 3, 0}) result += static_cast<char>('0' + (byte >> shift & 7));
    }
  }
  return result + "\"";
}

std::string cpp_name_of(std::string_view wish, std::string_view otherwise) {
  std::string const words = words_of(wish);
  std::string name{words.empty() ? otherwise : words};
  if (is_digit(name[0])) name = std::string{otherwise} + "_" + name;
  return !is_cpp_name(name) || is_in(taken_everywhere, name) ? name + "_" : name;
}

std::string CppVariables::add(std::string_view wish, std::string_view otherwise) {
  std::string base = cpp_name_of(wish, otherwise);
  if (is_in(taken_in_functions, base)) base += "_";
  std::string name = base;
  for (int n = 2; !taken_.insert(name).second; ++n) name = base + (base.ends_with('_') ? "" : "_") + std::to_string(n);
  return name;
}

std::string LibraryNames::operator()(std::string_view name) {
  constexpr std::string_view space = "coldpress::";
  if (name.starts_with(space)) name.remove_prefix(space.size());
  if (qualified_) return std::string{space}.append(name);
  mentioned_.emplace(name.substr(0, name.find("::")));
  return std::string{name};
}

std::string LibraryNames::using_declaration() const {
  constexpr std::size_t width = 108;
  std::string text;
  std::size_t line = 0;
  for (std::string const& name : mentioned_) {
    bool const breaks = text.size() - line + name.size() > width;
    text += text.empty() ? "using " : breaks ? ",\n" : ", ";
    if (breaks) line = text.size(), text += "      ";
    text += "coldpress::" + name;
  }
  return text.empty() ? text : text + ";\n";
}

}  // namespace coldpress::dynamic
