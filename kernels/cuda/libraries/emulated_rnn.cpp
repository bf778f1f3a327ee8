// Computes what cuDNN's functions for recurrent layers compute, by plain loops in double precision. It knows nothing of
// coldpress's layers: it reads shapes, modes and directions from descriptors and finds weights as cuDNN finds them.
#include <cmath>
#include <cstring>
#include <vector>

#include "rnn_library.hpp"

#include <coldpress/core/shape.hpp>

namespace coldpress::cuda {
namespace {

std::size_t offset(Index n) { return static_cast<std::size_t>(n); }

/// A recurrent layer as its descriptors describe it. Without a data descriptor it has one step and one sample.
struct Asked {
  cudnnRNNAlgo_t algorithm{};
  cudnnRNNMode_t mode{};
  cudnnRNNBiasMode_t bias_mode{};
  cudnnDirectionMode_t direction_mode{};
  cudnnRNNInputMode_t input_mode{};
  cudnnDataType_t type{}, precision{};
  cudnnMathType_t math{};
  std::int32_t input = 0, hidden = 0, projected = 0, layers = 0;
  cudnnDropoutDescriptor_t dropout{};
  std::uint32_t flags = 0;
  int steps = 1, batch = 1;
  bool understood = false;

  explicit Asked(cudnnRNNDescriptor_t rnn, cudnnRNNDataDescriptor_t x = nullptr, cudnnRNNDataDescriptor_t y = nullptr,
                 cudnnTensorDescriptor_t last = nullptr) {
    understood = cudnnGetRNNDescriptor_v8(rnn, &algorithm, &mode, &bias_mode, &direction_mode, &input_mode, &type,
                                          &precision, &math, &input, &hidden, &projected, &layers, &dropout,
                                          &flags) == CUDNN_STATUS_SUCCESS &&
                 algorithm == CUDNN_RNN_ALGO_STANDARD && bias_mode == CUDNN_RNN_DOUBLE_BIAS &&
                 type == CUDNN_DATA_FLOAT && precision == CUDNN_DATA_FLOAT && projected == hidden &&
                 (!skips() || input == hidden);
    place_weights();
    if (x) understood = understood && read(x, input, true);
    if (y) understood = understood && read(y, directions() * hidden, false);
    int axes = 0, extents[3] = {}, strides[3] = {};
    cudnnDataType_t of_last{};
    if (last)
      understood = understood &&
                   cudnnGetTensorNdDescriptor(last, 3, &of_last, &axes, extents, strides) == CUDNN_STATUS_SUCCESS &&
                   axes == 3 && extents[0] == parts() && extents[1] == batch && extents[2] == hidden &&
                   strides[0] == batch * hidden && strides[1] == hidden && strides[2] == 1;
  }
  int directions() const { return direction_mode == CUDNN_BIDIRECTIONAL ? 2 : 1; }
  int parts() const { return layers * directions(); }
  int gates() const { return mode == CUDNN_LSTM ? 4 : mode == CUDNN_GRU ? 3 : 1; }
  bool skips() const { return input_mode == CUDNN_SKIP_INPUT; }
  /// The number of values that a part reads per step, and the columns of its W_x, which are 0 if it has none.
  int inputs(int part) const { return part < directions() ? input : directions() * hidden; }
  int columns(int part) const { return part < directions() && skips() ? 0 : inputs(part); }

  /// The offset, in values, of a part's matrix or bias with this id in the space of the weights.
  Index place(int part, int id, bool is_bias) const { return places_[index(part, id, is_bias)]; }
  /// The size of the space of the weights, in values.
  Index space() const { return space_; }

  // What is kept per part, step, sample and unit: the gates or their gradients, and (at `c`) the cell state of an LSTM
  // or the product with h that a GRU resets, and (at `h`) h.
  static constexpr Index kept = 6, c = 4, h = 5;
  Index states() const { return Index{parts()} * steps * batch * hidden * kept; }
  Index state(int part, int t, int n, int unit) const {
    return (((Index{part} * steps + t) * batch + n) * hidden + unit) * kept;
  }
  Index row(int t, int n) const { return Index{t} * batch + n; }
  /// The step that this part processes before t, or -1 if t is its first.
  int before(int part, int t) const {
    if (part % directions() == 0) return t - 1;
    return t + 1 < steps ? t + 1 : -1;
  }
  /// Calls f(t) for all steps in the order in which the part processes them, or in reverse for `backward`.
  template <class F>
  void each_step(int part, bool backward, F f) const {
    for (int s = 0; s < steps; ++s) f((part % directions() == 1) != backward ? steps - 1 - s : s);
  }

