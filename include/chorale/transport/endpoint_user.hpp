// What an endpoint asks of the transport that owns it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <chorale/core/call.hpp>

namespace chorale::transport {

/// The parts of a transport, as its endpoint sees them. On the rank's own thread.
class endpoint_user {
 public:
  /// Looks after the transport's own completions. @throws error if a peer is lost.
  virtual void on_progress() = 0;
  /// What this rank still has to say to `peer` when it leaves; valid until the next call.
  virtual std::span<const std::byte> last_words(int) { return {}; }
  /// What a rank that leaves has said so.
  virtual void on_farewell(int, std::span<const std::byte>) {}
  /// A call has failed: lets go of the user's memory, which peers may be writing, and gives nothing more
  /// away. Does not wait for peers longer than the device needs to end what is under way.
  virtual void withdraw() noexcept = 0;
  /// Messages that the transport's parts have sent again, as far as they do that themselves.
  [[nodiscard]] virtual std::uint64_t resent() const noexcept { return 0; }
  /// Looks for signs of life of `peer`, beside the question that it has been asked.
  virtual void probe(int) {}

 protected:
  ~endpoint_user() = default;
};

}  // namespace chorale::transport
