// barrier, ibarrier.
#pragma once

#include <chorale/calls/caller.hpp>

namespace chorale::calls {

template <class Base, class Algorithm>
class barrier_calls : public Base {
 public:
  using Base::Base;
  using barrier_algorithm = Algorithm;

  /// Returns when all ranks have called it.
  void barrier() { this->run(call{.what = operation::barrier}, begin()); }
  request ibarrier() { return this->start(call{.what = operation::barrier}, begin()); }

 private:
  auto begin() {
    return [this](epoch now) { return launch<Algorithm>(this->net(), now); };
  }
};

}  // namespace chorale::calls
