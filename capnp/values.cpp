// Converts names, texts, extents and enumerations, and refuses numbers out of range and texts that are not UTF-8.
#include "values.hpp"

#include <algorithm>
#include <cmath>

namespace coldpress::persist {
namespace {

constexpr std::uint64_t largest_size = std::uint64_t{1} << 40;

/// The length of the UTF-8 sequence that `text` starts with. 0 if it is invalid: an overlong encoding, a surrogate, or
/// beyond U+10FFFF.
std::size_t utf8_length(std::string_view text) {
  auto const at = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  auto const continued = [&](std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to; ++i)
      if ((at(i) & 0xc0) != 0x80) return false;
    return true;
  };
  unsigned const a = at(0), b = at(1);
  if (a < 0x80) return 1;
  if (a >= 0xc2 && a <= 0xdf) return continued(1, 2) ? 2 : 0;
  if ((a & 0xf0) == 0xe0) {
    bool const sane = (a != 0xe0 || b >= 0xa0) && (a != 0xed || b < 0xa0);
    return sane && continued(1, 3) ? 3 : 0;
  }
  if (a >= 0xf0 && a <= 0xf4) {
    bool const sane = (a != 0xf0 || b >= 0x90) && (a != 0xf4 || b < 0x90);
    return sane && continued(1, 4) ? 4 : 0;
  }
  return 0;
}

/// The code point of a UTF-8 sequence.
unsigned code_point(std::string_view sequence) {
  unsigned const first = static_cast<unsigned char>(sequence[0]);
  if (sequence.size() == 1) return first;
  unsigned code = first & (0xffu >> (sequence.size() + 1));
  for (char const c : sequence.substr(1)) code = code << 6 | (static_cast<unsigned char>(c) & 0x3f);
  return code;
}
bool is_ascii_control(unsigned code) { return code < 0x20 || code == 0x7f; }
/// Characters that a terminal obeys instead of displaying: C1 controls, and those that change the writing direction.
bool is_other_control(unsigned code) {
  return (code >= 0x80 && code <= 0x9f) || code == 0x61c || code == 0x200e || code == 0x200f ||
         (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}
std::string hexadecimal(unsigned number, unsigned digits) {
  std::string text;
  for (; digits > 0 || number > 0; number /= 16, digits -= digits > 0)
    text.insert(0, 1, "0123456789abcdef"[number % 16]);
  return text;
}

}  // namespace

std::string to_string(Extents const& extents) {
  std::string text = "{";
  for (auto const extent : extents) text += (text.size() > 1 ? ", " : "") + std::to_string(extent);
  return text + "}";
}

std::string camel_case(std::string_view name) {
  std::string result;
  for (std::size_t i = 0; i < name.size(); ++i) {
    bool const joint = name[i] == '_' && i + 1 < name.size() && name[i + 1] >= 'a' && name[i + 1] <= 'z';
    result += joint ? static_cast<char>(name[++i] - 'a' + 'A') : name[i];
  }
  return result;
}

std::string snake_case(std::string_view name) {
  std::string result;
  for (char const c : name) {
    if (c >= 'A' && c <= 'Z') {
      result += '_';
      result += static_cast<char>(c - 'A' + 'a');
    } else {
      result += c;
    }
  }
  return result;
}

void check_size(std::uint64_t size) {
  if (size < 1 || size > largest_size)
    throw ConfigError{"must be at least 1 and at most 2^40, is " + std::to_string(size)};
}

void check_size(std::uint64_t size, capnp::StructSchema::Field field) {
  constexpr std::uint64_t or_zero = 0xc3a1d9f27b5e4860;
  if (size > 0 || !is_annotated(field, or_zero)) check_size(size);
}
bool is_annotated(capnp::StructSchema::Field field, std::uint64_t annotation) {
  for (auto const one : field.getProto().getAnnotations())
    if (one.getId() == annotation) return true;
  return false;
}

void check_extents(Extents const& extents) {
  std::uint64_t product = 1;
  for (auto const extent : extents) {
    check_size(static_cast<std::uint64_t>(extent));
    if (static_cast<std::uint64_t>(extent) > largest_size / product)
      throw ConfigError{"shape " + to_string(extents) + " has more than 2^40 values"};
    product *= static_cast<std::uint64_t>(extent);
  }
}

void check_number(std::string_view field, float value) {
  if (!std::isfinite(value)) throw ConfigError{"must be a finite number, is " + std::to_string(value)};
  bool const probability = field.ends_with("probability") || field.ends_with("Probability");
  if (probability && !(value >= 0 && value < 1))
    throw ConfigError{"must be at least 0 and below 1, is " + std::to_string(value)};
}

void check_text(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    std::size_t const length = utf8_length(text.substr(at));
    if (length == 0) throw FormatError{"is not UTF-8 at byte " + std::to_string(at)};
    if (is_ascii_control(code_point(text.substr(at, length))))
      throw FormatError{"has a control character at byte " + std::to_string(at)};
    at += length;
  }
}

