// What each rank tells all others before they can communicate.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <chorale/core/error.hpp>
#include <chorale/verbs/address.hpp>

#include "../core/process.hpp"
#include "host.hpp"

namespace chorale::transport {

/// Every rank receives every other's card, so it is small: fingerprints represent what is only compared. It
/// is followed by the nonzero range of words of its core mask, and 18 bytes for the address of each further
/// device port.
struct rank_card {
  static constexpr std::uint32_t binary_interface = 13;
  std::uint32_t version = binary_interface;
  std::uint32_t qp_number = 0;
  verbs::endpoint_address address{};  ///< of the first device port
  std::uint64_t nonce = 0;            ///< random; the group's secret is derived from those of all ranks
  std::uint64_t terms = 0;            ///< fingerprint of everything that must be the same on all ranks
  std::uint64_t host = 0;             ///< fingerprint of its host
  process_identity process{};
  std::uint8_t has_service = 0;    ///< 1 if a thread answers while the rank computes
  std::uint8_t zero_copy_kib = 0;  ///< message size from which zero copy is faster where cores copy; or 0
  std::uint16_t ports = 1;         ///< device ports of the rank
  std::uint16_t first_word = 0;    ///< index of the first word of the mask
  std::uint16_t words = 0;
};
static_assert(detail::sendable<rank_card> && sizeof(rank_card) == 88);

/// A card as received, with its mask.
struct received_card {
  rank_card card;
  cpu_mask cores;
  /// Addresses of further device ports; refers to the received bytes
  std::span<const std::byte> more_addresses{};

  /// Address of device port `port`, below `card.ports`.
  [[nodiscard]] verbs::endpoint_address address(std::size_t port) const noexcept;
};

/// `more`: the addresses of further device ports, included in `card.ports`.
[[nodiscard]] std::vector<std::byte> write_card(rank_card card, const cpu_mask& cores,
                                                std::span<const verbs::endpoint_address> more = {});
/// Nothing if the bytes are not a card of this version. The result refers to them.
[[nodiscard]] std::optional<received_card> read_card(std::span<const std::byte> bytes) noexcept;
/// The version at the beginning of a card of any version; 0 if the bytes cannot be a card.
[[nodiscard]] std::uint32_t version_of_card(std::span<const std::byte> bytes) noexcept;

/// What a rank that cannot join sends in any round, so that the others need not wait for it.
[[nodiscard]] std::vector<std::byte> refusal_card(const error& why);
/// The same of a rank that has no memory for a reason.
[[nodiscard]] std::span<const std::byte> refusal_without_words() noexcept;
[[nodiscard]] bool is_refusal(std::span<const std::byte> bytes) noexcept;
/// Why a rank does not join, empty without words; nothing if the bytes are not a refusal.
[[nodiscard]] std::optional<std::string> read_refusal(std::span<const std::byte> bytes);

}  // namespace chorale::transport
