// SPDX-License-Identifier: Apache-2.0
// State that a rank keeps for each peer that it communicates with.
#pragma once

#include <cstddef>
#include <utility>

#include <chorale/core/zeroed_array.hpp>

namespace chorale::transport {

/// One `State` for each peer that communicates with this rank, made at first use. Not thread-safe.
template <class State>
class per_peer {
 public:
  explicit per_peer(int ranks) : states_(static_cast<std::size_t>(ranks)) {}
  per_peer(const per_peer&) = delete;
  per_peer& operator=(const per_peer&) = delete;
  ~per_peer() {
    for (const State* s : states_) delete s;
  }

  /// Null if there is none.
  [[nodiscard]] State* find(int peer) const noexcept { return states_[static_cast<std::size_t>(peer)]; }
  /// Makes it from `arguments` if there is none. @throws as its constructor.
  template <class... Arguments>
  State& get(int peer, Arguments&&... arguments) {
    State*& state = states_[static_cast<std::size_t>(peer)];
    if (state == nullptr) [[unlikely]]
      state = new State{std::forward<Arguments>(arguments)...};
    return *state;
  }
  template <class Visit>
  void each(Visit&& visit) const {
    for (State* s : states_) {
      if (s != nullptr) visit(*s);
    }
  }

 private:
  detail::zeroed_array<State*> states_;
};

}  // namespace chorale::transport
