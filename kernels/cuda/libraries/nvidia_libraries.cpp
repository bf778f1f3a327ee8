// Implements Libraries: cuDNN for convolution, pooling and recurrent layers, cuBLASLt for dense layers. Plans are made
// when a layer, pass and batch size first occur.
#include <coldpress/core/shape.hpp>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>

#include "convolution_call.hpp"
#include "dense_call.hpp"
#include "emulated_gpu.hpp"
#include "pooling_call.hpp"
#include "rnn_call.hpp"

namespace coldpress::cuda {
namespace {

/// The key of a plan: all numbers that it depends on.
using Question = std::array<Index, 21>;
Question question_of(LayerPass pass, ConvolutionGeometry const& g, Index batch, Index x_pitch, Index y_pitch,
                     bool biased, bool add) {
  Axis const &h = g.height, &w = g.width;
  return {static_cast<Index>(pass),
          g.channels,
          g.outputs,
          g.groups,
          h.in,
          h.out,
          h.filter,
          h.stride,
          h.padding,
          h.dilation,
          w.in,
          w.out,
          w.filter,
          w.stride,
          w.padding,
          w.dilation,
          static_cast<Index>(g.kind),
          batch,
          x_pitch,
          y_pitch,
          biased + 2 * add};
}

using PoolingQuestion = std::array<Index, 20>;
PoolingQuestion question_of(PoolingTask const& task) {
  PoolingGeometry const& g = task.geometry;
  Axis const &d = g.depth, &h = g.height, &w = g.width;
  return {g.planes,
          d.in,
          d.out,
          d.filter,
          d.stride,
          d.padding,
          h.in,
          h.out,
          h.filter,
          h.stride,
          h.padding,
          w.in,
          w.out,
          w.filter,
          w.stride,
          w.padding,
          static_cast<Index>(g.mode) + 2 * g.count_padding,
          task.batch,
          task.x_pitch,
          task.y_pitch};
}

/// Calls f(), and adds the layer's text to its errors.
template <class F, class Text>
auto named(F f, Text text) {
  try {
    return f();
  } catch (Error& error) {
    error.in_layer(text());
    throw;
  }
}

/// Scratch memory for the operands of calls that are made once before they are captured.
class Aside {
 public:
  Aside(std::shared_ptr<Device> const& device, std::initializer_list<Index> bytes) : memory_(device) {
    Index all = 0;
    for (Index size : bytes) all += rounded(size);
    memory_.reserve(all);
  }
  /// The address of the next operand; null if it is empty.
  std::byte* next(Index bytes) {
    std::byte* const at = memory_.data() + taken_;
    taken_ += rounded(bytes);
    return bytes > 0 ? at : nullptr;
  }
  float* next_floats(Index count) { return reinterpret_cast<float*>(next(count * floats)); }
  static constexpr Index floats = sizeof(float);

 private:
  static Index rounded(Index bytes) { return (bytes + 255) / 256 * 256; }
  MemoryOf<std::byte, &Device::allocate_unset, &Device::discard> memory_;
  Index taken_ = 0;
};
void call_once(std::shared_ptr<Device> const& device, PlannedCall const& call) {
  auto const [x, weight, bias, y] = call.sizes();
  Index const floats = Aside::floats, workspace = call.workspace();
  Aside aside{device, {x * floats, weight * floats, bias * floats, y * floats, workspace}};
  float *const at_x = aside.next_floats(x), *const at_weight = aside.next_floats(weight),
               *const at_bias = aside.next_floats(bias), *const at_y = aside.next_floats(y);
  device->call_once(call, {at_x, at_weight, at_bias, at_y, aside.next(workspace), nullptr});
}
/// Makes the calls of forward and then of backward passes, which is the order that cuDNN requires.
void call_once(std::shared_ptr<Device> const& device, RnnPlan const& plan) {
  Index const weights = plan.task().weights.size() * Aside::floats;
  Aside aside{device, {weights, plan.workspace(), plan.kept()}};
  LibraryCall::Operands operands{};
  operands.weight = reinterpret_cast<float*>(aside.next(weights));
  operands.workspace = aside.next(plan.workspace()), operands.kept = aside.next(plan.kept());
  for (bool add : {false, true}) {
    device->call_once(plan.call(LayerPass::forward, add), operands);
    if (!plan.task().training) return;
    device->call_once(plan.call(LayerPass::input_gradient, add), operands);
    device->call_once(plan.call(LayerPass::weight_gradient, add), operands);
  }
}

/// A recurrent layer's plans, and the memory that it keeps from forward to backward passes.
class NvidiaRnn final : public LibraryRnn {
 public:
  NvidiaRnn(std::shared_ptr<Device> const& device, UnsetMemory<std::byte>& workspace)
      : device_(device), workspace_(workspace), kept_(device) {}
  template <class Make>
  void choose(RnnTask const& task, float const* weight, Make make) {
    auto const known =
        std::find_if(plans_.begin(), plans_.end(), [&](auto const& plan) { return plan->task() == task; });
    if (known != plans_.end()) {
      plan_ = known->get();
    } else {
      auto made = make();
      call_once(device_, *made);
      plan_ = plans_.emplace_back(std::move(made)).get();
    }
    weight_ = const_cast<float*>(weight);
    // Inference keeps nothing, so the values are in the shared workspace.
    Index const own = (plan_->workspace() + 255) / 256 * 256;
    workspace_.reserve(own + (task.training ? 0 : plan_->kept()));
    if (task.training) kept_.reserve(plan_->kept());
    values_ = task.training ? kept_.data() : workspace_.data() + own;
  }
  RnnTask const& task() const override { return plan_->task(); }
  RnnValues values() const override { return plan_->values(values_); }
  RnnValues gradients() const override { return plan_->gradients(values_); }
  void gather(LayerPass pass, GradientSink<float> sink) override {
    // cuDNN overwrites what it kept, so the passes before a repeated one are computed again.
    if (pass == LayerPass::input_gradient && done_ != LayerPass::forward) gather(LayerPass::forward, {});
    if (pass == LayerPass::weight_gradient && done_ != LayerPass::input_gradient) gather(LayerPass::input_gradient, {});
    device_->gather(plan_->call(pass, sink.add),
                    {nullptr, sink.gradient ? sink.gradient : weight_, nullptr, nullptr, workspace_.data(), values_});
    if (plan_->task().training) done_ = pass;
  }

