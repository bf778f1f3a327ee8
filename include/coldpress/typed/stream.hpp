// A sequence, such as sound, that goes through a network type in blocks of any length.
#pragma once

#include <coldpress/run/block_stream.hpp>
#include <coldpress/typed/network.hpp>

namespace coldpress {
inline namespace COLDPRESS_KERNELS {

/// A stream of steps through a network, which many streams may share. A sample of the network is one step: its inputs
/// are Shape{features}. The network is borrowed: it must neither move nor be destroyed before its streams. Its weights
/// may change between calls.
///
///   Stream stream{network, 512};
///   stream.process(input, output);  // any number of steps, say 64: their values one step after another
///
/// The bits do not depend on how a sequence is cut into blocks; they are those of `step` and, from a fresh state, those
/// of `forward` over the whole sequence. process allocates nothing, takes no lock and makes no system call.
template <class Net>
class Stream {
 public:
  using T = typename Net::T;

  /// `most` is a number of steps that most calls do not exceed; longer ones are as right, and computed in parts.
  /// Allocates all memory of the stream.
  explicit Stream(Net const& network, Index most = detail::steps_at_once)
      : network_(&network), most_(most), body_(std::make_unique<Body>(network, most)) {}
  Stream(Stream const& other) : Stream(*other.network_, other.most_) { restore(other.state()); }
  Stream(Stream&&) noexcept = default;
  Stream& operator=(Stream other) noexcept {
    network_ = other.network_, most_ = other.most_, std::swap(body_, other.body_);
    return *this;
  }

  /// Computes the next steps. x has the values of one step after another, and y receives those of the outputs for as
  /// many steps. Throws ShapeError if their sizes do not fit.
  void process(std::span<T const> x, std::span<T> y) requires(Net::input_count == 1 && Net::output_count == 1) {
    process(std::span{&x, 1}, std::span{&y, 1});
  }
  /// The same for networks with several inputs or outputs.
  void process(std::span<std::span<T const> const> inputs, std::span<std::span<T> const> outputs) {
    if (inputs.size() != Net::input_count || outputs.size() != Net::output_count)
      refuse("process: got ", inputs.size(), " inputs and ", outputs.size(), " outputs, the network has ",
             Net::input_count, " and ", Net::output_count);
    auto const steps = static_cast<Index>(inputs[0].size()) / Net::inputs[0].size();
    for (int k = 0; k < Net::input_count; ++k)
      check_values("process: an input", inputs[static_cast<std::size_t>(k)].size(), steps, Net::inputs[k]);
    for (int k = 0; k < Net::output_count; ++k)
      check_values("process: an output", outputs[static_cast<std::size_t>(k)].size(), steps, Net::shape_of_output(k));
    body_->passes.process(steps, inputs, outputs);
  }

  /// Makes the next step start a new sequence.
  void reset() { body_->passes.reset(); }
  /// Starts a new sequence and gives it silence until that has no more effect: for past() steps, or in a network that
  /// never forgets, until nothing changes or for `limit` steps. Returns their number.
  Index warm_up(Index limit = Index{1} << 20) { return body_->passes.warm_up(limit); }
  /// The number of earlier steps on which an output depends; endless_past for networks with recurrent layers.
  Index past() const { return body_->passes.past(); }
  /// The state: what the layers remember of the sequence. It fits streams of the same network made for as many steps.
  std::span<T const> state() const { return std::as_const(body_->passes).state(); }
  void restore(std::span<T const> state) {
    auto const to = body_->passes.state();
    if (state.size() != to.size())
      refuse("restore: got a state of ", state.size(), " values, expected ", to.size(),
             ", as a stream of this network made for as many steps has");
    std::copy(state.begin(), state.end(), to.begin());
  }

 private:
  using Program = typename Net::Inference;
  using Backend = typename Net::Backend;
  static_assert(Program::plan().streams,
                "Stream: a layer of this network needs its whole input at once, so a sequence cannot be given in parts");
  static_assert(Net::takes_steps(), "Stream: the inputs of the network must be single steps, Shape{features}");
  /// It stays in one place, to which recorded calls refer.
  struct Body {
    Backend backend{};
    Program program{};
    BlockStream<Program, Backend> passes;

    Body(Net const& network, Index most)
        : passes(prepared(network), backend, network.parameters().data(), network.seed(), sizes(), most) {}
    Program const& prepared(Net const& network) {
      if constexpr (is_linked<Backend>) {
        backend.template link<false>();
        program.prepare(backend, network.seed());
      }
      return program;
    }
    static typename BlockStream<Program, Backend>::Sizes sizes() {
      typename BlockStream<Program, Backend>::Sizes all;
      for (int k = 0; k < Net::input_count; ++k) all.inputs.push_back(Net::inputs[k].size());
      for (int k = 0; k < Net::output_count; ++k) all.outputs.push_back(Net::shape_of_output(k).size());
      all.scratch = Program::scratch_size;
      return all;
    }
  };
  Net const* network_;
  Index most_;
  std::unique_ptr<Body> body_;
};

}  // namespace COLDPRESS_KERNELS
}  // namespace coldpress
