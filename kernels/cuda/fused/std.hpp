// The parts of the standard library that coldpress's headers use, for NVRTC, which has none.
#pragma once

// Programs can thus compile kernels where no toolkit is installed. All standard headers are replaced by this file.

#define __builtin_expf ::expf
#define __builtin_exp ::exp
#define __builtin_expm1f ::expm1f
#define __builtin_expm1 ::expm1
#define __builtin_logf ::logf
#define __builtin_log ::log
#define __builtin_log1pf ::log1pf
#define __builtin_log1p ::log1p
#define __builtin_tanhf ::tanhf
#define __builtin_tanh ::tanh
#define __builtin_erfcf ::erfcf
#define __builtin_erfc ::erfc
#define __builtin_cosf ::cosf
#define __builtin_cos ::cos
#define __builtin_sinf ::sinf
#define __builtin_sin ::sin
#define __builtin_sqrtf ::sqrtf
#define __builtin_sqrt ::sqrt
#define __builtin_fabsf ::fabsf
#define __builtin_fabs ::fabs
#define __builtin_powf ::powf
#define __builtin_pow ::pow
#define __builtin_fmaf ::fmaf
#define __builtin_fma ::fma
#define __builtin_memcpy ::memcpy
#define __builtin_memset ::memset
#define __builtin_inff() __builtin_bit_cast(float, 0x7f800000u)
#define __builtin_nanf(text) __builtin_bit_cast(float, 0x7fc00000u)
#define __builtin_trap ::__trap

#define PTRDIFF_MAX 0x7fffffffffffffff
#define UINT32_MAX 0xffffffffu

