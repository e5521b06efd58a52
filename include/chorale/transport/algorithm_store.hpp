// What the algorithms of a communicator keep from call to call.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include <chorale/core/frame_arena.hpp>

namespace chorale::transport {

/// The frames of coroutines, and the states of algorithms. One thread at a time.
class algorithm_store {
 public:
  [[nodiscard]] frame_arena& frames() noexcept { return frames_; }

  /// One default-constructed `State` for each type, made when it is first asked for.
  template <class State>
  [[nodiscard]] State& state() {
    const std::size_t index = index_of<State>();
    if (index >= states_.size()) states_.resize(index + 1);
    auto& place = states_[index];
    if (!place) place = std::make_shared<State>();
    return *static_cast<State*>(place.get());
  }

  /// States end. To be called when nothing of this rank is under way any more, and no peer can reach memory
  /// that they keep.
  void end_states() noexcept { states_.clear(); }

  /// Registered bytes that states keep.
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
