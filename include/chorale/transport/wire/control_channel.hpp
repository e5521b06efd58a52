// SPDX-License-Identifier: Apache-2.0
// Datagrams among the ranks of a group, for everything rare: connecting, inquiries, failures, repair.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <chorale/core/background.hpp>
#include <chorale/core/clock.hpp>
#include <chorale/core/config.hpp>
#include <chorale/core/origin.hpp>
#include <chorale/transport/wire/datagram_port.hpp>
#include <chorale/transport/wire/service.hpp>
#include <chorale/verbs/completion_channel.hpp>

namespace chorale::transport {

/// The datagrams of one rank. Checks that they come from the rank of the group that they name, and dispatches
/// each to the part that has subscribed to its kind; knows nothing of calls or failures. A service thread may
/// read while the rank's own thread is elsewhere; besides that, one thread at a time. State shared by both
/// threads is accessed under `lock()`, which is never held while a thread yields or sleeps.
class control_channel {
 public:
  /// A rank of a group of `size` ranks, which authenticate each other by a secret.
  struct identity {
    int rank = 0;
    int size = 1;
    std::uint64_t secret = 0;
  };
  /// The thread on which a handler may be called.
  enum class reader {
    own,  ///< the rank's own thread only: the newest datagram per sender and kind is kept for it
    any,  ///< also the service thread, while the rank is elsewhere
  };
  /// A part's handler of datagrams. Called under the lock; must not read the channel.
  struct handler {
    std::function<void(int from, std::uint16_t kind, std::span<const std::byte> body)> take;
    /// Called by the service thread after reading, when room in the send queue may have become free. For
    /// `reader::any` only.
    std::function<void()> tend{};
  };
  static constexpr std::size_t kinds = 128;  ///< of datagrams: 0 to 127

  /// Dispatches datagrams to its part during its lifetime; the channel must outlive it. Move-only.
  class subscription {
   public:
    subscription() noexcept;
    subscription(subscription&& other) noexcept;
    subscription& operator=(subscription&& other) noexcept;
    ~subscription();

   private:
    friend control_channel;
    struct entry;
    subscription(control_channel& channel, std::unique_ptr<entry> made) noexcept;
    control_channel* channel_ = nullptr;
    std::unique_ptr<entry> entry_;
  };

  /// `events`: where solicited datagrams of `port` raise events. Both are open. `policy`: of the service
  /// thread that `start_service` starts.
  control_channel(const identity& self, std::unique_ptr<verbs::completion_channel> events,
                  std::unique_ptr<datagram_port> port, service_policy policy);
  control_channel(const control_channel&) = delete;
  control_channel& operator=(const control_channel&) = delete;
  ~control_channel();

  [[nodiscard]] int rank() const noexcept { return self_.rank; }
  [[nodiscard]] int size() const noexcept { return self_.size; }
  [[nodiscard]] std::uint64_t secret() const noexcept { return self_.secret; }
  /// Largest body of a datagram, in bytes.
  [[nodiscard]] std::size_t room() const noexcept;
  [[nodiscard]] datagram_port& port() noexcept { return *port_; }
  [[nodiscard]] const datagram_port& port() const noexcept { return *port_; }

  /// False in a child of fork(), which must not speak in its parent's name.
  [[nodiscard]] bool is_here() const noexcept { return made_.is_here(); }

  /// The error that this rank's own device has reported; empty if there is none. Any thread.
  [[nodiscard]] std::string device_trouble() const noexcept;

  // Sending. @throws error if the queue pair is broken, or a datagram is too large.
  /// Sends one datagram consisting of `body` and `more`; returns false if the send queue is full. A
  /// `solicited` one wakes the service thread of `to`.
  bool send(int to, std::uint16_t kind, std::span<const std::byte> body, std::span<const std::byte> more = {},
            bool solicited = false);
  /// The same, but retries for at most 100 ms. Not under the lock.
  void send_patiently(int to, std::uint16_t kind, std::span<const std::byte> body,
                      std::span<const std::byte> more = {});
  /// Sends a datagram that needs no answer to all other ranks for which `is_there` is true; five times, since
  /// datagrams may be lost, so receivers must tolerate duplicates. A failed send to one rank does not affect
  /// the others. Takes at most one second. Not under the lock.
  void broadcast(std::uint16_t kind, const std::function<std::span<const std::byte>(int to)>& body,
                 const std::function<bool(int to)>& is_there);
  /// Polls the completions of sends: `send` does that only when its queue fills. @throws error if a send
  /// failed.
  void poll_sends();
  /// Waits until all sends have completed, for at most `patience`. Not under the lock.
  void drain(clock::duration patience);

