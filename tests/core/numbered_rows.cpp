// The gradient of a table against plain loops, with each kind of executor, and which parts of the table a step touches.
#include "support/compare.hpp"
#include "support/executors.hpp"
#include "support/matrix.hpp"

#include <coldpress/core/numbered_rows.hpp>
#include <coldpress/optim/sgd.hpp>

#include <algorithm>
#include <memory>
#include <set>
#include <vector>

using namespace coldpress;
using namespace coldpress::test;

namespace {

using Floats = std::vector<float>;
std::size_t at(Index i) { return static_cast<std::size_t>(i); }

/// Numbers of the rows of a table, some of which are none, and gradients of the rows that were read.
struct Minibatch {
  static constexpr Index samples = 9, per_sample = 3;
  Index table_rows, width;
  Floats x, dy;

  Minibatch(Index rows, Index columns, std::uint64_t seed, Index least = -1) : table_rows(rows), width(columns) {
    Random random{seed};
    for (Index n = 0; n < samples * per_sample; ++n)
      x.push_back(static_cast<float>(random.integer(least, table_rows)) + (n % 7 == 6 ? 0.5f : 0.0f));
    dy = random.values<float>(samples * per_sample * width);
  }
  bool is_row(float number) const { return is_label(number, table_rows); }
  /// A table with its padding.
  Floats table(float value = 0) const { return Floats(at(padded_pitch(table_rows * width)), value); }
  Floats gradient() const {
    Floats sums = table();
    for (std::size_t n = 0; n < x.size(); ++n) {
      for (Index f = 0; f < width && is_row(x[n]); ++f)
        sums[at(static_cast<Index>(x[n]) * width + f)] += dy[at(static_cast<Index>(n) * width + f)];
    }
    return sums;
  }
  /// `scratch` is what other layers, and earlier steps, have left there.
  template <class Backend, class Sink>
  void apply(Backend backend, Sink const& sink, Floats& scratch) const {
    Floats next(x.size(), 3);
    scratch.resize(at(numbered_rows_scratch<Backend>(table_rows, width)), 7);
    backend.scratch = scratch.data();
    apply_numbered_rows(backend, Rows<float const>{x.data(), samples, per_sample, per_sample},
                        Rows<float const>{dy.data(), samples, per_sample * width, per_sample * width}, table_rows,
                        width, next.data(), sink);
  }
};

template <class F>
void for_each_table(F f) {
  for (Index const width : {1, 3, 5, 16, 19, 48, 600}) {
    for (Index const rows : {1, 2, 17, 300}) f(rows, width);
  }
}

UpdateSink<Sgd, float> sgd(Floats& weight, Floats& velocity) {
  return {Sgd{.learning_rate = 0.25f}, 0.5f, weight.data(), {velocity.data()}};
}

/// Cpu, which notes the elements that are passed to sinks.
struct Counting : Cpu {
  std::vector<Index>* passed;
  template <class Sink>
  void apply_gradient(float const* gradient, Index size, Sink const& sink) const {
    Index const begin = sink.weight - static_cast<float const*>(weight);
    for (Index e = begin; e < begin + size; ++e) passed->push_back(e);
    Cpu::apply_gradient(gradient, size, sink);
  }
  float const* weight;
};

}  // namespace

TEST_CASE("the gradient of a table is stored, or added, whatever the minibatch before has left in the scratch") {
  for_each_table([](Index rows, Index width) {
    for_each_backend([&](auto const& backend) {
      Floats scratch;
      for (std::uint64_t seed = 0; seed < 4; ++seed) {
        Minibatch const minibatch{rows, width, seed};
        Floats stored = minibatch.table(7), added = stored, expected = minibatch.gradient();
        minibatch.apply(backend, GradientSink<float>{stored.data()}, scratch);
        minibatch.apply(backend, GradientSink<float>{added.data(), true}, scratch);
        for (Floats* all : {&stored, &added, &expected}) all->resize(at(rows * width));
        CHECK((stored == expected));
        for (float& sum : expected) sum += 7;
        CHECK((added == expected));
      }
    });
  });
}

TEST_CASE("a sink that skips zeros updates weights to the same bits, and leaves states alone") {
  for_each_table([](Index rows, Index width) {
    Minibatch const minibatch{rows, width, 5};
    Floats const start = Random{6}.values<float>(static_cast<Index>(minibatch.table().size()));
    for_each_backend([&](auto const& backend) {
      Floats scratch;
      Floats all = start, some = start, velocity = minibatch.table(), left = minibatch.table(7);
      minibatch.apply(backend, sgd(all, velocity), scratch);
      UpdateSink<Sgd, float> plain = sgd(some, left);
      plain.plain = true;
      minibatch.apply(backend, plain, scratch);
      CHECK(same_bits(some, all));
      CHECK(same_bits(left, minibatch.table(7)));
      plain.frozen = true;
      minibatch.apply(backend, plain, scratch);
      CHECK(same_bits(some, all));
      CHECK_FALSE(same_bits(some, start));
    });
  });
}

TEST_CASE("it is passed each line that has a row of the minibatch once, however large the table is, and others never") {
  for (Index const width : {1, 3, 16, 19, 48, 600}) {
    for (Index const rows : {2000, 40000}) {
      Minibatch minibatch{rows, width, 5};
      for (float& number : minibatch.x) number = static_cast<float>(static_cast<Index>(number) % 40);
      std::set<Index> lines;
      for (float const number : minibatch.x) {
        for (Index f = 0; f < width && minibatch.is_row(number); ++f)
          lines.insert((static_cast<Index>(number) * width + f) / line_values);
      }
      std::vector<Index> expected, passed;
      for (Index const line : lines) {
        for (Index e = line * line_values; e < std::min((line + 1) * line_values, rows * width); ++e)
          expected.push_back(e);
      }
      Floats weight = minibatch.table(), velocity = weight, scratch;
      UpdateSink<Sgd, float> sink = sgd(weight, velocity);
      sink.plain = true;
      minibatch.apply(Counting{{}, &passed, weight.data()}, sink, scratch);
      std::sort(passed.begin(), passed.end());
      CHECK((passed == expected));
      sink.decay = 0.5f;  // changes all weights
      passed.clear();
      minibatch.apply(Counting{{}, &passed, weight.data()}, sink, scratch);
      CHECK(static_cast<Index>(passed.size()) == rows * width);
    }
  }
}

namespace {
/// So many numbers that the last ones are no exact floats. All are of no row but the last two, which are of row 1.
struct Many {
  static constexpr Index rows = (Index{1} << 23) + 2, columns = 2;
  struct Row {
    Index n;
    float operator[](Index) const { return n == rows - 1 ? 1.0f : -1.0f; }
  };
  Row row(Index n) const { return {n}; }
};
}  // namespace

TEST_CASE("places that no float can count are told apart") {
  auto const next = std::make_unique_for_overwrite<float[]>(at(Many::rows * Many::columns));
  float first[2] = {}, sums[line_values];
  NumberedRows<Many, float> const rows{{}, 2, first, next.get()};
  Floats const dy{1, 2, 4, 8};
  struct {
    float const* values;
    float const* row(Index n) const { return values + (n - (Many::rows - 1)) * Many::columns; }
  } const gradients{dy.data()};
  CHECK(rows.begins(rows.places() - 2) == 1);
  CHECK(rows.begins(rows.places() - 1) == -1);
  rows.sum(gradients, 1, 0, 2, sums);
  CHECK((sums[0] == 0 && sums[1] == 3));
}
