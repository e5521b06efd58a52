// SPDX-License-Identifier: Apache-2.0
// The message of each rank to all others before they can communicate.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <chorale/core/error.hpp>
#include <chorale/verbs/address.hpp>

#include "../../core/process.hpp"
#include "host.hpp"

namespace chorale::transport {

/// Random numbers of a group, each with a contribution of every rank. They are independent, so that none
/// reveals another: names may be shown, secrets may not.
struct group_numbers {
  std::uint64_t secret = 0;             ///< contained in each datagram between two ranks
  std::uint64_t multicast_secret = 0;   ///< contained in each multicast
  std::uint32_t qkey = 0;               ///< of queue pairs for datagrams; top bit 0 in the sum
  std::uint32_t multicast_qkey = 0;     ///< of queue pairs for multicasts; likewise
  std::uint32_t multicast_address = 0;  ///< in the address of the multicast group; public
  std::uint32_t name = 0;               ///< public

  /// @throws error as `unguessable_word`.
  [[nodiscard]] static group_numbers drawn();
  /// Adds the contribution of a rank: the sum is unpredictable if any of them is.
  void add(const group_numbers& of_rank) noexcept;
  bool operator==(const group_numbers&) const = default;
};
static_assert(std::has_unique_object_representations_v<group_numbers>);

/// Every rank receives every other's card, so it is small: data that is only compared is represented by
/// fingerprints. It is followed by the nonzero range of words of its core mask, the address of each further
/// device port, and the `near_card` if there is one.
struct rank_card {
  static constexpr std::uint32_t binary_interface = 18;
  std::uint32_t version = binary_interface;
  std::uint32_t qp_number = 0;
  verbs::endpoint_address address{};  ///< of the first device port
  group_numbers numbers{};            ///< its contribution
  std::uint64_t terms = 0;            ///< fingerprint of everything that must be the same on all ranks
  std::uint64_t host = 0;             ///< fingerprint of its host
  std::uint64_t place = 0;            ///< equal for ranks of one place among those of this host
  process_identity process{};
  std::uint8_t has_service = 0;    ///< 1 if a thread answers while the rank computes
  std::uint8_t zero_copy_kib = 0;  ///< message size from which zero copy is faster if cores copy; or 0
  std::uint16_t ports = 1;         ///< device ports of the rank
  std::uint16_t first_word = 0;    ///< index of the first word of the mask
  std::uint8_t words = 0;
  std::uint8_t has_near = 0;  ///< 1 if a `near_card` follows
};
static_assert(detail::sendable<rank_card> && sizeof(rank_card) == 120);

/// How the ranks of a place reach a rank that can open `soft0` in addition to its adapter.
struct near_card {
  verbs::endpoint_address address{};
  std::uint32_t qp_number = 0;     ///< of its datagrams, which are sent there if all ranks are in one place
  std::uint8_t zero_copy_kib = 0;  ///< as in `rank_card`, of that device
  std::uint8_t reserved[3]{};
};
static_assert(detail::sendable<near_card>);

/// A card as received, with its mask.
struct received_card {
  rank_card card;
  cpu_mask cores;
  /// Addresses of further device ports; refers to the received bytes
  std::span<const std::byte> more_addresses{};
  near_card near{};  ///< all zero if there is none

  /// Address of device port `port`, below `card.ports`.
  [[nodiscard]] verbs::endpoint_address address(std::size_t port) const noexcept;
};

/// `more`: the addresses of further device ports, included in `card.ports`. `near`: null if there is none.
[[nodiscard]] std::vector<std::byte> write_card(rank_card card, const cpu_mask& cores,
                                                std::span<const verbs::endpoint_address> more = {},
                                                const near_card* near = nullptr);
/// Nothing if the bytes are not a card of this version. The result refers to them.
[[nodiscard]] std::optional<received_card> read_card(std::span<const std::byte> bytes) noexcept;
/// The version at the beginning of a card of any version; 0 if the bytes cannot be a card.
[[nodiscard]] std::uint32_t version_of_card(std::span<const std::byte> bytes) noexcept;

/// Sent in any round by a rank that cannot join, so that the others need not wait for it.
[[nodiscard]] std::vector<std::byte> refusal_card(const error& why);
/// The same without a reason, for a rank without memory for one.
[[nodiscard]] std::span<const std::byte> refusal_without_words() noexcept;
[[nodiscard]] bool is_refusal(std::span<const std::byte> bytes) noexcept;
/// The reason in a refusal, empty for `refusal_without_words`; nothing if the bytes are not a refusal.
[[nodiscard]] std::optional<std::string> read_refusal(std::span<const std::byte> bytes);

}  // namespace chorale::transport
