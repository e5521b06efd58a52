// SPDX-License-Identifier: Apache-2.0
// How subsets of a communicator's ranks make new communicators: the protocol in rounds, sans-I/O.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <chorale/transport/joining/joining.hpp>

namespace chorale::calls {

/// A rank's choice: it joins the ranks of the same colour, ordered by key, then by rank.
struct membership_choice {
  std::int64_t color = -1;  ///< negative: joins no part
  std::int64_t key = 0;
  std::uint64_t list = 0;    ///< hash of the list of ranks of the part; 0 without a list
  std::uint64_t listed = 0;  ///< length of that list
};

/// One rank's state while the parent's ranks form parts. In each round the owner allgathers `due()`, to which
/// each rank contributes its own block, and then calls `take()`; `due()` is empty after the last round. All
/// ranks take part until each has made its part or failed to, so a part that fails harms neither the other
/// parts nor the parent. Nothing here waits. Cost: time and memory proportional to the number of ranks.
class split_protocol {
 public:
  /// The communicator that is split.
  struct parent {
    int rank = 0;
    int size = 1;
    transport::location where{};
    std::string job;       ///< a text that is the same on all ranks and unique to this call
    std::string launched;  ///< how the parent was launched
    std::string composition;
    std::function<transport::joining_plan(int ranks)> plan;  ///< for a part of this many ranks
  };
  split_protocol(parent from, const membership_choice& mine);

  /// One block per rank, all of one size, with this rank's filled in; empty after the last round.
  [[nodiscard]] std::span<std::byte> due() noexcept { return blocks_; }
  [[nodiscard]] std::size_t block_bytes() const noexcept {
    return blocks_.size() / static_cast<std::size_t>(from_.size);
  }
  /// To be called when the blocks of `due()` have been gathered.
  void take();

  /// True when this rank has joined its part; the owner then makes the communicator from `joined()` or calls
  /// `fail`.
  [[nodiscard]] bool has_joined() const noexcept { return joining_ && joining_->is_over(); }
  [[nodiscard]] transport::joined_group joined();
  void fail(std::exception_ptr why) noexcept;
  /// Why this rank has no part although it asked for one; null if there was no failure.
  [[nodiscard]] const std::exception_ptr& failure() const noexcept { return failure_; }

 private:
  enum class stage { choices, states, messages, none };
  /// A rank's state is the size of its next message, or one of these if it has none.
  static constexpr std::int64_t is_over = -1;
  static constexpr std::int64_t has_failed = -2;

  template <class Value>
  [[nodiscard]] std::vector<Value> read() const;
  template <class Value>
  void give(const Value& mine);
  void take_choices();
  void take_states();
  void take_messages();
  void give_state();
  void find_members(const std::vector<membership_choice>& choices);
  static void check_lists(const std::vector<membership_choice>& choices);
  void begin_joining();
  void refuse_failures(std::int64_t worst) const;

  parent from_;
  membership_choice mine_;
  stage due_ = stage::choices;
  std::vector<std::byte> blocks_;
  std::vector<std::int64_t> states_;
  std::vector<int> members_;  ///< of this rank's part, in the part's order
  std::optional<transport::joining> joining_;
  std::exception_ptr failure_;
};

}  // namespace chorale::calls
