// SPDX-License-Identifier: Apache-2.0
// State that the algorithms of a communicator keep between calls.
#pragma once

#include <cstddef>

#include <chorale/core/frame_arena.hpp>
#include <chorale/core/state_store.hpp>

namespace chorale::transport {

/// Coroutine frames and algorithm states of one communicator. One thread at a time.
class algorithm_store {
 public:
  [[nodiscard]] frame_arena& frames() noexcept { return frames_; }

  /// The `State` of this type, default-constructed at first use.
  template <class State>
  [[nodiscard]] State& state() {
    return states_.template state<State>();
  }

  /// Destroys all states. Precondition: no operation of this rank is in progress, and no peer can access
  /// memory that states keep.
  void end_states() noexcept { states_.end(); }

  /// Registered bytes kept by states.
  [[nodiscard]] std::size_t& kept_bytes() noexcept { return kept_bytes_; }
  [[nodiscard]] std::size_t kept_bytes() const noexcept { return kept_bytes_; }

 private:
  frame_arena frames_;
  std::size_t kept_bytes_ = 0;
  state_store states_;
};

}  // namespace chorale::transport
