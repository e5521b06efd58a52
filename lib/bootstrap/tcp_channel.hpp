// SPDX-License-Identifier: Apache-2.0
// What is sent over one connection of bootstrap::tcp, without the connection: bytes in, messages out.
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

/// Unpredictable. @throws error as `unguessable_word`
[[nodiscard]] tcp_nonce drawn_nonce();

/// The first bytes from each side, and the only ones that no secret protects.
struct tcp_greeting {
  static constexpr std::uint64_t known_magic = 0x31657267'6c726863;
  static constexpr std::uint64_t known_protocol = 1;
  std::uint64_t magic = known_magic;
  std::uint64_t protocol = known_protocol;
  tcp_nonce nonce{};
};
static_assert(detail::sendable<tcp_greeting> && sizeof(tcp_greeting) == 32);

enum class tcp_kind : std::uint32_t {
  join = 1,  ///< a rank says which it is
  seated,    ///< it is believed; from now on the group fails if it ends
  welcome,   ///< all ranks are here
  card,      ///< of one rank, for the others
  all_cards,
  late,     ///< the deadline of a rank has passed
  failure,  ///< why the group cannot go on
};

struct tcp_message {
  tcp_kind kind;
  tcp_bytes payload;
};

/// Why the other side is not believed.
enum class tcp_fault : std::uint8_t {
  none,
  stranger,       ///< its first bytes are not those of this library
  other_version,  ///< of the protocol
  wrong_secret,   ///< a message is not sealed with the secret of this job
  too_long,       ///< a message has more bytes than allowed
};

/// One end of a connection between a member of a group and its root. Each message is followed by a keyed hash
/// of its contents and number, so that who lacks the secret can neither make, change, repeat nor drop one;
/// all can read them. The key is of this connection: it comes of the secret and what both sides have drawn.
class tcp_channel {
 public:
  enum class side : std::uint8_t { member, root };

  /// `drawn` is unpredictable. `longest`: most bytes of a payload that is received.
  tcp_channel(side mine, std::span<const std::byte> secret, const tcp_nonce& drawn, std::size_t longest);

  /// Bytes from the other side. A root answers the greeting of a member, and nobody else's.
  void receive(std::span<const std::byte> bytes);
  /// The next message that has come completely.
  [[nodiscard]] std::optional<tcp_message> next();
  [[nodiscard]] tcp_fault fault() const noexcept { return fault_; }
  /// Whether the other side has greeted: from then on messages can be sent.
  [[nodiscard]] bool has_greeted() const noexcept { return has_greeted_; }
  /// A root learns longer messages than members may send it.
  void allow(std::size_t longest) noexcept { longest_ = longest; }

  void send(tcp_kind kind, std::span<const std::byte> payload);
  /// The same to many, of which `hash` is `hash_of(*payload)`.
  void send(tcp_kind kind, std::shared_ptr<const tcp_bytes> payload, const digest& hash);
  /// The next bytes for the other side; empty if there are none.
  [[nodiscard]] std::span<const std::byte> outgoing() const noexcept;
  /// So many of them are on their way.
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
  std::size_t on_its_way_ = 0;  ///< bytes of the first of these
};

}  // namespace chorale::bootstrap
