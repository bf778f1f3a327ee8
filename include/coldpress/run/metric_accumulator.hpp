// Accumulates the losses and statistics of a static network over several calls.
#pragma once

#include <coldpress/graph/name.hpp>
#include <coldpress/graph/node.hpp>
#include <coldpress/run/host_transfer.hpp>

#include <array>
#include <utility>

namespace coldpress {

template <class Graph, class Transfer>
class MetricAccumulator {
 public:
  explicit MetricAccumulator(Transfer const& transfer) : transfer_(transfer) {}
  double* sums() { return sums_.data(); }
  /// Copies the sums, from which `for_each` makes statistics. Those of several passes may be added up.
  void read_sums(double* to) const {
    read([&](double const* sums) {
      for (int i = 0; i < Graph::sums; ++i) to[i] = sums[i];
    });
  }
  void reset() { transfer_.clear(sums_); }
  /// A statistic, or the mean of a loss, by its name in the network's function. It is NaN before the first sample.
  template <FixedString name>
  double report() const {
    constexpr int node = [] {
      for (int i = 0; i < Graph::size; ++i) {
        auto const at = static_cast<std::size_t>(i);
        if (Graph::nodes[at].sums >= 0 && Graph::names[at].view() == name.view()) return i;
      }
      return -1;
    }();
    static_assert(node >= 0, "statistic: the network has no statistic and no loss of this name");
    double report = 0;
    read([&](double const* sums) { report = report_of(Graph::template layer<node>, sums + Graph::nodes[node].sums); });
    return report;
  }
  /// Calls f(name, report) for each of them, in order.
  template <class F>
  void for_each(F f) const {
    read([&](double const* sums) { for_each(sums, f); });
  }
  /// The same for sums that were read before.
  template <class F>
  static void for_each(double const* sums, F f) {
    auto const one = [&](auto node) {
      if constexpr (Graph::nodes[node].sums >= 0)
        f(Graph::names[node].view(), report_of(Graph::template layer<node>, sums + Graph::nodes[node].sums));
    };
    [&]<int... i>(std::integer_sequence<int, i...>) { (one(std::integral_constant<int, i>{}), ...); }
    (std::make_integer_sequence<int, Graph::size>{});
  }

 private:
  /// Calls f(sums in the host's memory).
  template <class F>
  void read(F f) const {
    transfer_.read(sums_.data(), Graph::sums, f);
  }
  using Sums = typename Transfer::template Numbers<double, Graph::sums>;
  [[no_unique_address]] Transfer transfer_;
  Sums sums_ = transfer_.template memory<Sums>();
};

}  // namespace coldpress
