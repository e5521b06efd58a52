// Mailbox over unreliable datagrams: one queue pair for all peers, no connections.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <chorale/transport/concepts.hpp>
#include <chorale/transport/endpoint.hpp>
#include <chorale/transport/mailbox.hpp>
#include <chorale/transport/mailbox_calls.hpp>
#include <chorale/transport/memory_report.hpp>

namespace chorale::transport {

/// Messages are datagrams of at most one path MTU; a receiver copies them into a small ring for each sender.
/// A window of `config::blocks` messages a peer keeps senders from overrunning the receiver's posted buffers,
/// so that nothing is lost on a fabric that loses nothing. Datagrams may overtake each other and come twice;
/// on a fabric that loses some, the loss is seen by the sequence numbers and reported: this transport does
/// not send again. It has no one-sided operations. Cost: one datagram a message, one more for each half
/// window.  Source: P5 section 4.1 for the design.
class ud final : public endpoint, public mailbox_calls<ud, int> {
 public:
  static constexpr const char* name = "ud";

  /// Collective over `group`. @throws error if there is no usable device or the ranks do not fit together.
  template <bootstrap::group G>
  ud(G& group, const config& settings) : ud(view_of(group, settings), settings) {}
  ~ud() override;

  /// Largest payload of one message.
  [[nodiscard]] std::size_t block_bytes() const noexcept { return layout_.payload_bytes(); }
  [[nodiscard]] int connections() const noexcept { return 0; }
  [[nodiscard]] std::size_t registered_bytes() const noexcept { return datagram_bytes(); }
  /// What the buffers cost; there are no connections. Takes a look at every peer.
  [[nodiscard]] memory_report memory() const noexcept;

 private:
  friend class mailbox_calls<ud, int>;
  /// What lies here of one peer's messages, and what it knows of ours.
  struct stream {
    std::vector<std::byte> ring;     ///< blocks in the layout of a mailbox; made when the peer first sends
    std::uint64_t signal = 0;        ///< last signal word
    std::uint64_t arrived = 0;       ///< messages in the ring or behind
    std::uint64_t received = 0;      ///< ... handed out
    std::uint64_t released = 0;      ///< ... given back
    std::uint64_t notified = 0;      ///< ... and told
    std::uint64_t sent = 0;          ///< messages sent to the peer
    std::uint64_t acknowledged = 0;  ///< ... that it has given back
    steady::time_point gap_since{};  ///< since when a message has been overtaken by a later one
  };

  ud(const group_view& group, const config& settings);
  static mailbox_layout layout_for(const config& settings, int mtu);

  bool try_signal(int to, epoch now);
  bool try_signalled(int from, epoch now);
  bool try_send(int to, epoch now, std::span<const std::byte> bytes);
  bool try_receive(int from, epoch now, std::span<const std::byte>& message);
  [[nodiscard]] static int sender(int from) noexcept { return from; }
  void release(int from) noexcept;
  void notify(int from) noexcept;
  void on_datagram(int from, std::uint16_t kind, std::span<const std::byte> body) override;
  void on_progress() override;
  void store(stream& s, std::span<const std::byte> body);

  mailbox_layout layout_;
  std::vector<stream> streams_;
  std::vector<int> notifications_due_;
};

}  // namespace chorale::transport

static_assert(chorale::mailbox_transport<chorale::transport::ud>);
static_assert(!chorale::one_sided_transport<chorale::transport::ud>);
