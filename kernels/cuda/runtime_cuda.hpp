// The GPU backend of networks that are known only at run time: a layer, forward or backward, is one kernel.
#pragma once

#include "bodies.hpp"
#include "device.hpp"

#include <array>
#include <span>
#include <vector>

namespace coldpress::cuda {

/// Means of losses and the like, which kernels leave on the device until somebody asks.
class Results {
 public:
  explicit Results(std::shared_ptr<Device> device) : device_(device), floats_(device), doubles_(device) {
    floats_.reserve(most), doubles_.reserve(1);
  }
  void start() { used_ = 0; }
  float* next() {
    require(used_ < most, "network: more than 1024 losses");
    return floats_.data() + used_++;
  }
  float const* last() const { return floats_.data() + used_ - 1; }
  std::span<float const> fetch() {
    fetched_.resize(static_cast<std::size_t>(used_));
    if (used_ > 0) device_->download(fetched_.data(), floats_.data(), fetched_.size() * sizeof(float));
    return fetched_;
  }
  double* number() { return doubles_.data(); }

 private:
  static constexpr int most = 1024;
  std::shared_ptr<Device> device_;
  DeviceMemory<float> floats_;
  DeviceMemory<double> doubles_;
  std::vector<float> fetched_;
  int used_ = 0;
};

struct RuntimeCuda : GridLayout {
  using Scalar = float;
  static constexpr bool takes_layers = true;
  /// Gradients go through memory, and one kernel an optimizer does the rest.
  template <class Optimizer>
  static constexpr bool fuses_update = false;

  std::shared_ptr<Device> device;
  std::shared_ptr<Results> results;
  float* scratch = nullptr;
  int workers = 1;  // as Grid's
  Index own_scratch = 0;
  Precision precision = Precision::fp32;

  explicit RuntimeCuda(std::shared_ptr<Device> by) : device(by), results(std::make_shared<Results>(by)) {}

  template <class L, class Pass>
  void forward(L const& layer, Pass const& pass) const {
    if constexpr (is_built_in<L>) {
      run(Forward<L>{layer,
                     {.in = inputs_of<L>(pass.in),
                      .x = pass.x,
                      .p = parameters(layer, pass),
                      .y = pass.y,
                      .then = then_of(pass.then),
                      .memory = pass.memory,
                      .state = pass.state,
                      .key = pass.key,
                      .step = pass.step}});
    }
  }
  template <class L, class Pass>
  void backward(L const& layer, Pass const& pass) const {
    take_back<Stage::common>(layer, pass);
  }
  template <class L, class Pass>
  void backward_input(L const& layer, Pass const& pass) const {
    take_back<Stage::input>(layer, pass);
  }
  template <class L, class Pass>
  void backward_parameters(L const& layer, Pass const& pass) const {
    take_back<Stage::parameters>(layer, pass);
  }
  void map(In x, Out y, Then<ErasedChain, float> const& then) const { run(Map{x, y, then_of(then)}); }
  void map_gradient(In dy, Out dx, Slope<ErasedChain, float> const& slope) const {
    run(MapGradient{dy, dx, slope_of(slope)});
  }
  void map_gradient(In dy, Out dx, Slope<Chain<>, float> const&) const { run(MapGradient{dy, dx, {}}); }
  void add_gradient(In dy, Out dx, Slope<ErasedChain, float> const& slope) const {
    run(AddGradient{dy, dx, slope_of(slope)});
  }
  template <class L>
  void join_gradient(L const& layer, bool second, In dy, In a, In b, Out dx,
                     Slope<ErasedChain, float> const& slope) const {
    run(JoinGradient<L>{layer, second, dy, a, b, dx, slope_of(slope)});
  }
  void normalize(Normalization kind, In x, Out y) const { run(Normalize{kind, x, y}); }
  void normalize_gradient(Normalization kind, In y, In dy, Out dx) const { run(NormalizeGradient{kind, y, dy, dx}); }
  /// The means of losses are in `results` once somebody fetches them; here they are 0.
  template <class L>
  float loss(L const& loss, Normalization kind, In x, Out y, In target, Out dx) const {
    run(LossOf<L>{loss, kind, x, y, target, dx, results->next()});
    return 0;
  }
  template <class L>
  float sample_losses(L const& loss, Shape const& in, In y, In target, Out dy, Out dt) const {
    run(SampleLossOf<L>{loss, in, y, target, dy, dt, results->next()});
    return 0;
  }
  template <class L>
  void loss_target_gradient(L const& loss, In y, In target, Out dt) const {
    run(TargetGradient<L>{loss, y, target, dt});
  }
  void gather(double* sums, float, Index batch) const { run(Gather{results->last(), batch, sums}); }
  template <class S, class X>
  void observe(S const& statistic, Shapes in, X const& x, double* sums) const {
    run(Observe<S>{statistic, inputs_of<S>(in), {x[0], x[1]}, sums});
  }
  template <class Sink>
  void hand_over(float const* gradient, Index size, Sink const& sink) const {
    run(HandOver<Sink>{gradient, size, sink});
  }
  void subtract(float* weights, float const* gradients, Index size) const { run(Subtract{weights, gradients, size}); }
  void constrain(Parameter const& parameter, float* weight, float most) const {
    run(Constrain{parameter.shape, weight, most});
  }
  double squared_norm(float const* values, Index size) const {
    run(SquaredNorm{values, size, results->number()});
    double value = 0;
    device->download(&value, results->number(), sizeof value);
    return value;
  }
  template <class L>
  ErasedOp erased() const {
    return erased_op_of<L>();
  }
  template <class L>
  ErasedJoin erased_join() const {
    return erased_join_of<L>();
  }