void check_new_text(std::string_view text) {
  check_text(text);
  for (std::size_t at = 0; at < text.size(); at += utf8_length(text.substr(at))) {
    unsigned const code = code_point(text.substr(at, utf8_length(text.substr(at))));
    if (is_other_control(code))
      throw FormatError{"has the control character U+" + hexadecimal(code, 4) + " at byte " + std::to_string(at)};
  }
}

std::string printable(std::string_view text) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t const length = utf8_length(text.substr(at));
    unsigned const code = code_point(text.substr(at, std::max<std::size_t>(length, 1)));
    if (length == 0 || is_ascii_control(code)) {
      result += "\\x" + hexadecimal(code, 2);
    } else if (is_other_control(code)) {
      result += "\\u{" + hexadecimal(code, 4) + "}";
    } else {
      result += text.substr(at, length);
    }
    at += std::max<std::size_t>(length, 1);
  }
  return result;
}

void check_factor(float factor) {
  check_number("factor", factor);
  if (factor < 0) throw ConfigError{"must be at least 0, is " + std::to_string(factor)};
}

void UniqueNames::add(std::string const& name) {
  check_text(name);
  if (name.empty()) throw ConfigError{"has no name"};
  if (!names_.insert(name).second) throw ConfigError{"the name '" + name + "' is given twice"};
}

Filler read_filler(schema::Filler::Reader file) {
  Filler filler{};
  switch (file.which()) {
    case schema::Filler::CONSTANT:
      filler = Constant{file.getConstant()};
      break;
    case schema::Filler::GLOROT:
      filler = Glorot{};
      break;
    case schema::Filler::XAVIER:
      filler = Xavier{};
      break;
    case schema::Filler::GAUSSIAN:
      filler = Gaussian{file.getGaussian().getMean(), file.getGaussian().getDeviation()};
      break;
    case schema::Filler::JUICE_BIAS:
      filler = JuiceBias{};
      break;
    case schema::Filler::ORTHOGONAL:
      filler = Orthogonal{file.getOrthogonal()};
      break;
    default:
      throw UnsupportedError{"is a filler that this version of coldpress does not know"};
  }
  dynamic::check_filler(filler);
  return filler;
}

void write_filler(schema::Filler::Builder file, Filler const& filler) {
  dynamic::check_filler(filler);
  switch (filler.kind) {
    case Filler::Kind::own:
      break;
    case Filler::Kind::constant:
      return file.setConstant(filler.a);
    case Filler::Kind::glorot:
      return file.setGlorot();
    case Filler::Kind::xavier:
      return file.setXavier();
    case Filler::Kind::gaussian: {
      auto gaussian = file.initGaussian();
      gaussian.setMean(filler.a);
      gaussian.setDeviation(filler.b);
      return;
    }
    case Filler::Kind::juice_bias:
      return file.setJuiceBias();
    case Filler::Kind::orthogonal:
      return file.setOrthogonal(filler.a);
  }
  throw ConfigError{"is no filler"};
}

Extents read_extents(capnp::List<std::uint64_t>::Reader file, unsigned max_rank) {
  if (file.size() < 1 || file.size() > max_rank)
    throw ConfigError{"a shape must have 1 to " + std::to_string(max_rank) + " extents, has " +
                      std::to_string(file.size())};
  Extents extents;
  for (std::uint64_t const extent : file) {
    check_size(extent);
    extents.push_back(static_cast<Index>(extent));
  }
  check_extents(extents);
  return extents;
}

unsigned list_size(std::size_t entries) {
  constexpr std::size_t most = (std::size_t{1} << 29) - 1;
  if (entries > most)
    throw ConfigError{"has " + std::to_string(entries) + " entries, a list in a file can hold " + std::to_string(most)};
  return static_cast<unsigned>(entries);
}

}  // namespace coldpress::persist
