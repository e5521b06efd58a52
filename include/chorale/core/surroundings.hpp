// What a thread finds around it besides time, and how a simulation replaces it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <chorale/core/lean_functional.hpp>

namespace chorale {

/// Work that runs beside that of a thread, until it is joined.
class helper {
 public:
  helper() = default;
  helper(const helper&) = delete;
  helper& operator=(const helper&) = delete;
  /// Joined before.
  virtual ~helper() = default;
  /// Waits until the work has ended. Once.
  virtual void join() = 0;
};

/// The host of a simulated thread.
struct simulated_host {
  std::string name;
  int cores = 1;  ///< that its threads may use
};

/// A process as the others of its host see it.
enum class simulated_process { running, stopped, gone };

/// What a simulation puts in the place of the system for a thread whose time it has replaced, too
/// (core/clock.hpp): random numbers, other threads, the host. Its functions are called by such threads.
class surroundings {
 public:
  /// Those of the calling thread; null: it has the system's.
  [[nodiscard]] static surroundings* replaced() noexcept { return replaced_; }
  /// From now on those of the calling thread. Returns what it was before.
  static surroundings* replace(surroundings* by) noexcept {
    surroundings* const before = replaced_;
    replaced_ = by;
    return before;
  }

  /// Names what runs: the thread, or the fiber of a simulation. Never null.
  [[nodiscard]] static const void* this_flow() noexcept {
    return replaced_ == nullptr ? static_cast<const void*>(&replaced_) : replaced_->flow();
  }

  [[nodiscard]] virtual std::uint64_t random_word() = 0;
  /// Starts `work` as part of what the caller simulates.
  [[nodiscard]] virtual std::unique_ptr<helper> start_helper(std::function<void()> work) = 0;
  [[nodiscard]] virtual const void* flow() const noexcept = 0;
  [[nodiscard]] virtual simulated_host host() const = 0;
  /// The number of the process that runs, from 1; 0: others cannot see it.
  [[nodiscard]] virtual std::int64_t process() const noexcept = 0;
  /// Of a process with a number.
  [[nodiscard]] virtual simulated_process state_of(std::int64_t process) const noexcept = 0;

 protected:
  surroundings() = default;
  surroundings(const surroundings&) = default;
  surroundings& operator=(const surroundings&) = default;
  ~surroundings() = default;

 private:
  [[gnu::tls_model("initial-exec")]] static constinit thread_local surroundings* replaced_;
};

}  // namespace chorale
