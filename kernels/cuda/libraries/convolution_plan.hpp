// Convolution by cuDNN: which of its engines computes it, chosen by fixed rules, with a GPU at hand or without.
#pragma once

#include <coldpress/core/geometry.hpp>

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include <libraries.hpp>

#include "library_error.hpp"
#include "planned_call.hpp"

struct cudnnContext;

namespace coldpress::cuda {

/// Throws LibraryError where parts of cuDNN are missing, which would end the process, or where it is older than 9.8.
void require_cudnn();

/// What cuDNN has to know of a GPU to choose for it. As JSON it can be kept where there is none.
class DeviceProperties {
 public:
  static DeviceProperties current();  // the calling thread's device; LibraryError where there is none
  static DeviceProperties from_json(std::string const& json);

  std::string json() const;
  std::shared_ptr<void> const& descriptor() const { return descriptor_; }

 private:
  explicit DeviceProperties(std::shared_ptr<void> descriptor) : descriptor_(std::move(descriptor)) {}
  std::shared_ptr<void> descriptor_;
};

/// Whom a plan is made for: the GPU of cuDNN's handle, which executes it, or one of these properties, which may be
/// elsewhere.
class PlanTarget {
 public:
  PlanTarget(DeviceProperties const& properties) : properties_(properties.descriptor()) {}
  PlanTarget(std::shared_ptr<cudnnContext> handle) : handle_(std::move(handle)) {}
  std::shared_ptr<void> const& properties() const { return properties_; }  // or null
  std::shared_ptr<cudnnContext> const& handle() const { return handle_; }  // or null

 private:
  std::shared_ptr<void> properties_;
  std::shared_ptr<cudnnContext> handle_;
};

enum class Epilogue { none, bias, bias_relu };  // what a forward pass ends with, in the same kernel
enum class ImageLayout { nchw, nhwc };          // with weights {K, C, R, S} or {K, R, S, C}

/// Plain sums of single precision in an order that is always the same, unless more is allowed by its name.
struct ConvolutionOptions {
  Epilogue epilogue = Epilogue::bias;
  ImageLayout layout = ImageLayout::nchw;
  Index x_pitch = 0, y_pitch = 0;    // values from a sample to the next; 0: there is nothing between them
  bool add = false;                  // to what is there: of the two gradients
  bool tf32 = false;                 // tensor cores; they keep 10 bits of a factor's mantissa
  bool nondeterministic = false;     // sums whose order, and so whose last bits, differ from run to run
  bool runtime_compilation = false;  // kernels that cuDNN compiles in seconds, and only where there is a driver
  Index workspace_limit = std::numeric_limits<Index>::max();  // bytes
};

/// What cuDNN says of an engine.
struct EngineNotes {
  bool tensor_core = false, down_converts_inputs = false, reduced_precision_sums = false, transforms = false,
       nondeterministic = false, strict_nan = false, runtime_compilation = false, cuda_graph = false, cublaslt = false;
  bool others = false;  // some that this version of coldpress does not know

  bool operator==(EngineNotes const&) const = default;
};
std::string to_string(EngineNotes const& notes);
/// Why options rule an engine out; null where they do not.
char const* reason_against(EngineNotes const& notes, ConvolutionOptions const& options);
std::string to_string(LayerPass pass);

/// One pass of a convolution for a batch, made for a GPU. Of the engines cuDNN's
/// heuristics name, fastest first, it has the first one that the options allow and cuDNN makes a plan with. Operands
/// are aligned to 16 bytes; a sequence is an image {batch, channels, steps, 1} in the memory of {batch,
/// steps, channels}, padded before its first step alone, and its weight is {K, C, taps} in any layout.
class ConvolutionPlan {
 public:
  /// The id in a variant pack; a gradient has that of what it is the gradient of, and y that of what comes out.
  enum Operand : std::int64_t { x = 1, weight, bias, y };

  /// ShapeError for a geometry that is none; LibraryError where cuDNN has nothing that is allowed, and says what is.
  ConvolutionPlan(ConvolutionGeometry const& geometry, Index batch, LayerPass pass, PlanTarget const& target,
                  ConvolutionOptions const& options = {});
  /// A plan as json() gave it, for a device of the same kind. Its notes tell what it does; options are not kept.
  static ConvolutionPlan from_json(std::string const& json, PlanTarget const& target);

  std::string json() const;
  Index workspace() const { return workspace_; }  // bytes
  Index engine() const { return engine_; }        // cuDNN's number, of this pass
  EngineNotes const& notes() const { return notes_; }
  std::shared_ptr<void> const& descriptor() const { return descriptor_; }
  /// Whether it was made for a handle, by which it is executed.
  bool has_handle() const { return handle_ != nullptr; }

 private:
  ConvolutionPlan() = default;
  void take(std::shared_ptr<void> plan, std::shared_ptr<void> configuration);

  std::shared_ptr<cudnnContext> handle_;              // or null
  std::shared_ptr<void> descriptor_, configuration_;  // the plan, and what cuDNN does not say that it keeps
  Index workspace_ = 0, engine_ = 0;
  EngineNotes notes_;
};

}  // namespace coldpress::cuda
