// Collects the facts of each rank, its weights, settings and data, and refuses a training in which they differ.
#include <coldpress/distributed/start.hpp>

#include <coldpress/core/fingerprint.hpp>
#include <coldpress/core/to_string.hpp>
#include <coldpress/data/sample_stream.hpp>
#include <coldpress/kernels/dispatch.hpp>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <span>

namespace coldpress::distributed {
namespace {

constexpr std::size_t most_bytes = std::size_t{1} << 24;  // of the facts of a rank

std::string hash_of(std::span<std::byte const> bytes) {
  Fingerprint hash;
  hash.word(bytes.size());
  for (std::size_t at = 0; at < bytes.size(); at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, std::min<std::size_t>(8, bytes.size() - at));
    hash.word(word);
  }
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash.number));
  return text;
}

std::string hash_of(std::vector<persist::NamedTensor> const& tensors) {
  std::string all;
  for (persist::NamedTensor const& tensor : tensors)
    all += tensor.name + hash_of(std::as_bytes(std::span{tensor.values}));
  return hash_of(std::as_bytes(std::span{all}));
}

std::string layers_of(std::vector<persist::NamedTensor> const& weights) {
  std::string all;
  for (persist::NamedTensor const& weight : weights) {
    all += (all.empty() ? "" : ", ") + weight.name + " {";
    for (std::size_t i = 0; i < weight.shape.size(); ++i) all += (i > 0 ? ", " : "") + std::to_string(weight.shape[i]);
    all += "}";
  }
  return all;
}

/// What a checkpoint says besides its weights, states and statistics.
std::string hash_of_settings(persist::Checkpoint checkpoint) {
  checkpoint.optimizer_state.clear(), checkpoint.statistics.clear(), checkpoint.states.clear();
  checkpoint.data.clear();  // files may be in other places
  return hash_of(persist::serialize(checkpoint));
}

/// The best level of this CPU, or the one that the environment asks for.
std::string level() {
  for (char const* const name : {"v4", "v3", "v2", "native"}) {
    try {
      if (&cpu::table_for(name) == &cpu::best_table()) return name;
    } catch (UnsupportedError const&) {  // this CPU has not got it
    }
  }
  return "unknown";
}

std::string text_of(Facts const& facts) {
  std::string text;
  for (Fact const& fact : facts) text.append(fact.name).append(1, '\0').append(fact.value).append(1, '\0');
  return text;
}

Facts parsed(std::string const& text) {
  Facts facts;
  for (std::size_t at = 0; at < text.size();) {
    auto const next = [&] {
      std::size_t const end = std::min(text.find('\0', at), text.size());
      std::string word = text.substr(at, end - at);
      at = end + 1;
      return word;
    };
    std::string name = next();
    facts.push_back({std::move(name), next()});
  }
  return facts;
}

/// The first fact of a rank that is not the one of rank 0, as a sentence; empty if there is none.
std::string difference(int rank, Facts const& wanted, Facts const& found) {
  for (std::size_t i = 0; i < std::max(wanted.size(), found.size()); ++i) {
    bool const here = i < found.size(), there = i < wanted.size();
    if (here && there && found[i].name == wanted[i].name && found[i].value == wanted[i].value) continue;
    std::string const& name = there ? wanted[i].name : found[i].name;
    return "rank " + std::to_string(rank) + " does not train the same as rank 0: " + name + " is " +
           (here && found[i].name == name ? found[i].value : "none") + ", not " + (there ? wanted[i].value : "none");
  }
  return "";
}

}  // namespace

void check_same(Communicator& communicator, Facts const& facts) {
  std::string const own = text_of(facts);
  std::string first = own;
  std::uint64_t bytes = own.size();
  communicator.broadcast(&bytes, sizeof bytes);
  if (bytes > most_bytes)
    throw MismatchError{"rank 0 has " + std::to_string(bytes) + " bytes of facts to compare, expected at most " +
                        std::to_string(most_bytes)};
  first.resize(static_cast<std::size_t>(bytes));
  communicator.broadcast(first.data(), first.size());

  // Every rank knows what it has found. The lowest that has found something tells it to all.
  std::string sentence = difference(communicator.rank(), parsed(first), parsed(own));
  std::vector<std::uint64_t> sizes(static_cast<std::size_t>(communicator.size()));
  sizes[static_cast<std::size_t>(communicator.rank())] = sentence.size();
  communicator.share(sizes.data(), [](int rank) { return static_cast<std::size_t>(rank) * sizeof(std::uint64_t); });
  auto const found = std::ranges::find_if(sizes, [](auto length) { return length > 0; });
  if (found == sizes.end()) return;
  auto const who = static_cast<int>(found - sizes.begin());
  sentence.resize(std::min<std::size_t>(*found, most_bytes));
  communicator.share(sentence.data(), [&](int rank) { return rank > who ? sentence.size() : 0; });
  throw MismatchError{sentence};
}

Facts facts_of(persist::Checkpoint const& checkpoint) {
  return {{"the version of coldpress", COLDPRESS_VERSION},
          {"the instruction set level", level()},
          {"the list of weights", layers_of(checkpoint.model.weights)},
          {"the hash of the weights", hash_of(checkpoint.model.weights)},
          {"the hash of the optimizer's state", hash_of(checkpoint.optimizer_state)},
          {"the number of steps before", std::to_string(checkpoint.iteration)},
          {"the hash of network, loss, solver, seed and monitoring", hash_of_settings(checkpoint)}};
}

Facts facts_of_data(std::string const& name, data::Source const& source) {
  constexpr Index most_samples = 64, most_values = 1 << 22;
  Shape const &sample = source.sample_shape(), &target = source.target_shape();
  Index const size = source.size(), values = std::max<Index>(sample.size() + target.size(), 1),
              count = std::min(size, std::clamp<Index>(most_values / values, 2, most_samples));
  std::vector<float> x(static_cast<std::size_t>(sample.size())), t(static_cast<std::size_t>(target.size()));
  auto const stream = data::in_order(source);
  std::string all;
  for (Index i = 0; i < count; ++i) {
    stream->seek({0, count > 1 ? i * (size - 1) / (count - 1) : 0});
    stream->read(1, x.data(), t.data());
    all += hash_of(std::as_bytes(std::span{x})) + hash_of(std::as_bytes(std::span{t}));
  }
  return {{name, std::to_string(size) + " samples of " + to_string(sample) + ", targets of " + to_string(target)},
          {"the hash of " + std::to_string(count) + " samples of " + name, hash_of(std::as_bytes(std::span{all}))}};
}

}  // namespace coldpress::distributed
