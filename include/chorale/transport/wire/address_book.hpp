// SPDX-License-Identifier: Apache-2.0
// The addresses of the ranks of a group, each kept once.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include <chorale/verbs/address.hpp>

namespace chorale::transport {

/// Ranks that use one port have one address: the book grows by the number of ports, and by 4 bytes a rank.
/// Not thread-safe.
class address_book {
 public:
  /// Adds the address of the next rank (from 0).
  void add(const verbs::endpoint_address& address) {
    const auto next = static_cast<std::uint32_t>(addresses_.size());
    const auto [known, is_new] = numbers_.try_emplace(std::bit_cast<text>(address), next);
    if (is_new) addresses_.push_back(address);
    of_ranks_.push_back(known->second);
  }
  /// Number of different addresses.
  [[nodiscard]] std::size_t size() const noexcept { return addresses_.size(); }
  /// The number, below `size()`, of the address of that rank. Precondition of this and the next: it was
  /// added.
  [[nodiscard]] std::uint32_t number_of(int rank) const noexcept {
    return of_ranks_[static_cast<std::size_t>(rank)];
  }
  [[nodiscard]] const verbs::endpoint_address& of(int rank) const noexcept {
    return addresses_[number_of(rank)];
  }

 private:
  using text = std::array<std::byte, sizeof(verbs::endpoint_address)>;
  std::vector<verbs::endpoint_address> addresses_;
  std::map<text, std::uint32_t> numbers_;
  std::vector<std::uint32_t> of_ranks_;
};

}  // namespace chorale::transport
