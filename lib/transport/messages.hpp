// Datagrams between endpoints: one header, and the kinds that every transport has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <chorale/core/error.hpp>
#include <chorale/transport/status.hpp>
#include <chorale/verbs/address.hpp>

#include "../core/process.hpp"
#include "host.hpp"

namespace chorale::transport {

/// In front of each datagram. Ranks of one job are of one binary interface, so this travels as it lies in
/// memory.
struct datagram_header {
  static constexpr std::uint32_t expected_magic = 0x43484f52;  // "CHOR"
  std::uint32_t magic;
  std::uint16_t kind;
  std::uint16_t reserved;
  std::uint64_t job;  ///< the group's secret: who does not know it is not listened to
  std::int32_t source;
  std::uint32_t bytes;
};
static_assert(sizeof(datagram_header) == 24 && std::is_trivially_copyable_v<datagram_header>);

enum class datagram_kind : std::uint16_t {
  question = 1,  ///< what is the call of this number (8 bytes) to you?
  answer = 2,    ///< a status_answer
  notice = 3,    ///< a failure_notice: the communicator failed at the sender
  goodbye = 4,   ///< the sender destroys its communicator: a farewell, and what its transport adds
  first_of_transport = 16,
  /// From here on: what a service thread may handle while the rank's own thread is elsewhere.
  first_served = 64,
};

/// Why the communicator failed, as the first rank that saw it says it. Only as much of the text is sent as
/// fits into a datagram.
struct failure_notice {
  static constexpr std::size_t text_bytes = 640;
  static constexpr std::size_t bytes_without_text = 44;
  std::int32_t code;
  std::int32_t rank_count;
  std::int32_t ranks[8];
  std::uint32_t bytes;
  char text[text_bytes];
};
static_assert(std::is_trivially_copyable_v<failure_notice> &&
              offsetof(failure_notice, text) == failure_notice::bytes_without_text);

/// What a rank tells all others of itself before they can talk.
struct rank_card {
  static constexpr std::uint32_t binary_interface = 6;
  std::uint32_t version;
  std::uint32_t qp_number;
  verbs::endpoint_address address;
  std::uint64_t nonce;  ///< random; what all ranks contribute makes the group's secret
  std::uint64_t block_bytes;
  std::uint64_t zero_copy_bytes;
  std::uint64_t tuning;  ///< fingerprint of the table
  std::uint32_t connections;
  std::uint32_t blocks;
  std::int32_t mtu;
  std::uint64_t composition_hash;  ///< of the whole text
  char transport[32];
  char composition[128];  ///< algorithms that are not the standard ones, as far as they fit
  char device[32];
  host_identity host;
  cpu_mask cpus;
  process_identity process;
  user_identity user;
  std::uint64_t has_service;  ///< 1 if a thread answers while the rank computes
};
static_assert(std::is_trivially_copyable_v<rank_card>);

/// False if these bytes are no card. Its texts end, whatever the bytes say.
bool read_card(std::span<const std::byte> bytes, rank_card& card) noexcept;

/// What a rank that cannot join exchanges in place of a card, so that the others need not wait for it.
std::vector<std::byte> refusal_card(const error& why);
bool is_refusal(std::span<const std::byte> bytes) noexcept;
/// Why a rank does not join; nothing if these bytes are something else.
std::optional<std::string> read_refusal(std::span<const std::byte> bytes);

struct received_datagram {
  int source;
  std::uint16_t kind;
  std::span<const std::byte> body;
};
/// Nothing if it is not from a rank of this job of `size` ranks.
std::optional<received_datagram> read_datagram(std::span<const std::byte> bytes, std::uint64_t job,
                                               int size) noexcept;
/// Nothing if these bytes are no answer.
std::optional<status_answer> read_answer(std::span<const std::byte> body) noexcept;
/// The failure that rank `from` tells of, its ranks within 0..size-1; nothing if these bytes tell of none.
std::optional<error> read_notice(int from, int size, std::span<const std::byte> body);

}  // namespace chorale::transport
