// SPDX-License-Identifier: Apache-2.0
#include "fabric.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <utility>

#include <chorale/core/error.hpp>

#include "../../verbs/profile_rules.hpp"
#include "events.hpp"
#include "queue_pair_faults.hpp"
#include "verbs.hpp"

namespace chorale::simulation::device {
namespace {

constinit thread_local std::array<fabric*, 2> of_this_thread{};

fabric*& of_scope(fabric::scope which) noexcept {
  return of_this_thread[static_cast<std::size_t>(which)];
}

std::span<const verbs::driver* const> simulated_drivers() noexcept {
  static const verbs::driver* const both[]{&driver(fabric::scope::cluster), &driver(fabric::scope::host)};
  return both;
}

}  // namespace

fabric::fabric(scheduler& time, wire& costs, const host_layout& ranks)
    : fabric(time, costs, ranks, details{}) {}

fabric::fabric(scheduler& time, wire& costs, const host_layout& ranks, details how)
    : time_(&time), costs_(&costs), ranks_(ranks), how_(std::move(how)), drivers_(simulated_drivers()) {
  constexpr int most = static_cast<int>(verbs::first_multicast_lid - first_lid);
  const int hosts = ranks_.hosts();
  if (hosts > most)
    throw error(errc::invalid_argument, "a simulation of " + std::to_string(hosts) + " hosts, and at most " +
                                            std::to_string(most) + " adapters have addresses");
  if (of_scope(how_.reaches) != nullptr)
    throw error(errc::misuse, "a simulation was begun in a simulation; a thread has one at a time");
  if (const std::string wrong = verbs::read_profiles(costs.costs().profile, profiles_); !wrong.empty())
    throw error(errc::invalid_argument, "the profile of the adapter cannot be used: " + wrong);
  for (verbs::device_profile& p : profiles_)
    verbs::keep_within(p, {.inline_bytes = std::max(max_inline_bytes, costs.costs().posting.inline_bytes),
                           .rd_atomic = max_reads,
                           .sges = max_sge,
                           .depth = max_work_requests,
                           .completions = max_completions,
                           .queue_pairs = multicast_queue_pair - first_queue_pair,
                           .address_handles = plenty,
                           .multicast_groups = costs.costs().multicast ? plenty : 0,
                           .shared_receive_queues = plenty,
                           .max_message = max_message_bytes,
                           .mtu = costs.mtu()});
  const char* const name = how_.reaches == scope::host ? verbs::software_name : "sim0";
  for (int host = 0; host < hosts; ++host) {
    hcas_.push_back(std::make_unique<hca>(*this, host, name));
    // Cores keep the order of what they write.
    if (how_.reaches == scope::cluster) hcas_.back()->disorder = how_.chance.placement(host);
  }
  of_scope(how_.reaches) = this;
}

fabric::~fabric() {
  of_scope(how_.reaches) = nullptr;
}

fabric* fabric::current(scope which) noexcept {
  return of_scope(which);
}

void fabric::place(void* to, std::span<const std::byte> data, int poster) {
  if (data.empty()) return;
  std::memcpy(to, data.data(), data.size());
  if (how_.copies != nullptr && poster >= 0)
    how_.copies->wrote(to, data.size(), time_->core_of(poster));
  else if (how_.written != nullptr)
    how_.written->wrote(to, data.size());
}

void fabric::touch(int rank) {
  if (how_.reaches == scope::host)
    time_->touch(rank, duration::zero());
  else
    time_->touch(rank);
}

hca& fabric::here() noexcept {
  const int host = host_of(time_->current_rank());
  return at(std::min(host, static_cast<int>(hcas_.size()) - 1));
}

hca* fabric::find(const ibv_gid& gid) noexcept {
  for (const verbs::device_profile& p : profiles_) {
    const verbs::port_identity first = verbs::identity_of(p, at(0).lid(), at(0).gid());
    for (std::uint64_t row = 0; row < first.gid_count; ++row) {
      const std::uint64_t host =
          be64toh(gid.global.interface_id) - be64toh(first.gids[row].gid.global.interface_id);
      if (gid.global.subnet_prefix == first.gids[row].gid.global.subnet_prefix && host < hcas_.size())
        return hcas_[host].get();
    }
  }
  return nullptr;
}

hca* fabric::find(std::uint32_t lid) noexcept {
  return lid >= first_lid && lid - first_lid < hcas_.size() ? hcas_[lid - first_lid].get() : nullptr;
}

void fabric::opened(context& c) {
  const bool first =
      std::none_of(open_.begin(), open_.end(), [&](const context* o) { return o->rank == c.rank; });
  open_.push_back(&c);
  if (!first) return;
  for (const verbs::profile_event& event : c.profile->events)
    time_->after(event.after, [this, rank = c.rank, what = event.what] { happen(rank, what); });
}

void fabric::happen(int rank, ibv_event_type what) {
  ibv_async_event event{};
  event.event_type = what;
  if (what != IBV_EVENT_DEVICE_FATAL) event.element.port_num = 1;
  for (context* c : open_) {
    if (c->rank != rank) continue;
    if (what == IBV_EVENT_PORT_ERR || what == IBV_EVENT_DEVICE_FATAL) c->port_down = true;
    if (what == IBV_EVENT_PORT_ACTIVE && !c->nic->failed) c->port_down = false;
    raise(*c, event);
  }
  if (what == IBV_EVENT_DEVICE_FATAL) fail(host_of(rank));
}

void fabric::keep(std::unique_ptr<context> left) {
  kept_.push_back(std::move(left));
}

void fabric::abandon(int rank) noexcept {
  reset_all(at(host_of(rank)), rank);
}

void fabric::fail(int host) {
  hca& nic = at(host);
  nic.failed = true;
  nic.queue_pairs.for_each([](queue_pair& qp) { fail_responder(qp, IBV_EVENT_QP_FATAL); });
}

}  // namespace chorale::simulation::device
