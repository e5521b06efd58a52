// SPDX-License-Identifier: Apache-2.0
#include "near_copies.hpp"

#include "verbs.hpp"

namespace chorale::simulation::device {

duration near_copies::time_for(const ibv_send_wr& request, written_memory::core by) const {
  const bool reads = request.opcode == IBV_WR_RDMA_READ;
  const bool writes = is_write(request.opcode);
  const bool sends = is_send(request.opcode);
  if (!reads && !writes && !sends) return {};
  std::uint64_t bytes = 0;
  std::uint64_t elsewhere = 0;
  for (int i = 0; i < request.num_sge; ++i) {
    const ibv_sge& piece = request.sg_list[i];
    bytes += piece.length;
    if (!reads)
      elsewhere += memory_->passed().read(reinterpret_cast<const void*>(piece.addr), piece.length, by);
  }
  if (reads || (writes && !is_shared(request.wr.rdma.remote_addr))) elsewhere = bytes;
  return memory_->copy(bytes, elsewhere);
}

void near_copies::wrote(const void* to, std::size_t bytes, written_memory::core by) {
  if (is_shared(reinterpret_cast<std::uintptr_t>(to))) memory_->passed().wrote(to, bytes, by);
}

void near_copies::shares_no_more(const void* memory, std::size_t bytes) noexcept {
  memory_->passed().forget(memory, bytes);
  core_copies::shares_no_more(memory, bytes);
}

}  // namespace chorale::simulation::device
