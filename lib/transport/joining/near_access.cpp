// SPDX-License-Identifier: Apache-2.0
#include "near_access.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <chorale/core/fnv.hpp>
#include <chorale/core/system_services.hpp>

#include "../../core/virtual_places.hpp"
#include "../group/membership.hpp"

namespace chorale::transport {
namespace {

/// Whether this is a rank of a simulation without soft0. In a real job soft0 is always tried: a rank that
/// cannot open it is alone in its place, and gets a remark.
bool is_simulated_without_soft0() {
  if (system_services::replaced() == nullptr) return false;
  const auto all = verbs::list_devices();
  return std::none_of(all.begin(), all.end(),
                      [](const verbs::device_info& one) { return one.name == verbs::software_name; });
}

}  // namespace

bool near_access::is_wanted(const joining_plan& plan, const joined_group& group, int size) {
  if (!plan.has_lanes || !plan.more_ports.empty() || size == 1) return false;
  if (group.settings.near == near_policy::off || is_simulated_without_soft0()) return false;
  if (!group.ports.all.front().device().is_soft()) return true;
  const auto given = detail::virtual_places::read(group.settings.places);
  return given && given->sizes.size() > 1;
}

near_access::near_access(joined_group& group, int rank, int size, int local_rank,
                         datagram_port::options sizes) {
  device_port& first = group.ports.all.front();
  try {
    ports_.push_back(device_port::to_place(group.settings, local_rank, first));
    channel_ = std::make_unique<verbs::completion_channel>(port().device());
    sizes.channel = channel_.get();
    sizes.payload_bytes = std::min(sizes.payload_bytes, static_cast<std::size_t>(port().mtu_bytes()));
    port_ = std::make_unique<datagram_port>(port(), size, sizes);
  } catch (const error& e) {
    first.add_remark(fmt::format("rank {} is alone in its place, and {} carries everything: {}", rank,
                                 first.device().name(), e.reason()));
  }
}

near_card near_access::card(std::uint8_t zero_copy_kib) const {
  return {port().local().address, port_->number(), zero_copy_kib};
}

void near_access::add_peer(const near_card& theirs) {
  ports_.front().add_peer(theirs.address);
  port_->add_peer(theirs.qp_number);
}

std::uint64_t near_access::place(std::uint64_t number) const {
  return is_open() ? detail::fnv1a(port().device().attributes().node_guid, number) : unguessable_word() | 1U;
}

void near_access::settle(joined_group& group) {
  const places& layout = group.members->layout();
  const bool is_alone = layout.members(layout.of(group.rank())).size() == 1;
  rank_ports& ports = group.ports;
  if (!is_open()) {
    if (is_alone) return void(ports.some_have_near = layout.largest() > 1);
    throw error(errc::no_device, fmt::format("soft0, by which rank {} reaches the other ranks of its place, "
                                             "cannot be opened a second time: {}",
                                             group.rank(), ports.all.front().chosen().remarks.back()));
  }
  if (layout.count() > 1) {
    ports.some_have_near = layout.largest() > 1;
    port_.reset();
    channel_.reset();
    if (!is_alone) ports.near = std::move(ports_);
  } else if (!ports.all.front().device().is_soft()) {
    ports_.front().explain_choice(fmt::format("{}: all {} ranks are in one place, so that {} is not used",
                                              port().device().name(), group.size(),
                                              ports.all.front().device().name()));
    std::swap(ports.all, ports_);
    std::swap(group.channel, channel_);
    std::swap(group.port, port_);
    group.members->use_near_costs();
  }
}

}  // namespace chorale::transport
