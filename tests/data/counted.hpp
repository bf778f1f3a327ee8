// A data set that counts the samples that are read.
#pragma once

#include <coldpress/data/source.hpp>

#include <atomic>
#include <memory>
#include <utility>

namespace coldpress::test {

class Counted final : public data::Source {
 public:
  explicit Counted(std::unique_ptr<data::Source> of) : Source(of->description()), of_(std::move(of)) {}
  std::unique_ptr<Reader> reader() const override { return std::make_unique<Counting>(*this); }
  mutable std::atomic<Index> samples = 0;

 private:
  struct Counting final : Reader {
    explicit Counting(Counted const& of) : source(of), inner(of.of_->reader()) {}
    void read(Index first, Index count, float* values, float* targets) override {
      source.samples += count;
      inner->read(first, count, values, targets);
    }
    Counted const& source;
    std::unique_ptr<Reader> inner;
  };
  std::unique_ptr<data::Source> of_;
};

}  // namespace coldpress::test
