// Parts of a value that the model puts into a sequence of tensors first.
#include "onnx_matcher.hpp"

namespace coldpress::convert::onnx {
namespace {

/// Where a part of an axis begins, and where it ends; nothing if that is not known. `sizes` is one for all parts but
/// the last, or one for each.
std::optional<std::pair<Index, Index>> part_of(Tensor const& sizes, Index part) {
  constexpr Index most = Index{1} << 30;
  bool const listed = sizes.rank() == 1;
  Index const count = sizes.size(), number = listed && part < 0 ? part + count : part;
  if (sizes.floating() || number < 0 || number > (listed ? count - 1 : most)) return {};
  Index begin = 0;
  for (Index i = 0;; ++i) {
    Int const size = sizes.ints[listed ? static_cast<std::size_t>(i) : 0];
    if (size.samples || size.factor < 1 || size.factor > most) return {};
    if (!listed) return std::pair{number * size.factor, (number + 1) * size.factor};
    if (i == number) return std::pair{begin, begin + size.factor};
    begin += size.factor;
  }
}

}  // namespace

bool match_sequence(Matcher& matcher, Node& node) {
  Node const* const split =
      node.op == "SequenceAt" ? matcher.made_by(input(node, 0), "SplitToSequence", false) : nullptr;
  Constant const place = split ? matcher.constant(input(node, 1)) : nullptr;
  if (!place || place->ints.size() != 1 || place->ints[0].samples) return false;
  auto const attribute = [&](std::string_view name, Index otherwise) {
    auto const given = matcher.integers(*split, name, split->inputs.size());
    return given.empty() ? otherwise : given[0];
  };
  Index const axis = attribute("axis", 0);
  std::string const x = input(*split, 0), sizes = input(*split, 1);
  if (sizes.empty() && attribute("keepdims", 1) == 0)
    return Matcher::replace(node, "Gather", {x, node.inputs[1]}, {{"axis", axis}}), true;
  Constant const given = sizes.empty() ? std::make_shared<Tensor const>(Tensor{.type = Type::int64, .ints = {{1}}})
                                       : matcher.constant(sizes);
  auto const part = given ? part_of(*given, place->ints[0].factor) : std::nullopt;
  if (!part) return false;
  Matcher::replace(
      node, "Slice", {x},
      {{"axes", std::vector{axis}}, {"starts", std::vector{part->first}}, {"ends", std::vector{part->second}}});
  return true;
}

}  // namespace coldpress::convert::onnx
