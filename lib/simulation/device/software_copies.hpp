// SPDX-License-Identifier: Apache-2.0
// Copies by the processor where the adapter is software.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

#include <infiniband/verbs.h>

#include <chorale/simulation/machine/adapter_costs.hpp>
#include <chorale/simulation/time.hpp>

#include "../written_memory.hpp"

namespace chorale::simulation::device {

/// The payloads of a software adapter: the core that posts a request copies them to the target. A copy is
/// slower for bytes that are not in the core's caches: source bytes that another core wrote, and target bytes
/// that another core has touched since this one wrote them. Memory of another rank that the adapter has not
/// allocated itself is reached through the system, at an additional cost.
class software_copies {
 public:
  /// For hardware: the adapter fetches what it sends.
  software_copies() = default;
  /// `written` knows what adapters have written; both arguments must outlive this object.
  software_copies(const posting_costs& costs, written_memory& written) : costs_(&costs), written_(&written) {}

  /// Whether the processor copies payloads.
  [[nodiscard]] bool any() const noexcept { return costs_ != nullptr && !costs_->copy.steps().empty(); }
  /// The message size from which one copy through the system is faster than two through shared memory, if the
  /// processor copies.
  [[nodiscard]] std::size_t zero_copy_from() const noexcept;
  /// The adapter has allocated that memory, which all of its processes map, or frees it.
  void shares(const void* memory, std::size_t bytes);
  void shares_no_more(const void* memory) noexcept { ends_.erase(reinterpret_cast<std::uintptr_t>(memory)); }
  /// The time that the posting core takes to copy the request's payload.
  [[nodiscard]] duration time_for(const ibv_send_wr& request, written_memory::core by) const;

 private:
  [[nodiscard]] bool is_shared(std::uint64_t address) const noexcept;

  const posting_costs* costs_ = nullptr;
  written_memory* written_ = nullptr;
  std::map<std::uintptr_t, std::uintptr_t> ends_;  ///< end of each shared range, by its begin
};

}  // namespace chorale::simulation::device
