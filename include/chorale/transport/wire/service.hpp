// SPDX-License-Identifier: Apache-2.0
// A thread that answers the peers of a rank while the rank itself is elsewhere.
#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>

#include <chorale/core/config.hpp>
#include <chorale/core/system_services.hpp>
#include <chorale/verbs/completion_channel.hpp>

namespace chorale::transport {

/// Lock between a rank's own thread and its service thread. Free of cost while there is no service thread;
/// recursive at the cost of a few instructions, since functions that send and read datagrams may be called
/// with the lock held.
class service_lock {
 public:
  void lock() {
    if (!shared_ || take_again()) return;
    if (system_services::replaced() != nullptr) [[unlikely]]
      give_way_until_free();
    mutex_.lock();
    own();
  }
  bool try_lock() {
    if (!shared_ || take_again()) return true;
    if (system_services::replaced() != nullptr && !is_free()) [[unlikely]]
      return false;
    if (!mutex_.try_lock()) return false;
    own();
    return true;
  }
  void unlock() {
    if (!shared_ || --depth_ > 0) return;
    owner_.store(nullptr, std::memory_order_relaxed);
    mutex_.unlock();
  }
  /// Declares that there is a second thread from now on. Not while the lock is held.
  void share() noexcept { shared_ = true; }

 private:
  // Relaxed suffices: only the owner can find its own identity here, whatever other threads see.
  bool take_again() noexcept {
    if (owner_.load(std::memory_order_relaxed) != system_services::this_flow()) return false;
    ++depth_;
    return true;
  }
  void own() noexcept {
    owner_.store(system_services::this_flow(), std::memory_order_relaxed);
    depth_ = 1;
  }
  // Needed for fibers of one thread, which a mutex cannot distinguish.
  [[nodiscard]] bool is_free() const noexcept { return owner_.load(std::memory_order_relaxed) == nullptr; }
  void give_way_until_free() noexcept;

  std::mutex mutex_;
  std::atomic<const void*> owner_{nullptr};
  int depth_ = 0;  ///< recursion depth of the owner
  bool shared_ = false;
};

/// The service thread: with service_policy::event it sleeps until a solicited datagram arrives, with polling
/// it polls continuously. P1 section 4.3 uses one for lost multicasts, P5 section 4.2 for reads. It blocks
/// the program's signals, and does not wait for the lock except to report its failure: while the rank's own
/// thread holds the lock, that thread answers.
class service {
 public:
  struct work {
    std::function<void()> arm;  ///< arms the event for the next solicited datagram
    std::function<void()>
        serve;  ///< handles all arrived datagrams; called with the lock held; does not throw
    std::function<void(std::exception_ptr)>
        fail;  ///< the thread ends and no longer answers; called with the lock held; does not throw
    /// Reads events of the device; called without the lock. An exception ends the thread and is passed to
    /// `fail`.
    std::function<void()> look{};
    int reports = -1;  ///< descriptor that is readable when the device has an event
  };
  /// @throws std::system_error if the thread cannot be started.
  service(verbs::completion_channel& channel, service_lock& lock, service_policy policy, work w);
  service(const service&) = delete;
  service& operator=(const service&) = delete;
  /// Stops and joins the thread. Must not be called with the lock held.
  ~service();

 private:
  void run();
  void poll_always();
  void sleep_for_events();
  bool serve_once();
  /// True if the thread has to end: it was stopped, or the device has failed.
  [[nodiscard]] bool stopped(int milliseconds);
  /// Calls `work::look`; false if it threw, which ends the thread.
  [[nodiscard]] bool look();
  void give_up();

  verbs::completion_channel* channel_;
  service_lock* lock_;
  service_policy policy_;
  work work_;
  int stop_ = -1;  ///< eventfd
  std::unique_ptr<helper> thread_;
};

}  // namespace chorale::transport
