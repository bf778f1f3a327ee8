// A stream in blocks of steps through an engine's network.
#pragma once

#include "engine.hpp"

#include <coldpress/run/block_stream.hpp>
#include <coldpress/run/step_stream.hpp>

namespace coldpress::dynamic {

/// Makes streams; `Base` is BlockStream or StepStream.
template <class Backend>
class EngineStream {
 public:
  static std::unique_ptr<StreamPasses<float>> make(Engine<Backend>& engine, Index most) {
    engine.check_streams();
    for (Shape const& in : engine.input_shapes_) {
      if (in.rank() > 1 && in[0] != 1)
        refuse("stream: a sample of the network is a sequence of ", in,
               "; a stream needs single steps, so make the network with an input of one step");
    }
    engine.inference_.program.link_streams();
    if (most == 1) return std::make_unique<Passes<StepStream<TableProgram<Backend>, Backend>>>(engine, most);
    return std::make_unique<Passes<BlockStream<TableProgram<Backend>, Backend>>>(engine, most);
  }

 private:
  template <class Base>
  class Passes final : public Base {
   public:
    Passes(Engine<Backend>& engine, Index most)
        : Base(engine.inference_.program.passes(), ready(engine.backend_), engine.parameters_.data(), engine.seed_,
               engine.input_shapes_, engine.output_shapes_, engine.inference_.program.scratch(),
               coldpress::detail::plan_stream<Backend>(engine.inference_.program,
                                                       static_cast<Index>(engine.input_shapes_.size())),
               most),
          engine_(engine),
          network_(engine.shared_from_this()),
          most_(most) {}
    std::unique_ptr<StreamPasses<float>> another() const override { return std::make_unique<Passes>(engine_, most_); }

   private:
    Engine<Backend>& engine_;
    std::shared_ptr<Executable> network_;  // which stays even if its Layer does not
    Index most_;
  };
  static Backend ready(Backend backend) {
    if constexpr (requires { backend.link_streams(); }) backend.link_streams();
    return backend;
  }
};

}  // namespace coldpress::dynamic
