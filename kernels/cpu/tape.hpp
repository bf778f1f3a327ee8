// Calls of kernels, taken down once and played again: finding them anew takes longer than a small network.
#pragma once

#include "table.hpp"

#include <memory>
#include <span>
#include <tuple>

namespace coldpress::cpu {

class Tape {
 public:
  using Inputs = std::span<std::span<float const> const>;

  /// Where input k is said to be while calls are taken down: at an address that no memory has, tagged or not. What they
  /// read there is in play read where the input is then.
  static float const* stand_in(std::size_t k) { return reinterpret_cast<float const*>((k + 1) << shift); }
  /// Begins anew, for inputs of such sizes.
  void start(Inputs inputs) { size_ = 0, inputs_ = inputs, reads_ = nullptr; }
  template <class... Parameters, class... Args>
  void record(void (*kernel)(Parameters...), Args const&... args) {
    using Call = Recorded<std::tuple<void (*)(Parameters...), std::remove_cvref_t<Parameters>...>>;
    static_assert(alignof(Call) <= alignof(std::max_align_t) && std::is_trivially_destructible_v<Call>);
    std::size_t const at = size_;
    size_ += (sizeof(Call) + alignof(std::max_align_t) - 1) / alignof(std::max_align_t) * alignof(std::max_align_t);
    if (size_ > capacity_) return;
    Call& call = *new (memory_.get() + at) Call{{play<Call>, size_ - at, {}}, {kernel, args...}};
    std::apply([&](auto, auto&... values) { (note(call, read_by(values)), ...); }, call.all);
  }
  /// Makes room for what did not fit; whether it has to be taken down again.
  bool grow() {
    if (size_ <= capacity_) return false;
    reserve(size_);
    return true;
  }
  std::size_t size() const { return size_; }
  /// Room for a tape of that size; what is on it may be lost.
  void reserve(std::size_t size) {
    if (size <= capacity_) return;
    memory_ = std::make_unique<std::byte[]>(size);
    capacity_ = size;
  }
  void play(Inputs inputs) const {
    for (Read const* read = reads_; read; read = read->next) *read->pointer = inputs[read->input].data() + read->offset;
    for (std::size_t at = 0; at < size_;) {
      auto const& call = *reinterpret_cast<Header const*>(memory_.get() + at);
      call.play(call);
      at += call.size;
    }
  }

 private:
  /// What a call reads of an input: with its sums, or with what is joined to them.
  struct Read {
    float const** pointer;
    std::size_t input;
    Index offset;
    Read const* next;  // of all calls
  };
  struct Header {
    void (*play)(Header const& call);
    std::size_t size;
    Read reads[2];
  };
  template <class All>
  struct Recorded : Header {
    All all;
  };
  template <class Call>
  static void play(Header const& call) {
    std::apply([](auto kernel, auto const&... args) { kernel(args...); }, static_cast<Call const&>(call).all);
  }
  static constexpr int shift = 56;
  void note(Header& call, float const** pointer) {
    auto const address = pointer ? reinterpret_cast<std::uintptr_t>(*pointer) : 0;
    for (std::size_t k = 0; k < inputs_.size(); ++k) {
      auto const start = reinterpret_cast<std::uintptr_t>(stand_in(k));
      if (address < start || address - start >= inputs_[k].size_bytes()) continue;
      Read& read = call.reads[call.reads[0].pointer ? 1 : 0];
      read = {pointer, k, *pointer - stand_in(k), reads_};
      reads_ = &read;
    }
  }
  static float const** read_by(In& x) { return &x.data; }
  static float const** read_by(Sequence<float const>& x) { return &x.data; }
  static float const** read_by(Recurrence<float>& r) { return &r.x.data; }
  static float const** read_by(RecurrentStep& s) { return &s.x; }
  static float const** read_by(Then<ErasedChain, float>& then) { return &then.join.other; }
  template <class T>
  static float const** read_by(T&) {
    return nullptr;
  }

  std::unique_ptr<std::byte[]> memory_;
  std::size_t size_ = 0, capacity_ = 0;
  Inputs inputs_;  // of the calls that are being taken down
  Read const* reads_ = nullptr;
};

}  // namespace coldpress::cpu
