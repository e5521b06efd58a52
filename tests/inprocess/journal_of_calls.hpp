// SPDX-License-Identifier: Apache-2.0
// An observer that records its notifications, and detects contradictions among them.
#pragma once

#include <cstddef>
#include <deque>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include <chorale/transport/observers/observer.hpp>

namespace inprocess {

/// A completed call, as reported.
struct ended_call {
  std::uint64_t number = 0;
  chorale::call what;
  std::string algorithm;
  bool is_nonblocking = false;
  bool has_failed = false;
  std::size_t waits = 0;
  chorale::clock::duration took{};
  chorale::clock::duration waited{};
};

/// Observes one communicator. Collects contradictions, since hooks must not throw.
class journal_of_calls final : public chorale::observer {
 public:
  void on_made(const chorale::observed_communicator& who) noexcept override {
    ++made;
    on_ = &who;
  }
  void on_ended(const chorale::observed_communicator& who) noexcept override {
    ++ended;
    require(&who == on_, "another communicator ends than was made");
  }
  void on_begin(const chorale::observed_call& call) noexcept override {
    require(call.on == on_, "a call of another communicator");
    require(call.number > last_, "numbers of calls grow");
    require(call.begun >= time_, "calls begin in their order");
    require(call.over == chorale::clock::time_point{}, "a call is over before it has begun");
    last_ = call.number;
    time_ = call.begun;
    open_.push_back({call.number, false, 0});
    ++begun;
  }
  void on_run(const chorale::observed_call& call) noexcept override {
    require(!open_.empty() && open_.front().number == call.number, "calls run in their order");
    require(call.run >= call.begun, "a call runs before it is made");
    if (!open_.empty()) open_.front().runs = true;
  }
  void on_wait(const chorale::observed_wait& wait) noexcept override {
    require(!open_.empty() && wait.in->number == open_.front().number, "a wait in a call that does not run");
    require(wait.begin >= wait.in->run && wait.end >= wait.begin, "a wait outside of its call");
    require(wait.peer < wait.in->on->size && wait.peer != wait.in->on->rank, "a wait for no peer");
    if (!open_.empty()) ++open_.front().waits;
  }
  void on_end(const chorale::observed_call& call) noexcept override {
    require(!open_.empty() && open_.front().number == call.number, "calls end in their order");
    require(call.over >= call.begun, "a call ends before it begins");
    if (call.run != chorale::clock::time_point{})
      require(call.waited <= call.over - call.run, "a call waits for longer than it runs");
    else
      require(call.failure != nullptr, "a call ends well that has not run");
    calls.push_back({call.number, call.what, std::string{call.algorithm}, call.is_nonblocking,
                     call.failure != nullptr, open_.empty() ? 0 : open_.front().waits, call.over - call.begun,
                     call.waited});
    if (!open_.empty()) open_.pop_front();
  }
  void on_event(const chorale::observed_event& event) noexcept override { events.push_back(event.what); }

  /// @throws std::runtime_error with the contradictions.
  void check() const {
    if (!complaints_.empty()) throw std::runtime_error(complaints_);
  }

  std::size_t made = 0;
  std::size_t ended = 0;
  std::size_t begun = 0;
  std::vector<ended_call> calls;
  std::vector<chorale::observed_event::kind> events;

 private:
  struct open_call {
    std::uint64_t number;
    bool runs;
    std::size_t waits;
  };
  void require(bool holds, const char* what) { complaints_ += holds ? "" : std::string{what} + "\n"; }

  const chorale::observed_communicator* on_ = nullptr;
  std::uint64_t last_ = 0;
  chorale::clock::time_point time_{};
  std::deque<open_call> open_;
  std::string complaints_;
};

}  // namespace inprocess
