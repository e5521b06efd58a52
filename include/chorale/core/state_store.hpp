// SPDX-License-Identifier: Apache-2.0
// What algorithms keep between calls.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace chorale {

/// An object of each type that algorithms ask for. One thread at a time.
class state_store {
 public:
  /// The `State` of this type, default-constructed at first use.
  template <class State>
  [[nodiscard]] State& state() {
    const std::size_t index = index_of<State>();
    if (index >= states_.size()) states_.resize(index + 1);
    auto& place = states_[index];
    if (!place) place = std::make_shared<State>();
    return *static_cast<State*>(place.get());
  }
  /// Destroys all of them.
  void end() noexcept { states_.clear(); }

 private:
  static std::size_t next_index() noexcept;
  template <class State>
  static std::size_t index_of() noexcept {
    static const std::size_t index = next_index();
    return index;
  }

  std::vector<std::shared_ptr<void>> states_;
};

}  // namespace chorale
