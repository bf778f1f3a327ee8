// Recurrent layers: ONNX has an operator for one layer, with the steps before the samples.
#include <coldpress/core/recurrent.hpp>

#include "onnx_exporters.hpp"

namespace coldpress::convert::onnx_out {
namespace {

/// The name of ONNX's operator, and the numbers of coldpress' gates in ONNX's order: i, o, f, c among i, f, g, o, and
/// z, r, h among r, z, n.
struct Kind {
  std::string_view op;
  std::vector<Index> gates;
};
Kind kind_of(RnnType type) {
  if (type == RnnType::lstm) return {"LSTM", {0, 3, 1, 2}};
  if (type == RnnType::gru) return {"GRU", {1, 0, 2}};
  return {"RNN", {0}};
}

class Recurrent {
 public:
  Recurrent(LayerWriter& w, Rnn const& rnn) : w_(w), rnn_(rnn), kind_(kind_of(rnn.rnn_type)) {
    steps_ = w.rank() == 2 ? w.in()[0] : 1;
    packed_ = rnn.weights(w.in());
    states_ = static_cast<std::size_t>(rnn.initial_states());
  }

  Name write() {
    Name x = w_.rank() == 2 ? w_.x() : w_.reshape(w_.x(), Extents{1, packed_.input});
    x = w_.transpose(x, {1, 0, 2});
    if (w_.inputs() > 1 + states_) lengths_ = lengths();
    std::vector<Name> last, cells;
    for (Index layer = 0; layer < rnn_.num_layers; ++layer) {
      auto const y = apply(x, layer);
      x = joined(y[0]);
      bool const top = layer + 1 == rnn_.num_layers;
      if (top || rnn_.output >= RnnOutput::layers) last.push_back(y[1]);
      if (y.size() > 2) cells.push_back(y[2]);
    }
    Index const units = rnn_.units();
    if (rnn_.output == RnnOutput::sequence_and_state) {
      std::vector<Name> rows{w_.transpose(x, {1, 0, 2})};
      for (auto const* const states : {&last, &cells})
        for (Name const& state : *states) rows.push_back(units_of(state, {1, units}));
      return w_.add("Concat", rows, {{"axis", 1}});
    }
    if (rnn_.output == RnnOutput::sequence) return w_.transpose(x, {1, 0, 2});
    return rnn_.output == RnnOutput::last_step ? units_of(last[0], {units}) : of_layers(last);
  }

