// What happened in the simulation of a benchmark, shown as is wished.
#pragma once

#include <optional>
#include <string>

#include <chorale/simulation/recorder.hpp>

#include "../bench/contestants.hpp"
#include "../bench/output.hpp"
#include "wishes.hpp"

namespace seeing {

/// Tells the recorder of one rank's samples and calls.
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

/// Writes the files, and prints where they are and the critical path. What cannot be shown is said on
/// standard error, with the reason; the others are shown all the same.
/// @returns whether all could be shown.
[[nodiscard]] bool show(const wishes& w, const sim::recorder& notes, sim::duration elapsed, int ranks,
                        bench::facts about);

}  // namespace seeing
