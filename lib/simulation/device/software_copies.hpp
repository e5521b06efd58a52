// SPDX-License-Identifier: Apache-2.0
// Copies by the processor where the adapter is software.
#pragma once

#include <cstddef>

#include <infiniband/verbs.h>

#include <chorale/simulation/machine/adapter_costs.hpp>
#include <chorale/simulation/time.hpp>

#include "../written_memory.hpp"
#include "core_copies.hpp"

namespace chorale::simulation::device {

/// The payloads of a software adapter: the core that posts a request copies them to the target. A copy is
/// slower for bytes that are not in the core's caches: source bytes that another core wrote, and target bytes
/// that another core has touched since this one wrote them. Memory of another rank that the adapter has not
/// allocated itself is reached through the system, at an additional cost.
class software_copies final : public core_copies {
 public:
  /// `written` knows what adapters have written; both arguments must outlive this object.
  software_copies(const posting_costs& costs, written_memory& written) : costs_(&costs), written_(&written) {}

  /// Whether the processor copies payloads; if not, the adapter fetches what it sends.
  [[nodiscard]] bool any() const noexcept { return !costs_->copy.steps().empty(); }
  [[nodiscard]] std::size_t zero_copy_from() const noexcept override;
  [[nodiscard]] duration time_for(const ibv_send_wr& request, written_memory::core by) const override;
  void wrote(const void* to, std::size_t bytes, written_memory::core by) override {
    written_->wrote(to, bytes, by);
  }

 private:
  const posting_costs* costs_;
  written_memory* written_;
};

}  // namespace chorale::simulation::device
