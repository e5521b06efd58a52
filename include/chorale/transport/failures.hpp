// The failure of a communicator: of a call here, or told by a peer.
#pragma once

#include <cstddef>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <chorale/core/error.hpp>
#include <chorale/core/frame_arena.hpp>
#include <chorale/transport/call_record.hpp>
#include <chorale/transport/control_channel.hpp>
#include <chorale/transport/dependents.hpp>
#include <chorale/transport/endpoint_user.hpp>
#include <chorale/transport/liveness.hpp>

namespace chorale::transport {

class membership;

/// What has failed in one communicator, on one rank. The first failure *poisons* it: all other ranks are
/// told, and later calls throw errc::poisoned. Before the frames of the failed call go, the user's memory is
/// *withdrawn* from the peers. One thread at a time; `answer` on any, under the lock of the channel.
class failures {
 public:
  /// What it looks at, and acts by. All of it outlives it.
  struct surroundings {
    const membership& group;
    const dependents& windows;
    call_record& calls;
    frame_arena& frames;
    control_channel& channel;
    liveness& lives;
    endpoint_user& user;
  };
  explicit failures(const surroundings& around);

  // What is known.
  [[nodiscard]] bool is_poisoned() const noexcept { return failure_.has_value(); }
  /// @throws error errc::poisoned if a call has failed before.
  void require_sound() const {
    if (failure_) [[unlikely]]
      throw_poisoned();
  }
  /// What later calls throw, if it is poisoned.
  [[nodiscard]] std::exception_ptr poison() const noexcept;
  /// True if a peer has told of a failure that no call here has thrown yet.
  [[nodiscard]] bool has_notice() const noexcept { return notice_.has_value(); }
  /// True if a call has failed here, or a peer has told of a failure.
  [[nodiscard]] bool has_any() const noexcept { return is_poisoned() || has_notice(); }
  [[nodiscard]] bool is_withdrawn() const noexcept { return withdrawn_; }
  /// What the await failed with that has ended the call; null if it was something else.
  [[nodiscard]] const std::exception_ptr& ended_by() const noexcept { return ended_by_; }

  // Where calls and waits look.
  /// To be asked now and then while a call waits. @throws error that a peer has told of; as `require_whole`.
  void check();
  /// To be asked when the algorithm of a call has come to its end. @throws what an await of it failed with
  /// although it went on; error errc::misuse if something was made and never awaited: a `co_await` is
  /// missing.
  void require_whole() const {
    if (frames_->has_forgotten()) [[unlikely]]
      throw_unfinished();
  }

  // What fails.
  /// Poisons the communicator for the reason `why` and tells all ranks. Lets go of all memory of the user:
  /// when it has returned, neither this rank nor a peer touches any through this communicator. The coroutines
  /// of the failed call are gone by then, or suspended for good.
  void fail(const std::exception_ptr& why) noexcept;
  /// Tells all ranks that the communicator was destroyed from inside a call of its own.
  void abandon() noexcept;
  /// The part of `fail` that concerns memory, for where an await of a call has failed by `why`; null if what
  /// fails is something else.
  void let_go(std::exception_ptr why) noexcept;
  /// @throws error errc::peer_lost, or what a peer has told.
  [[noreturn]] void lose(int peer, const std::string& why);

  /// Tells `from`, who has asked about a call, of the failure if there is one. False if there is none.
  bool answer(int from);

 private:
  [[noreturn]] void throw_poisoned() const;
  [[noreturn]] void throw_unfinished() const;
  void record(const std::exception_ptr& why) noexcept;
  void tell() noexcept;
  void keep_notice() noexcept;
  void take_notice(int from, std::span<const std::byte> body);

  const membership* group_;
  const dependents* windows_;
  call_record* calls_;
  frame_arena* frames_;
  control_channel* channel_;
  liveness* lives_;
  endpoint_user* user_;
  std::optional<error> failure_;
  std::optional<error> notice_;  ///< of a peer
  std::vector<std::byte> told_;  ///< the notice of this rank's failure, for those who have missed it
  bool withdrawn_ = false;
  std::exception_ptr ended_by_;
  control_channel::subscription notices_;
};

}  // namespace chorale::transport
