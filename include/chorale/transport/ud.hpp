// Mailbox over reliable datagrams: one queue pair for all peers, no connections.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>

#include <chorale/transport/concepts.hpp>
#include <chorale/transport/endpoint.hpp>
#include <chorale/transport/mailbox_calls.hpp>
#include <chorale/transport/memory_report.hpp>
#include <chorale/transport/reliable/streams.hpp>

namespace chorale::transport {

/// Base of the transports whose data goes by datagrams alone: an endpoint with streams to all peers.
class datagrams : public endpoint {
 public:
  /// Largest payload of one message: one datagram takes it.
  [[nodiscard]] std::size_t block_bytes() const noexcept { return streams_.block_bytes(); }
  [[nodiscard]] int connections() const noexcept { return 0; }
  [[nodiscard]] std::size_t registered_bytes() const noexcept { return datagram_bytes(); }
  /// What the buffers cost; there are no connections.
  [[nodiscard]] memory_report memory() const noexcept;
  /// Packets, losses and repairs so far.
  [[nodiscard]] reliable::stream_statistics statistics() const { return streams_.statistics(); }
  [[nodiscard]] reliable::streams& packets() noexcept { return streams_; }
  [[nodiscard]] static joining_plan plan(std::string transport, int ranks, const config& settings);

 protected:
  explicit datagrams(joined_group&& group);
  ~datagrams() override;

  // The attempts of a mailbox.
  bool try_signal(int to, epoch now) { return streams_.try_signal(to, now); }
  bool try_signalled(int from, epoch now) { return streams_.try_signalled(from, now); }
  bool try_send(int to, epoch now, std::span<const std::byte> bytes) {
    return streams_.try_send(to, now, bytes);
  }
  bool try_receive(int from, epoch now, std::span<const std::byte>& message) {
    return streams_.try_receive(from, now, message);
  }
  [[nodiscard]] static int sender(int from) noexcept { return from; }
  void release(int from) noexcept { streams_.release(from); }

  void on_datagram(int, std::uint16_t, std::span<const std::byte>) override { refuse_datagram(); }
  void on_progress() override { streams_.progress(); }
  void withdraw() noexcept override { streams_.withdraw(); }
  std::span<const std::byte> last_words(int peer) override { return streams_.last_words(peer); }
  void on_goodbye(int from, std::span<const std::byte> body) override { streams_.on_goodbye(from, body); }

 private:
  reliable::streams streams_;
};

/// Messages are datagrams of at most one path MTU, made reliable by sequence numbers and requests to send
/// again what is missing (P5 section 4.3). Long messages travel in such blocks, copied on both sides. It has
/// no memory operations. Cost: one datagram a message; an acknowledgement of its own for each half window
/// only where nothing goes the other way.  Source: P5 sections 4.1 and 4.3.
class ud final : public datagrams, public mailbox_calls<ud, int> {
 public:
  static constexpr const char* name = "ud";

  /// Collective over `group`. @throws error if there is no usable device or the ranks do not fit together.
  template <bootstrap::group G>
  ud(G& group, const config& settings) : ud(join(view_of(group, settings), plan(group.size(), settings))) {}
  explicit ud(joined_group&& group) : datagrams(std::move(group)) {}
  [[nodiscard]] static joining_plan plan(int ranks, const config& settings) {
    return datagrams::plan(name, ranks, settings);
  }

 private:
  friend class mailbox_calls<ud, int>;
};

}  // namespace chorale::transport

static_assert(chorale::communicator_transport<chorale::transport::ud>);
static_assert(!chorale::one_sided_transport<chorale::transport::ud>);
