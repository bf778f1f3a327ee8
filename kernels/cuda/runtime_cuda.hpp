// The GPU backend of networks that are known only at run time. Each layer's forward or backward pass is one kernel.
#pragma once

#include <coldpress/backend/concept.hpp>
#include <coldpress/cuda/device.hpp>
#include "bodies.hpp"
#include "library_rnn.hpp"

#include <array>
#include <span>
#include <utility>
#include <vector>

namespace coldpress::cuda {

/// The mean losses, which kernels leave on the device until they are fetched.
class Results {
 public:
  explicit Results(std::shared_ptr<Device> device) : device_(device), floats_(device) { floats_.reserve(most); }
  void start() { used_ = 0; }
  float* next() { return take(1); }
  float* take(int count) {
    require(used_ + count <= most, "network: there are more than 1024 losses");
    return floats_.data() + std::exchange(used_, used_ + count);
  }
  /// While an object of this type lives, results may be taken; its destructor gives them back.
  struct Aside {
    explicit Aside(Results& of) : results(of), used(of.used_) {}
    ~Aside() { results.used_ = used; }
    Results& results;
    int used;
  };
  float const* last() const { return floats_.data() + used_ - 1; }
  std::span<float const> fetch() {
    fetched_.resize(static_cast<std::size_t>(used_));
    if (used_ > 0) device_->download(fetched_.data(), floats_.data(), fetched_.size() * sizeof(float));
    return fetched_;
  }

 private:
  static constexpr int most = 1024;
  std::shared_ptr<Device> device_;
  DeviceMemory<float> floats_;
  std::vector<float> fetched_;
  int used_ = 0;
};

/// The tables of a network's parameters that an update reads, which are the same in all steps.
class ParameterTables {
 public:
  explicit ParameterTables(std::shared_ptr<Device> device)
      : device_(device), slots_(device), parameters_(device), chunks_(device), norms_(device) {}
  /// Uploads the tables if they have changed.
  void hold(Slots slots, int count) {
    static_assert(std::has_unique_object_representations_v<Slot>);  // so their bytes can be compared
    auto const bytes = static_cast<std::size_t>(count) * sizeof(Slot);
    if (held_.size() == static_cast<std::size_t>(count) && std::memcmp(held_.data(), slots.slots, bytes) == 0) return;
    std::vector<Chunk> chunks;
    bounded_ = false;
    for (int i = 0; i < count; ++i) {
      Slot const& slot = slots.slots[i];
      if (!slot.reached || slot.shared) continue;
      bounded_ = bounded_ || slots.parameters[i].max_norm.norm > 0;
      for (Index first = 0; first < slot.size; first += Chunk::most)
        chunks.push_back({i, slot.offset + first, std::min(Chunk::most, slot.size - first)});
    }
    chunk_count_ = static_cast<Index>(chunks.size());
    norms_.reserve(chunk_count_);
    upload(slots_, slots.slots, count), upload(parameters_, slots.parameters, count);
    upload(chunks_, chunks.data(), chunk_count_);
    held_.assign(slots.slots, slots.slots + count);
  }
  Slots slots() const { return {slots_.data(), parameters_.data()}; }
  Chunk const* chunks() const { return chunks_.data(); }
  Index chunk_count() const { return chunk_count_; }
  double* norms() const { return norms_.data(); }
  bool bounded() const { return bounded_; }

 private:
  template <class T>
  void upload(DeviceMemory<T>& to, T const* from, Index count) {
    static_assert(std::is_trivially_copyable_v<T>);
    to.reserve(count);
    device_->upload(to.data(), from, static_cast<std::size_t>(count) * sizeof(T));
  }
  std::shared_ptr<Device> device_;
  DeviceMemory<Slot> slots_;
  DeviceMemory<Parameter> parameters_;
  DeviceMemory<Chunk> chunks_;
  DeviceMemory<double> norms_;
  std::vector<Slot> held_;
  Index chunk_count_ = 0;
  bool bounded_ = false;
};

struct RuntimeCuda : GridLayout {
  using Scalar = float;
  static constexpr bool takes_layers = true;
  static constexpr bool many_threads = true;  // like Grid, which the kernels compute with
  /// Gradients go through memory; one kernel per optimizer does the rest.
  template <class Optimizer>
  static constexpr bool fuses_update = false;

  std::shared_ptr<Device> device;
  std::shared_ptr<Libraries> libraries;  // or null
  std::shared_ptr<Results> results;
  std::shared_ptr<ParameterTables> tables;
  float* scratch = nullptr;
  int workers = 1;  // like Grid::workers
  Index own_scratch = 0;
  Precision precision = Precision::fp32;
  bool fused = false;  // whether a pass is one kernel

  explicit RuntimeCuda(std::shared_ptr<Device> by)
      : device(by), results(std::make_shared<Results>(by)), tables(std::make_shared<ParameterTables>(by)) {}