 private:
  std::size_t index(int part, int id, bool is_bias) const {
    return static_cast<std::size_t>(((is_bias ? parts() : 0) + part) * 2 * gates() + id);
  }
  /// Places all matrices, then all biases; if weights are to lie apart, in reverse order and with gaps.
  void place_weights() {
    constexpr Index gap = 4;
    for (bool is_bias : {false, true}) {
      for (int part = 0; part < parts(); ++part) {
        for (int id = 0; id < 2 * gates(); ++id) {
          Index const size = Index{hidden} * (is_bias ? 1 : id < gates() ? columns(part) : hidden);
          places_.push_back(emulated_weights_are_apart ? space_ + size : space_);
          space_ += size + (emulated_weights_are_apart ? gap : 0);
        }
      }
    }
    if (emulated_weights_are_apart)
      for (Index& place : places_) place = space_ - place;
  }
  bool read(cudnnRNNDataDescriptor_t data, int expected, bool first) {
    cudnnDataType_t of{};
    cudnnRNNDataLayout_t layout{};
    int most = 0, samples = 0, size = 0;
    float fill = 0;
    if (cudnnGetRNNDataDescriptor(data, &of, &layout, &most, &samples, &size, 0, nullptr, &fill) !=
        CUDNN_STATUS_SUCCESS)
      return false;
    std::vector<int> lengths(static_cast<std::size_t>(samples));
    if (cudnnGetRNNDataDescriptor(data, &of, &layout, &most, &samples, &size, samples, lengths.data(), &fill) !=
        CUDNN_STATUS_SUCCESS)
      return false;
    if (first) steps = most, batch = samples;
    bool same = of == CUDNN_DATA_FLOAT && layout == CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED && size == expected &&
                most == steps && samples == batch;
    for (int length : lengths) same = same && length == steps;
    return same;
  }
  std::vector<Index> places_;
  Index space_ = 0;
};

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

/// The factors of a part's products: its inputs, and h of the step before.
struct Inputs {
  Asked const& asked;
  float const *x, *y;  // y: h of the last layer
  double const* states;

