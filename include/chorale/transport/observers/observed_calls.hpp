// SPDX-License-Identifier: Apache-2.0
// The calls in progress of an observed communicator.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <chorale/core/call.hpp>
#include <chorale/core/clock.hpp>
#include <chorale/model/last_choice.hpp>
#include <chorale/transport/observers/call_record.hpp>
#include <chorale/transport/observers/cycle_clock.hpp>
#include <chorale/transport/observers/observer.hpp>
#include <chorale/transport/observers/sampled_kinds.hpp>

namespace chorale::transport {

/// Reports a communicator's activity to its observers. Does nothing without observers. One thread at a time,
/// as the communicator.
class observed_calls {
 public:
  /// `calls`: the communicator's record, which notes whether there are observers. `resent`: returns the
  /// messages that the transport has retransmitted so far. `sampling`: config::sampling.
  observed_calls(call_record& calls, observed_communicator who, clock::duration sampling,
                 std::function<std::uint64_t()> resent);
  observed_calls(const observed_calls&) = delete;
  observed_calls& operator=(const observed_calls&) = delete;
  ~observed_calls();

  /// The communicator's description for observers.
  [[nodiscard]] const observed_communicator& who() const noexcept { return who_; }
  void add(std::shared_ptr<observer> one);
  void remove(const std::shared_ptr<observer>& one) noexcept;
  /// Changes the communicator's name.
  void rename(const std::string& name);
  /// The first observer of type `Observer`; null if there is none.
  template <class Observer>
  [[nodiscard]] Observer* find() const noexcept {
    for (const listener& l : all_)
      if (auto* const found = dynamic_cast<Observer*>(l.who.get())) return found;
    return nullptr;
  }

  /// Whether the next call, a blocking one with this signature, is passed: not reported, unless it waits for
  /// long or fails (`catch_up`).
  [[nodiscard]] bool passes(std::uint32_t signature) noexcept { return kinds_.passes(signature); }
  /// If call `now` was passed, reports its beginning after all. Returns whether it was.
  bool catch_up(call_id now) noexcept;
  /// Tells observers how many calls and window operations were passed so far.
  void report_passed() noexcept;
  /// Call `number` begins.
  void begin(std::uint64_t number, const call& what, bool is_nonblocking);
  /// The algorithm of the latest call was constructed, so that its name may be known.
  void note_algorithm() noexcept;
  /// The call's algorithm starts to run.
  void run(std::uint64_t number) noexcept;
  /// The call has ended; ignored if its beginning was not reported.
  void end(std::uint64_t number, const std::exception_ptr& failure) noexcept;
  /// All calls in progress have ended with `failure`.
  void end_all(const std::exception_ptr& failure) noexcept;
  /// Begins a blocking wait; returns false if it is not reported. A wait that an exception ends counts as
  /// ended with its call.
  bool begin_wait() noexcept;
  /// A wait that is not reported has become long. Returns whether it is reported from this time on.
  bool begin_long_wait(call_id now) noexcept;
  void end_wait(std::uint64_t number, int peer) noexcept;
  void tell(observed_event what) noexcept;
  /// A window operation begins. Until `end_access`, waits belong to it, not to a nonblocking call that is in
  /// progress meanwhile.
  void begin_access(const observed_event& what) noexcept;
  /// It has ended.
  void end_access(observed_event what) noexcept;

  /// Registers an algorithm for `what` that makes its choice in each call: `last(choice)` returns its latest
  /// choice. Both must live as long as the communicator makes calls.
  void ask(operation what, const void* choice, model::last_choice (*last)(const void*)) noexcept;

 private:
  /// An observer, which is notified of calls from number `since` on.
  struct listener {
    std::shared_ptr<observer> who;
    std::uint64_t since = 0;
    [[nodiscard]] bool knows(const observed_call& call) const noexcept { return call.number >= since; }
  };
  struct chooser {
    const void* choice = nullptr;
    model::last_choice (*last)(const void*) = nullptr;
  };

  /// Operations on windows, of which one is in progress at a time.
  struct access {
    bool is_open = false;
    std::uint32_t key = 0;      ///< of its kind
    clock::time_point since{};  ///< its beginning; zero if it is passed
    sampled_kinds<observed_event> kinds;
  };

  static constexpr std::size_t operations = static_cast<std::size_t>(operation::exchange) + 1;

  [[nodiscard]] std::string_view algorithm_of(operation what);
  [[nodiscard]] observed_call* find(std::uint64_t number) noexcept;
  void end_first(const std::exception_ptr& failure, clock::time_point now) noexcept;
  /// Whether observers are content with samples.
  [[nodiscard]] bool is_sampled() const noexcept;
  void tell_passed(const observed_call& last, std::uint64_t calls) const noexcept;
  void tell_passed(const observed_event& last, std::uint64_t events) const noexcept;

  call_record* calls_;
  observed_communicator who_;
  const void* flow_;  ///< the thread that made the communicator
  std::function<std::uint64_t()> resent_;
  std::vector<listener> all_;
  clock::duration sampling_;
  sampled_kinds<observed_call> kinds_;
  cycle_clock times_;
  std::vector<observed_call> open_;  ///< those before `first_` have ended
  std::size_t first_ = 0;
  std::uint64_t resent_before_ = 0;  ///< at the end of the previous call
  clock::time_point waits_since_{};  ///< beginning of the current wait of a call; zero if there is none
  access window_;
  std::array<chooser, operations> choosers_{};
  std::array<std::string, operations> names_;  ///< names of algorithms that are the same in each call
};

}  // namespace chorale::transport
