// How the ranks of a communicator come to communicators of their own: the rounds of it, without the waiting.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <chorale/transport/joining.hpp>

namespace chorale::calls {

/// What a rank wants: to be with those of the same colour, ordered by key, then by rank.
struct wish {
  std::int64_t color = -1;  ///< negative: with nobody
  std::int64_t key = 0;
  std::uint64_t list = 0;    ///< hash of the ranks that are to be together; 0 if any may be
  std::uint64_t listed = 0;  ///< their number
};

/// One rank's part in the making of parts. Blocks of all ranks of the parent are gathered, one after another,
/// by whatever means the owner has: each rank gives its block of `due()`, and calls `take()` when all are in
/// their places, until nothing is due. All ranks take part until each has made its part or failed to, so that
/// the failure of one part harms no other, nor the parent. Nothing in here waits. Cost: time and memory that
/// grow with the number of ranks.
class parting {
 public:
  /// The communicator that is parted.
  struct parent {
    int rank = 0;
    int size = 1;
    std::string job;       ///< a text that is the same on all ranks, and that no other call of theirs has
    std::string launched;  ///< how the parent came to be
    std::string composition;
    std::function<transport::joining_plan(int ranks)> plan;  ///< of a part of so many ranks
  };
  parting(parent from, const wish& mine);

  /// One block for each rank, all of one size, this rank's filled in; nothing if all is over.
  [[nodiscard]] std::span<std::byte> due() noexcept { return blocks_; }
  [[nodiscard]] std::size_t block_bytes() const noexcept {
    return blocks_.size() / static_cast<std::size_t>(from_.size);
  }
  /// The blocks that were due have been gathered.
  void take();

  /// True once, when this rank has joined its part: then it makes it of `joined()`, or calls `fail`.
  [[nodiscard]] bool has_joined() const noexcept { return joining_ && joining_->is_over(); }
  [[nodiscard]] transport::joined_group joined();
  void fail(std::exception_ptr why) noexcept;
  /// Why this rank has no part although it wants one; null if all is well.
  [[nodiscard]] const std::exception_ptr& failure() const noexcept { return failure_; }

 private:
  enum class stage { wishes, states, messages, none };
  /// A rank's state if it has no message: the size of that else.
  static constexpr std::int64_t is_over = -1;
  static constexpr std::int64_t has_failed = -2;

  template <class Value>
  [[nodiscard]] std::vector<Value> read() const;
  template <class Value>
  void give(const Value& mine);
  void take_wishes();
  void take_states();
  void take_messages();
  void give_state();
  void find_members(const std::vector<wish>& wishes);
  static void check_lists(const std::vector<wish>& wishes);
  void begin_joining();
  void refuse_failures(std::int64_t worst) const;

  parent from_;
  wish mine_;
  stage due_ = stage::wishes;
  std::vector<std::byte> blocks_;
  std::vector<std::int64_t> states_;
  std::vector<int> members_;  ///< of this rank's part, in their order
  std::optional<transport::joining> joining_;
  std::exception_ptr failure_;
};

}  // namespace chorale::calls
