// SPDX-License-Identifier: Apache-2.0
// The call behind a plan, which can be started repeatedly.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include <chorale/calls/call_queue.hpp>
#include <chorale/core/call.hpp>
#include <chorale/core/task.hpp>
#include <chorale/request.hpp>
#include <chorale/transport/endpoint/entry.hpp>
#include <chorale/transport/memory/dependents.hpp>

namespace chorale::calls {

/// Starts the algorithm of one call, any number of times.
class repeated_start {
 public:
  repeated_start() = default;
  repeated_start(const repeated_start&) = delete;
  repeated_start& operator=(const repeated_start&) = delete;
  virtual ~repeated_start() = default;
  virtual task<> operator()(call_id now) = 0;
};

/// A call whose arguments have been checked, with everything that is the same for all its starts. It may
/// outlive its communicator, but cannot be started after its end. To be used only by the thread of the
/// communicator. It cannot be moved.
class planned_call {
 public:
  planned_call(detail::call_queue& queue, const call& what, std::unique_ptr<repeated_start> start);
  planned_call(const planned_call&) = delete;
  planned_call& operator=(const planned_call&) = delete;

  /// Begins the call. @throws error errc::misuse if its last start is not over, or the communicator has
  /// ended.
  void start() {
    detail::call_queue& queue = idle_queue();
    const transport::occupancy::entry inside{queue.net().use(), what_.what};
    queue.start(call_, signature_, *start_);
    running_.stand_for(call_);
  }
  /// The blocking form, with the same errors. Inline, so that it costs less than the plain call.
  [[gnu::always_inline]] void run() {
    detail::call_queue& queue = idle_queue();
    const transport::occupancy::entry inside{queue.net().use(), what_.what};
    queue.run(what_, signature_, *start_);
  }
  [[nodiscard]] bool is_running() const noexcept { return running_.valid(); }
  /// The call that a start has begun; without one, it counts as complete.
  [[nodiscard]] request& running() noexcept { return running_; }

 private:
  [[nodiscard]] detail::call_queue& idle_queue() const {
    if (queue_ == nullptr || is_running()) [[unlikely]]
      refuse_start();
    return *queue_;
  }
  [[noreturn]] void refuse_start() const;
  [[noreturn]] void refuse(const char* why) const;

  detail::call_queue* queue_;  ///< null once the communicator has ended
  int rank_;
  std::uint32_t signature_;
  call what_;
  std::unique_ptr<repeated_start> start_;
  std::shared_ptr<detail::pending_call> call_;
  transport::dependents::entry listed_;
  request running_;  ///< destroyed first
};

/// Throws the error of every use of an empty plan.
[[noreturn]] void refuse_empty_plan();

}  // namespace chorale::calls
