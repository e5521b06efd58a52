// SPDX-License-Identifier: Apache-2.0
// Whether a machine can be simulated.
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include <chorale/core/error.hpp>
#include <chorale/simulation/machine/machine.hpp>

#include "../../core/printable.hpp"
#include "../../verbs/device_profile.hpp"

namespace chorale::simulation {
namespace {

constexpr std::int64_t most = std::int64_t{1} << 24;

/// The product of positive factors, or `most` + 1 if it exceeds `most`.
std::int64_t product(const std::vector<int>& factors, std::int64_t first = 1) {
  auto all = first;
  for (const auto factor : factors) all = all > most ? all : all * factor;
  return all > most ? most + 1 : all;
}

bool positive(const std::vector<int>& all) {
  for (const auto one : all)
    if (one < 1) return false;
  return true;
}

/// The number of hosts that a topology has room for, or an error.
struct room {
  std::int64_t hosts = 0;
  std::string wrong;
};

room room_of(const one_switch& shape) {
  if (shape.ports < 1) return {0, "a switch without ports"};
  return {shape.ports, {}};
}

room room_of(const fat_tree& shape) {
  if (shape.down.empty() || shape.up.size() != shape.down.size() - 1)
    return {0, "a fat tree whose \"up\" has not one entry less than \"down\""};
  if (!positive(shape.down) || !positive(shape.up)) return {0, "a fat tree whose switches have no links"};
  if (product(shape.up, product(shape.down)) > most) return {0, "a fat tree of more than 2^24 links"};
  return {product(shape.down), {}};
}

room room_of(const torus& shape) {
  if (shape.extent.empty() || !positive(shape.extent) || shape.hosts < 1)
    return {0, "a torus without dimensions, switches or hosts"};
  const auto links = static_cast<std::int64_t>(shape.extent.size()) + shape.hosts;
  if (links > most || product(shape.extent, links) > most) return {0, "a torus of more than 2^24 links"};
  return {product(shape.extent, shape.hosts), {}};
}

room room_of(const dragonfly& shape) {
  if (shape.groups < 1 || shape.switches < 1 || shape.hosts < 1 || shape.globals < 0)
    return {0, "a dragonfly without groups, switches or hosts"};
  const std::int64_t ports = std::int64_t{shape.switches} * shape.globals;
  if (ports < shape.groups - 1)
    return {
        0, fmt::format("a dragonfly whose groups have {} links to {} other groups", ports, shape.groups - 1)};
  const auto links = std::int64_t{shape.switches} + shape.globals + shape.hosts;
  if (links > most || product({shape.groups, shape.switches}, links) > most)
    return {0, "a dragonfly of more than 2^24 links"};
  return {product({shape.groups, shape.switches}, shape.hosts), {}};
}

[[noreturn]] void refuse(const machine& of, const std::string& why) {
  throw error(errc::invalid_argument,
              fmt::format("machine '{}' has {} (docs/machines.md)", printable(of.name, 64), why));
}

bool negative(const work_cost& cost) {
  for (const auto& step : cost.steps())
    if (step.call < duration{} || step.byte.femtoseconds() < 0) return true;
  return false;
}

}  // namespace

void validate(const machine& of) {
  const auto found = std::visit([](const auto& shape) { return room_of(shape); }, of.network.shape);
  if (!found.wrong.empty()) refuse(of, found.wrong);
  if (of.hosts < 1 || of.hosts > found.hosts)
    refuse(of, fmt::format("{} hosts, and a network with room for {}", of.hosts, found.hosts));
  if (of.ranks_per_host < 1 || of.host.cores < 1) refuse(of, "hosts without ranks or cores");
  for (const auto& link : {of.network.host_link, of.network.switch_link, of.network.global_link})
    if (link.rate.femtoseconds() < 0 || link.delay < duration{})
      refuse(of, "a link whose rate or delay is negative");
  if (of.network.packets.payload == 0) refuse(of, "packets of no bytes");
  std::vector<verbs::device_profile> profiles;
  if (const std::string wrong = verbs::read_profiles(of.adapter.profile, profiles); !wrong.empty())
    refuse(of, fmt::format("a profile of its adapter that cannot be used: {}", wrong));
  if (of.adapter.burst == 0) refuse(of, "bursts of no bytes");
  if (of.adapter.registration.page_bytes == 0) refuse(of, "pages of no bytes");
  const auto& posting = of.adapter.posting;
  for (const auto* work : {&of.host.copy, &of.host.copy_received, &of.host.own, &of.host.combine,
                           &of.host.combine_received, &posting.copy, &posting.copy_touched, &posting.reach})
    if (negative(*work)) refuse(of, "work that takes less than no time");
}

host_layout layout_of(int ranks, const machine& on) {
  validate(on);
  const auto room = std::int64_t{on.hosts} * on.ranks_per_host;
  if (ranks < 1 || ranks > room)
    throw error(errc::invalid_argument,
                fmt::format("a simulation of {} ranks on machine '{}', which has room for 1 to {}", ranks,
                            printable(on.name, 64), room));
  return {ranks, on.ranks_per_host, on.numbering};
}

}  // namespace chorale::simulation
