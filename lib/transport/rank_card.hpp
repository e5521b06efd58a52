// What a rank tells all others of itself before they can talk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <chorale/core/error.hpp>
#include <chorale/verbs/address.hpp>

#include "../core/process.hpp"
#include "host.hpp"

namespace chorale::transport {

/// Every rank gets that of every other, so it is small: fingerprints stand for what is only compared. Behind
/// it come the words of its mask of cores from the first to the last that is not zero, and 18 bytes for the
/// address of each further device port.
struct rank_card {
  static constexpr std::uint32_t binary_interface = 10;
  std::uint32_t version = binary_interface;
  std::uint32_t qp_number = 0;
  verbs::endpoint_address address{};  ///< of the first device port
  std::uint64_t nonce = 0;            ///< random; what all ranks contribute makes the group's secret
  std::uint64_t terms = 0;            ///< fingerprint of what has to be the same on all ranks
  std::uint64_t host = 0;             ///< fingerprint of its host
  process_identity process{};
  std::uint16_t has_service = 0;  ///< 1 if a thread answers while the rank computes
  std::uint16_t ports = 1;        ///< device ports of the rank
  std::uint16_t first_word = 0;   ///< of the mask
  std::uint16_t words = 0;
};
static_assert(std::is_trivially_copyable_v<rank_card> && sizeof(rank_card) == 88);

/// A card as it came, with its mask.
struct received_card {
  rank_card card;
  cpu_mask cores;
  std::span<const std::byte> more_addresses{};  ///< of the device ports behind the first, in what was read

  /// Of the device port of that number, below `card.ports`.
  [[nodiscard]] verbs::endpoint_address address(std::size_t port) const noexcept;
};

/// `more`: the addresses of the device ports behind the first, which the card counts.
[[nodiscard]] std::vector<std::byte> write_card(rank_card card, const cpu_mask& cores,
                                                std::span<const verbs::endpoint_address> more = {});
/// Nothing if these bytes are no card of this version. The result refers to them.
[[nodiscard]] std::optional<received_card> read_card(std::span<const std::byte> bytes) noexcept;
/// The version that a card of any version begins with; 0 if these bytes cannot be one.
[[nodiscard]] std::uint32_t version_of_card(std::span<const std::byte> bytes) noexcept;

/// What a rank that cannot join exchanges in place of anything else, so that the others need not wait for it.
[[nodiscard]] std::vector<std::byte> refusal_card(const error& why);
[[nodiscard]] bool is_refusal(std::span<const std::byte> bytes) noexcept;
/// Why a rank does not join; nothing if these bytes are something else.
[[nodiscard]] std::optional<std::string> read_refusal(std::span<const std::byte> bytes);

}  // namespace chorale::transport
