#include <coldpress/distributed/start.hpp>

#include <coldpress/core/fingerprint.hpp>
#include <coldpress/kernels/dispatch.hpp>

#include <cstdio>
#include <cstring>

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

/// The bytes of every rank, on every rank.
std::vector<std::string> exchanged(Communicator& communicator, std::string const& own) {
  auto const ranks = static_cast<std::size_t>(communicator.size()),
             self = static_cast<std::size_t>(communicator.rank());
  std::vector<std::uint64_t> sizes(ranks);
  sizes[self] = own.size();
  communicator.share(sizes.data(), [](int rank) { return static_cast<std::size_t>(rank) * sizeof(std::uint64_t); });
  std::vector<std::size_t> begins(ranks + 1);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    if (sizes[rank] > most_bytes)
      throw MismatchError{"rank " + std::to_string(rank) + " has " + std::to_string(sizes[rank]) +
                          " bytes of facts to compare, expected at most " + std::to_string(most_bytes)};
    begins[rank + 1] = begins[rank] + static_cast<std::size_t>(sizes[rank]);
  }
  std::string all(begins.back(), '\0');
  std::memcpy(all.data() + begins[self], own.data(), own.size());
  communicator.share(all.data(), [&](int rank) { return begins[static_cast<std::size_t>(rank)]; });
  std::vector<std::string> texts;
  for (std::size_t rank = 0; rank < ranks; ++rank)
    texts.push_back(all.substr(begins[rank], begins[rank + 1] - begins[rank]));
  return texts;
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

}  // namespace

void check_same(Communicator& communicator, Facts const& facts) {
  std::string own;
  for (Fact const& fact : facts) own.append(fact.name).append(1, '\0').append(fact.value).append(1, '\0');
  auto const texts = exchanged(communicator, own);
  for (std::size_t rank = 1; rank < texts.size(); ++rank) {
    if (texts[rank] == texts[0]) continue;
    Facts const wanted = parsed(texts[0]), found = parsed(texts[rank]);
    for (std::size_t i = 0; i < std::max(wanted.size(), found.size()); ++i) {
      Fact const none{"", "none"};
      Fact const &a = i < wanted.size() ? wanted[i] : none, &b = i < found.size() ? found[i] : none;
      if (a.name == b.name && a.value == b.value) continue;
      throw MismatchError{"rank " + std::to_string(rank) + " does not train the same as rank 0: " +
                          (a.name.empty() ? b.name : a.name) + " is " + b.value + ", not " + a.value};
    }
  }
}

Facts facts_of(persist::Checkpoint const& checkpoint) {
  return {{"the version of coldpress", COLDPRESS_VERSION},
          {"the instruction set level", level()},
          {"the list of weights", layers_of(checkpoint.model.weights)},
          {"the hash of the weights", hash_of(checkpoint.model.weights)},
          {"the hash of the optimizer's state", hash_of(checkpoint.optimizer_state)},
          {"the number of steps before", std::to_string(checkpoint.iteration)},
          {"the hash of network, loss, solver and seed", hash_of_settings(checkpoint)}};
}

Fact fact_of_data(Index samples, Shape const& sample, Shape const& target) {
  return {"the data",
          std::to_string(samples) + " samples of " + to_string(sample) + ", targets of " + to_string(target)};
}

}  // namespace coldpress::distributed
