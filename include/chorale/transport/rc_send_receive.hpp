// Mailbox over reliable connections by send and receive: what the papers compare with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include <chorale/transport/connected.hpp>
#include <chorale/transport/mailbox_calls.hpp>

namespace chorale::transport {

/// What an MPI over send and receive does: copy, match, copy. A message is copied into a registered staging
/// block and sent; it takes a block of the shared receive queue, is found on the completion queue and waits
/// in a queue of unexpected messages, by sender and in order, until somebody receives it. A signal is a send
/// of a header alone. One-sided and atomic operations are those of the connections.
///
/// At most `config::blocks` messages of a sender wait here; it is told when they are given back (one RDMA
/// write for each half of them). The shared receive queue has at most 512 blocks. When half of them hold
/// messages that nobody has received yet, further ones are copied out, so that the message that is waited for
/// always finds a block; until this rank looks, senders wait for one (RNR). Cost: one send and two copies a
/// message.  Source: P1 section 6, P2 section 6 and P5 section 2, the baselines.
class rc_send_receive final : public connected, public mailbox_calls<rc_send_receive, connected::link*> {
 public:
  static constexpr const char* name = "rc_send_receive";

  /// Collective over `group`. @throws error if there is no usable device or the ranks do not fit together.
  template <bootstrap::group G>
  rc_send_receive(G& group, const config& settings)
      : rc_send_receive(join(view_of(group, settings), plan(group.size(), settings))) {}
  explicit rc_send_receive(joined_group&& group);
  [[nodiscard]] static joining_plan plan(int ranks, const config& settings) {
    return connected::plan(name, ranks, settings);
  }
  ~rc_send_receive() override;

  /// Largest payload of one message.
  [[nodiscard]] std::size_t block_bytes() const noexcept {
    return settings().block_bytes - sizeof(message_header);
  }
  /// Messages that were copied out of the receive queue because too many waited in it.
  [[nodiscard]] std::uint64_t copied_out() const noexcept { return copied_out_; }

 private:
  friend class mailbox_calls<rc_send_receive, link*>;

  enum class kind : std::uint32_t { message = 1, signal = 2 };
  /// In front of each payload, which then begins on a 16-byte boundary.
  struct message_header {
    kind what;
    std::uint32_t call;  ///< its number
    std::uint64_t word;  ///< of a signal; of a message its bytes, and the signature of the call above them
  };
  static_assert(sizeof(message_header) == 16);

  /// A message that nobody has received, or that has not been given back.
  struct unexpected {
    message_header header{};
    const std::byte* payload = nullptr;
    std::uint64_t receive = 0;          ///< number of the receive block that holds it ...
    std::unique_ptr<std::byte[]> copy;  ///< ... unless this does
  };
  struct queue {
    std::uint64_t arrived = 0;
    std::vector<unexpected>
        places;  ///< message n in place n % config::blocks; made when the peer first sends
  };

  bool try_signal(int to, epoch now);
  bool try_signalled(int from, epoch now);
  bool try_send(int to, epoch now, std::span<const std::byte> bytes);
  bool try_receive(int from, epoch now, std::span<const std::byte>& message);
  [[nodiscard]] link* sender(int from) const noexcept { return link_of(from); }
  void release(link* from) noexcept;
  void on_message(link& from, std::uint64_t index, const ibv_wc& wc) override;
  void keep(link& from, std::uint64_t index, const message_header& header);

  std::vector<queue> queues_;
  std::uint32_t held_ = 0;  ///< receive blocks that are not posted
  std::uint64_t copied_out_ = 0;
};

}  // namespace chorale::transport

static_assert(chorale::multicast_transport<chorale::transport::rc_send_receive>);
static_assert(chorale::window_transport<chorale::transport::rc_send_receive>);
