// The ranks of a communicator as the team that measures something.
#pragma once

#include <span>

#include <chorale/bench/contestant.hpp>
#include <chorale/core/operators.hpp>

namespace chorale::bench {

/// What the ranks agree on goes by `comm`, which should be one that nobody measures: agreeing on things
/// then does not touch what is measured. Refers to `comm`. Not thread-safe.
template <class Communicator>
class communicator_team final : public team {
 public:
  explicit communicator_team(Communicator& comm) : comm_(comm) {}
  [[nodiscard]] int rank() const override { return comm_.rank(); }
  [[nodiscard]] int size() const override { return comm_.size(); }
  void sum(std::span<double> values) override { comm_.allreduce(values, chorale::sum); }
  double max(double value) override { return comm_.allreduce(value, chorale::max); }

 private:
  Communicator& comm_;
};

}  // namespace chorale::bench
