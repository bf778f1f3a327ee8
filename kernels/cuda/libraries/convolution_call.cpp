// Binds the tensors of a plan to addresses and runs it, or computes what its JSON describes in loops.
#include "convolution_call.hpp"

#include <charconv>
#include <limits>
#include <string_view>
#include <vector>

#include "descriptor.hpp"

namespace coldpress::cuda {

namespace {

/// The addresses of a plan's tensors, by their ids.
std::array<float*, 5> addresses(LibraryCall::Operands const& operands) {
  std::array<float*, 5> at{};
  at[ConvolutionPlan::x] = operands.x, at[ConvolutionPlan::weight] = operands.weight;
  at[ConvolutionPlan::bias] = operands.bias, at[ConvolutionPlan::y] = operands.y;
  return at;
}

}  // namespace

std::shared_ptr<cudnnContext> open_cudnn(void* stream) {
  cudnnHandle_t handle = nullptr;
  check(cudnnCreate(&handle), "starting", "look whether this cuDNN knows the device, and whether memory is left");
  std::shared_ptr<cudnnContext> const opened{handle, [](cudnnHandle_t started) { cudnnDestroy(started); }};
  // The stream is set here and not during its capture, because cuDNN may allocate memory for a new stream.
  check(cudnnSetStream(handle, static_cast<cudaStream_t>(stream)), "setting the stream", "report it");
  return opened;
}

// ---- ConvolutionCall ----

ConvolutionCall::ConvolutionCall(ConvolutionPlan plan, Sizes const& sizes, std::shared_ptr<cudnnContext> cudnn)
    : cudnn_(std::move(cudnn)),
      plan_(!cudnn_ || plan.has_handle() ? std::move(plan) : ConvolutionPlan::from_json(plan.json(), cudnn_)),
      sizes_(sizes) {
  if (!cudnn_) asked_.emplace(plan_.json());
}

void ConvolutionCall::put(void*, Operands const& operands) const {
  constexpr char const* advice = "leave out .libraries, and report it";
  std::vector<std::int64_t> ids;
  std::vector<void*> memory;
  auto const at = addresses(operands);
  for (std::size_t id = 0; id < at.size(); ++id) {
    if (at[id]) ids.push_back(static_cast<std::int64_t>(id)), memory.push_back(at[id]);
  }
  Descriptor pack{CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR};
  pack.set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, ids.data(), ids.size());
  pack.set_addresses(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, memory.data(), memory.size());
  pack.set_addresses(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, &operands.workspace, 1);
  pack.finalize("naming a convolution's operands", advice);
  check(cudnnBackendExecute(cudnn_.get(), plan_.descriptor().get(), pack.shared().get()), "executing a plan", advice);
}

void ConvolutionCall::play(Operands const& operands) const {
  spoil(operands);
  asked_->compute(addresses(operands));
}

// ---- AskedConvolution ----

namespace {

/// The text that follows `key` in JSON; throws if the key is missing.
std::string_view after(std::string_view json, std::string_view key) {
  std::size_t const at = json.find(key);
  if (at == json.npos)
    throw LibraryError{"cuDNN", std::to_string(cudnnGetVersion()), "a plan's JSON has no " + std::string{key},
                       "emulate it with the version of cuDNN that the tests use"};
  return json.substr(at + key.size());
}
/// The innermost JSON object that starts with `beginning`.
std::string_view object(std::string_view json, std::string_view beginning) {
  std::string_view const rest = after(json, beginning);
  return rest.substr(0, rest.find('}'));
}
template <class T>
T number(std::string_view text) {
  T value{};
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}
template <std::size_t count>
std::array<Index, count> numbers(std::string_view json, std::string_view key) {
  std::string_view rest = after(json, std::string{"\""}.append(key).append("\":["));
  std::array<Index, count> all{};
  for (Index& value : all) value = number<Index>(rest), rest = rest.substr(rest.find_first_of(",]") + 1);
  return all;
}

}  // namespace

