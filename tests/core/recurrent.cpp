#include <coldpress/backend/layout.hpp>

#include "support/catch.hpp"

#include <set>

using namespace coldpress;

namespace {

using Kind = RecurrentWeights::Kind;
using Place = RecurrentWeights::Place;

/// Two layers of five LSTM units on ten features: those of a file that Juice wrote.
constexpr RecurrentWeights lstm{.gates = 4, .input = 10, .hidden = 5, .layers = 2};
constexpr RecurrentWeights gru{.gates = 3, .input = 2, .hidden = 4, .layers = 3, .directions = 2};
constexpr RecurrentWeights skipping{.gates = 1, .input = 7, .hidden = 7, .layers = 2, .directions = 2, .skip = true};

Parameter parameter_of(RecurrentWeights const& w) {
  Parameter parameter{};
  parameter.shape = {w.size(), 1, 1};
  parameter.recurrent = w;
  return parameter;
}
void check_storage(RecurrentWeights const& w) {
  Parameter const parameter = parameter_of(w);
  Index const size = cpu::Layout::storage_size(parameter);
  std::set<Index> taken;
  for (Index e = 0; e < w.size(); ++e) taken.insert(cpu::Layout::offset(parameter, e));
  CHECK(static_cast<Index>(taken.size()) == w.size());
  CHECK(*taken.begin() >= 0);
  CHECK(*taken.rbegin() < size);
  CHECK(size % cpu::Layout::alignment == 0);
}

}  // namespace

// Where the blocks of a real file start.
TEST_CASE("weights are packed in Juice's order") {
  CHECK(lstm.size() == 580);
  CHECK(lstm.matrices(2) == 500);
  struct Block {
    Index offset, part;
    Kind kind;
    Index columns;
  };
  for (Block const& block :
       {Block{0, 0, Kind::input_matrix, 10}, Block{200, 0, Kind::hidden_matrix, 5},
        Block{300, 1, Kind::input_matrix, 5}, Block{400, 1, Kind::hidden_matrix, 5}, Block{500, 0, Kind::input_bias, 1},
        Block{520, 0, Kind::hidden_bias, 1}, Block{540, 1, Kind::input_bias, 1}, Block{560, 1, Kind::hidden_bias, 1}}) {
    INFO(block.offset);
    for (Index gate = 0, e = block.offset; gate < 4; ++gate) {
      for (Index unit = 0; unit < 5; ++unit) {
        for (Index column = 0; column < block.columns; ++column, ++e)
          CHECK(lstm.place(e) == Place{block.part, block.kind, gate, unit, column});
      }
    }
  }
}

TEST_CASE("directions follow each other within a layer, and the layers above read both") {
  CHECK((gru.parts() == 6 && gru.inputs(0) == 2 && gru.inputs(1) == 2 && gru.inputs(2) == 8 && gru.inputs(5) == 8));
  CHECK(gru.size() == 2 * 3 * 4 * (2 + 4) + 4 * 3 * 4 * (8 + 4) + 6 * 2 * 3 * 4);
  CHECK(gru.place(72) == Place{1, Kind::input_matrix, 0, 0, 0});
  CHECK(gru.place(144) == Place{2, Kind::input_matrix, 0, 0, 0});
  CHECK(gru.place(144 + 3 * 4 * 8 + 2 * 16 + 7) == Place{2, Kind::hidden_matrix, 2, 1, 3});
}

TEST_CASE("without W_x the first layer has matrices of h alone, and all biases") {
  CHECK((skipping.inputs(0) == 0 && skipping.inputs(1) == 0 && skipping.inputs(2) == 14));
  CHECK(skipping.size() == 2 * 49 + 2 * (7 * 14 + 49) + 4 * 2 * 7);
  CHECK(skipping.place(0) == Place{0, Kind::hidden_matrix, 0, 0, 0});
  CHECK(skipping.place(98) == Place{2, Kind::input_matrix, 0, 0, 0});
}

TEST_CASE("every weight has a place of its own in the CPU's layout") {
  check_storage(lstm);
  check_storage(gru);
  check_storage(skipping);
  check_storage({.gates = 4, .input = 1, .hidden = 64, .layers = 1});
}

TEST_CASE("a GRU's gates stand so that what is multiplied with x and with h are runs of the same sums") {
  Parameter const parameter = parameter_of(gru);
  auto const column = [&](Index element) {
    return cpu::Layout::offset(parameter, element) % cpu::Layout::recurrent_pitch(gru) / 16;
  };
  CHECK((column(0) == 1 && column(8) == 2 && column(16) == 0));    // W_x of r, z, n
  CHECK((column(24) == 0 && column(40) == 1 && column(56) == 2));  // W_h
}