 private:
  /// All steps, [steps, directions, samples, hidden], and the last h of each direction, [directions, samples, hidden],
  /// with the last c of an LSTM behind it where it is part of the output.
  std::vector<Name> apply(Name const& x, Index layer) {
    bool const both = packed_.directions == 2;
    Attributes attributes{{"hidden_size", packed_.hidden}, {"direction", both ? "bidirectional" : "forward"}};
    if (rnn_.rnn_type == RnnType::gru) attributes.push_back({"linear_before_reset", rnn_.reset_after ? 1 : 0});
    if (kind_.op == "RNN") {
      std::string_view const activation = rnn_.rnn_type == RnnType::relu ? "Relu" : "Tanh";
      attributes.push_back({"activations", std::vector<std::string_view>(both ? 2 : 1, activation)});
    }
    std::vector<Name> inputs{x, matrices(layer, true), matrices(layer, false), biases(layer)};
    if (!lengths_.empty() || states_ > 0) inputs.push_back(lengths_);
    for (std::size_t k = w_.inputs() - states_; k < w_.inputs(); ++k) inputs.push_back(initial_state(k, layer));
    bool const cells = rnn_.rnn_type == RnnType::lstm && rnn_.output == RnnOutput::sequence_and_state;
    return w_.add_several(kind_.op, inputs, attributes, cells ? 3 : 2);
  }
  /// The number of steps of each sample, [samples], as whole numbers that ONNX allows.
  Name lengths() {
    constexpr Index int32 = 6;
    Name const some = w_.add("Clip", {w_.x(1), w_.number(0, "none"), w_.number(static_cast<float>(steps_), "all")});
    return w_.add("Cast", {w_.add("Squeeze", {some, w_.indices({1}, "axes")})}, {{"to", int32}});
  }
  /// The initial h or c of a layer, [directions, samples, hidden].
  Name initial_state(std::size_t input, Index layer) {
    Name const& all = w_.x(input);
    Name const units = rnn_.num_layers > 1 ? w_.slice(all, 2, layer, layer + 1) : all;
    return w_.transpose(w_.reshape(units, Extents{packed_.directions, packed_.hidden}), {1, 0, 2});
  }
  /// f(the part of the packed weights, its weights) for each direction of a layer.
  template <class F>
  void each_direction(Index layer, F f) const {
    for (Index d = 0; d < packed_.directions; ++d) {
      Index const part = layer * packed_.directions + d;
      f(part, PackedPart<float const>{packed_, part, w_.weight_of(0).values.data()});
    }
  }
  std::string named(char const* what, Index layer) const {
    return std::string{what} + (rnn_.num_layers > 1 ? std::to_string(layer) : "");
  }
  Name matrices(Index layer, bool of_input) {
    std::vector<float> values;
    Index columns = packed_.hidden;
    each_direction(layer, [&](Index part, PackedPart<float const> const& w) {
      bool const identity = of_input && packed_.inputs(part) == 0;  // the input is added as it is
      if (of_input && !identity) columns = packed_.inputs(part);
      for (Index const gate : kind_.gates) {
        for (Index i = 0; i < packed_.hidden * columns; ++i) {
          values.push_back(identity ? (i % (columns + 1) == 0 ? 1.0f : 0.0f)
                                    : (of_input ? w.of_x : w.of_h)[gate * packed_.hidden * columns + i]);
        }
      }
    });
    return w_.numbers(values, {packed_.directions, packed_.biases(), columns}, named(of_input ? "W" : "R", layer));
  }
  Name biases(Index layer) {
    std::vector<float> values;
    each_direction(layer, [&](Index, PackedPart<float const> const& w) {
      for (float const* const bias : {w.bias_x, w.bias_h}) {
        for (Index const gate : kind_.gates)
          values.insert(values.end(), bias + gate * packed_.hidden, bias + (gate + 1) * packed_.hidden);
      }
    });
    return w_.numbers(values, {packed_.directions, 2 * packed_.biases()}, named("B", layer));
  }
  /// All steps with the units of all directions beside each other, [steps, samples, units].
  Name joined(Name const& y) {
    if (packed_.directions == 1) return w_.add("Squeeze", {y, w_.indices({1}, "axes")});
    Name const apart = w_.transpose(y, {0, 2, 1, 3});
    return w_.add("Reshape", {apart, w_.indices({0, 0, rnn_.units()}, "shape")});
  }
  Name units_of(Name const& last, Extents const& sample) { return w_.reshape(w_.transpose(last, {1, 0, 2}), sample); }
  /// {units, layers}
  Name of_layers(std::vector<Name> const& last) {
    std::vector<Name> columns;
    for (Name const& layer : last) columns.push_back(units_of(layer, {rnn_.units(), 1}));
    return columns.size() == 1 ? columns[0] : w_.add("Concat", columns, {{"axis", 2}});
  }

  LayerWriter& w_;
  Rnn const& rnn_;
  Kind kind_;
  Index steps_ = 1;
  Name lengths_ = {};       // empty: all samples have all steps
  std::size_t states_ = 0;  // the last inputs are initial states
  RecurrentWeights packed_ = {};
};

Name recurrent(LayerWriter& w, Rnn const& rnn) { return Recurrent{w, rnn}.write(); }

}  // namespace

std::span<Exporter const> recurrent_exporters() {
  static constexpr std::array rows{
      exporter<Rnn, recurrent>(
          "LSTM, GRU or RNN for each layer, with Transpose, Squeeze and Reshape; Clip and Cast of numbers of steps, "
          "Slice of initial states"),
  };
  return rows;
}

}  // namespace coldpress::convert::onnx_out
