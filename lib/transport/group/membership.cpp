// SPDX-License-Identifier: Apache-2.0
#include "membership.hpp"

#include <algorithm>
#include <utility>

#include <chorale/core/fnv.hpp>

#include "../../core/printable.hpp"

namespace chorale::transport {
namespace {

constexpr std::size_t longest_name = 64;

bool is_visible(const process_identity& theirs, const process_identity& mine) noexcept {
  return mine.pid != 0 && theirs.pid_namespace == mine.pid_namespace && !(theirs == mine) &&
         state_of(theirs) != process_state::gone;
}

}  // namespace

membership::membership(int rank, int size, location where, std::string launched, std::uint32_t job)
    : rank_(rank), size_(size), where_(where), launched_(std::move(launched)), job_(job) {
  arrivals_.places.reserve(static_cast<std::size_t>(size));
  served_.reserve(static_cast<std::size_t>(size));
}

void membership::add(const received_card& theirs, const rank_card& mine) {
  const auto peer = static_cast<int>(arrivals_.places.size());
  const rank_card& card = theirs.card;
  numbers_.add(card.numbers);
  served_.push_back(card.has_service != 0);
  zero_copy_kib_.common = std::max(zero_copy_kib_.common, card.zero_copy_kib);
  zero_copy_kib_.near = std::max(zero_copy_kib_.near, theirs.near.zero_copy_kib);
  const auto [host, is_new] =
      arrivals_.host_numbers.try_emplace(card.host, static_cast<int>(arrivals_.hosts.size()));
  if (is_new) arrivals_.hosts.push_back({peer, 0, {}});
  tally& of_host = arrivals_.hosts[static_cast<std::size_t>(host->second)];
  ++of_host.ranks;
  of_host.cores.merge(theirs.cores);
  // A place lies on one host, whatever the card says.
  const auto [place, is_first] = arrivals_.place_numbers.try_emplace(detail::fnv1a(card.place, card.host),
                                                                     static_cast<int>(host_numbers_.size()));
  if (is_first) host_numbers_.push_back(host->second);
  arrivals_.places.push_back(place->second);
  if (peer == rank_ || card.host != mine.host || !is_visible(card.process, mine.process)) return;
  processes_.emplace(peer, card.process);
  neighbours_.push_back(peer);
}

void membership::complete() {
  const auto behind = std::upper_bound(neighbours_.begin(), neighbours_.end(), rank_);
  std::rotate(neighbours_.begin(), behind, neighbours_.end());
  for (const tally& host : arrivals_.hosts) {
    hosts_.push_back({"unknown", host.lowest});
    oversubscribed_ = oversubscribed_ || host.ranks > host.cores.count();
  }
  layout_ = chorale::places{std::move(arrivals_.places)};
  arrivals_ = {};
}

void membership::name_host_of(int peer, std::string_view name) {
  hosts_[static_cast<std::size_t>(host_number(peer))].name = printable(name, longest_name);
}

bool membership::names_its_host(int peer) const {
  return host(peer).lowest == peer;
}

const process_identity* membership::process_of(int peer) const noexcept {
  const auto found = processes_.find(peer);
  return found == processes_.end() ? nullptr : &found->second;
}

}  // namespace chorale::transport