 private:
  /// A network that has others is refused before it runs.
  template <class L>
  static constexpr bool is_built_in = number_of<L> >= 0;

  template <Stage stage, class L, class Pass>
  void take_back(L const& layer, Pass const& pass) const {
    using Body = Backward<L, stage>;
    if constexpr (is_built_in<L> && Body::exists) {
      typename Body::Pass to{.in = inputs_of<L>(pass.in),
                             .x = pass.x,
                             .p = parameters(layer, pass),
                             .y = pass.y,
                             .dy = pass.dy,
                             .dx = pass.dx,
                             .slope = {},
                             .sinks = {},
                             .memory = pass.memory,
                             .key = pass.key,
                             .step = pass.step};
      if constexpr (OneInput<L>) to.slope = slope_of(pass.slope);
      if constexpr (stage == Stage::parameters) {
        each_parameter(layer, pass, pass.sinks, [&](int i, auto const& sink) { to.sinks.list[i] = sink; });
      }
      run(Body{layer, to});
    }
  }
  template <class Body>
  void run(Body const& body) const {
    Grid grid = device->grid();
    grid.scratch = scratch, grid.workers = workers, grid.own_scratch = own_scratch, grid.precision = precision;
    launch(*device, grid, body);
  }
  template <class L, class In>
  static InputsOf<L> inputs_of(In const& in) {
    if constexpr (OneInput<L>) {
      return in;
    } else {
      InputShapes shapes{.list = {}, .count = in.size()};
      for (std::size_t k = 0; k < in.size(); ++k) shapes.list[k] = in[k];
      return shapes;
    }
  }
  /// f(i, view[i]) for each parameter of the layer.
  template <class L, class Pass, class View, class F>
  static void each_parameter(L const& layer, Pass const& pass, View const& view, F f) {
    auto const count = static_cast<int>(parameters_of(layer, pass.in).size());
    require(count <= max_parameters, "layer: on a GPU it has at most 4 parameters");
    for (int i = 0; i < count; ++i) f(i, view[i]);
  }
  template <class L, class Pass>
  static OfParameters<float const*> parameters(L const& layer, Pass const& pass) {
    OfParameters<float const*> all{};
    each_parameter(layer, pass, pass.p, [&](int i, float const* p) { all.list[i] = p; });
    return all;
  }
};

}  // namespace coldpress::cuda