namespace std {

using size_t = decltype(sizeof 0);
using ptrdiff_t = long;
using nullptr_t = decltype(nullptr);
enum class byte : unsigned char {};
using uint16_t = unsigned short;
using uint32_t = unsigned;
using int64_t = long;
using uint64_t = unsigned long;
using uintptr_t = unsigned long;

// <type_traits>
template <class T, T v>
struct integral_constant {
  static constexpr T value = v;
  using value_type = T;
  using type = integral_constant;
  constexpr operator T() const { return v; }
  constexpr T operator()() const { return v; }
};
template <bool b>
using bool_constant = integral_constant<bool, b>;
using true_type = bool_constant<true>;
using false_type = bool_constant<false>;
template <class T>
struct type_identity {
  using type = T;
};
template <class T>
using type_identity_t = typename type_identity<T>::type;
template <class T>
struct remove_const : type_identity<T> {};
template <class T>
struct remove_const<T const> : type_identity<T> {};
template <class T>
using remove_const_t = typename remove_const<T>::type;
template <class T>
struct remove_cv : type_identity<T> {};
template <class T>
struct remove_cv<T const> : type_identity<T> {};
template <class T>
struct remove_cv<T volatile> : type_identity<T> {};
template <class T>
struct remove_cv<T const volatile> : type_identity<T> {};
template <class T>
using remove_cv_t = typename remove_cv<T>::type;
template <class T>
struct remove_reference : type_identity<T> {};
template <class T>
struct remove_reference<T&> : type_identity<T> {};
template <class T>
struct remove_reference<T&&> : type_identity<T> {};
template <class T>
using remove_reference_t = typename remove_reference<T>::type;
template <class T>
using remove_cvref_t = remove_cv_t<remove_reference_t<T>>;
template <bool, class T, class>
struct conditional : type_identity<T> {};
template <class T, class F>
struct conditional<false, T, F> : type_identity<F> {};
template <bool b, class T, class F>
using conditional_t = typename conditional<b, T, F>::type;

template <class A, class B>
inline constexpr bool is_same_v = false;
template <class A>
inline constexpr bool is_same_v<A, A> = true;
template <class T>
inline constexpr bool is_const_v = false;
template <class T>
inline constexpr bool is_const_v<T const> = true;
template <class T>
inline constexpr bool is_array_v = false;
template <class T, size_t n>
inline constexpr bool is_array_v<T[n]> = true;
template <class T>
inline constexpr bool is_void_v = is_same_v<remove_cv_t<T>, void>;
template <class T>
inline constexpr bool is_null_pointer_v = is_same_v<remove_cv_t<T>, nullptr_t>;
template <class T>
inline constexpr bool is_floating_point_v = is_same_v<remove_cv_t<T>, float> || is_same_v<remove_cv_t<T>, double>;
template <class T, class... All>
inline constexpr bool is_any_of = (is_same_v<remove_cv_t<T>, All> || ...);
template <class T>
inline constexpr bool is_integral_v = is_any_of<T, bool, char, signed char, unsigned char, short, unsigned short, int,
                                                unsigned, long, unsigned long, long long, unsigned long long>;
template <class T>
inline constexpr bool is_arithmetic_v = is_integral_v<T> || is_floating_point_v<T>;
template <class T>
inline constexpr bool is_enum_v = __is_enum(T);
template <class T>
inline constexpr bool is_class_v = __is_class(T);
template <class Base, class Derived>
inline constexpr bool is_base_of_v = __is_base_of(Base, Derived);
template <class T, class... Args>
inline constexpr bool is_constructible_v = __is_constructible(T, Args...);
template <class From, class To>
inline constexpr bool is_convertible_v = (is_void_v<From> && is_void_v<To>) || requires(void (&take)(To), From&& from) {
  take(static_cast<From&&>(from));
};
template <class T>
T&& declval();
template <class F, class... Arguments>
inline constexpr bool is_invocable_v = requires(F&& f, Arguments&&... arguments) {
  static_cast<F&&>(f)(static_cast<Arguments&&>(arguments)...);
};

// <concepts>
template <class A, class B>
concept same_as = is_same_v<A, B>;
template <class From, class To>
concept convertible_to = is_convertible_v<From, To>;

// <utility>
template <class T>
constexpr remove_reference_t<T>&& move(T&& value) {
  return static_cast<remove_reference_t<T>&&>(value);
}
template <class T, class U = T>
constexpr T exchange(T& value, U&& other) {
  T old = static_cast<T&&>(value);
  value = static_cast<U&&>(other);
  return old;
}
template <class T>
constexpr void swap(T& a, T& b) {
  b = std::exchange(a, static_cast<T&&>(b));
}
template <class T, T... i>
struct integer_sequence {
  static constexpr size_t size() { return sizeof...(i); }
};
template <size_t... i>
using index_sequence = integer_sequence<size_t, i...>;
template <class A, class B>
struct sequences_joined;
template <class T, T... i, T... k>
struct sequences_joined<integer_sequence<T, i...>, integer_sequence<T, k...>> {
  using type = integer_sequence<T, i..., sizeof...(i) + k...>;
};
template <class T, size_t n>
struct sequence_to : sequences_joined<typename sequence_to<T, n / 2>::type, typename sequence_to<T, n - n / 2>::type> {
};
template <class T>
struct sequence_to<T, 0> : type_identity<integer_sequence<T>> {};
template <class T>
struct sequence_to<T, 1> : type_identity<integer_sequence<T, 0>> {};
template <class T, T n>
using make_integer_sequence = typename sequence_to<T, static_cast<size_t>(n)>::type;
template <size_t n>
using make_index_sequence = make_integer_sequence<size_t, n>;
template <class... T>
using index_sequence_for = make_index_sequence<sizeof...(T)>;
template <class First, class Second>
struct pair {
  First first;
  Second second;
};
template <class First, class Second>
pair(First, Second) -> pair<First, Second>;

// <bit>, <cstring>, <limits>
template <class To, class From>
constexpr To bit_cast(From const& from) {
  return __builtin_bit_cast(To, from);
}
using ::memcpy;
using ::memset;
template <class T>
struct numeric_limits;
template <>
struct numeric_limits<float> {
  static constexpr float infinity() { return __builtin_bit_cast(float, 0x7f800000u); }
  static constexpr float quiet_NaN() { return __builtin_bit_cast(float, 0x7fc00000u); }
  static constexpr float max() { return __builtin_bit_cast(float, 0x7f7fffffu); }
  static constexpr float lowest() { return -max(); }
  static constexpr float min() { return __builtin_bit_cast(float, 0x00800000u); }
  static constexpr float epsilon() { return __builtin_bit_cast(float, 0x34000000u); }
};
template <>
struct numeric_limits<double> {
  static constexpr double infinity() { return __builtin_bit_cast(double, 0x7ff0000000000000ul); }
  static constexpr double max() { return __builtin_bit_cast(double, 0x7feffffffffffffful); }
  static constexpr double lowest() { return -max(); }
};
template <>
struct numeric_limits<int> {
  static constexpr int max() { return 0x7fffffff; }
  static constexpr int min() { return -max() - 1; }
};
template <>
struct numeric_limits<long> {
  static constexpr long max() { return 0x7fffffffffffffff; }
  static constexpr long min() { return -max() - 1; }
};

// <array>, <span>, <string_view>
template <class T, size_t n>
struct array {
  using value_type = T;
  T values[n];
  constexpr T& operator[](size_t i) { return values[i]; }
  constexpr T const& operator[](size_t i) const { return values[i]; }
  constexpr T* data() { return values; }
  constexpr T const* data() const { return values; }
  constexpr T* begin() { return values; }
  constexpr T const* begin() const { return values; }
  constexpr T* end() { return values + n; }
  constexpr T const* end() const { return values + n; }
  static constexpr size_t size() { return n; }
  static constexpr bool empty() { return n == 0; }
  constexpr T& front() { return values[0]; }
  constexpr T const& front() const { return values[0]; }
  constexpr T& back() { return values[n - 1]; }
  constexpr T const& back() const { return values[n - 1]; }
  constexpr void fill(T const& value) {
    for (T& each : values) each = value;
  }
  bool operator==(array const&) const = default;
};
template <class T>
struct array<T, 0> {
  constexpr T& operator[](size_t) const { return *data(); }
  constexpr T* data() const { return nullptr; }
  constexpr T* begin() const { return nullptr; }
  constexpr T* end() const { return nullptr; }
  static constexpr size_t size() { return 0; }
  static constexpr bool empty() { return true; }
  bool operator==(array const&) const = default;
};
template <class First, class... More>
array(First, More...) -> array<First, 1 + sizeof...(More)>;
template <class List>
inline constexpr size_t tuple_size_v = 0;
template <class T, size_t n>
inline constexpr size_t tuple_size_v<array<T, n>> = n;

template <class T>
class span {
 public:
  constexpr span() = default;
  constexpr span(T* data, size_t size) : data_(data), size_(size) {}
  template <class List>
  requires requires(List&& list) { list.data(), list.size(); }
  constexpr span(List&& list) : data_(list.data()), size_(list.size()) {}
  constexpr T* data() const { return data_; }
  constexpr T* begin() const { return data_; }
  constexpr T* end() const { return data_ + size_; }
  constexpr size_t size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  constexpr T& operator[](size_t i) const { return data_[i]; }

