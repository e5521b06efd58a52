// SPDX-License-Identifier: Apache-2.0
// The system services that a thread uses besides time, and how a simulation replaces them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace chorale {

/// Work that runs concurrently with a thread until it is joined.
class helper {
 public:
  helper() = default;
  helper(const helper&) = delete;
  helper& operator=(const helper&) = delete;
  /// Precondition: joined.
  virtual ~helper() = default;
  /// Waits until the work has ended. Call it once.
  virtual void join() = 0;
};

/// The host of a simulated thread.
struct simulated_host {
  std::string name;
  int cores = 1;  ///< cores available to its threads
};

/// The state of a process as other processes of its host see it.
enum class simulated_process { running, stopped, gone };

/// A simulation's replacement for the system's random numbers, helper threads and host, for a thread whose
/// time it has replaced too (core/clock.hpp). Such threads call its functions.
class system_services {
 public:
  /// The calling thread's replacement; null if it uses the system.
  [[nodiscard]] static system_services* replaced() noexcept { return replaced_; }
  /// Sets the calling thread's replacement and returns the previous one.
  static system_services* replace(system_services* by) noexcept {
    system_services* const before = replaced_;
    replaced_ = by;
    return before;
  }

  /// Identifies the thread, or the fiber of a simulation, that is running. Never null.
  [[nodiscard]] static const void* this_flow() noexcept {
    return replaced_ == nullptr ? static_cast<const void*>(&replaced_) : replaced_->flow();
  }

  [[nodiscard]] virtual std::uint64_t random_word() = 0;
  /// Starts `work` within the caller's simulation.
  [[nodiscard]] virtual std::unique_ptr<helper> start_helper(std::function<void()> work) = 0;
  [[nodiscard]] virtual const void* flow() const noexcept = 0;
  [[nodiscard]] virtual simulated_host host() const = 0;
  /// Id of the current process, from 1; 0 if other processes cannot see it.
  [[nodiscard]] virtual std::int64_t process() const noexcept = 0;
  /// Precondition: `process` is an id, not 0.
  [[nodiscard]] virtual simulated_process state_of(std::int64_t process) const noexcept = 0;

 protected:
  system_services() = default;
  system_services(const system_services&) = default;
  system_services& operator=(const system_services&) = default;
  ~system_services() = default;

 private:
  [[gnu::tls_model("initial-exec")]] static constinit thread_local system_services* replaced_;
};

/// An unpredictable number; in a simulation determined by the seed. @throws error errc::unsupported if the
/// system provides none.
[[nodiscard]] std::uint64_t unguessable_word();

}  // namespace chorale
