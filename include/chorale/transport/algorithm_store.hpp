// SPDX-License-Identifier: Apache-2.0
// State that the algorithms of a communicator keep between calls.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include <chorale/core/frame_arena.hpp>

namespace chorale::transport {

/// Coroutine frames and algorithm states of one communicator. One thread at a time.
class algorithm_store {
 public:
  [[nodiscard]] frame_arena& frames() noexcept { return frames_; }

  /// The `State` of this type, default-constructed at first use.
  template <class State>
  [[nodiscard]] State& state() {
    const std::size_t index = index_of<State>();
    if (index >= states_.size()) states_.resize(index + 1);
    auto& place = states_[index];
    if (!place) place = std::make_shared<State>();
    return *static_cast<State*>(place.get());
  }

  /// Destroys all states. Precondition: no operation of this rank is in progress, and no peer can access
  /// memory that states keep.
  void end_states() noexcept { states_.clear(); }

  /// Registered bytes kept by states.
  [[nodiscard]] std::size_t& kept_bytes() noexcept { return kept_bytes_; }
  [[nodiscard]] std::size_t kept_bytes() const noexcept { return kept_bytes_; }

 private:
  static std::size_t next_index() noexcept;
  template <class State>
  static std::size_t index_of() noexcept {
    static const std::size_t index = next_index();
    return index;
  }

  frame_arena frames_;
  std::size_t kept_bytes_ = 0;
  std::vector<std::shared_ptr<void>> states_;
};

}  // namespace chorale::transport