  double h(int part, int t, int n, int unit) const {
    int const layer = part / asked.directions(), direction = part % asked.directions();
    if (layer + 1 < asked.layers) return states[asked.state(part, t, n, unit) + Asked::h];
    return static_cast<double>(
        y[asked.row(t, n) * asked.directions() * asked.hidden + direction * asked.hidden + unit]);
  }
  double h_before(int part, int t, int n, int unit) const {
    int const before = asked.before(part, t);
    return before < 0 ? 0 : h(part, before, n, unit);
  }
  double into(int part, int t, int n, int column) const {
    int const layer = part / asked.directions();
    if (layer == 0) return static_cast<double>(x[asked.row(t, n) * asked.input + column]);
    return h((layer - 1) * asked.directions() + column / asked.hidden, t, n, column % asked.hidden);
  }
};

cudnnStatus_t weight_space_size(cudnnHandle_t, cudnnRNNDescriptor_t rnn, std::size_t* size) {
  Asked const asked{rnn};
  *size = offset(asked.space()) * sizeof(float);
  return asked.understood ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_NOT_SUPPORTED;
}
cudnnStatus_t weight_params(cudnnHandle_t, cudnnRNNDescriptor_t rnn, std::int32_t part, std::size_t size,
                            void const* space, std::int32_t id, cudnnTensorDescriptor_t matrix_description,
                            void** matrix, cudnnTensorDescriptor_t bias_description, void** bias) {
  Asked const asked{rnn};
  if (size != offset(asked.space()) * sizeof(float)) return CUDNN_STATUS_BAD_PARAM;
  auto const find = [&](bool is_bias, int columns, cudnnTensorDescriptor_t description, void** found) {
    int const extents[] = {1, asked.hidden, columns}, strides[] = {asked.hidden * columns, columns, 1};
    *found =
        columns == 0 ? nullptr : const_cast<float*>(static_cast<float const*>(space) + asked.place(part, id, is_bias));
    return columns == 0 ? CUDNN_STATUS_SUCCESS
                        : cudnnSetTensorNdDescriptor(description, CUDNN_DATA_FLOAT, 3, extents, strides);
  };
  cudnnStatus_t const status =
      find(false, id < asked.gates() ? asked.columns(part) : asked.hidden, matrix_description, matrix);
  return status == CUDNN_STATUS_SUCCESS ? find(true, 1, bias_description, bias) : status;
}
constexpr std::size_t workspace_needed = 1000;
cudnnStatus_t temp_space_sizes(cudnnHandle_t, cudnnRNNDescriptor_t rnn, cudnnForwardMode_t mode,
                               cudnnRNNDataDescriptor_t x, std::size_t* workspace, std::size_t* reserve) {
  Asked const asked{rnn, x};
  *workspace = workspace_needed;
  if (mode == CUDNN_FWD_MODE_TRAINING && reserve) *reserve = offset(asked.states()) * sizeof(double);
  return asked.understood ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_NOT_SUPPORTED;
}
/// Whether the memory has the sizes that were reported and is aligned to 16 bytes.
bool fits(Asked const& asked, std::size_t space, std::size_t workspace, std::size_t reserve, bool training,
          std::initializer_list<void const*> addresses) {
  bool fits = space == offset(asked.space()) * sizeof(float) && workspace == workspace_needed &&
              reserve == (training ? offset(asked.states()) * sizeof(double) : 0);
  for (void const* address : addresses) fits = fits && address && reinterpret_cast<std::uintptr_t>(address) % 16 == 0;
  return fits;
}

cudnnStatus_t forward(cudnnHandle_t, cudnnRNNDescriptor_t rnn, cudnnForwardMode_t mode, std::int32_t const* lengths,
                      cudnnRNNDataDescriptor_t of_x, void const* x, cudnnRNNDataDescriptor_t of_y, void* y,
                      cudnnTensorDescriptor_t of_h, void const* hx, void* hy, cudnnTensorDescriptor_t of_c,
                      void const* cx, void* cy, std::size_t space, void const* weights, std::size_t workspace,
                      void* at_work, std::size_t reserve, void* kept) {
  Asked const a{rnn, of_x, of_y, of_h};
  if (!a.understood || !Asked{rnn, of_x, of_y, of_c}.understood || lengths || hx || cx || cy)
    return CUDNN_STATUS_NOT_SUPPORTED;
  bool const training = mode == CUDNN_FWD_MODE_TRAINING;
  if (!fits(a, space, workspace, reserve, training, {x, y, weights, at_work}) || training != (kept != nullptr))
    return CUDNN_STATUS_BAD_PARAM;
  std::vector<double> own(training ? 0 : offset(a.states()));
  double* const states = training ? static_cast<double*>(kept) : own.data();
  std::memset(states, 0xff, offset(a.states()) * sizeof(double));
  auto* const outputs = static_cast<float*>(y);
  auto const* const w = static_cast<float const*>(weights);
  Inputs const in{a, static_cast<float const*>(x), outputs, states};
  for (int part = 0; part < a.parts(); ++part) {
    a.each_step(part, false, [&](int t) {
      for (int n = 0; n < a.batch; ++n) {
        for (int u = 0; u < a.hidden; ++u) {
          double of_input[4] = {}, of_hidden[4] = {};
          for (int q = 0; q < a.gates(); ++q) {
            auto const sum = [&](int id, int columns, auto value) {
              double total = static_cast<double>(w[a.place(part, id, true) + u]);
              for (int k = 0; k < columns; ++k)
                total += static_cast<double>(w[a.place(part, id, false) + Index{u} * columns + k]) * value(k);
              return total;
            };
            of_input[q] = sum(q, a.columns(part), [&](int k) { return in.into(part, t, n, k); });
            if (a.columns(part) == 0) of_input[q] += in.into(part, t, n, u);
            of_hidden[q] = sum(a.gates() + q, a.hidden, [&](int k) { return in.h_before(part, t, n, k); });
          }
          double* const s = states + a.state(part, t, n, u);
          int const before = a.before(part, t);
          if (a.mode == CUDNN_LSTM) {
            for (int q = 0; q < 4; ++q)
              s[q] = q == 2 ? std::tanh(of_input[q] + of_hidden[q]) : sigmoid(of_input[q] + of_hidden[q]);
            double const c = before < 0 ? 0 : states[a.state(part, before, n, u) + Asked::c];
            s[Asked::c] = s[1] * c + s[0] * s[2];
            s[Asked::h] = s[3] * std::tanh(s[Asked::c]);
          } else if (a.mode == CUDNN_GRU) {
            for (int q = 0; q < 2; ++q) s[q] = sigmoid(of_input[q] + of_hidden[q]);
            s[3] = of_hidden[2];
            s[2] = std::tanh(of_input[2] + s[0] * s[3]);
            s[Asked::h] = (1 - s[1]) * s[2] + s[1] * in.h_before(part, t, n, u);
          } else {
            double const total = of_input[0] + of_hidden[0];
            s[Asked::h] = a.mode == CUDNN_RNN_TANH ? std::tanh(total) : total > 0 ? total : 0;
          }
          if (part / a.directions() + 1 == a.layers)
            outputs[a.row(t, n) * a.directions() * a.hidden + part % a.directions() * a.hidden + u] =
                static_cast<float>(s[Asked::h]);
          if (hy) static_cast<float*>(hy)[(Index{part} * a.batch + n) * a.hidden + u] = static_cast<float>(s[Asked::h]);
        }
      }
    });
  }
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t backward_data(cudnnHandle_t, cudnnRNNDescriptor_t rnn, std::int32_t const* lengths,
                            cudnnRNNDataDescriptor_t of_y, void const* y, void const* dy, cudnnRNNDataDescriptor_t of_x,
                            void* dx, cudnnTensorDescriptor_t of_h, void const* hx, void const* dhy, void* dhx,
                            cudnnTensorDescriptor_t of_c, void const* cx, void const* dcy, void* dcx, std::size_t space,
                            void const* weights, std::size_t workspace, void* at_work, std::size_t reserve,
                            void* kept) {
  Asked const a{rnn, of_x, of_y, of_h};
  if (!a.understood || !Asked{rnn, of_x, of_y, of_c}.understood || lengths || hx || dhx || cx || dcy || dcx)
    return CUDNN_STATUS_NOT_SUPPORTED;
  if (!fits(a, space, workspace, reserve, true, {y, dy, dx, weights, at_work, kept})) return CUDNN_STATUS_BAD_PARAM;
  auto* const states = static_cast<double*>(kept);
  auto const* const w = static_cast<float const*>(weights);
  Inputs const in{a, nullptr, static_cast<float const*>(y), states};
  auto const weight = [&](int part, int id, int columns, int unit, int column) {
    return static_cast<double>(w[a.place(part, id, false) + Index{unit} * columns + column]);
  };
  int const units = a.directions() * a.hidden, rows = a.steps * a.batch;
  std::vector<double> given(offset(Index{rows} * units));
  for (std::size_t e = 0; e < given.size(); ++e) given[e] = static_cast<double>(static_cast<float const*>(dy)[e]);
  for (int layer = a.layers - 1; layer >= 0; --layer) {
    int const inputs = a.inputs(layer * a.directions());
    std::vector<double> below(offset(Index{rows} * inputs));
    for (int d = 0; d < a.directions(); ++d) {
      int const part = layer * a.directions() + d;
      std::vector<double> later(offset(Index{a.batch} * a.hidden)), later_c(later.size());  // of the next step
      if (dhy) {
        auto const* const last = static_cast<float const*>(dhy) + Index{part} * a.batch * a.hidden;
        for (std::size_t e = 0; e < later.size(); ++e) later[e] = static_cast<double>(last[e]);
      }
      a.each_step(part, true, [&](int t) {
        int const before = a.before(part, t);
        std::vector<double> earlier(later.size());
        for (int n = 0; n < a.batch; ++n) {
          for (int u = 0; u < a.hidden; ++u) {
            double* const s = states + a.state(part, t, n, u);
            auto const unit = offset(Index{n} * a.hidden + u);
            double const dh = later[unit] + given[offset(a.row(t, n) * units + d * a.hidden + u)];
            if (a.mode == CUDNN_LSTM) {
              double const i = s[0], f = s[1], g = s[2], o = s[3], tanh_c = std::tanh(s[Asked::c]);
              double const dc = later_c[unit] + dh * o * (1 - tanh_c * tanh_c);
              double const c = before < 0 ? 0 : states[a.state(part, before, n, u) + Asked::c];
              s[0] = dc * g * i * (1 - i), s[1] = dc * c * f * (1 - f), s[2] = dc * i * (1 - g * g);
              s[3] = dh * tanh_c * o * (1 - o);
              later_c[unit] = dc * f;
            } else if (a.mode == CUDNN_GRU) {
              double const r = s[0], z = s[1], candidate = s[2], product = s[3];
              double const sum = dh * (1 - z) * (1 - candidate * candidate);
              s[0] = sum * product * r * (1 - r), s[1] = dh * (in.h_before(part, t, n, u) - candidate) * z * (1 - z);
              s[2] = sum, s[3] = sum * r;
              earlier[unit] += dh * z;
            } else {
              double const h = in.h(part, t, n, u);
              s[0] = a.mode == CUDNN_RNN_TANH ? dh * (1 - h * h) : h > 0 ? dh : 0;
            }
          }
          for (int q = 0; q < a.gates(); ++q) {
            for (int u = 0; u < a.hidden; ++u) {
              double const *const s = states + a.state(part, t, n, u), of_input = s[q],
                                  of_hidden = s[a.mode == CUDNN_GRU && q == 2 ? 3 : q];
              for (int k = 0; k < a.columns(part); ++k)
                below[offset(a.row(t, n) * inputs + k)] += of_input * weight(part, q, inputs, u, k);
              if (a.columns(part) == 0) below[offset(a.row(t, n) * inputs + u)] += of_input;
              for (int k = 0; k < a.hidden; ++k)
                earlier[offset(Index{n} * a.hidden + k)] += of_hidden * weight(part, a.gates() + q, a.hidden, u, k);
            }
          }
        }
        later = std::move(earlier);
      });
    }
    given = std::move(below);
  }
  for (std::size_t e = 0; e < given.size(); ++e) static_cast<float*>(dx)[e] = static_cast<float>(given[e]);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t backward_weights(cudnnHandle_t, cudnnRNNDescriptor_t rnn, cudnnWgradMode_t add,
                               std::int32_t const* lengths, cudnnRNNDataDescriptor_t of_x, void const* x,
                               cudnnTensorDescriptor_t of_h, void const* hx, cudnnRNNDataDescriptor_t of_y,
                               void const* y, std::size_t space, void* gradient, std::size_t workspace, void* at_work,
                               std::size_t reserve, void* kept) {
  Asked const a{rnn, of_x, of_y, of_h};
  if (!a.understood || lengths || hx || add != CUDNN_WGRAD_MODE_ADD) return CUDNN_STATUS_NOT_SUPPORTED;
  if (!fits(a, space, workspace, reserve, true, {x, y, gradient, at_work, kept})) return CUDNN_STATUS_BAD_PARAM;
  auto* const states = static_cast<double*>(kept);
  Inputs const in{a, static_cast<float const*>(x), static_cast<float const*>(y), states};
  auto* const w = static_cast<float*>(gradient);
  for (int part = 0; part < a.parts(); ++part) {
    for (int id = 0; id < 2 * a.gates(); ++id) {
      bool const of_hidden = id >= a.gates();
      int const gate = id % a.gates(), slot = of_hidden && a.mode == CUDNN_GRU && gate == 2 ? 3 : gate,
                columns = of_hidden ? a.hidden : a.columns(part);
      for (int u = 0; u < a.hidden; ++u) {
        auto const sum_into = [&](float& to, auto value) {
          double sum = 0;
          for (int t = 0; t < a.steps; ++t)
            for (int n = 0; n < a.batch; ++n) sum += states[a.state(part, t, n, u) + slot] * value(t, n);
          to += static_cast<float>(sum);
        };
        sum_into(w[a.place(part, id, true) + u], [](int, int) { return 1.0; });
        for (int k = 0; k < columns; ++k)
          sum_into(w[a.place(part, id, false) + Index{u} * columns + k],
                   [&](int t, int n) { return of_hidden ? in.h_before(part, t, n, k) : in.into(part, t, n, k); });
      }
    }
  }
  std::memset(states, 0xff, offset(a.states()) * sizeof(double));
  return CUDNN_STATUS_SUCCESS;
}

}  // namespace

RnnLibrary const& emulated_rnn() {
  static RnnLibrary const library{
      weight_space_size,
      weight_params,
      temp_space_sizes,
      forward,
      backward_data,
      backward_weights,
      [](void* to, int value, std::size_t bytes, cudaStream_t) { return std::memset(to, value, bytes), cudaSuccess; },
      [](void* to, void const* from, std::size_t bytes, cudaMemcpyKind, cudaStream_t) {
        return std::memcpy(to, from, bytes), cudaSuccess;
      }};
  return library;
}

}  // namespace coldpress::cuda
