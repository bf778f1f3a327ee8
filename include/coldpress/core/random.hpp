// Counter-based random numbers.
#pragma once

// A number depends only on a key and a position, so every backend draws the same numbers, in any order.

#include <cstdint>
#include <string_view>

namespace coldpress {

/// The four random words of one position: Philox4x32-10 of Salmon et al., "Parallel random numbers: as easy as 1, 2, 3"
/// (SC 2011). Word is an unsigned 32-bit integer or a vector of them; Multiply computes the high and low half of a
/// product.
template <class Word>
struct PhiloxBlock {
  Word words[4];
};

struct WideMultiply {
  constexpr void operator()(std::uint32_t a, std::uint32_t b, std::uint32_t& high, std::uint32_t& low) const {
    std::uint64_t const product = std::uint64_t{a} * b;
    high = static_cast<std::uint32_t>(product >> 32);
    low = static_cast<std::uint32_t>(product);
  }
};

template <class Word, class Multiply = WideMultiply>
constexpr PhiloxBlock<Word> philox(PhiloxBlock<Word> counter, std::uint64_t key, Multiply multiply = {}) {
  auto low_key = static_cast<std::uint32_t>(key), high_key = static_cast<std::uint32_t>(key >> 32);
  Word(&c)[4] = counter.words;
  for (int round = 0; round < 10; ++round) {
    Word high0{}, low0{}, high1{}, low1{};
    multiply(c[0], 0xD2511F53u, high0, low0);
    multiply(c[2], 0xCD9E8D57u, high1, low1);
    c[0] = high1 ^ c[1] ^ low_key;
    c[1] = low1;
    c[2] = high0 ^ c[3] ^ high_key;
    c[3] = low0;
    low_key += 0x9E3779B9u;
    high_key += 0xBB67AE85u;
  }
  return counter;
}

/// FNV-1a, for keys that are made from names.
constexpr std::uint64_t hash(std::string_view text) {
  std::uint64_t h = 0xcbf29ce484222325u;
  for (char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return h;
}

/// Mixes two 64-bit values into one (the finaliser of SplitMix64 over their combination).
constexpr std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  std::uint64_t z = a + 0x9e3779b97f4a7c15u * (b + 1);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/// A stream of random numbers. The key is made from the network's seed, the layer's seed and a name; the position is
/// the element and the step. Step 0 is initialisation; training starts at step 1.
struct RandomStream {
  std::uint64_t key;

  constexpr RandomStream(std::uint64_t network_seed, std::uint64_t layer_seed, std::string_view name)
      : key(mix(mix(network_seed, layer_seed), hash(name))) {}
  explicit constexpr RandomStream(std::uint64_t whole_key) : key(whole_key) {}

  constexpr PhiloxBlock<std::uint32_t> block(std::uint64_t position, std::uint64_t step = 0) const {
    return philox(
        PhiloxBlock<std::uint32_t>{{static_cast<std::uint32_t>(position), static_cast<std::uint32_t>(position >> 32),
                                    static_cast<std::uint32_t>(step), static_cast<std::uint32_t>(step >> 32)}},
        key);
  }
  /// A uniform number in [0, 1) with 24 random bits.
  constexpr float uniform(std::uint64_t element, std::uint64_t step = 0) const {
    return static_cast<float>(block(element, step).words[0] >> 8) * 0x1p-24f;
  }
};

}  // namespace coldpress