 private:
  std::shared_ptr<Device> device_;
  UnsetMemory<std::byte>& workspace_;
  std::vector<std::unique_ptr<RnnPlan>> plans_;
  RnnPlan* plan_ = nullptr;  // of the current pass
  float* weight_ = nullptr;
  std::byte* values_ = nullptr;
  LayerPass done_ = LayerPass::weight_gradient;
  DeviceMemory<std::byte> kept_;  // released before the plans, like the workspace
};

class NvidiaLibraries final : public Libraries {
 public:
  NvidiaLibraries(std::shared_ptr<Device> device, Precision precision)
      : device_(device), precision_(precision), workspace_(std::move(device)) {}
  ~NvidiaLibraries() override { device_->make_current(); }

  bool multiply(LayerPass pass, ConvolutionGeometry const& g, Rows<float> x, float* weight, float* bias, Rows<float> y,
                bool add) override {
    LibraryCall::Operands operands{x.data, weight, bias, y.data, nullptr, nullptr};
    bool const aligned = [&] {
      for (float* operand : {x.data, weight, bias, y.data}) {
        if (reinterpret_cast<std::uintptr_t>(operand) % 16 != 0) return false;
      }
      return true;
    }();
    if (precision_ == Precision::bf16 || !aligned) return false;
    bool const biased = bias != nullptr;
    auto const question = question_of(pass, g, x.rows, x.pitch, y.pitch, biased, add);
    std::unique_ptr<PlannedCall>& planned = calls_.try_emplace(question).first->second;
    if (!planned)
      planned = named([&] { return called(plan(pass, g, x.rows, x.pitch, y.pitch, biased, add)); },
                      [&] { return text_of(g, x.rows); });
    if (planned->workspace() > 0) {
      workspace_.reserve(planned->workspace());
      operands.workspace = workspace_.data();
    }
    device_->gather(*planned, operands);
    return true;
  }
  bool pool(PoolingGeometry const& g, Rows<float> x, Rows<float> y) override {
    if (precision_ == Precision::bf16 || !has_library(g)) return false;
    PoolingTask const task{g, x.rows, x.pitch, y.pitch};
    std::unique_ptr<PoolingCall>& planned = poolings_.try_emplace(question_of(task)).first->second;
    if (!planned)
      planned = named([&] { return called(std::make_unique<PoolingCall>(task, cudnn())); },
                      [&] {
                        return "pooling of " + image_text(g.planes, g.height.in, g.width.in) + ", " +
                               std::to_string(x.rows) + " samples";
                      });
    device_->gather(*planned, {x.data, nullptr, nullptr, y.data, nullptr, nullptr});
    return true;
  }
  void forget() override { rnns_.clear(); }
  LibraryRnn* rnn(void const* layer, RnnTask const& task, float const* weight) override {
    if (precision_ == Precision::bf16) return nullptr;
    NvidiaRnn& rnn = rnns_.try_emplace(layer, device_, workspace_).first->second;
    rnn.choose(task, weight, [&] {
      return named(
          [&] {
            return std::make_unique<RnnPlan>(task, precision_ == Precision::tf32,
                                             device_->emulated() ? emulated_rnn() : cudnn_rnn(), cudnn(), weight);
          },
          [&] {
            return "rnn from " + std::to_string(task.steps) + " x " + std::to_string(task.weights.input) + " to " +
                   std::to_string(task.weights.directions * task.weights.hidden) + ", " + std::to_string(task.batch) +
                   " samples";
          });
    });
    return &rnn;
  }

