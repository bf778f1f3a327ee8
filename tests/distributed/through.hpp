// A communicator that passes everything on to another one, for tests that look at what goes through.
#pragma once

#include <coldpress/run/communicator.hpp>

namespace coldpress::test {

/// Without a background: an exchange is over when it has begun.
class Through : public Communicator {
 public:
  explicit Through(Communicator& communicator) : other(communicator) {}
  int rank() const override { return other.rank(); }
  int size() const override { return other.size(); }
  void send(void const* bytes, std::size_t count, int to) override { other.send(bytes, count, to); }
  void receive(void* bytes, std::size_t count, int from) override { other.receive(bytes, count, from); }

 protected:
  Communicator& other;
};

}  // namespace coldpress::test
