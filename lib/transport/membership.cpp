#include "membership.hpp"

#include <algorithm>

#include "../core/printable.hpp"

namespace chorale::transport {
namespace {

constexpr std::size_t longest_name = 64;

bool is_visible(const process_identity& theirs, const process_identity& mine) noexcept {
  return mine.pid != 0 && theirs.pid_namespace == mine.pid_namespace && !(theirs == mine) &&
         state_of(theirs) != process_state::gone;
}

}  // namespace

membership::membership(int rank, int size, std::string launched, std::uint32_t job, bool is_singleton)
    : rank_(rank), size_(size), start_{std::move(launched), is_singleton}, job_(job) {
  hosts_.reserve(static_cast<std::size_t>(size));
  served_.reserve(static_cast<std::size_t>(size));
}

void membership::add(const received_card& theirs, const rank_card& mine) {
  const auto peer = static_cast<int>(hosts_.size());
  const rank_card& card = theirs.card;
  numbers_.add(card.numbers);
  served_.push_back(card.has_service != 0);
  zero_copy_kib_ = std::max(zero_copy_kib_, card.zero_copy_kib);
  const auto [place, is_new] = host_numbers_.try_emplace(card.host, static_cast<int>(tallies_.size()));
  if (is_new) tallies_.push_back({peer, 0, {}});
  hosts_.push_back(place->second);
  tally& host = tallies_[static_cast<std::size_t>(place->second)];
  ++host.ranks;
  host.cores.merge(theirs.cores);
  if (peer == rank_ || card.host != mine.host || !is_visible(card.process, mine.process)) return;
  processes_.emplace(peer, card.process);
  neighbours_.push_back(peer);
}

void membership::complete() {
  const auto behind = std::upper_bound(neighbours_.begin(), neighbours_.end(), rank_);
  std::rotate(neighbours_.begin(), behind, neighbours_.end());
  names_.assign(tallies_.size(), "unknown");
  for (const tally& host : tallies_) {
    lowest_.push_back(host.lowest);
    oversubscribed_ = oversubscribed_ || host.ranks > host.cores.count();
  }
  tallies_ = {};
  host_numbers_ = {};
}

void membership::name_host_of(int peer, std::string_view name) {
  names_[static_cast<std::size_t>(hosts_[static_cast<std::size_t>(peer)])] = printable(name, longest_name);
}

bool membership::names_its_host(int peer) const {
  return lowest_[static_cast<std::size_t>(hosts_[static_cast<std::size_t>(peer)])] == peer;
}

const process_identity* membership::process_of(int peer) const noexcept {
  const auto found = processes_.find(peer);
  return found == processes_.end() ? nullptr : &found->second;
}

}  // namespace chorale::transport