  template <class L, class Pass>
  void forward(L const& layer, Pass const& pass) const {
    if constexpr (is_product<L>) {
      if (multiplied(LayerPass::forward, layer, pass, pass.x, pass.y)) {
        if (!pass.post_ops.empty()) map(pass.y, pass.y, pass.post_ops);
        return;
      }
    }
    if constexpr (std::is_same_v<L, Pooling>) {
      bool const keeps = layer.mode == PoolingMode::max && pass.step > 0;  // the positions of the maxima
      if (libraries && !keeps && libraries->pool(layer.geometry(pass.in), pass.x, pass.y)) {
        if (!pass.post_ops.empty()) map(pass.y, pass.y, pass.post_ops);
        return;
      }
    }
    if constexpr (std::is_same_v<L, Rnn>) {
      if (LibraryRnn* const rnn = pass.state ? nullptr : library_of(layer, pass, pass.step > 0)) {
        copy(steps_of(rnn->task(), pass.x[0]), steps_of(rnn->task(), rnn->values().x));
        rnn->gather(LayerPass::forward, {});
        each_output(rnn->task(), rnn->values(), pass.y, [&](auto theirs, auto ours) { copy(theirs, ours); });
        return;
      }
    }
    if constexpr (is_built_in<L>) {
      with_variant(layer, pass, [&]<class Variant>(Variant) {
        run(Forward<L, Variant>{layer,
                                {.in = inputs_of<L>(pass.in),
                                 .x = pass.x,
                                 .p = parameters(layer, pass),
                                 .y = pass.y,
                                 .post_ops = post_ops_of(pass.post_ops),
                                 .memory = pass.memory,
                                 .state = pass.state,
                                 .key = pass.key,
                                 .step = step_for(pass)}});
      });
    }
  }
  template <class L, class Pass>
  void backward(L const& layer, Pass const& pass) const {
    if constexpr (std::is_same_v<L, Rnn>) {
      if (LibraryRnn* const rnn = library_of(layer, pass, true)) {
        each_output(rnn->task(), rnn->gradients(), pass.dy, [&](auto theirs, auto ours) { copy(ours, theirs); });
        return rnn->gather(LayerPass::input_gradient, {});
      }
    }
    take_back<Stage::common>(layer, pass);
  }
  template <class L, class Pass>
  void backward_input(L const& layer, Pass const& pass) const {
    if constexpr (is_product<L>) {
      if (multiplied(LayerPass::input_gradient, layer, pass, pass.dx, pass.dy)) {
        if (!pass.derivative.empty()) map_gradient(pass.dx, pass.dx, pass.derivative);
        return;
      }
    }
    if constexpr (std::is_same_v<L, Rnn>) {
      if (LibraryRnn* const rnn = library_of(layer, pass, true))
        return copy(steps_of(rnn->task(), rnn->gradients().x), steps_of(rnn->task(), pass.dx[0]));
    }
    take_back<Stage::input>(layer, pass);
  }
  template <class L, class Pass>
  void backward_parameters(L const& layer, Pass const& pass) const {
    if constexpr (is_product<L>) {
      if (multiplied(LayerPass::weight_gradient, layer, pass, pass.x, pass.dy)) {
        if (parameters_of(layer, pass.in).size() > 1)
          run(BiasGradient{geometry_of(layer, pass.in), pass.dy, pass.sinks[1]});
        return;
      }
    }
    if constexpr (std::is_same_v<L, Rnn>) {
      if (LibraryRnn* const rnn = library_of(layer, pass, true))
        return rnn->gather(LayerPass::weight_gradient, pass.sinks[0]);
    }
    take_back<Stage::parameters>(layer, pass);
  }
  void map(In x, Out y, PostOps<ErasedChain, float> const& post_ops) const { run(Map{x, y, post_ops_of(post_ops)}); }
  void map_gradient(In dy, Out dx, Derivative<ErasedChain, float> const& derivative) const {
    run(MapGradient{dy, dx, derivative_of(derivative)});
  }
  void map_gradient(In dy, Out dx, Derivative<Chain<>, float> const&) const { run(MapGradient{dy, dx, {}}); }
  void add_gradient(In dy, Out dx, Derivative<ErasedChain, float> const& derivative) const {
    run(AddGradient{dy, dx, derivative_of(derivative)});
  }
  template <class L>
  void join_gradient(L const& layer, bool second, In dy, In a, In b, Out dx,
                     Derivative<ErasedChain, float> const& derivative) const {
    run(JoinGradient<L>{layer, second, dy, a, b, dx, derivative_of(derivative)});
  }
  void normalize(Normalization kind, In x, Out y) const { run(Normalize{kind, x, y}); }
  void normalize_gradient(Normalization kind, In y, In dy, Out dx) const { run(NormalizeGradient{kind, y, dy, dx}); }
  /// Returns 0; the mean losses are in `results` and can be fetched from there.
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
  template <class Optimizer>
  void update(UpdateStep<Optimizer, float> const& update_step, float const* gradients, Slots slots, int count) const {
    tables->hold(slots, count);
    run(Update<Optimizer>{update_step, gradients, tables->slots(), count, tables->chunks(), tables->chunk_count(),
                          tables->norms(), tables->bounded()});
  }
  void subtract(float* weights, float const* gradients, Index size) const { run(Subtract{weights, gradients, size}); }
  template <class L>
  ErasedOp erased() const {
    return {.id = operation_id<L>,
            .needs_input = decltype(L{}.op(0))::needs_input,
            .op = nullptr,
            .value = nullptr,
            .gradient = nullptr};
  }
  template <class L>
  ErasedJoin erased_join() const {
    return {operation_id<L>};
  }

