// LSTM, GRU and RNN, whose weights ONNX has in another order.
#include "onnx_constants.hpp"

#include <coldpress/core/recurrent.hpp>

#include <algorithm>
#include <array>
#include <optional>

namespace coldpress::convert::onnx {
namespace {

/// The number in ONNX of each gate of coldpress: i, f, g, o among i, o, f, c; and r, z, h among z, r, h.
constexpr std::array<Index, 4> lstm_gates{0, 2, 3, 1};
constexpr std::array<Index, 3> gru_gates{1, 0, 2};

std::span<Index const> gates_in(RnnType type) {
  static constexpr std::array<Index, 1> one{0};
  return type == RnnType::lstm  ? std::span<Index const>{lstm_gates}
         : type == RnnType::gru ? std::span<Index const>{gru_gates}
                                : std::span<Index const>{one};
}

bool is_zero(Tensor const& tensor) {
  return std::ranges::all_of(tensor.floats, [](float value) { return value == 0; }) && tensor.floating();
}

/// Refuses what no layer of coldpress has.
void check_plain(Call const& call, Index steps) {
  if (call.has(std::string_view{"clip"})) refuse("it clips the sums of its gates");
  if (call.integer("input_forget", 0) != 0) refuse("its input and forget gates are coupled");
  if (call.is_constant(4)) {
    for (Index const length : call.integers_of(4, "sequence_lens"))
      if (length != steps) refuse("a sample has another number of steps than the input (sequence_lens)");
  }
  if (call.has(7) && !is_zero(call.constant(7, "P"))) refuse("it has peepholes");
}

/// The kind of a plain recurrent layer, and the check that the others have the usual activations.
RnnType type_of(Call const& call, RnnType type, Index directions) {
  std::vector<std::string> given;
  if (auto const found = call.node.attributes.find("activations"); found != call.node.attributes.end()) {
    auto const* const names = std::get_if<std::vector<std::string>>(&found->second);
    if (names) given = *names;
  }
  std::vector<std::string> usual{"Sigmoid", "Tanh", "Tanh"};
  if (type == RnnType::gru) usual = {"Sigmoid", "Tanh"};
  if (type == RnnType::relu || type == RnnType::tanh) {
    usual = {given.empty() ? "Tanh" : given[0]};
    type = usual[0] == "Relu" ? RnnType::relu : RnnType::tanh;
    if (usual[0] != "Relu" && usual[0] != "Tanh") refuse("its activation '" + usual[0] + "' has no layer");
  }
  std::size_t const count = usual.size() * static_cast<std::size_t>(directions);
  bool fits = given.empty() || given.size() == count;
  for (std::size_t i = 0; fits && i < given.size(); ++i) fits = given[i] == usual[i % usual.size()];
  if (!fits) refuse("its activations are not the usual ones");
  return type;
}

/// ONNX's W [directions, gates * hidden, inputs], R and B, packed as core/recurrent.hpp says.
Weight packed(Call const& call, RecurrentWeights const& all, RnnType type) {
  Tensor const &w = call.constant(1, "W"), &r = call.constant(2, "R");
  Tensor const* const b = call.has(3) ? &call.constant(3, "B") : nullptr;
  Index const sums = all.gates * all.hidden;
  bool const fits = w.floating() && r.floating() && w.shape == std::vector{all.directions, sums, all.input} &&
                    r.shape == std::vector{all.directions, sums, all.hidden} &&
                    (!b || (b->floating() && b->shape == std::vector{all.directions, 2 * sums}));
  if (!fits) refuse("its weights W, R and B do not fit each other and the input");
  std::vector<float> values(static_cast<std::size_t>(all.size()));
  auto const gates = gates_in(type);
  for (Index d = 0; d < all.directions; ++d) {
    PackedPart<float> const part{all, d, values.data()};
    auto const copy = [&](Tensor const& from, Index first, Index columns, float* to) {
      for (Index g = 0; g < all.gates; ++g) {
        Index const source = first + gates[static_cast<std::size_t>(g)] * all.hidden * columns;
        std::copy_n(from.floats.begin() + source, all.hidden * columns, to + g * all.hidden * columns);
      }
    };
    copy(w, d * sums * all.input, all.input, part.of_x);
    copy(r, d * sums * all.hidden, all.hidden, part.of_h);
    if (b) copy(*b, d * 2 * sums, 1, part.bias_x), copy(*b, (d * 2 + 1) * sums, 1, part.bias_h);
  }
  return {"-0", {all.size(), 1, 1}, std::move(values), w.origin};
}

/// The initial h or c of all directions, {units}, or nothing where it is left out or zero.
std::optional<Sample> initial_state(Call& call, std::size_t input, bool samples_first, RecurrentWeights const& of) {
  char const* const what = input == 5 ? "initial_h" : "initial_c";
  if (!call.has(input) || (call.is_constant(input) && is_zero(call.constant(input, what)))) return {};
  Value const state = call.value(input);
  int const samples = samples_first ? 0 : 1;
  if (state.rank() != 3 || state.extent(samples) != 1 || state.extent(1 - samples) != of.directions ||
      state.extent(2) != of.hidden || (state.samples_axis() >= 0 && state.samples_axis() != samples))
    refuse("its " + std::string{what} + " is " + described(state.axes) + ", and not directions of samples of units");
  return call.network.reshape(call.network.arranged(state, {1 - samples, 2}), {of.directions * of.hidden});
}

void recurrent(Call& call, RnnType type) {
  Value const x = call.value(0);
  bool const samples_first = call.integer("layout", 0) != 0;
  int const step_axis = samples_first ? 1 : 0, samples_axis = 1 - step_axis;
  if (x.rank() != 3 || x.extent(samples_axis) != 1 || (x.samples_axis() >= 0 && x.samples_axis() != samples_axis))
    refuse("its input is " + described(x.axes) + ", and not steps of samples of features");
  std::string const direction = call.text("direction", "forward");
  if (direction != "forward" && direction != "bidirectional") refuse("its direction is '" + direction + "'");
  Index const directions = direction == "forward" ? 1 : 2, steps = x.extent(step_axis), features = x.extent(2);
  Tensor const& r = call.constant(2, "R");
  Index const hidden = call.integer("hidden_size", r.shape.empty() ? 0 : r.shape.back());
  if (hidden < 1 || hidden > Index{1} << 20) refuse("it has " + std::to_string(hidden) + " units");
  type = type_of(call, type, directions);
  check_plain(call, steps);
  RecurrentWeights const weights{gates_of(type), features, hidden, 1, directions};
  // All of its outputs are one of the layer where more than one of them is needed and the last step is not a slice.
  bool const all = call.used(0), together = call.used(2) || (all && call.used(1) && call.is_computed(4));
  std::optional<Sample> h = initial_state(call, 5, samples_first, weights), c{};
  if (type == RnnType::lstm) c = initial_state(call, 6, samples_first, weights);
  Rnn const layer{.hidden_size = hidden,
                  .rnn_type = type,
                  .reset_after = type != RnnType::gru || call.integer("linear_before_reset", 0) != 0,
                  .direction_mode = directions == 2 ? DirectionMode::bi_directional : DirectionMode::uni_directional,
                  .output = together ? RnnOutput::sequence_and_state
                            : all    ? RnnOutput::sequence
                                     : RnnOutput::last_step,
                  .initial_state = h || c};
  Sample const sequence = call.network.reshape(call.network.arranged(x, {step_axis, 2}), {steps, features});
  std::vector<Sample> inputs{sequence};
  if (call.is_computed(4)) inputs.push_back(numbers_by_sample(call, 4, "numbers of steps (sequence_lens)"));
  if (h || c) {  // an LSTM of coldpress takes both
    auto const zero = [&](Sample const& other) { return call.network.add("zero", Power{.scale = 0}, {other}); };
    inputs.push_back(h ? *h : zero(*c));
    if (type == RnnType::lstm) inputs.push_back(c ? *c : zero(*h));
  }
  Sample const y = call.network.add("", layer, inputs, {packed(call, weights, type)});
  auto const rows = [&](std::string const& name, Index first, Index count) {
    return call.network.add(name, Slice{.begin = static_cast<int>(first), .end = static_cast<int>(first + count)}, {y});
  };
  Axis const samples = x.axis(samples_axis);
  auto const set_state = [&](Sample const& units, std::size_t output) {
    Value state = made({}, samples_first ? std::vector<Axis>{samples, {directions}, {hidden}}
                                         : std::vector<Axis>{{directions}, samples, {hidden}});
    state.sample = call.network.reshape(units, shape_of(state.axes, state.order));
    call.set(state, output);
  };
  if (all) {
    Value value = made({}, samples_first ? std::vector<Axis>{samples, {steps}, {directions}, {hidden}}
                                         : std::vector<Axis>{{steps}, {directions}, samples, {hidden}});
    value.sample = call.network.reshape(together ? rows("steps", 0, steps) : y, shape_of(value.axes, value.order));
    call.set(value);
  }
  if (call.used(2)) set_state(rows("cells", steps + 1, 1), 2);
  if (!call.used(1)) return;
  if (together) return set_state(rows("state", steps, 1), 1);
  std::vector<Sample> last{y};
  if (all) {  // the first direction ends at the last step, the second one at the first
    last.clear();
    for (Index d = 0; d < directions; ++d) {
      auto const at = static_cast<int>(d == 0 ? steps - 1 : 0), from = static_cast<int>(d * hidden);
      Sample const step = call.network.add("last", Slice{.axis = 0, .begin = at, .end = at + 1}, {y});
      last.push_back(directions == 1
                         ? step
                         : call.network.add("state",
                                            Slice{.axis = 1, .begin = from, .end = from + static_cast<int>(hidden)},
                                            {step}));
    }
  }
  set_state(last.size() == 1 ? last[0] : call.network.add("states", Concat{.axis = 1}, last), 1);
}

void lstm(Call& call) { recurrent(call, RnnType::lstm); }
void gru(Call& call) { recurrent(call, RnnType::gru); }
void rnn(Call& call) { recurrent(call, RnnType::tanh); }

}  // namespace

std::span<Operator const> recurrent_operators() {
  static constexpr std::array rows{
      Operator{"LSTM", lstm, nullptr,
               "`rnn`; forward or in both directions, with sequence_lens, initial and last states"},
      Operator{"GRU", gru, nullptr, "`rnn`, with or without linear_before_reset; otherwise as LSTM"},
      Operator{"RNN", rnn, nullptr, "`rnn` with Tanh or Relu, otherwise as LSTM"},
  };
  return rows;
}

}  // namespace coldpress::convert::onnx
