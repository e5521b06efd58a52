// SPDX-License-Identifier: Apache-2.0
// The adapters that one simulated network joins.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include <chorale/simulation/machine/host_layout.hpp>
#include <chorale/verbs/device.hpp>

#include "../../verbs/device_profile.hpp"
#include "../scheduler.hpp"
#include "../written_memory.hpp"
#include "core_copies.hpp"
#include "disturbance.hpp"
#include "groups.hpp"
#include "hca.hpp"
#include "wire.hpp"

namespace chorale::simulation::device {

/// The adapters of a simulation, one for each host, and what they share. While it lives, the thread that made
/// it has one device of its scope, the adapter of the running fiber's host, and none but those of fabrics.
/// A fiber without a rank is on host 0.
class fabric {
 public:
  /// What an adapter reaches: the ranks of all hosts (`sim0`), or those of its own (`soft0`).
  enum class scope { cluster, host };
  /// A rank may get this far ahead of others when it posts or polls: it may miss what arrived within that
  /// time until its next poll, and its receives may be available too early by as much. Switching fibers at
  /// each call would cost more than the posting and polling that it simulates.
  static constexpr duration least_turn = std::chrono::nanoseconds{100};

  struct details {
    scope reaches = scope::cluster;
    disturbance chance;
    written_memory* written = nullptr;  ///< records what adapters write, unless null
    core_copies* copies = nullptr;      ///< where processors copy payloads; null: adapters fetch them
  };
  /// `time` and `costs` must outlive the fabric. @throws error errc::invalid_argument if there are more hosts
  /// than LIDs or the profile cannot be used, errc::misuse if the thread has a fabric of that scope.
  fabric(scheduler& time, wire& costs, const host_layout& ranks, details how);
  fabric(scheduler& time, wire& costs, const host_layout& ranks);
  fabric(const fabric&) = delete;
  fabric& operator=(const fabric&) = delete;
  ~fabric();

  /// The fabric of that scope of the calling thread; nullptr if it has none, as outside of simulations.
  [[nodiscard]] static fabric* current(scope which = scope::cluster) noexcept;

  [[nodiscard]] scope reaches() const noexcept { return how_.reaches; }
  [[nodiscard]] bool connects(const hca& from, const hca& to) const noexcept {
    return how_.reaches == scope::cluster || &from == &to;
  }

  [[nodiscard]] scheduler& time() const noexcept { return *time_; }
  [[nodiscard]] wire& costs() const noexcept { return *costs_; }
  [[nodiscard]] group_table& groups() noexcept { return groups_; }
  [[nodiscard]] disturbance& chance() noexcept { return how_.chance; }
  /// Null if adapters fetch the payloads.
  [[nodiscard]] core_copies* copies() const noexcept { return how_.copies; }
  /// The profile of the adapter for that rank.
  [[nodiscard]] const verbs::device_profile& profile_of(int rank) const noexcept {
    return profiles_[static_cast<std::size_t>(std::max(rank, 0)) % profiles_.size()];
  }
  /// Whether ports decide which queue pairs reach each other. Otherwise all ports are alike.
  [[nodiscard]] bool looks_at_ports() const noexcept { return !costs_->costs().profile.empty(); }
  /// An adapter writes `data` to `to`; `poster` is the rank whose request this is, or -1.
  void place(void* to, std::span<const std::byte> data, int poster = -1);
  /// The memory is deregistered and may be freed: what is allocated there next was not written by an adapter.
  void forget(const void* memory, std::size_t bytes) noexcept {
    if (how_.written != nullptr) how_.written->forget(memory, bytes);
  }
  /// As `scheduler::touch`, for a change by an adapter. What a neighbour's core has written needs no further
  /// notice: the wire of soft0 has spent the time until a polling core sees it (`near_costs::line`).
  void touch(int rank);
  /// The number of the host that the rank is on.
  [[nodiscard]] int host_of(int rank) const noexcept { return ranks_.host_of(std::max(rank, 0)); }
  /// The adapter of the host on which the running fiber is.
  [[nodiscard]] hca& here() noexcept;
  [[nodiscard]] hca& at(int host) noexcept { return *hcas_[static_cast<std::size_t>(host)]; }
  /// nullptr if no adapter has that address.
  [[nodiscard]] hca* find(const ibv_gid& gid) noexcept;
  [[nodiscard]] hca* find(std::uint32_t lid) noexcept;
  /// Registers an opened context for events, including those of its profile.
  void opened(context& c);
  void closed(context& c) noexcept { std::erase(open_, &c); }
  /// Keeps a closed context that the program's remaining objects refer to.
  void keep(std::unique_ptr<context> left);

  // For events only.

  /// The process of that rank has ended: its queue pairs no longer respond.
  void abandon(int rank) noexcept;
  /// The adapter of that host fails: its queue pairs go to the error state, and none can be connected again.
  void fail(int host);
  /// Raises an event that a profile asks for on that rank's adapter.
  void happen(int rank, ibv_event_type what);

 private:
  scheduler* time_;
  wire* costs_;
  host_layout ranks_;
  std::vector<std::unique_ptr<hca>> hcas_;
  group_table groups_;
  details how_;
  std::vector<verbs::device_profile> profiles_;  ///< ranks take them in turn; at least one
  std::vector<context*> open_;
  std::vector<std::unique_ptr<context>> kept_;
  verbs::replaced_drivers drivers_;
};

/// The driver of sim0 or of the simulated soft0: its list of devices has the adapter of the host on which the
/// caller runs, if the thread has a fabric of that scope.
const verbs::driver& driver(fabric::scope reaches) noexcept;

}  // namespace chorale::simulation::device
