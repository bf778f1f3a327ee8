// Parses the JSON without storing more than it describes, and checks that no two tensors overlap.
#include "safetensors_header.hpp"

#include <coldpress/core/bfloat16.hpp>
#include <coldpress/core/error.hpp>
#include <coldpress/persist/model.hpp>

#include "data/extents.hpp"
#include "data/stored_numbers.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <tuple>

#include <nlohmann/json.hpp>

namespace coldpress::convert::safetensors {
namespace {

using persist::printable;
using Json = nlohmann::json;

constexpr std::size_t max_tensors = std::size_t{1} << 16, max_extents = 32;

template <class Value>
constexpr NumberType type_of(std::string_view name) {
  return {name, sizeof(Value), data::to_floats<Value>};
}
constexpr std::array types{type_of<float>("F32"),         type_of<double>("F64"),        type_of<data::Half>("F16"),
                           type_of<Bfloat16>("BF16"),     type_of<std::uint8_t>("BOOL"), type_of<std::uint8_t>("U8"),
                           type_of<std::int8_t>("I8"),    type_of<std::uint16_t>("U16"), type_of<std::int16_t>("I16"),
                           type_of<std::uint32_t>("U32"), type_of<std::int32_t>("I32"),  type_of<std::uint64_t>("U64"),
                           type_of<std::int64_t>("I64")};

template <class E = FormatError>
[[noreturn]] void refuse(std::string const& tensor, std::string const& sentence) {
  E error{sentence};
  error.in_field("tensor '" + printable(tensor) + "'");
  throw error;
}
[[noreturn]] void malformed(std::string const& sentence) { throw FormatError{"the header " + sentence}; }

/// Takes the values of the JSON as they are parsed, and nothing that a header may not have: whatever the text is, no
/// more memory is needed than for the tensors that it describes.
class Reader final : public nlohmann::json_sax<Json> {
 public:
  std::vector<Entry> take() {
    if (place_ != Place::end) malformed("is not an object with the tensors");
    return std::move(entries_);
  }

  bool start_object(std::size_t) override {
    switch (place_) {
      case Place::beginning:
        return go(Place::tensors);
      case Place::tensor_begins:
        return go(name_ == metadata ? Place::metadata : Place::tensor);
      default:
        unexpected("an object");
    }
  }
  bool end_object() override {
    if (place_ == Place::tensors) return go(Place::end);
    if (place_ == Place::tensor) {
      Entry const& entry = entries_.back();
      for (auto const& [given, key] : {std::pair{entry.type != nullptr, "dtype"}, std::pair{has_shape_, "shape"},
                                       std::pair{offsets_ == 2, "data_offsets"}}) {
        if (!given) refuse(name_, std::string{"has no \""} + key + "\"");
      }
    }
    return go(Place::tensors);
  }
  bool key(string_t& key) override {
    if (place_ == Place::tensors) {
      if (key.size() > max_name)
        malformed("has a name of " + std::to_string(key.size()) + " bytes, expected at most " +
                  std::to_string(max_name));
      name_ = key;
      if (!names_.insert(key).second) refuse(name_, "is there twice");
      if (name_ != metadata) {
        if (entries_.size() == max_tensors) malformed("has more than " + std::to_string(max_tensors) + " tensors");
        entries_.push_back({.name = name_});
        has_shape_ = false, offsets_ = 0;
      }
      return go(Place::tensor_begins);
    }
    if (place_ == Place::metadata) return true;
    bool repeated = false;
    if (key == "dtype") {
      repeated = entries_.back().type != nullptr;
      place_ = Place::type;
    } else if (key == "shape") {
      repeated = std::exchange(has_shape_, true);
      place_ = Place::shape_begins;
    } else if (key == "data_offsets") {
      repeated = offsets_ != 0;
      place_ = Place::offsets_begin;
    } else {
      refuse(name_, "has the unknown key \"" + printable(key.substr(0, 40)) + "\"");
    }
    if (repeated) refuse(name_, "has two \"" + key + "\"");
    return true;
  }
  bool start_array(std::size_t) override {
    if (place_ == Place::shape_begins) return go(Place::shape);
    if (place_ == Place::offsets_begin) return go(Place::offsets);
    unexpected("a list");
  }
  bool end_array() override {
    if (place_ == Place::offsets && offsets_ != 2) refuse(name_, "has one of two \"data_offsets\"");
    return go(Place::tensor);
  }
  bool number_unsigned(number_unsigned_t number) override {
    Entry& entry = entries_.empty() ? none_ : entries_.back();
    if (place_ == Place::shape) {
      if (entry.shape.size() == max_extents || number > std::uint64_t{1} << 60)
        refuse(name_, "has a \"shape\" that is not a list of at most 32 extents");
      entry.shape.push_back(static_cast<Index>(number));
    } else if (place_ == Place::offsets) {
      if (offsets_ == 2) refuse(name_, "has more than two \"data_offsets\"");
      (offsets_++ == 0 ? entry.begin : entry.end) = number;
    } else {
      unexpected("a number");
    }
    return true;
  }
  bool string(string_t& text) override {
    if (place_ == Place::metadata) return true;
    if (place_ != Place::type) unexpected("a text");
    auto const type = std::ranges::find(types, std::string_view{text}, &NumberType::name);
    if (type == types.end()) {
      std::string known;
      for (NumberType const& one : types) known += (known.empty() ? "" : ", ") + std::string{one.name};
      refuse<UnsupportedError>(
          name_, "holds values of type '" + printable(text.substr(0, 40)) + "', expected one of " + known);
    }
    entries_.back().type = &*type;
    return go(Place::tensor);
  }
  bool null() override { unexpected("null"); }
  bool boolean(bool) override { unexpected("true or false"); }
  bool number_integer(number_integer_t) override { unexpected("a number below 0"); }
  bool number_float(number_float_t, string_t const&) override { unexpected("a number that is not whole"); }
  bool binary(binary_t&) override { unexpected("bytes"); }
  bool parse_error(std::size_t, std::string const&, Json::exception const& error) override {
    std::string_view said = error.what();  // "[json.exception.parse_error.101] parse error at line 1, ..."
    if (auto const end = said.find("] "); end != std::string_view::npos) said.remove_prefix(end + 2);
    malformed("is not JSON: " + printable(said.substr(0, 200)));
  }

