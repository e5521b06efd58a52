// SPDX-License-Identifier: Apache-2.0
// Shows the events in the simulation of a benchmark, as requested.
#pragma once

#include <optional>
#include <string>

#include <chorale/simulation/recorder.hpp>

#include "../bench/contestants.hpp"
#include "../bench/output.hpp"
#include "wishes.hpp"

namespace seeing {

/// Reports one rank's samples and calls to the recorder.
class phases_of_bench final : public bench::onlooker {
 public:
  void sample_begins(const bench::contestant& of, std::size_t bytes) override;
  void sample_ends() override;
  void call_begins(const bench::contestant& of, std::size_t bytes) override;
  void call_ends() override;

 private:
  std::optional<sim::phase> sample_;
  std::optional<sim::phase> call_;
};

/// Writes the files, and prints their names and the critical path. A request that fails is reported on
/// standard error, with the reason; the others are still fulfilled.
/// @returns whether all succeeded.
[[nodiscard]] bool show(const wishes& w, const sim::recorder& notes, sim::duration elapsed, int ranks,
                        bench::facts about);

}  // namespace seeing