AskedConvolution::AskedConvolution(std::string const& json) {
  std::string_view const nodes = after(json, "\"nodes\":["),
                         node = object(nodes, "{\"operation\":\"CUDNN_BACKEND_OPERATION_CONVOLUTION_");
  pass_ = node.starts_with("FORWARD")         ? LayerPass::forward
          : node.starts_with("BACKWARD_DATA") ? LayerPass::input_gradient
                                              : LayerPass::weight_gradient;
  auto const tensor = [&](std::string_view of, char const* key) {
    std::string_view const id = after(of, std::string{"\""} + key + "\":\"");
    std::string const name{id.substr(0, id.find('"'))};
    std::string_view const description = object(json, "{\"name\":\"" + name + "\"");
    return Tensor{number<std::size_t>(name), numbers<4>(description, "dim"), numbers<4>(description, "stride")};
  };
  x_ = tensor(node, pass_ == LayerPass::input_gradient ? "dX" : "X");
  weight_ = tensor(node, pass_ == LayerPass::weight_gradient ? "dW" : "W");
  y_ = tensor(node, pass_ == LayerPass::forward ? "Y" : "dY");
  turned_ = !after(node, "\"mode\":\"").starts_with("CUDNN_CROSS_CORRELATION\"");
  alpha_ = number<double>(after(node, "\"alpha\":")), beta_ = number<double>(after(node, "\"beta\":"));
  // The same on both sides, or only before the input.
  padding_ = numbers<2>(node, node.find("\"pad\"") != node.npos ? "pad" : "pad_lower");
  stride_ = numbers<2>(node, "stride"), dilation_ = numbers<2>(node, "dilation");
  constexpr std::string_view next = "{\"operation\":\"CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR\"";
  biased_ = nodes.find(next) != nodes.npos;
  if (!biased_) return;
  std::string_view const epilogue = object(nodes, next);
  after(epilogue, "\"CUDNN_POINTWISE_ADD\"");
  bias_ = tensor(epilogue, "B"), sum_ = tensor(epilogue, "Y");
}

void AskedConvolution::compute(std::array<float*, 5> const& at) const {
  auto const memory = [&](Tensor const& tensor) { return tensor.id < at.size() ? at[tensor.id] : nullptr; };
  float *const x = memory(x_), *const weight = memory(weight_), *const y = memory(y_);
  Tensor const& made = pass_ == LayerPass::forward ? y_ : pass_ == LayerPass::input_gradient ? x_ : weight_;
  auto const each = [](Tensor const& tensor, auto f) {
    auto const& e = tensor.extents;
    for (Index a = 0; a < e[0]; ++a)
      for (Index b = 0; b < e[1]; ++b)
        for (Index c = 0; c < e[2]; ++c)
          for (Index d = 0; d < e[3]; ++d) f(a, b, c, d);
  };
  Index last = 0;
  for (int axis = 0; axis < 4; ++axis) last += (made.extents[axis] - 1) * made.strides[axis];
  std::vector<double> sums(static_cast<std::size_t>(last) + 1);
  auto const sum = [&](Index offset) -> double& { return sums[static_cast<std::size_t>(offset)]; };

  Index const channels = weight_.extents[1], outputs = y_.extents[1] / (x_.extents[1] / channels);  // per group
  each(y_, [&](Index n, Index k, Index i, Index j) {
    Index const output = y_.offset(n, k, i, j);
    for (Index c = 0; c < channels; ++c) {
      for (Index r = 0; r < weight_.extents[2]; ++r) {
        for (Index s = 0; s < weight_.extents[3]; ++s) {
          Index const row = i * stride_[0] + r * dilation_[0] - padding_[0],
                      column = j * stride_[1] + s * dilation_[1] - padding_[1];
          if (row < 0 || row >= x_.extents[2] || column < 0 || column >= x_.extents[3]) continue;
          Index const input = x_.offset(n, k / outputs * channels + c, row, column),
                      tap = turned_ ? weight_.offset(k, c, weight_.extents[2] - 1 - r, weight_.extents[3] - 1 - s)
                                    : weight_.offset(k, c, r, s);
          auto const product = [](float a, float b) { return static_cast<double>(a) * static_cast<double>(b); };
          if (pass_ == LayerPass::forward) sum(output) += product(x[input], weight[tap]);
          if (pass_ == LayerPass::input_gradient) sum(input) += product(y[output], weight[tap]);
          if (pass_ == LayerPass::weight_gradient) sum(tap) += product(x[input], y[output]);
        }
      }
    }
  });
  Tensor const& to = biased_ ? sum_ : made;
  each(made, [&](Index a, Index b, Index c, Index d) {
    float& value = memory(to)[to.offset(a, b, c, d)];
    double result = alpha_ * sum(made.offset(a, b, c, d));
    if (beta_ != 0) result += beta_ * static_cast<double>(value);
    if (biased_) result += static_cast<double>(memory(bias_)[bias_.offset(0, b, 0, 0)]);
    value = static_cast<float>(result);
  });
}

}  // namespace coldpress::cuda
