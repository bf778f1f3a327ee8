// A sequence, such as sound, that goes through a network type in blocks of any length.
#pragma once

#include <coldpress/kernels/recording_cpu.hpp>
#include <coldpress/run/block_stream.hpp>
#include <coldpress/run/step_stream.hpp>
#include <coldpress/typed/network.hpp>

#if defined COLDPRESS_LINKED_KERNELS && !defined __CUDACC__
#include <coldpress/kernels/linked_streams.hpp>
#endif

namespace coldpress {
inline namespace COLDPRESS_KERNELS {

/// A stream of steps through a network, a sample of which is one step: Shape{features}.
///
///   Stream stream{network, 512};
///   stream.process(input, output);  // 64 steps, say: their values one step after another
///
/// Its other functions are those of BasicStream.
template <class Net>
class Stream : public BasicStream<typename Net::T> {
  using T = typename Net::T;
  using Backend = typename Net::Backend;
  using Program = typename Net::Inference;
  static_assert(
      Program::plan().streams,
      "Stream: a layer of this network needs its whole input at once, so a sequence cannot be given in parts");
  static_assert(sizeof(NetworkError<Net::needs_its_whole_input()>) > 0);
  static_assert(Net::takes_steps(), "Stream: the inputs of the network must be single steps, Shape{features}");
  static_assert(!takes_layers<Backend>, "Stream: a network on a GPU is streamed by step()");

 public:
  /// Allocates all memory of the stream. A call may have more than `most` steps, which are then computed in parts. A
  /// stream that is made for single steps, 1, computes these in the least time.
  explicit Stream(Net const& network, Index most = steps_at_once) : BasicStream<T>(passes(network, most)) {}
  explicit Stream(Net const&&, Index = 0) = delete;  // a temporary would not last

 private:
  /// A program of the stream's own, since recorded calls refer to its operations.
  struct Prepared {
    Backend backend{};
    Program program{};

    explicit Prepared(Net const& network) {
      if constexpr (is_linked<Backend>) {
        program.template prepare<true>(backend, network.seed());
        backend.link_streams();
      }
    }
    /// The program of the passes.
    auto const& passes() const {
      if constexpr (is_linked<Backend>) {
        return program.passes();
      } else {
        return program;
      }
    }
  };
  using Executed = std::remove_cvref_t<decltype(std::declval<Prepared const&>().passes())>;
  static constexpr auto outputs_of_step = [] {
    std::array<Shape, static_cast<std::size_t>(Net::output_count)> all{};
    for (int k = 0; k < Net::output_count; ++k) all[static_cast<std::size_t>(k)] = Net::shape_of_output(k);
    return all;
  }();
  /// `Base` is BlockStream or StepStream.
  template <class Base>
  class Passes final : Prepared, public Base {
   public:
    Passes(Net const& network, Index most)
        : Prepared(network),
          Base(this->passes(), {this->backend}, network.parameters().data(), network.seed(),
               {Net::inputs.shapes, static_cast<std::size_t>(Net::input_count)}, outputs_of_step, Program::scratch_size,
               detail::plan_stream<Backend>(this->program, Net::input_count), most),
          network_(network),
          most_(most) {}
    std::unique_ptr<StreamPasses<T>> another() const override { return std::make_unique<Passes>(network_, most_); }
    void process(Index steps, std::span<std::span<T const> const> from, std::span<std::span<T> const> to) override {
      check_network();
      Base::process(steps, from, to);
    }
    Index warm_up(Index limit) override {
      check_network();
      return Base::warm_up(limit);
    }

   private:
    void check_network() const {
      require(network_.parameters().data() == this->parameters_,
              "stream: its network has been assigned to, so its weights are elsewhere; make a new stream");
    }
    Net const& network_;
    Index most_;
  };
  static std::unique_ptr<StreamPasses<T>> passes(Net const& network, Index most) {
    if (most == 1) return std::make_unique<Passes<StepStream<Executed, Backend>>>(network, most);
    return std::make_unique<Passes<BlockStream<Executed, BlockBackend<Backend>>>>(network, most);
  }
};

}  // namespace COLDPRESS_KERNELS
}  // namespace coldpress
