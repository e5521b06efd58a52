// SPDX-License-Identifier: Apache-2.0
// The failure of a communicator: of a local call, or reported by a peer.
#pragma once

#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <chorale/core/error.hpp>
#include <chorale/core/frame_arena.hpp>
#include <chorale/transport/endpoint_user.hpp>
#include <chorale/transport/liveness/liveness.hpp>
#include <chorale/transport/memory/dependents.hpp>
#include <chorale/transport/observers/call_record.hpp>
#include <chorale/transport/wire/control_channel.hpp>

namespace chorale::transport {

class membership;

/// The first failure of a communicator on this rank, and the notice of it for other ranks. Keeping one works
/// without memory: if its text cannot be allocated, a text made at construction replaces it.
class kept_failure {
 public:
  /// Of rank `rank`, with notices of at most `room` bytes.
  kept_failure(int rank, std::size_t room);

  explicit operator bool() const noexcept { return is_there_; }
  /// Precondition: there is one.
  const error* operator->() const noexcept { return &what_; }
  const error& operator*() const noexcept { return what_; }

  /// Keeps the error that `words()` makes or, if that throws, an error made at construction, which says that
  /// memory ran out.
  template <class Words>
  void keep(const Words& words) noexcept {
    try {
      what_ = words();
    } catch (...) {
      // The error made at construction stays.
    }
    is_there_ = true;
  }
  /// Sets the notice. Under the lock of the channel.
  void publish(std::vector<std::byte> body) noexcept;
  /// The notice; empty before `publish`. Under the lock of the channel.
  [[nodiscard]] std::span<const std::byte> notice() const noexcept;

 private:
  error what_;
  std::vector<std::byte> notice_;
  bool is_there_ = false;
  bool is_published_ = false;
};

/// The failure state of one communicator on one rank. The first failure *poisons* it: all other ranks are
/// told, and later calls throw errc::poisoned, or a failure that no call has thrown yet. Before the frames of
/// the failed call are destroyed, the user's memory is *withdrawn* from the peers. One thread at a time;
/// `answer` on any thread, under the lock of the channel.
class failures {
 public:
  /// The objects that it uses, which outlive it.
  struct collaborators {
    const membership& group;
    const dependents& windows;
    call_record& calls;
    frame_arena& frames;
    control_channel& channel;
    liveness& lives;
    endpoint_user& user;
  };
  explicit failures(const collaborators& with);

  // What is known.
  [[nodiscard]] bool is_poisoned() const noexcept { return static_cast<bool>(failure_); }
  /// @throws error errc::poisoned if a call has failed before; that failure itself if it is unreported.
  void require_sound() {
    if (failure_) [[unlikely]]
      throw_earlier();
  }
  /// The exception for later calls, if poisoned.
  [[nodiscard]] std::exception_ptr poison() const noexcept;
  /// True if a peer has reported a failure that no local call has thrown yet.
  [[nodiscard]] bool has_notice() const noexcept { return notice_.has_value(); }
  /// True if a local call has failed, or a peer has reported a failure.
  [[nodiscard]] bool has_any() const noexcept { return is_poisoned() || has_notice(); }
  [[nodiscard]] bool is_withdrawn() const noexcept { return withdrawn_; }
  /// The failure of an await that has ended the call; null if something else ended it.
  [[nodiscard]] const std::exception_ptr& ended_by() const noexcept { return ended_by_; }

  // Checks by calls and waits.
  /// Call occasionally while a call waits. @throws error that a peer has reported; as `require_whole`.
  void check();
  /// Call when the algorithm of a call has completed. @throws the failure of an await that the algorithm
  /// ignored; error errc::misuse if an awaitable was never awaited: a `co_await` is missing.
  void require_whole() const {
    if (frames_->has_forgotten()) [[unlikely]]
      throw_unfinished();
  }

  // Failing. In a child of fork() these do nothing, since the communicator is the parent's.
  /// Poisons the communicator because of `why` and tells all ranks. Releases all memory of the user:
  /// afterwards neither this rank nor a peer accesses user memory through this communicator. Precondition:
  /// the coroutines of the failed call are destroyed, or suspended for good.
  void fail(const std::exception_ptr& why) noexcept;
  /// Tells all ranks that the communicator was destroyed from inside one of its calls.
  void abandon() noexcept;
  /// A nonblocking call has failed with `why`. It stays unreported until a request has thrown it, which then
  /// sets `*is_reported`: a program sees the code of the first failure before it sees errc::poisoned.
  void note_unreported(const std::exception_ptr& why, std::shared_ptr<bool> is_reported) noexcept;
  /// A destructor has caught `why` and cannot throw it: if it is a failure of this communicator, the next
  /// call throws it.
  void note_unseen(const std::exception_ptr& why) noexcept;
  /// The part of `fail` that concerns memory, for an await that failed with `why`; null if something else
  /// failed.
  void withdraw_after(std::exception_ptr why) noexcept;
  /// @throws error errc::peer_lost, or the failure that a peer has reported.
  [[noreturn]] void lose(int peer, const std::string& why);

  /// Reports the failure, if any, to `from`, which has asked about a call. False if there is none.
  bool answer(int from);

 private:
  [[noreturn]] void throw_earlier();
  [[noreturn]] void throw_poisoned() const;
  [[noreturn]] void throw_unfinished() const;
  void record(const std::exception_ptr& why) noexcept;
  [[nodiscard]] error in_words(const std::exception_ptr& why) const;
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
  kept_failure failure_;
  std::optional<error> notice_;  ///< reported by a peer
  bool withdrawn_ = false;
  std::exception_ptr ended_by_;
  std::exception_ptr unreported_;
  std::shared_ptr<bool> is_reported_;
  control_channel::subscription notices_;
};

}  // namespace chorale::transport
