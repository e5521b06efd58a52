// SPDX-License-Identifier: Apache-2.0
// The ranks of a communicator as a `team`.
#pragma once

#include <span>

#include <chorale/bench/contestant.hpp>
#include <chorale/core/arguments.hpp>
#include <chorale/core/operators.hpp>

namespace chorale::bench {

/// The ranks agree by calls of `comm`, which should not itself be measured, so that agreeing does not affect
/// the measurement. Refers to `comm`. Not thread-safe.
template <class Communicator>
class communicator_team final : public team {
 public:
  explicit communicator_team(Communicator& comm) : comm_(comm) {}
  [[nodiscard]] int rank() const override { return comm_.rank(); }
  [[nodiscard]] int size() const override { return comm_.size(); }
  void sum(std::span<double> values) override { comm_.allreduce(chorale::in_place, values, chorale::sum); }
  double max(double value) override { return comm_.allreduce(value, chorale::max); }

 private:
  Communicator& comm_;
};

}  // namespace chorale::bench
