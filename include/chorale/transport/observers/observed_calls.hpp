// The calls of a communicator that is observed, while they are open.
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
#include <chorale/transport/call_record.hpp>
#include <chorale/transport/observers/cycle_clock.hpp>
#include <chorale/transport/observers/observer.hpp>

namespace chorale::transport {

/// Tells the observers of one communicator what it does. It is asked for nothing where there are none. One
/// thread at a time, as the communicator.
class observed_calls {
 public:
  /// `calls`: of the communicator, which is told whether somebody observes. `resent`: messages that the
  /// transport has sent again so far.
  observed_calls(call_record& calls, observed_communicator who, std::function<std::uint64_t()> resent);
  observed_calls(const observed_calls&) = delete;
  observed_calls& operator=(const observed_calls&) = delete;
  ~observed_calls();

  /// The communicator, as its observers are told of it.
  [[nodiscard]] const observed_communicator& who() const noexcept { return who_; }
  void add(std::shared_ptr<observer> one);
  void remove(const std::shared_ptr<observer>& one) noexcept;
  /// The communicator is called that from now on.
  void rename(const std::string& name);
  /// The first observer of that type; null if there is none.
  template <class Observer>
  [[nodiscard]] Observer* find() const noexcept {
    for (const listener& l : all_)
      if (auto* const found = dynamic_cast<Observer*>(l.who.get())) return found;
    return nullptr;
  }

  /// The call of that number begins.
  void begin(std::uint64_t number, const call& what, bool is_nonblocking);
  /// Its algorithm was made, so that it may be known which that is.
  void note_algorithm() noexcept;
  /// Its algorithm begins to run.
  void run(std::uint64_t number) noexcept;
  /// It is over: nothing if it was not told of.
  void end(std::uint64_t number, const std::exception_ptr& failure) noexcept;
  /// All that are open are over by `failure`.
  void end_all(const std::exception_ptr& failure) noexcept;
  /// A wait that keeps the thread begins. One that an exception has ended is over when its call is.
  void begin_wait() noexcept;
  void end_wait(std::uint64_t number, int peer) noexcept;
  void tell(observed_event what) noexcept;
  /// By the clock that the times of calls are of.
  [[nodiscard]] clock::time_point now() noexcept { return times_.now(); }

  /// What serves `what` chooses anew for each call: `name(choice)` is what it chose last, empty if that is
  /// not known yet. Both live as long as the communicator makes calls.
  void ask(operation what, const void* choice, std::string_view (*name)(const void*)) noexcept;

 private:
  /// It knows the calls from `since` on.
  struct listener {
    std::shared_ptr<observer> who;
    std::uint64_t since = 0;
    [[nodiscard]] bool knows(const observed_call& call) const noexcept { return call.number >= since; }
  };
  struct chooser {
    const void* choice = nullptr;
    std::string_view (*name)(const void*) = nullptr;
  };

  static constexpr std::size_t operations = static_cast<std::size_t>(operation::exchange) + 1;

  [[nodiscard]] std::string_view algorithm_of(operation what);
  [[nodiscard]] observed_call* find(std::uint64_t number) noexcept;
  void end_first(const std::exception_ptr& failure, clock::time_point now) noexcept;

  call_record* calls_;
  observed_communicator who_;
  const void* flow_;  ///< the thread that made the communicator
  std::function<std::uint64_t()> resent_;
  std::vector<listener> all_;
  cycle_clock times_;
  std::vector<observed_call> open_;  ///< those before `first_` are over
  std::size_t first_ = 0;
  std::uint64_t resent_before_ = 0;  ///< by the end of the call before
  clock::time_point waits_since_{};  ///< of the wait that is under way; zero if there is none
  std::array<chooser, operations> choosers_{};
  std::array<std::string, operations> names_;  ///< of algorithms that are the same in each call
};

}  // namespace chorale::transport
