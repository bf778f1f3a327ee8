// Describes a product of matrices to cuBLASLt, which stores them by columns, and runs it.
#include "dense_call.hpp"

#include <cublasLt.h>

#include <vector>

#include "library_error.hpp"

namespace coldpress::cuda {
namespace {

void check(cublasStatus_t status, char const* action, char const* advice = "leave out .libraries, and report it") {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw LibraryError{"cuBLASLt", std::to_string(cublasLtGetVersion()),
                     std::string{action} + " failed with " + cublasLtGetStatusName(status), advice};
}

/// A descriptor with attributes that destroys itself.
template <class T, auto destroy, auto set_attribute, auto get_attribute>
class Owned {
 public:
  template <class Create>
  explicit Owned(Create create) {
    T made = nullptr;
    check(create(&made), "describing a product");
    owned_.reset(made);
  }
  T get() const { return owned_.get(); }
  template <class Name, class Value>
  void set(Name name, Value value) const {
    check(set_attribute(get(), name, &value, sizeof value), "describing a product");
  }
  template <class Value, class Name>
  Value read(Name name) const {
    Value value{};
    std::size_t written = 0;
    check(get_attribute(get(), name, &value, sizeof value, &written), "reading what a product was told");
    return value;
  }

 private:
  struct Destroy {
    void operator()(T made) const { destroy(made); }
  };
  std::unique_ptr<std::remove_pointer_t<T>, Destroy> owned_;
};
using Layout = Owned<cublasLtMatrixLayout_t, cublasLtMatrixLayoutDestroy, cublasLtMatrixLayoutSetAttribute,
                     cublasLtMatrixLayoutGetAttribute>;
using Operation = Owned<cublasLtMatmulDesc_t, cublasLtMatmulDescDestroy, cublasLtMatmulDescSetAttribute,
                        cublasLtMatmulDescGetAttribute>;
using Preference = Owned<cublasLtMatmulPreference_t, cublasLtMatmulPreferenceDestroy,
                         cublasLtMatmulPreferenceSetAttribute, cublasLtMatmulPreferenceGetAttribute>;

/// cuBLASLt stores matrices by columns, so a matrix that is {rows, columns} here is {columns, rows} there.
Layout layout(Index rows, Index columns, Index pitch) {
  return Layout{[&](cublasLtMatrixLayout_t* made) {
    return cublasLtMatrixLayoutCreate(made, CUDA_R_32F, static_cast<std::uint64_t>(columns),
                                      static_cast<std::uint64_t>(rows), pitch);
  }};
}

}  // namespace

std::shared_ptr<cublasLtContext> open_cublaslt() {
  cublasLtHandle_t handle = nullptr;
  check(cublasLtCreate(&handle), "starting", "look whether this cuBLASLt knows the device, and whether memory is left");
  return {handle, [](cublasLtHandle_t opened) { cublasLtDestroy(opened); }};
}

/// The description that cuBLASLt was given: d = op(a) op(b) + beta d, where a, b and d are operands of the call.
struct DenseCall::Told {
  using Place = float* Operands::*;

  explicit Told(DenseProduct const& p)
      : a(p.pass == LayerPass::weight_gradient ? x_of(p) : weight_of(p)),
        b(p.pass == LayerPass::forward ? x_of(p) : y_of(p)),
        d(p.pass == LayerPass::forward          ? y_of(p)
          : p.pass == LayerPass::input_gradient ? x_of(p)
                                                : weight_of(p)),
        a_place(p.pass == LayerPass::weight_gradient ? &Operands::x : &Operands::weight),
        b_place(p.pass == LayerPass::forward ? &Operands::x : &Operands::y),
        d_place(p.pass == LayerPass::forward          ? &Operands::y
                : p.pass == LayerPass::input_gradient ? &Operands::x
                                                      : &Operands::weight),
        operation([&](cublasLtMatmulDesc_t* made) {
          return cublasLtMatmulDescCreate(made, p.tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F, CUDA_R_32F);
        }),
        beta(p.add ? 1.0f : 0.0f) {
    if (p.pass == LayerPass::forward) operation.set(CUBLASLT_MATMUL_DESC_TRANSA, CUBLAS_OP_T);
    if (p.pass == LayerPass::weight_gradient) operation.set(CUBLASLT_MATMUL_DESC_TRANSB, CUBLAS_OP_T);
    if (p.biased) operation.set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_BIAS);
  }
  void choose(cublasLtHandle_t handle) {
    Preference const preference{cublasLtMatmulPreferenceCreate};
    preference.set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, std::size_t{32} << 20);
    preference.set(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, std::uint32_t{CUBLASLT_REDUCTION_SCHEME_NONE});
    for (auto operand : {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
                         CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES})
      preference.set(operand, std::uint32_t{16});
    // There is no preference for the bias's alignment; cuBLASLt derives it from the address.
    if (biased()) operation.set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, reinterpret_cast<void const*>(std::uintptr_t{16}));
    int found = 0;
    check(cublasLtMatmulAlgoGetHeuristic(handle, operation.get(), a.get(), b.get(), d.get(), d.get(), preference.get(),
                                         1, &chosen, &found),
          "choosing an algorithm for a matrix product");
    if (found == 0) check(CUBLAS_STATUS_NOT_SUPPORTED, "choosing an algorithm for a matrix product");
  }
  bool biased() const {
    return operation.read<cublasLtEpilogue_t>(CUBLASLT_MATMUL_DESC_EPILOGUE) == CUBLASLT_EPILOGUE_BIAS;
  }
  void point_to(Operands const& operands) const {
    if (biased()) operation.set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, static_cast<void const*>(operands.bias));
  }

  Layout a, b, d;
  Place a_place, b_place, d_place;
  Operation operation;
  float alpha = 1, beta;
  cublasLtMatmulHeuristicResult_t chosen{};

 private:
  static Layout x_of(DenseProduct const& p) { return layout(p.batch, p.inputs, p.x_pitch); }
  static Layout y_of(DenseProduct const& p) { return layout(p.batch, p.outputs, p.y_pitch); }
  static Layout weight_of(DenseProduct const& p) { return layout(p.outputs, p.inputs, p.inputs); }
};

