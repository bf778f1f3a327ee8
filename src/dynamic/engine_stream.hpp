// A stream in blocks of steps through an engine's network.
#pragma once

#include "engine.hpp"

#include <coldpress/run/block_stream.hpp>

namespace coldpress::dynamic {

template <class Backend>
class EngineStream final : public BlockStream<Program, Backend> {
 public:
  EngineStream(Engine<Backend>& engine, Index most)
      : BlockStream<Program, Backend>(checked(engine), ready(engine.backend_), engine.parameters_.data(), engine.seed_,
                                      engine.input_shapes_, engine.output_shapes_, engine.inference_.program.scratch(),
                                      most),
        engine_(engine),
        most_(most) {}
  std::unique_ptr<StreamPasses<float>> another() const override {
    return std::make_unique<EngineStream>(engine_, most_);
  }
  static std::unique_ptr<StreamPasses<float>> make(Engine<Backend>& engine, Index most) {
    return std::make_unique<EngineStream>(engine, most);
  }

 private:
  static Program const& checked(Engine<Backend> const& engine) {
    engine.check_streams();
    for (Shape const& in : engine.input_shapes_) {
      if (in.rank() > 1 && in[0] != 1)
        refuse("stream: a sample of the network is a sequence of ", in,
               "; a stream needs single steps, so make the network with an input of one step");
    }
    return engine.inference_.program;
  }
  static Backend ready(Backend backend) {
    if constexpr (requires { backend.link_streams(); }) backend.link_streams();
    return backend;
  }
  Engine<Backend>& engine_;
  Index most_;
};

}  // namespace coldpress::dynamic
