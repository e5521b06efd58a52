// SPDX-License-Identifier: Apache-2.0
// The time of the library's copies and operators, by where their bytes are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include <chorale/simulation/machine/machine.hpp>
#include <chorale/simulation/time.hpp>

#include "near_work.hpp"
#include "written_memory.hpp"

namespace chorale::simulation {

/// What the caches of a simulation's hosts hold, and the time of work by the running rank that depends on it.
class memory_costs {
 public:
  /// `on` must outlive this object.
  memory_costs(const machine& on, const host_layout& ranks);
  memory_costs(const memory_costs&) = delete;
  memory_costs& operator=(const memory_costs&) = delete;

  /// Copies of `bytes` bytes, by addresses; empty if their time does not depend on these.
  [[nodiscard]] std::function<duration(const void* to, const void* from, std::size_t bytes)> copies();
  /// The same for combining two operands.
  [[nodiscard]] std::function<duration(const void* mine, const void* other, std::size_t bytes)> operators();

  /// Whether costs depend on the bytes that adapters have written, of which `written` is then to be told.
  [[nodiscard]] bool depends_on_adapters() const noexcept;
  [[nodiscard]] written_memory& written() noexcept { return written_; }
  /// What ranks have written into the memory of neighbours, until somebody has read it.
  [[nodiscard]] written_memory& passed() noexcept { return passed_; }
  /// The time in which the running core copies `bytes` bytes, `elsewhere` of which are in another core's
  /// cache.
  [[nodiscard]] duration copy(std::uint64_t bytes, std::uint64_t elsewhere) noexcept;

 private:
  [[nodiscard]] duration work(duration alone, std::uint64_t bytes, std::uint64_t elsewhere) noexcept;
  [[nodiscard]] bool depends_on_touches() const noexcept {
    return !on_->adapter.posting.copy.steps().empty();
  }

  const machine* on_;
  host_layout ranks_;
  written_memory written_;
  written_memory passed_;
  near_work near_;
};

}  // namespace chorale::simulation
