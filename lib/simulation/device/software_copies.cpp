// SPDX-License-Identifier: Apache-2.0
#include "software_copies.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "../../verbs/zero_copy_threshold.hpp"
#include "verbs.hpp"

namespace chorale::simulation::device {

std::size_t software_copies::zero_copy_from() const noexcept {
  constexpr std::uint64_t bytes = 32768;
  const auto time = [](duration d) { return static_cast<double>(d.count()); };
  return verbs::zero_copy_threshold(time(costs_->reach(8)), time(costs_->copy(bytes)) / bytes);
}

duration software_copies::time_for(const ibv_send_wr& request, written_memory::core by) const {
  if (!any()) return {};
  const bool reads = request.opcode == IBV_WR_RDMA_READ;
  const bool writes = is_write(request.opcode);
  const bool sends = is_send(request.opcode);
  if (!reads && !writes && !sends) return {};
  std::size_t bytes = 0;
  std::size_t received = 0;
  std::size_t here = 0;
  std::size_t elsewhere = 0;  // the cache size at which those who last touched the bytes still hold them
  for (int i = 0; i < request.num_sge; ++i) {
    const ibv_sge& piece = request.sg_list[i];
    const auto* const from = reinterpret_cast<const void*>(piece.addr);
    bytes += piece.length;
    here = std::max(here, written_->reuse_distance(from, piece.length, by));
    if (!reads) elsewhere = std::max(elsewhere, written_->distance_of_others(from, piece.length, by));
    received += written_->read(from, piece.length, by);
  }
  const auto* const there = reinterpret_cast<const void*>(request.wr.rdma.remote_addr);
  std::size_t touched = reads ? 0 : received;
  // The target of a send has read the previous content of its buffer.
  if (sends) touched = bytes;
  if (writes) {
    touched = std::max(touched, bytes - written_->had_by(there, bytes, by));
    elsewhere = std::max(elsewhere, written_->distance_of_others(there, bytes, by));
  }
  const auto& dear = costs_->copy_touched.steps().empty() ? costs_->copy : costs_->copy_touched;
  const bool goes_through_system =
      (request.send_flags & IBV_SEND_INLINE) == 0 && !sends && !is_shared(request.wr.rdma.remote_addr);
  const duration dear_time = touched != 0 ? dear.within(elsewhere / 2, touched) : duration{};
  return (goes_through_system ? costs_->reach(bytes) : duration{}) + dear_time +
         (touched != bytes ? of_two(costs_->copy, bytes - touched, here,
                                    sends ? 0 : written_->reuse_distance(there, bytes, by))
                           : duration{});
}

}  // namespace chorale::simulation::device
