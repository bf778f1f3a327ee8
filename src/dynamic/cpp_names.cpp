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
/// What headers of C declare outside of namespaces, between spaces: what glibc has of words that a file may be called,
/// and each name in the preprocessed text of coldpress.hpp and <string> with which g++ 12 or clang 14 refuses
/// `namespace NAME {}`, as far as c_prefixes and c_suffixes do not say it.
constexpr std::string_view declared_by_c =
    " "
    "a64l abort abs accept access acct acos acosh alarm aligned_alloc alloca arc4random arc4random_buf "
    "arc4random_uniform asin asinh at_quick_exit atan atan2 atanh atexit atof atoi atol atoll basename bind brk "
    "bsearch btowc calloc canonicalize canonicalize_file_name cbrt ceil chdir chmod chown chroot clearenv "
    "clearerr clock clone close connect copysign cos cosh creat crypt ctermid ctime cuserid daemon daylight "
    "difftime div drand48 drand48_data drem dup duplocale ecvt environ erand48 erf erfc exit exp exp10 exp2 fabs "
    "fclose fcloseall fcvt fd_mask fd_set fdim fdopen feof ferror fflush ffs fgetc fgetpos fgets fgetwc fgetws "
    "fileno finite flock flockfile floor fma fmax fmemopen fmin fmod fopen fopencookie fork fputc fputs fputwc "
    "fputws fread free freelocale freopen frexp fseek fseeko fsetpos ftell ftello ftrylockfile funlockfile fwide "
    "fwrite gamma gcvt getc getchar getdelim getenv getline getloadavg getopt getpt getsubopt gettext getw getwc "
    "getwchar grantpt hypot index initstate isalnum isalpha isascii isblank iscntrl isctype isdigit isgraph "
    "islower isprint ispunct isspace isupper isxdigit j0 j1 jn jrand48 kill l64a labs lcong48 lconv ldexp ldiv "
    "lgamma linger link listen llabs lldiv localeconv lockf log log10 log1p log2 logb longjmp lrand48 main "
    "malloc mblen mbrlen mbrtowc mbsinit mbsnrtowcs mbsrtowcs mbstowcs mbtowc mkdir mkdtemp mkostemp mkostemps "
    "mkstemp mkstemps mktemp mktime mmap modf mrand48 nan newlocale nice nrand48 obstack on_exit open "
    "open_memstream open_wmemstream optarg pause pclose perror pipe poll popen posix_memalign posix_openpt pow "
    "profil program_invocation_name program_invocation_short_name pselect ptsname putc putchar putenv puts putw "
    "putwc putwchar qecvt qfcvt qgcvt qsort quick_exit raise rand random random_data read realloc reallocarray "
    "realpath recv remainder remove rename renameat renameat2 revoke rewind rindex rint rmdir round rpmatch "
    "scalb secure_getenv seed48 select send setbuf setbuffer setenv setjmp setlinebuf setlocale setstate setvbuf "
    "shutdown sigaction signal significand sin sincos sinh sleep socket splice sqrt srand srand48 srandom stat "
    "swab symlink sync syscall system tan tanh tee tempnam tgamma time times timespec timeval timex timezone tm "
    "tmpfile tmpnam toascii tolower toupper trunc truncate u_char u_int u_long u_short uint ulong umask ungetc "
    "ungetwc unlink unlockpt unsetenv unshare uselocale ushort usleep va_list valloc wait wcpcpy wcpncpy wcrtomb "
    "wctob wctomb wcwidth write y0 y1 yn ";
constexpr std::array<std::string_view, 5> c_prefixes{"wcs", "wmem", "strto", "strfrom", "pthread_"};
constexpr std::array<std::string_view, 3> c_suffixes{"_t", "printf", "scanf"};
/// Suffixes of names that C also has without them: fopen64, tolower_l.
constexpr std::array<std::string_view, 4> c_variants{"64", "_l", "_r", "_unlocked"};

/// Macros of the same headers, and what those in upper case begin or end with; others are E and an error's name.
constexpr std::array<std::string_view, 18> c_macros{
    "BUFSIZ", "BYTE_ORDER", "EOF",        "FD_SETSIZE", "FILE",    "L_ctermid", "L_cuserid", "L_tmpnam", "NFDBITS",
    "NULL",   "P_tmpdir",   "WCONTINUED", "WEOF",       "WEXITED", "WNOHANG",   "WNOWAIT",   "WSTOPPED", "WUNTRACED"};
constexpr std::array<std::string_view, 6> macro_prefixes{"BOOST_", "COLDPRESS_", "EXIT_", "LC_", "RENAME_", "SEEK_"};
constexpr std::array<std::string_view, 4> macro_suffixes{"_ENDIAN", "_MAX", "_MIN", "_WIDTH"};

/// The names that the function of a network uses, and its own.
constexpr std::array<std::string_view, 10> taken_in_functions{"along",   "apply",   "concat", "graph",  "name",
                                                              "network", "outputs", "shared", "source", "tied"};

bool is_in(auto const& words, std::string_view word) { return std::ranges::find(words, word) != words.end(); }

bool begins_with(auto const& prefixes, std::string_view word) {
  return std::ranges::any_of(prefixes, [&](std::string_view prefix) { return word.starts_with(prefix); });
}
bool ends_with(auto const& suffixes, std::string_view word) {
  return std::ranges::any_of(suffixes, [&](std::string_view suffix) { return word.ends_with(suffix); });
}

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

bool is_listed(std::string_view name) {
  return declared_by_c.find(" " + std::string{name} + " ") != std::string_view::npos;
}

/// Whether a name may be a macro where the header is included, or is one of the language's own: __x, _X.
bool is_macro(std::string_view name) {
  if (is_in(c_macros, name) || is_in(taken_everywhere, name) || name.find("__") != name.npos) return true;
  if (name.size() > 1 && name[0] == '_' && is_upper(name[1])) return true;
  if (std::ranges::any_of(name, is_lower)) return false;
  bool const error = name.size() > 2 && name[0] == 'E' && name.find('_') == name.npos;
  return error || begins_with(macro_prefixes, name) || ends_with(macro_suffixes, name);
}

}  // namespace

bool is_cpp_name(std::string_view text) {
  auto const letter = [](char c) { return is_lower(c) || is_upper(c) || c == '_'; };
  return !text.empty() && letter(text[0]) &&
         std::ranges::all_of(text, [&](char c) { return letter(c) || is_digit(c); }) && !is_in(keywords, text);
}

bool is_declared_by_c(std::string_view name) {
  if (is_listed(name) || begins_with(c_prefixes, name) || ends_with(c_suffixes, name)) return true;
  return std::ranges::any_of(c_variants, [&](std::string_view variant) {
    return name.ends_with(variant) && is_listed(name.substr(0, name.size() - variant.size()));
  });
}

void check_cpp_namespace(std::string_view name) {
  for (std::string_view rest = name;;) {
    std::string_view const part = rest.substr(0, rest.find("::"));
    if (!is_cpp_name(part))
      throw ConfigError{"the namespace must be a C++ name such as amp or my::amp, got '" + std::string{name} + "'"};
    if (is_macro(part))
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
