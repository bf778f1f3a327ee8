// Attention of steps to steps.
#include "onnx_constants.hpp"

#include <array>
#include <limits>

namespace coldpress::convert::onnx {
namespace {

constexpr float hidden = -std::numeric_limits<float>::max();  // of a mask: the key is not seen

struct Heads {
  Sample sample;  // {steps, heads size}
  Index heads, steps, size;
};

/// Queries, keys or values, [samples, heads, steps, size] or [samples, steps, heads size].
Heads heads_of(Call& call, std::size_t i, char const* count) {
  Value const x = call.value(i);
  bool const apart = x.rank() == 4;
  if ((x.rank() != 3 && !apart) || !(x.axis(0).hidden() || (x.samples_axis() < 0 && x.extent(0) == 1)))
    refuse("input " + std::to_string(i) + " is " + described(x.axes) + ", and not [samples, heads, steps, size]");
  Index const steps = x.extent(apart ? 2 : 1), last = x.extent(x.rank() - 1);
  Index const heads = apart ? x.extent(1) : call.integer(count, 0);
  if (heads < 1 || (!apart && last % heads != 0)) refuse(std::string{count} + " does not divide the values of a step");
  Index const size = apart ? last : last / heads;
  Sample const sample = call.network.arranged(x, apart ? std::vector{2, 1, 3} : std::vector{1, 2});
  return {call.network.reshape(sample, {steps, heads * size}), heads, steps, size};
}

/// Whether the mask hides exactly the keys after each query.
bool is_causal(Tensor const& mask, Index queries, Index keys) {
  if (mask.size() != queries * keys || mask.rank() < 2 || mask.shape.back() != keys) return false;
  for (Index q = 0; q < queries; ++q) {
    for (Index k = 0; k < keys; ++k) {
      auto const i = static_cast<std::size_t>(q * keys + k);
      bool const seen = mask.floating() ? mask.floats[i] == 0 : mask.ints[i] != Int{};
      bool const unseen = mask.floating() ? mask.floats[i] <= -1e30f : mask.ints[i] == Int{};
      if (k <= q ? !seen : !unseen) return false;
    }
  }
  return true;
}

/// What is added to the scores, {heads or none, queries or 1, keys}.
Sample mask_of(Call& call, Heads const& q, Heads const& k) {
  Value mask{};
  if (call.is_constant(3)) {
    Tensor tensor = call.constant(3, "the mask");
    if (!tensor.floating()) {
      for (Int const value : tensor.ints) tensor.floats.push_back(value != Int{} ? 0 : hidden);
      tensor.ints.clear(), tensor.type = Type::float32;
    }
    mask = made({}, axes_of(tensor));
    mask.sample = call.network.constant(tensor.floats, shape_of(mask.axes, mask.order), tensor.origin);
  } else {
    mask = call.value(3);
    if (mask.type == Type::boolean) {
      Power const layer{.scale = -hidden / 2, .shift = hidden / 2};
      mask.sample = call.network.add("mask", layer, {mask.sample});
    }
  }
  int const rank = mask.rank();
  if (rank < 2 || rank > 4) refuse("its mask has " + std::to_string(rank) + " axes");
  Index const heads = rank > 2 ? mask.extent(rank - 3) : 1, queries = mask.extent(rank - 2),
              keys = mask.extent(rank - 1);
  bool const samples_apart = mask.samples_axis() < 0 || (rank == 4 && mask.axis(0).hidden());
  if (keys != k.steps || (queries != 1 && queries != q.steps) || (heads != 1 && heads != q.heads) || !samples_apart)
    refuse("its mask is " + described(mask.axes));
  Sample const natural = call.network.natural(mask);
  return call.network.reshape(natural, heads == 1 ? Shape{queries, keys} : Shape{heads, queries, keys});
}

void attention(Call& call) {
  for (std::size_t const past : {4u, 5u})
    if (call.has(past)) refuse("it has keys of the past");
  for (std::size_t i = 1; i < call.node.outputs.size(); ++i)
    if (call.used(i)) refuse("its scores or its keys are read");
  if (call.number("softcap", 0) != 0) refuse("its scores are capped");
  Heads const q = heads_of(call, 0, "q_num_heads"), k = heads_of(call, 1, "kv_num_heads"),
              v = heads_of(call, 2, "kv_num_heads");
  ScaledDotProductAttention layer{.heads = q.heads,
                                  .kv_heads = k.heads == q.heads ? 0 : k.heads,
                                  .causal = call.integer("is_causal", 0) != 0,
                                  .scale = call.number("scale", 0)};
  if (k.heads != v.heads || q.heads % k.heads != 0) refuse("its numbers of heads do not fit each other");
  std::vector<Sample> inputs{q.sample, k.sample, v.sample};
  bool const causal = call.is_constant(3) && is_causal(call.constant(3, "the mask"), q.steps, k.steps);
  if (causal) {
    layer.causal = true;
  } else if (call.has(3)) {
    inputs.push_back(mask_of(call, q, k));
  }
  if (call.has(6)) {
    if (inputs.size() > 3) refuse("it has a mask, and numbers of keys");
    if (call.integer("is_causal", 0) != 0) refuse("it is causal, and has numbers of keys");
    inputs.push_back(numbers_by_sample(call, 6, "numbers of keys"));
  }
  Sample const y = call.network.add("", layer, inputs);
  Value const of = call.value(0);
  if (of.rank() == 3) return call.set(made(y, {of.axis(0), {q.steps}, {q.heads * v.size}}));
  Value value = made({}, {of.axis(0), {q.heads}, {q.steps}, {v.size}});
  std::ranges::swap(value.order[value.order.size() - 3], value.order[value.order.size() - 2]);
  value.sample = call.network.reshape(y, shape_of(value.axes, value.order));
  call.set(value);
}

}  // namespace

std::span<Operator const> attention_operators() {
  static constexpr std::array rows{
      Operator{
          "Attention", attention, nullptr,
          "`scaledDotProductAttention`; also of MatMul, a scale, Add of a mask, Softmax and MatMul; with a mask or "
          "numbers of keys"},
  };
  return rows;
}

}  // namespace coldpress::convert::onnx
