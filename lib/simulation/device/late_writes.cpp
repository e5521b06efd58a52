// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <span>
#include <utility>

#include "fabric.hpp"
#include "responder.hpp"
#include "verbs.hpp"

namespace chorale::simulation::device {
namespace {

/// A fabric may cut anywhere; whole words keep message layouts intact, which is what matters here.
constexpr std::size_t word = 8;
constexpr std::size_t most_parts = 4;

void place(queue_pair& qp, late_part& part) {
  if (std::exchange(part.placed, true)) return;
  // If the target has deregistered the memory meanwhile, the bytes are dropped.
  std::byte* const to =
      qp.nic->regions.remote(part.key, {part.address, part.data.size(), qp.pd, IBV_ACCESS_REMOTE_WRITE});
  if (to == nullptr) return;
  qp.nic->owner().place(to, part.data);
  qp.nic->owner().touch(qp.rank());
}

}  // namespace

void write_in_parts(queue_pair& qp, const message& what) {
  fabric& all = qp.nic->owner();
  const bool scatters = placement_of(context::of(qp.context)) == verbs::placement_order::unordered;
  for (std::size_t begin = 0, parts = 1; begin < what.bytes; ++parts) {
    const std::size_t left = what.bytes - begin;
    const std::size_t words = left / word;
    const std::size_t bytes =
        !scatters || parts == most_parts || words < 2 ? left : word * (1 + all.chance().below(words - 1));
    const auto data = std::span{what.data}.subspan(begin, bytes);
    auto part = std::make_shared<late_part>(
        late_part{what.remote_address + begin, what.rkey, {data.begin(), data.end()}});
    begin += bytes;
    const duration late = all.chance().part();
    if (late == duration::zero()) {
      place(qp, *part);
      continue;
    }
    qp.answers.late.push_back(part);
    all.time().at(all.time().now() + late, [&nic = *qp.nic, number = qp.qp_num, part] {
      queue_pair* const target = nic.queue_pairs.find(number);
      if (target == nullptr || part->placed) return;
      place(*target, *part);
      std::erase(target->answers.late, part);
    });
  }
}

void place_late(queue_pair& qp) {
  auto parts = std::exchange(qp.answers.late, {});
  for (std::size_t i = parts.size(); i > 1; --i)
    std::swap(parts[i - 1], parts[qp.nic->owner().chance().below(i)]);
  for (const auto& part : parts) place(qp, *part);
}

}  // namespace chorale::simulation::device