 private:
  T* data_ = nullptr;
  size_t size_ = 0;
};

class string_view {
 public:
  constexpr string_view() = default;
  constexpr string_view(char const* text) : data_(text) {
    while (text[size_] != 0) ++size_;
  }
  constexpr string_view(char const* text, size_t size) : data_(text), size_(size) {}
  constexpr char const* data() const { return data_; }
  constexpr size_t size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  constexpr char operator[](size_t i) const { return data_[i]; }
  constexpr char const* begin() const { return data_; }
  constexpr char const* end() const { return data_ + size_; }
  constexpr bool operator==(string_view other) const {
    if (size_ != other.size_) return false;
    for (size_t i = 0; i < size_; ++i) {
      if (data_[i] != other.data_[i]) return false;
    }
    return true;
  }

 private:
  char const* data_ = nullptr;
  size_t size_ = 0;
};

// Base classes of errors, which code on a GPU never throws.
class exception {
 public:
  virtual ~exception() = default;
  virtual char const* what() const noexcept { return ""; }
};
struct string {
  string() = default;
  string(char const*) {}
  explicit string(string_view) {}
  template <class T>
  string& append(T const&) {
    return *this;
  }
  template <class T>
  string& operator+=(T const&) {
    return *this;
  }
  char const* c_str() const { return ""; }
  bool empty() const { return true; }
  void clear() {}
};
template <class T>
string to_string(T) {
  return {};
}
template <class T>
string operator+(string const& text, T const&) {
  return text;
}
inline string operator+(char const*, string const& text) { return text; }

}  // namespace std

using std::nullptr_t;
using std::ptrdiff_t;
using std::size_t;
using std::uint32_t;
using std::int64_t;
using std::uint64_t;
