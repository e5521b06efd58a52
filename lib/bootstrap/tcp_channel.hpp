// SPDX-License-Identifier: Apache-2.0
// The protocol of one connection of bootstrap::tcp, sans-I/O: bytes in, messages out.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <chorale/core/sendable.hpp>

#include "sha256.hpp"

namespace chorale::bootstrap {

using tcp_bytes = std::vector<std::byte>;
using tcp_nonce = std::array<std::byte, 16>;

/// An unpredictable nonce. @throws error as `unguessable_word`
[[nodiscard]] tcp_nonce drawn_nonce();

/// The first bytes from each side, the only ones that the secret does not protect.
struct tcp_greeting {
  static constexpr std::uint64_t known_magic = 0x31657267'6c726863;
  static constexpr std::uint64_t known_protocol = 1;
  std::uint64_t magic = known_magic;
  std::uint64_t protocol = known_protocol;
  tcp_nonce nonce{};
};
static_assert(detail::sendable<tcp_greeting> && sizeof(tcp_greeting) == 32);

enum class tcp_kind : std::uint32_t {
  join = 1,  ///< a rank says which one it is
  seated,    ///< the root accepts the rank; from then on the group fails if the rank ends
  welcome,   ///< all ranks have joined
  card,      ///< of one rank, for the others
  all_cards,
  late,     ///< the deadline of a rank has passed
  failure,  ///< why the group has failed
};

struct tcp_message {
  tcp_kind kind;
  tcp_bytes payload;
};

/// Why the other side is not trusted.
enum class tcp_fault : std::uint8_t {
  none,
  stranger,       ///< its first bytes are not those of this library
  other_version,  ///< of the protocol
  wrong_secret,   ///< a message is not sealed with the secret of this job
  too_long,       ///< a message has more bytes than allowed
};

/// One end of a connection between a member of a group and its root. Each message is followed by a keyed hash
/// of its contents and number, so that a process without the secret can neither make, change, repeat nor drop
/// one, although it can read them. The key belongs to this connection: it is derived from the secret and the
/// nonces of both sides.
class tcp_channel {
 public:
  enum class side : std::uint8_t { member, root };

  /// `drawn`: the unpredictable nonce of this side. `longest`: maximum payload of a received message in
  /// bytes.
  tcp_channel(side mine, std::span<const std::byte> secret, const tcp_nonce& drawn, std::size_t longest);

  /// Takes bytes from the other side. A root sends its greeting only in answer to that of a member.
  void receive(std::span<const std::byte> bytes);
  /// The next message that has arrived completely.
  [[nodiscard]] std::optional<tcp_message> next();
  [[nodiscard]] tcp_fault fault() const noexcept { return fault_; }
  /// Whether the other side has greeted: from then on messages can be sent.
  [[nodiscard]] bool has_greeted() const noexcept { return has_greeted_; }
  /// Changes `longest`.
  void allow(std::size_t longest) noexcept { longest_ = longest; }

  void send(tcp_kind kind, std::span<const std::byte> payload);
  /// The same for a payload that is sent to several members; `hash` is `hash_of(*payload)`.
  void send(tcp_kind kind, std::shared_ptr<const tcp_bytes> payload, const digest& hash);
  /// The next bytes for the other side; empty if there are none.
  [[nodiscard]] std::span<const std::byte> outgoing() const noexcept;
  /// The first `bytes` of `outgoing()` have been handed to the connection.
  void sent(std::size_t bytes) noexcept;

 private:
  struct head {
    tcp_kind kind;
    std::uint32_t bytes;
  };
  static constexpr std::size_t tag_bytes = 16;
  [[nodiscard]] static digest seal(const digest& key, std::uint64_t number, const head& of,
                                   const digest& hash) noexcept;
  void greet();
  void read_greeting();
  void queue(tcp_bytes bytes);

  side mine_;
  tcp_bytes secret_;
  tcp_nonce drawn_;
  std::size_t longest_;
  bool has_greeted_ = false;
  tcp_fault fault_ = tcp_fault::none;
  digest receive_key_{};
  digest send_key_{};
  std::uint64_t received_ = 0;  ///< messages
  std::uint64_t sent_ = 0;
  tcp_bytes incoming_;
  std::size_t taken_ = 0;  ///< bytes of `incoming_` that have been read
  std::deque<std::shared_ptr<const tcp_bytes>> outgoing_;
  std::size_t on_its_way_ = 0;  ///< bytes of the first of these that have been sent
};

}  // namespace chorale::bootstrap
