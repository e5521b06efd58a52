// The ranks of a communicator that nobody measures: agreeing on things does not touch what is measured.
#pragma once

#include <span>

#include <chorale/bench/contestant.hpp>
#include <chorale/core/operators.hpp>

namespace bench {

template <class Communicator>
class communicator_team final : public chorale::bench::team {
 public:
  explicit communicator_team(Communicator& comm) : comm_(comm) {}
  [[nodiscard]] int rank() const override { return comm_.rank(); }
  [[nodiscard]] int size() const override { return comm_.size(); }
  void sum(std::span<double> values) override { comm_.allreduce(values, chorale::sum); }
  double max(double value) override { return comm_.allreduce(value, chorale::max); }

 private:
  Communicator& comm_;
};

}  // namespace bench