 private:
  /// Makes the call once, so that it can be captured, and returns it.
  template <class Call>
  std::unique_ptr<Call> called(std::unique_ptr<Call> call) const {
    call_once(device_, *call);
    return call;
  }
  std::unique_ptr<PlannedCall> plan(LayerPass pass, ConvolutionGeometry const& g, Index batch, Index x_pitch,
                                    Index y_pitch, bool biased, bool add) {
    device_->make_current();
    bool const emulated = device_->emulated(), tf32 = precision_ == Precision::tf32;
    if (is_dense(g)) {
      if (!cublaslt_ && !emulated) cublaslt_ = open_cublaslt();
      return std::make_unique<DenseCall>(
          DenseProduct{pass, batch, g.channels, g.outputs, x_pitch, y_pitch, biased, add, tf32}, cublaslt_);
    }
    auto const target = [&]() -> PlanTarget {
      if (auto const& handle = cudnn()) return handle;
      if (!properties_) properties_ = DeviceProperties::from_json(h200);
      return *properties_;
    };
    constexpr Index most = Index{256} << 20;
    ConvolutionOptions const options{.epilogue = biased ? Epilogue::bias : Epilogue::none,
                                     .x_pitch = x_pitch,
                                     .y_pitch = y_pitch,
                                     .add = add,
                                     .tf32 = tf32,
                                     .workspace_limit = most};
    PlannedCall::Sizes const sizes{batch * x_pitch, g.outputs * g.group_channels() * g.taps(), biased ? g.outputs : 0,
                                   batch * y_pitch};
    return std::make_unique<ConvolutionCall>(ConvolutionPlan{g, batch, pass, target(), options}, sizes, cudnn());
  }
  /// cuDNN's handle, or null if the host plays the calls. This is called before anything else that uses cuDNN.
  std::shared_ptr<cudnnContext> const& cudnn() {
    require_cudnn();
    device_->make_current();
    if (!cudnn_ && !device_->emulated()) cudnn_ = open_cudnn(device_->stream());
    return cudnn_;
  }
  static bool is_dense(ConvolutionGeometry const& g) {
    return g.groups == 1 && g.taps() == 1 && g.in() == g.channels && g.out() == g.outputs;
  }
  static std::string image_text(Index planes, Index height, Index width) {
    return std::to_string(planes) + " x " + std::to_string(height) + " x " + std::to_string(width);
  }
  static std::string text_of(ConvolutionGeometry const& g, Index batch) {
    return (is_dense(g) ? "linear from " + std::to_string(g.channels) + " to " + std::to_string(g.outputs)
                        : "convolution of " + image_text(g.channels, g.height.in, g.width.in) + " to " +
                              image_text(g.outputs, g.height.out, g.width.out)) +
           ", " + std::to_string(batch) + " samples";
  }

  std::shared_ptr<Device> device_;
  Precision precision_;
  std::shared_ptr<cudnnContext> cudnn_;
  std::shared_ptr<cublasLtContext> cublaslt_;
  std::optional<DeviceProperties> properties_;  // only if there is no handle of cuDNN
  std::map<Question, std::unique_ptr<PlannedCall>> calls_;
  std::map<PoolingQuestion, std::unique_ptr<PoolingCall>> poolings_;
  std::map<void const*, NvidiaRnn> rnns_;
  UnsetMemory<std::byte> workspace_;  // released before the calls, which may still be running
};

std::shared_ptr<Libraries> make(std::shared_ptr<Device> device, Precision precision) {
  return std::make_shared<NvidiaLibraries>(std::move(device), precision);
}

}  // namespace

/// Registers the libraries before main(). The linker keeps this file because coldpress::cuda_libs asks for this name.
extern "C" __attribute__((constructor(101))) void coldpress_cuda_libraries() {
  // cuDNN's recurrent layers call cuBLAS in several streams, which use whichever buffers are free. If all buffers have
  // the same size, sums are always the same. It is set here, before there are threads; a value that the user has set
  // stays.
  ::setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:2", 0);
  libraries_maker() = make;
}

}  // namespace coldpress::cuda