  // Receiving.
  /// Dispatches datagrams of kinds `first` to `last` to `h` from now on. Precondition: no other subscription
  /// to these kinds.
  [[nodiscard]] subscription subscribe(std::uint16_t first, std::uint16_t last, reader who, handler h);
  /// Sets the function that is called with the sender of each datagram of the group, under the lock, on
  /// either thread.
  void on_sign_of_life(std::function<void(int from)> heard);
  /// Dispatches pending datagrams and those that the service thread has left; returns false if there were
  /// none. Must not be called from a handler. @throws the failure of the service thread; exceptions of
  /// handlers; error if the queue pair is broken.
  bool read();
  /// True if the service thread has left a datagram of this sender and kind for the rank's own. Under the
  /// lock.
  [[nodiscard]] bool has_kept(int from, std::uint16_t kind) const;
  /// Counts a malformed datagram. Any thread.
  void refuse() noexcept { refused_.fetch_add(1, std::memory_order_relaxed); }
  /// Number of malformed datagrams, which were discarded without an answer.
  [[nodiscard]] std::uint64_t refused() const noexcept { return refused_.load(std::memory_order_relaxed); }

  // The service thread.
  /// Starts a thread that reads while this rank is elsewhere; does nothing if called again. If the policy is
  /// off, the thread that read last reads this channel during each of its waits in Chorale, in any
  /// communicator. @throws error naming this rank if the thread cannot be started.
  void start_service();
  /// True while a thread reads for this rank.
  [[nodiscard]] bool is_served() const noexcept { return service_.has_value(); }
  /// Not under the lock.
  void stop_service() noexcept {
    service_.reset();
    attended_.reset();
  }
  [[nodiscard]] service_lock& lock() noexcept { return lock_; }

 private:
  using entry = subscription::entry;

  void take(std::span<const std::byte> datagram, const ibv_wc& completion, reader by);
  /// False if no datagram had arrived.
  template <reader by>
  bool poll();
  void take_what_was_left();
  void serve() noexcept;
  void fail(std::exception_ptr why) noexcept;
  void unsubscribe(const entry& gone) noexcept;

  identity self_;
  service_policy policy_;
  service_lock lock_;
  std::unique_ptr<verbs::completion_channel> events_;
  std::unique_ptr<datagram_port> port_;
  std::array<entry*, kinds> subscribed_{};
  std::vector<entry*> tended_;  ///< by the service thread
  std::function<void(int)> heard_ = [](int) {};
  /// Left by the service thread for the rank's own thread: the newest body of each source and kind.
  std::map<std::pair<int, std::uint16_t>, std::vector<std::byte>> kept_;
  std::exception_ptr service_failure_;
  bool has_left_something_ = false;  ///< whether the service thread has left either of these
  std::atomic<std::uint64_t> refused_{0};
  std::optional<service> service_;
  std::optional<attendance> attended_;  ///< in place of a service thread
  detail::origin made_;
};

/// Sends `body` and `more`, retrying until the given time, and after that only if there is room at once.
/// Unreachable ranks are skipped. Not under the lock.
inline void send_best_effort(control_channel& channel, int to, std::uint16_t kind,
                             std::span<const std::byte> body, std::span<const std::byte> more,
                             clock::time_point patient_until) noexcept {
  try {
    if (clock::now() < patient_until)
      channel.send_patiently(to, kind, body, more);
    else
      channel.send(to, kind, body, more);
  } catch (...) {
    // The failure cannot be reported; the other ranks are still told, even if memory ran out for this one.
  }
}

}  // namespace chorale::transport
