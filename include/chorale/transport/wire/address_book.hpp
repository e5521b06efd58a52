// SPDX-License-Identifier: Apache-2.0
// The addresses of the ranks of a group, each kept once.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <vector>

#include <chorale/verbs/address.hpp>

namespace chorale::transport {

/// Ranks that use the same port have the same address, and are neighbours in most jobs: the book grows with
/// the number of ports, and by 8 bytes for each run of ranks with one address. Look-ups take logarithmic
/// time. Not thread-safe.
class address_book {
 public:
  /// Adds the address of the next rank (from 0).
  void add(const verbs::endpoint_address& address) {
    const auto next = static_cast<std::uint32_t>(addresses_.size());
    const auto [known, is_new] = numbers_.try_emplace(std::bit_cast<text>(address), next);
    if (is_new) addresses_.push_back(address);
    if (runs_.empty() || runs_.back().number != known->second) runs_.push_back({ranks_, known->second});
    ++ranks_;
  }
  /// Number of different addresses.
  [[nodiscard]] std::size_t size() const noexcept { return addresses_.size(); }
  /// The number, below `size()`, of the address of that rank. Precondition of this and the next: it was
  /// added.
  [[nodiscard]] std::uint32_t number_of(int rank) const noexcept {
    return std::prev(std::ranges::upper_bound(runs_, rank, {}, &run::first))->number;
  }
  [[nodiscard]] const verbs::endpoint_address& of(int rank) const noexcept {
    return addresses_[number_of(rank)];
  }

 private:
  /// Ranks with one address, from the first one to the next run.
  struct run {
    int first;
    std::uint32_t number;
  };
  using text = std::array<std::byte, sizeof(verbs::endpoint_address)>;
  std::vector<verbs::endpoint_address> addresses_;
  std::map<text, std::uint32_t> numbers_;
  std::vector<run> runs_;
  int ranks_ = 0;
};

}  // namespace chorale::transport