 private:
  enum class Place {
    beginning,
    tensors,
    tensor_begins,
    metadata,
    tensor,
    type,
    shape_begins,
    shape,
    offsets_begin,
    offsets,
    end
  };
  static constexpr std::string_view metadata = "__metadata__";

  bool go(Place place) {
    place_ = place;
    return true;
  }
  [[noreturn]] void unexpected(char const* what) const {
    std::string const sentence = std::string{"has "} + what + " where a header has none";
    if (name_.empty()) malformed(sentence);
    refuse(name_, sentence);
  }

  Place place_ = Place::beginning;
  std::vector<Entry> entries_;
  std::set<std::string, std::less<>> names_;
  std::string name_;
  Entry none_;
  bool has_shape_ = false;
  int offsets_ = 0;
};

/// Sets the numbers of values, and checks that they are those of the bytes.
void check_sizes(std::vector<Entry>& entries, std::uint64_t size) {
  for (Entry& entry : entries) {
    if (entry.begin > entry.end || entry.end > size)
      refuse(entry.name, "has bytes " + std::to_string(entry.begin) + " to " + std::to_string(entry.end) +
                             ", but the file has " + std::to_string(size) + " after its header");
    std::uint64_t const bytes = entry.end - entry.begin;
    auto const values = data::count(entry.shape, bytes / entry.type->width);
    if (!values || *values * entry.type->width != bytes)
      refuse(entry.name, "has " + std::to_string(bytes) + " bytes, which are not those of {" + data::list(entry.shape) +
                             "} values of " + std::string{entry.type->name});
    entry.values = *values;
  }
}

void check_neighbours(std::vector<Entry> const& entries, std::uint64_t size) {
  std::uint64_t end = 0;
  std::string before;
  for (Entry const& entry : entries) {
    if (entry.begin < end)
      refuse(entry.name, "begins at byte " + std::to_string(entry.begin) + ", inside tensor '" + printable(before) +
                             "', which ends at " + std::to_string(end));
    if (entry.begin > end)
      refuse(entry.name, "begins at byte " + std::to_string(entry.begin) + ", and bytes from " + std::to_string(end) +
                             " on are no tensor's");
    end = entry.end;
    before = entry.name;
  }
  if (end != size)
    throw FormatError{"has " + std::to_string(size) + " bytes after its header, of which the tensors have " +
                      std::to_string(end)};
}

}  // namespace

std::vector<Entry> parse_header(std::string_view json, std::uint64_t size) {
  Reader reader;
  Json::sax_parse(json, &reader);
  auto entries = reader.take();
  check_sizes(entries, size);
  std::ranges::sort(entries, {}, [](Entry const& entry) { return std::tie(entry.begin, entry.end); });
  check_neighbours(entries, size);
  return entries;
}

}  // namespace coldpress::convert::safetensors