 private:
  /// The step for layers that draw random numbers. For others only whether it is training, so that kernels' arguments
  /// stay the same.
  template <class Pass>
  static std::uint64_t step_for(Pass const& pass) {
    return pass.key != 0 || pass.step == 0 ? pass.step : 1;
  }
  /// Whether there are kernels for a layer; networks with others are rejected before they run.
  template <class L>
  static constexpr bool is_built_in = operation_id<L> >= 0;

  /// Whether a library may compute a layer's products with its weights.
  template <class L>
  static constexpr bool is_product = std::is_same_v<L, Convolution> || std::is_same_v<L, Linear>;
  static ConvolutionGeometry geometry_of(Convolution const& layer, Shape const& in) { return layer.geometry(in); }
  static ConvolutionGeometry geometry_of(Linear const& layer, Shape const& in) {
    if (layer.last_axis) return layer.geometry(in);
    return {in.size(), layer.output_size, 1, {}, {}, ConvolutionKind::image};
  }
  /// Gathers a library's call for a layer's product; returns false if the work is left to kernels.
  template <class L, class Pass>
  bool multiplied(LayerPass which, L const& layer, Pass const& pass, Out x, Out y) const {
    if (!libraries) return false;
    ConvolutionGeometry const g = geometry_of(layer, pass.in);
    if (g.is_volume()) return false;
    float const *weight = pass.p[0], *bias = nullptr;
    bool add = false;
    if constexpr (requires { pass.state; }) {
      if (pass.state && g.is_sequence() && g.past() > 0)
        return false;  // only kernels keep the earlier steps of a stream
      if (parameters_of(layer, pass.in).size() > 1) bias = pass.p[1];
    } else if (which == LayerPass::weight_gradient) {
      weight = pass.sinks[0].gradient, add = pass.sinks[0].add;
    }
    return libraries->multiply(which, g, x, const_cast<float*>(weight), const_cast<float*>(bias), y, add);
  }
  /// The library's layer that computes it, or null. Where samples have numbers of steps or initial
  /// states, kernels compute it.
  template <class Pass>
  LibraryRnn* library_of(Rnn const& layer, Pass const& pass, bool training) const {
    if (!libraries || pass.in.size() > 1) return nullptr;
    RnnTask const task = task_of(layer, pass.in[0], pass.x[0].rows, training);
    return has_library(layer, task) ? libraries->rnn(&layer, task, pass.p[0]) : nullptr;
  }
  void copy(Sequence<float const> const& from, Sequence<float> const& to) const { run(CopySteps{from, to}); }
  /// Calls f with the variant whose kernels compute the layer.
  template <class L, class Pass, class F>
  static void with_variant(L const& layer, Pass const& pass, F const& f) {
    if constexpr (takes_volumes<L>) {
      if (layer.geometry(pass.in).is_volume()) return f(OfVolumes{});
    }
    f(NoVariant{});
  }
  template <Stage stage, class L, class Pass>
  void take_back(L const& layer, Pass const& pass) const {
    if constexpr (is_built_in<L> && Backward<L, stage>::exists) {
      with_variant(layer, pass, [&]<class Variant>(Variant) {
        using Body = Backward<L, stage, Variant>;
        typename Body::Pass to{.in = inputs_of<L>(pass.in),
                               .x = pass.x,
                               .p = parameters(layer, pass),
                               .y = pass.y,
                               .dy = pass.dy,
                               .dx = pass.dx,
                               .derivative = {},
                               .sinks = {},
                               .memory = pass.memory,
                               .key = pass.key,
                               .step = step_for(pass)};
        if constexpr (OneInput<L>) to.derivative = derivative_of(pass.derivative);
        if constexpr (stage == Stage::parameters) {
          each_parameter(layer, pass, pass.sinks, [&](int i, auto const& sink) { to.sinks.list[i] = sink; });
        }
        run(Body{layer, to});
      });
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
  /// Calls f(i, view[i]) for each parameter of the layer.
  template <class L, class Pass, class View, class F>
  static void each_parameter(L const& layer, Pass const& pass, View const& view, F f) {
    auto const count = static_cast<int>(parameters_of(layer, pass.in).size());
    require(count <= max_parameters, "layer: on a GPU it can have at most 4 parameters");
    for (int i = 0; i < count; ++i) f(i, view[i]);
  }
  template <class L, class Pass>
  static OfParameters<float const*> parameters(L const& layer, Pass const& pass) {
    OfParameters<float const*> all{};
    each_parameter(layer, pass, pass.p, [&](int i, float const* p) { all.list[i] = p; });
    return all;
  }
};
static_assert(concepts::LayerBackend<RuntimeCuda>);

}  // namespace coldpress::cuda