DenseCall::DenseCall(DenseProduct const& product, std::shared_ptr<cublasLtContext> cublaslt)
    : sizes_{product.batch * product.x_pitch, product.outputs * product.inputs, product.biased ? product.outputs : 0,
             product.batch * product.y_pitch},
      told_(std::make_unique<Told>(product)),
      cublaslt_(std::move(cublaslt)) {
  if (cublaslt_) told_->choose(cublaslt_.get());
}
DenseCall::~DenseCall() = default;

Index DenseCall::workspace() const { return static_cast<Index>(told_->chosen.workspaceSize); }

void DenseCall::put(void* stream, Operands const& operands) const {
  Told const& t = *told_;
  t.point_to(operands);
  check(
      cublasLtMatmul(cublaslt_.get(), t.operation.get(), &t.alpha, operands.*t.a_place, t.a.get(), operands.*t.b_place,
                     t.b.get(), &t.beta, operands.*t.d_place, t.d.get(), operands.*t.d_place, t.d.get(), &t.chosen.algo,
                     operands.workspace, t.chosen.workspaceSize, static_cast<cudaStream_t>(stream)),
      "multiplying");
}

void DenseCall::play(Operands const& operands) const {
  spoil(operands);
  Told const& t = *told_;
  t.point_to(operands);
  struct Matrix {
    float* data;
    Index rows, columns, next_row, next_column;
    float& at(Index i, Index j) const { return data[i * next_row + j * next_column]; }
  };
  auto const matrix = [](Layout const& told, float* data, bool transposed) {
    auto const rows = static_cast<Index>(told.read<std::uint64_t>(CUBLASLT_MATRIX_LAYOUT_ROWS)),
               columns = static_cast<Index>(told.read<std::uint64_t>(CUBLASLT_MATRIX_LAYOUT_COLS)),
               stride = static_cast<Index>(told.read<std::int64_t>(CUBLASLT_MATRIX_LAYOUT_LD));
    return transposed ? Matrix{data, columns, rows, stride, 1} : Matrix{data, rows, columns, 1, stride};
  };
  auto const transposed = [&](cublasLtMatmulDescAttributes_t which) {
    return t.operation.read<cublasOperation_t>(which) == CUBLAS_OP_T;
  };
  Matrix const a = matrix(t.a, operands.*t.a_place, transposed(CUBLASLT_MATMUL_DESC_TRANSA)),
               b = matrix(t.b, operands.*t.b_place, transposed(CUBLASLT_MATMUL_DESC_TRANSB)),
               d = matrix(t.d, operands.*t.d_place, false);
  if (a.rows != d.rows || a.columns != b.rows || b.columns != d.columns)
    check(CUBLAS_STATUS_INVALID_VALUE, "multiplying");
  auto const* const bias = static_cast<float const*>(
      t.biased() ? t.operation.read<void const*>(CUBLASLT_MATMUL_DESC_BIAS_POINTER) : nullptr);
  for (Index j = 0; j < d.columns; ++j) {
    for (Index i = 0; i < d.rows; ++i) {
      double sum = 0;
      for (Index k = 0; k < a.columns; ++k) sum += static_cast<double>(a.at(i, k)) * static_cast<double>(b.at(k, j));
      sum *= static_cast<double>(t.alpha);
      if (t.beta != 0) sum += static_cast<double>(t.beta) * static_cast<double>(d.at(i, j));
      if (bias) sum += static_cast<double>(bias[i]);
      d.at(i, j) = static_cast<float>(sum);
    }
  }
}

}  // namespace coldpress::cuda
