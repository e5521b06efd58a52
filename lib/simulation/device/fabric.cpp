#include "fabric.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include <chorale/core/error.hpp>

#include "queue_pair_faults.hpp"
#include "queue_pairs.hpp"

namespace chorale::simulation::device {
namespace {

constinit thread_local fabric* of_this_thread = nullptr;

std::span<const verbs::driver* const> only_driver() noexcept {
  static const verbs::driver* const only[]{&driver()};
  return only;
}

}  // namespace

fabric::fabric(scheduler& time, wire& costs, int hosts, int ranks_per_host, const disturbance& chance,
               written_memory* written, software_copies copies)
    : time_(&time),
      costs_(&costs),
      ranks_per_host_(ranks_per_host),
      chance_(chance),
      written_(written),
      copies_(std::move(copies)),
      drivers_(only_driver()) {
  constexpr int most = static_cast<int>(first_multicast_lid - first_lid);
  if (hosts < 1 || hosts > most || ranks_per_host < 1)
    throw error(errc::invalid_argument, "a simulation of " + std::to_string(hosts) + " hosts with " +
                                            std::to_string(ranks_per_host) +
                                            " ranks each: hosts are from 1 to " + std::to_string(most) +
                                            ", ranks of a host at least 1");
  if (of_this_thread != nullptr)
    throw error(errc::misuse, "a simulation was begun in a simulation; a thread has one at a time");
  for (int host = 0; host < hosts; ++host) {
    hcas_.push_back(std::make_unique<hca>(*this, host));
    hcas_.back()->placement = chance_.placement(host);
  }
  of_this_thread = this;
}

fabric::~fabric() {
  of_this_thread = nullptr;
}

fabric* fabric::current() noexcept {
  return of_this_thread;
}

void fabric::place(void* to, std::span<const std::byte> data, int poster) {
  if (data.empty()) return;
  std::memcpy(to, data.data(), data.size());
  if (written_ == nullptr) return;
  const bool by_core = copies_.any() && poster >= 0;
  written_->wrote(to, data.size(), by_core ? time_->core_of(poster) : written_memory::adapter);
}

hca& fabric::here() noexcept {
  const int host = std::max(time_->current_rank(), 0) / ranks_per_host_;
  return at(std::min(host, static_cast<int>(hcas_.size()) - 1));
}

hca* fabric::find(const ibv_gid& gid) noexcept {
  // GIDs are those of the first adapter plus the host.
  const ibv_gid first = at(0).gid();
  if (gid.global.subnet_prefix != first.global.subnet_prefix) return nullptr;
  const std::uint64_t host = be64toh(gid.global.interface_id) - be64toh(first.global.interface_id);
  return host < hcas_.size() ? hcas_[host].get() : nullptr;
}

hca* fabric::find(std::uint32_t lid) noexcept {
  return lid >= first_lid && lid - first_lid < hcas_.size() ? hcas_[lid - first_lid].get() : nullptr;
}

void fabric::keep(std::unique_ptr<context> left) {
  kept_.push_back(std::move(left));
}

void fabric::abandon(int rank) noexcept {
  reset_all(at(rank / ranks_per_host_), rank);
}

void fabric::fail(int host) {
  hca& nic = at(host);
  nic.failed = true;
  nic.queue_pairs.for_each([](queue_pair& qp) { fail_responder(qp, IBV_EVENT_QP_FATAL); });
}

}  // namespace chorale::simulation::device
