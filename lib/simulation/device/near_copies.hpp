// SPDX-License-Identifier: Apache-2.0
// Copies by the processor between the ranks of a simulated host.
#pragma once

#include "../memory_costs.hpp"
#include "core_copies.hpp"

namespace chorale::simulation::device {

/// The payloads of a simulated soft0. Each byte passes from cache to cache once, at the rate of `near_costs`,
/// and the core that fetches it pays. What a rank writes into memory of the device, such as a mailbox, is
/// fetched by whoever reads it first. Other memory is in the cache of its rank: the core that reads from it
/// or writes to it fetches it.
class near_copies final : public core_copies {
 public:
  explicit near_copies(memory_costs& memory) noexcept : memory_(&memory) {}

  [[nodiscard]] std::size_t zero_copy_from() const noexcept override { return near_work::zero_copy_from(); }
  [[nodiscard]] duration time_for(const ibv_send_wr& request, written_memory::core by) const override;
  void wrote(const void* to, std::size_t bytes, written_memory::core by) override;
  void shares_no_more(const void* memory, std::size_t bytes) noexcept override;

 private:
  memory_costs* memory_;
};

}  // namespace chorale::simulation::device
