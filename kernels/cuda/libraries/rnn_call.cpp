// Describes a recurrent layer to cuDNN, and finds where it wants weights, states and gradients.
#include "rnn_call.hpp"

#include <coldpress/core/shape.hpp>

#include <algorithm>

#include "library_error.hpp"

namespace coldpress::cuda {
namespace {

void check(cudaError_t error, char const* action) {
  if (error != cudaSuccess)
    throw DeviceError{std::string{action} + ": " + cudaGetErrorName(error) + ": " + cudaGetErrorString(error)};
}
using coldpress::cuda::check;

cudnnRNNMode_t mode_of(RnnType type) {
  switch (type) {
    case RnnType::lstm:
      return CUDNN_LSTM;
    case RnnType::gru:
      return CUDNN_GRU;
    case RnnType::relu:
      return CUDNN_RNN_RELU;
    case RnnType::tanh:
      break;
  }
  return CUDNN_RNN_TANH;
}

}  // namespace

RnnLibrary const& cudnn_rnn() {
  static RnnLibrary const library{cudnnGetRNNWeightSpaceSize,
                                  cudnnGetRNNWeightParams,
                                  cudnnGetRNNTempSpaceSizes,
                                  cudnnRNNForward,
                                  cudnnRNNBackwardData_v8,
                                  cudnnRNNBackwardWeights_v8,
                                  [](void* to, int value, std::size_t bytes, cudaStream_t stream) {
                                    return cudaMemsetAsync(to, value, bytes, stream);
                                  },
                                  [](void* to, void const* from, std::size_t bytes, cudaMemcpyKind kind,
                                     cudaStream_t stream) { return cudaMemcpyAsync(to, from, bytes, kind, stream); }};
  return library;
}

RnnPlan::RnnPlan(RnnTask const& task, bool tf32, RnnLibrary const& library, std::shared_ptr<cudnnContext> cudnn,
                 float const* weight)
    : task_(task),
      library_(library),
      cudnn_(std::move(cudnn)),
      calls_{Call{*this, LayerPass::forward, false}, Call{*this, LayerPass::input_gradient, false},
             Call{*this, LayerPass::weight_gradient, false}, Call{*this, LayerPass::weight_gradient, true}} {
  describe(tf32);
  find_weights(weight);
  lay_out();
}

void RnnPlan::describe(bool tf32) {
  RecurrentWeights const& w = task_.weights;
  constexpr char const* action = "describing a recurrent layer";
  // Without dropout there is no dropout state, and without a handle the descriptor is never read.
  if (cudnn_) check(cudnnSetDropoutDescriptor(no_dropout_.get(), cudnn_.get(), 0, nullptr, 0, 0), action, to_report);
  int const hidden = int_of(w.hidden), layers = int_of(w.layers), batch = int_of(task_.batch),
            directions = int_of(w.directions);
  check(cudnnSetRNNDescriptor_v8(rnn_.get(), CUDNN_RNN_ALGO_STANDARD, mode_of(task_.type), CUDNN_RNN_DOUBLE_BIAS,
                                 directions == 2 ? CUDNN_BIDIRECTIONAL : CUDNN_UNIDIRECTIONAL,
                                 w.skip ? CUDNN_SKIP_INPUT : CUDNN_LINEAR_INPUT, CUDNN_DATA_FLOAT, CUDNN_DATA_FLOAT,
                                 tf32 ? CUDNN_DEFAULT_MATH : CUDNN_FMA_MATH, int_of(w.input), hidden, hidden, layers,
                                 no_dropout_.get(), CUDNN_RNN_PADDED_IO_DISABLED),
        action, to_report);
  std::vector<int> const lengths(static_cast<std::size_t>(batch), int_of(task_.steps));
  auto const sequence = [&](auto const& of, Index columns) {
    check(cudnnSetRNNDataDescriptor(of.get(), CUDNN_DATA_FLOAT, CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED, lengths[0],
                                    batch, int_of(columns), lengths.data(), nullptr),
          action, to_report);
  };
  sequence(x_, w.input), sequence(y_, w.directions * w.hidden);
  int const extents[] = {layers * directions, batch, hidden}, strides[] = {int_of(task_.batch * w.hidden), hidden, 1};
  check(cudnnSetTensorNdDescriptor(last_.get(), CUDNN_DATA_FLOAT, 3, extents, strides), action, to_report);
}

void RnnPlan::find_weights(float const* weight) {
  RecurrentWeights const& w = task_.weights;
  constexpr char const* action = "looking for a recurrent layer's weights";
  check(library_.weight_space_size(cudnn_.get(), rnn_.get(), &weight_space_), action, to_report);
  OwnedDescriptor<cudnnTensorDescriptor_t, cudnnCreateTensorDescriptor, cudnnDestroyTensorDescriptor> matrix, bias;
  auto const found = [&](auto const& of, void const* theirs, float const* ours, Index size) {
    int axes = 0, extents[3] = {}, strides[3] = {};
    cudnnDataType_t type{};
    if (theirs) check(cudnnGetTensorNdDescriptor(of.get(), 3, &type, &axes, extents, strides), action, to_report);
    Index const there = theirs ? Index{extents[0]} * extents[1] * extents[2] : 0;
    if (there != size) check(CUDNN_STATUS_NOT_SUPPORTED, action, to_report);
    if (size > 0) runs_.push_back({ours - weight, static_cast<float const*>(theirs) - weight, size});
  };
  for (Index part = 0; part < w.parts(); ++part) {
    PackedPart<float const> const ours{w, part, weight};
    for (Index id = 0; id < 2 * w.gates; ++id) {
      void *their_matrix = nullptr, *their_bias = nullptr;
      check(library_.weight_params(cudnn_.get(), rnn_.get(), int_of(part), weight_space_, weight, int_of(id),
                                   matrix.get(), &their_matrix, bias.get(), &their_bias),
            action, to_report);
      bool const of_h = id >= w.gates;
      Index const gate = id % w.gates, columns = of_h ? w.hidden : ours.inputs;
      found(matrix, their_matrix, (of_h ? ours.of_h : ours.of_x) + gate * w.hidden * columns, w.hidden * columns);
      found(bias, their_bias, (of_h ? ours.bias_h : ours.bias_x) + gate * w.hidden, w.hidden);
    }
  }
  // Adjacent weights that are adjacent on both sides are merged into one run.
  std::sort(runs_.begin(), runs_.end(), [](Run const& a, Run const& b) { return a.ours < b.ours; });
  std::size_t last = 0;
  for (std::size_t n = 1; n < runs_.size(); ++n) {
    Run& run = runs_[last];
    bool const goes_on = runs_[n].ours == run.ours + run.size && runs_[n].theirs == run.theirs + run.size;
    goes_on ? static_cast<void>(run.size += runs_[n].size) : static_cast<void>(runs_[++last] = runs_[n]);
  }
  runs_.resize(last + 1);
}

void RnnPlan::lay_out() {
  RecurrentWeights const& w = task_.weights;
  std::size_t workspace = 0;
  check(library_.temp_space_sizes(cudnn_.get(), rnn_.get(),
                                  task_.training ? CUDNN_FWD_MODE_TRAINING : CUDNN_FWD_MODE_INFERENCE, x_.get(),
                                  &workspace, task_.training ? &reserve_size_ : nullptr),
        "asking for a recurrent layer's memory", to_report);
  workspace_ = static_cast<Index>(workspace);
  auto const take = [&](Index bytes) {
    Index const at = kept_size_;
    kept_size_ += (bytes + 255) / 256 * 256;
    return at;
  };
  auto const take_values = [&]() -> Offsets {
    Index const rows = task_.batch * static_cast<Index>(sizeof(float)), units = w.directions * w.hidden;
    return {take(rows * task_.steps * w.input), take(rows * task_.steps * units), take(rows * w.layers * units)};
  };
  auto const space = static_cast<Index>(weight_space_);
  values_ = take_values();
  bool const in_place = runs_.size() == 1 && runs_[0].theirs == 0 && space == w.size() * Index{sizeof(float)};
  if (!in_place) places_.weights = take(space);
  if (!task_.training) return;
  gradients_ = take_values();
  places_.reserve = take(static_cast<Index>(reserve_size_));
  if (!in_place) places_.weight_gradient = take(space);
}

void RnnPlan::Call::put(void* stream, Operands const& operands) const {
  run(operands, static_cast<cudaStream_t>(stream));  // it is the stream that cuDNN was given, too
}
void RnnPlan::Call::play(Operands const& operands) const {
  spoil(operands);
  run(operands, nullptr);
}

void RnnPlan::Call::run(Operands const& operands, cudaStream_t stream) const {
  RnnPlan const& p = plan_;
  RnnLibrary const& library = p.library_;
  RnnValues const values = p.values(operands.kept), gradients = p.gradients(operands.kept);
  auto const place = [&](Index offset) { return static_cast<std::byte*>(operands.kept) + offset; };
  bool const in_place = p.weights_are_in_place();
  void* const weights = in_place ? static_cast<void*>(operands.weight) : place(p.places_.weights);
  void* const weight_gradient = in_place ? weights : place(p.places_.weight_gradient);
  void* const reserve = p.task_.training ? place(p.places_.reserve) : nullptr;
  auto const zero = [&](void* at, std::size_t bytes) { check(library.set(at, 0, bytes, stream), "clearing memory"); };
  auto const copy = [&](void* theirs, bool back) {
    for (Run const& run : p.runs_) {
      float *const a = operands.weight + run.ours, *const b = static_cast<float*>(theirs) + run.theirs;
      check(library.copy(back ? a : b, back ? b : a, static_cast<std::size_t>(run.size) * sizeof(float),
                         cudaMemcpyDeviceToDevice, stream),
            "copying weights");
    }
  };
  // A null pointer says that every sequence starts from zero.
  void* const last = p.task_.output == RnnOutput::sequence ? nullptr : values.last;
  auto const workspace = static_cast<std::size_t>(p.workspace_);
  switch (pass_) {
    case LayerPass::forward:
      if (!in_place) copy(weights, false);
      return check(
          library.forward(p.cudnn_.get(), p.rnn_.get(),
                          p.task_.training ? CUDNN_FWD_MODE_TRAINING : CUDNN_FWD_MODE_INFERENCE, nullptr, p.x_.get(),
                          values.x, p.y_.get(), values.y, p.last_.get(), nullptr, last, p.last_.get(), nullptr, nullptr,
                          p.weight_space_, weights, workspace, operands.workspace, p.reserve_size_, reserve),
          "executing a recurrent layer", to_report);
    case LayerPass::input_gradient:
      if (last) zero(gradients.y, p.without_gradient());
      return check(
          library.backward_data(p.cudnn_.get(), p.rnn_.get(), nullptr, p.y_.get(), values.y, gradients.y, p.x_.get(),
                                gradients.x, p.last_.get(), nullptr, last ? gradients.last : nullptr, nullptr,
                                p.last_.get(), nullptr, nullptr, nullptr, p.weight_space_, weights, workspace,
                                operands.workspace, p.reserve_size_, reserve),
          "executing a recurrent layer backward", to_report);
    case LayerPass::weight_gradient:
      // cuDNN adds to what is there.
      if (!add_) zero(weight_gradient, p.weight_space_);
      if (add_ && !in_place) copy(weight_gradient, false);
      check(library.backward_weights(p.cudnn_.get(), p.rnn_.get(), CUDNN_WGRAD_MODE_ADD, nullptr, p.x_.get(), values.x,
                                     p.last_.get(), nullptr, p.y_.get(), values.y, p.weight_space_, weight_gradient,
                                     workspace, operands.workspace, p.reserve_size_, reserve),
            "computing a recurrent layer's gradients", to_report);
      if (!in_place) copy(weight_gradient, true);
  }
}

}  // namespace coldpress::cuda
