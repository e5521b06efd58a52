// Who is in a group: what a rank knows of the others once all have told of themselves.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "../core/process.hpp"
#include "rank_card.hpp"

namespace chorale::transport {

/// The ranks of a group, their hosts, and the secret that they share. Built of one card a rank, in time and
/// memory that grow with the number of ranks: 5 bytes and a bit a rank, and what there is of each host.
/// Not thread-safe.
class membership {
 public:
  /// `secret`: what it begins with, the same on all ranks.
  membership(int rank, int size, std::string launched, std::uint64_t secret);

  /// The card of the next rank, from rank 0 on. `mine`: that of this rank.
  void add(const received_card& theirs, const rank_card& mine);
  /// All cards are there.
  void complete();
  /// What the host of `peer` is called.
  void name_host_of(int peer, std::string_view name);

  [[nodiscard]] int rank() const noexcept { return rank_; }
  [[nodiscard]] int size() const noexcept { return size_; }
  /// How the group came to be.
  [[nodiscard]] const std::string& launched() const noexcept { return launched_; }
  /// A number that all ranks of the group have, and nobody else can guess.
  [[nodiscard]] std::uint64_t secret() const noexcept { return secret_; }
  /// Names the group where anybody may read it: half of a hash of the secret, which does not give that away.
  [[nodiscard]] std::uint32_t public_name() const noexcept;
  /// Names the job: the same on all ranks that the bootstrap has brought together. Anybody may know it.
  [[nodiscard]] std::uint32_t job() const noexcept { return job_; }
  /// True if on some host ranks outnumber the cores that they may use together.
  [[nodiscard]] bool is_oversubscribed() const noexcept { return oversubscribed_; }
  [[nodiscard]] int hosts() const noexcept { return static_cast<int>(names_.size()); }
  [[nodiscard]] const std::string& host_of(int peer) const {
    return names_[static_cast<std::size_t>(hosts_[static_cast<std::size_t>(peer)])];
  }
  /// True for the lowest rank of each host, which tells the others what that is called.
  [[nodiscard]] bool names_its_host(int peer) const;
  /// True if a thread answers for that rank while it computes.
  [[nodiscard]] bool is_served(int peer) const { return served_[static_cast<std::size_t>(peer)]; }
  /// The process of that rank if this one can see it; else null.
  [[nodiscard]] const process_identity* process_of(int peer) const noexcept;
  /// Ranks whose processes this one can see, those behind it first, so that all are watched by somebody.
  [[nodiscard]] const std::vector<int>& neighbours() const noexcept { return neighbours_; }

 private:
  /// Of a host while cards come in.
  struct tally {
    int lowest = 0;
    int ranks = 0;
    cpu_mask cores{};
  };

  int rank_;
  int size_;
  std::string launched_;
  std::uint32_t job_;
  std::uint64_t secret_;
  bool oversubscribed_ = false;
  std::unordered_map<std::uint64_t, int> host_numbers_;  ///< by fingerprint
  std::vector<tally> tallies_;
  std::vector<std::string> names_;  ///< of hosts
  std::vector<int> lowest_;         ///< rank of each host
  std::vector<int> hosts_;          ///< number of each rank's
  std::vector<bool> served_;
  std::unordered_map<int, process_identity> processes_;
  std::vector<int> neighbours_;
};

}  // namespace chorale::transport
