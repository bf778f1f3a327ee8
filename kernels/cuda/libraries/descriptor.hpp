// A descriptor of cuDNN's backend API that destroys itself and derives the types of its attributes.
#pragma once

#include <cudnn_graph.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace coldpress::cuda {

/// Throws LibraryError, with cuDNN's message and with advice, if `status` is not success.
void check(cudnnStatus_t status, char const* action,
           char const* advice = "check that cuDNN is complete, and that all parts have the same version");

template <class T>
inline constexpr cudnnBackendAttributeType_t attribute_type = T::is_no_type_of_attribute;
template <>
inline constexpr cudnnBackendAttributeType_t attribute_type<bool> = CUDNN_TYPE_BOOLEAN;
template <>
inline constexpr cudnnBackendAttributeType_t attribute_type<char> = CUDNN_TYPE_CHAR;
template <>
inline constexpr cudnnBackendAttributeType_t attribute_type<std::int32_t> = CUDNN_TYPE_INT32;
template <>
inline constexpr cudnnBackendAttributeType_t attribute_type<std::int64_t> = CUDNN_TYPE_INT64;
template <>
inline constexpr cudnnBackendAttributeType_t attribute_type<float> = CUDNN_TYPE_FLOAT;
template <>
inline constexpr cudnnBackendAttributeType_t attribute_type<cudnnDataType_t> = CUDNN_TYPE_DATA_TYPE;
template <>
inline constexpr cudnnBackendAttributeType_t attribute_type<cudnnConvolutionMode_t> = CUDNN_TYPE_CONVOLUTION_MODE;
template <>
inline constexpr cudnnBackendAttributeType_t attribute_type<cudnnPointwiseMode_t> = CUDNN_TYPE_POINTWISE_MODE;
template <>
inline constexpr cudnnBackendAttributeType_t attribute_type<cudnnBackendHeurMode_t> = CUDNN_TYPE_HEUR_MODE;
template <>
inline constexpr cudnnBackendAttributeType_t attribute_type<cudnnBackendNumericalNote_t> = CUDNN_TYPE_NUMERICAL_NOTE;
template <>
inline constexpr cudnnBackendAttributeType_t attribute_type<cudnnBackendBehaviorNote_t> = CUDNN_TYPE_BEHAVIOR_NOTE;
template <>
inline constexpr cudnnBackendAttributeType_t attribute_type<cudnnHandle_t> = CUDNN_TYPE_HANDLE;
template <>
inline constexpr cudnnBackendAttributeType_t attribute_type<cudnnBackendDescriptor_t> = CUDNN_TYPE_BACKEND_DESCRIPTOR;

/// A shared pointer to a descriptor of the backend API.
class Descriptor {
 public:
  explicit Descriptor(cudnnBackendDescriptorType_t type) {
    cudnnBackendDescriptor_t made = nullptr;
    check(cudnnBackendCreateDescriptor(type, &made), "creating a descriptor");
    shared_.reset(made, [](void* descriptor) { cudnnBackendDestroyDescriptor(descriptor); });
  }
  explicit Descriptor(std::shared_ptr<void> shared) : shared_(std::move(shared)) {}
  std::shared_ptr<void> const& shared() const { return shared_; }

  template <class T>
  void set(cudnnBackendAttributeName_t name, T const* values, std::size_t count) {
    check(cudnnBackendSetAttribute(shared_.get(), name, attribute_type<T>, static_cast<std::int64_t>(count), values),
          "setting an attribute");
  }
  template <class T>
  void set(cudnnBackendAttributeName_t name, T const& value) {
    set(name, &value, 1);
  }
  void set(cudnnBackendAttributeName_t name, Descriptor const& part) { set(name, part.shared_.get()); }
  void set_addresses(cudnnBackendAttributeName_t name, void* const* values, std::size_t count) {
    check(cudnnBackendSetAttribute(shared_.get(), name, CUDNN_TYPE_VOID_PTR, static_cast<std::int64_t>(count), values),
          "setting an attribute");
  }
  void finalize(char const* action, char const* advice) { check(try_finalize(), action, advice); }
  cudnnStatus_t try_finalize() { return cudnnBackendFinalize(shared_.get()); }

  /// All values of an attribute, which may be descriptors.
  template <class T>
  std::vector<T> get(cudnnBackendAttributeName_t name) const {
    std::vector<T> values(count<T>(name));
    read(name, values);
    return values;
  }
  std::vector<Descriptor> parts(cudnnBackendAttributeName_t name, cudnnBackendDescriptorType_t type) const {
    std::vector<Descriptor> parts;
    std::vector<cudnnBackendDescriptor_t> raw;
    for (std::size_t n = count<cudnnBackendDescriptor_t>(name); n > 0; --n) {
      raw.push_back(parts.emplace_back(type).shared_.get());
    }
    read(name, raw);
    while (parts.size() > raw.size()) parts.pop_back();
    return parts;
  }

 private:
  template <class T>
  std::size_t count(cudnnBackendAttributeName_t name) const {
    std::int64_t found = 0;
    check(cudnnBackendGetAttribute(shared_.get(), name, attribute_type<T>, 0, &found, nullptr), "counting values");
    return static_cast<std::size_t>(found);
  }
  template <class T>
  void read(cudnnBackendAttributeName_t name, std::vector<T>& values) const {
    std::int64_t given = 0;
    check(cudnnBackendGetAttribute(shared_.get(), name, attribute_type<T>, static_cast<std::int64_t>(values.size()),
                                   &given, values.data()),
          "reading an attribute");
    if (static_cast<std::size_t>(given) < values.size()) values.resize(static_cast<std::size_t>(given));
  }

  std::shared_ptr<void> shared_;
};

}  // namespace coldpress::cuda
