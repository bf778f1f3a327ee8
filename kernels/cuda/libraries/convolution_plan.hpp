// Chooses the cuDNN engine for a convolution by fixed rules, with or without a GPU.
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

/// Throws LibraryError if cuDNN is older than 9.8, or if parts of it are missing, which would make it end the process.
void require_cudnn();

/// What cuDNN has to know about a GPU to choose for it. It can be stored as JSON for use where there is no such GPU.
class DeviceProperties {
 public:
  static DeviceProperties current();  // of the calling thread's device; throws LibraryError if there is none
  static DeviceProperties from_json(std::string const& json);

  std::string json() const;
  std::shared_ptr<void> const& descriptor() const { return descriptor_; }

 private:
  explicit DeviceProperties(std::shared_ptr<void> descriptor) : descriptor_(std::move(descriptor)) {}
  std::shared_ptr<void> descriptor_;
};

/// The target of a plan: the GPU of a cuDNN handle, which executes it, or a GPU with these properties, which may be
/// absent.
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

enum class Epilogue { none, bias, bias_relu };  // the end of a forward pass, in the same kernel
enum class ImageLayout { nchw, nhwc };          // with weights {K, C, R, S} or {K, R, S, C}

/// By default, sums are in single precision and in a fixed order; the options allow more.
struct ConvolutionOptions {
  Epilogue epilogue = Epilogue::bias;
  ImageLayout layout = ImageLayout::nchw;
  Index x_pitch = 0, y_pitch = 0;    // distance between samples in values; 0: samples have no gaps between them
  bool add = false;                  // adds a gradient to what is there
  bool tf32 = false;                 // allows tensor cores, which keep 10 bits of a factor's mantissa
  bool nondeterministic = false;     // allows sums whose order, and therefore whose last bits, differ from run to run
  bool runtime_compilation = false;  // allows kernels that cuDNN compiles in seconds, which needs a driver
  Index workspace_limit = std::numeric_limits<Index>::max();  // bytes
};

/// cuDNN's notes about an engine.
struct EngineNotes {
  bool tensor_core = false, down_converts_inputs = false, reduced_precision_sums = false, transforms = false,
       nondeterministic = false, strict_nan = false, runtime_compilation = false, cuda_graph = false, cublaslt = false;
  bool others = false;  // notes that this version of coldpress does not know

  bool operator==(EngineNotes const&) const = default;
};
std::string to_string(EngineNotes const& notes);
/// The reason why options rule an engine out, or null if they allow it.
char const* reason_against(EngineNotes const& notes, ConvolutionOptions const& options);
std::string to_string(LayerPass pass);

/// One pass of a convolution for a batch, planned for a GPU. The engine is the first one in the lists of cuDNN's
/// heuristics, which are ordered by speed, that the options allow and that cuDNN can make a plan with. Operands are
/// aligned to 16 bytes. A sequence is an image {batch, channels, steps, 1} in memory of {batch, steps, channels} that
/// is padded only before its first step, and its weight is {K, C, taps} in any layout.
class ConvolutionPlan {
 public:
  /// The ids of the tensors in a variant pack. A gradient has the id of its value, and y is the result.
  enum Operand : std::int64_t { x = 1, weight, bias, y };

  /// Throws ShapeError for an impossible geometry; throws LibraryError, with the reasons, if cuDNN has no allowed
  /// engine.
  ConvolutionPlan(ConvolutionGeometry const& geometry, Index batch, LayerPass pass, PlanTarget const& target,
                  ConvolutionOptions const& options = {});
  /// Restores a plan from json() for a device of the same kind. Its notes say what it does; the options are not stored.
  static ConvolutionPlan from_json(std::string const& json, PlanTarget const& target);

  std::string json() const;
  Index workspace() const { return workspace_; }  // bytes
  Index engine() const { return engine_; }        // cuDNN's number of the engine, which depends on the pass
  EngineNotes const& notes() const { return notes_; }
  std::shared_ptr<void> const& descriptor() const { return descriptor_; }
  /// Whether the plan was made for a handle, which executes it.
  bool has_handle() const { return handle_ != nullptr; }

 private:
  ConvolutionPlan() = default;
  void take(std::shared_ptr<void> plan, std::shared_ptr<void> configuration);

  std::shared_ptr<cudnnContext> handle_;              // or null
  std::shared_ptr<void> descriptor_, configuration_;  // the plan, and what it may refer to
  Index workspace_ = 0, engine_ = 0;
  EngineNotes notes_;
};

}  // namespace coldpress::cuda
