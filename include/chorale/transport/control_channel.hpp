// Datagrams among the ranks of a group, for everything rare: connecting, questions, failures, repair.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <chorale/core/clock.hpp>
#include <chorale/core/config.hpp>
#include <chorale/core/lean_functional.hpp>
#include <chorale/transport/datagram_port.hpp>
#include <chorale/transport/service.hpp>
#include <chorale/verbs/completion_channel.hpp>

namespace chorale::transport {

/// The datagrams of one rank. It checks that they come from the group, and hands each to the part that has
/// subscribed to its kind; it knows no call and no failure. A service thread may read while the rank's own
/// thread is elsewhere. One thread at a time beside that one; what both threads use is used under `lock()`,
/// which is never held while a thread gives way or sleeps.
class control_channel {
 public:
  /// A rank of a group of `size`, whose ranks know each other by a secret.
  struct identity {
    int rank = 0;
    int size = 1;
    std::uint64_t secret = 0;
  };
  /// On which thread a handler may be called.
  enum class reader {
    own,  ///< the rank's own thread alone: the newest datagram of each sender and kind is kept for it
    any,  ///< the service thread, too, while the rank is elsewhere
  };
  /// What a part does with datagrams. All of it happens under the lock; none of it may read the channel.
  struct handler {
    std::function<void(int from, std::uint16_t kind, std::span<const std::byte> body)> take;
    /// Called by the service thread when it has read what came: room to send may have come back. Only of
    /// `reader::any`.
    std::function<void()> tend{};
  };
  static constexpr std::size_t kinds = 128;  ///< of datagrams: 0 to 127

  /// Hands datagrams to its part as long as it lives, which is at most as long as the channel. Move-only.
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

  /// `events`: where solicited datagrams of `port` raise an event. Both are open. `policy`: of its service
  /// thread, which `start_service` starts.
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

  // Sending. @throws error if the queue pair is broken, or a datagram has no room.
  /// Sends one datagram of `body` and `more` and says whether it could: the send queue may be full. One that
  /// is `solicited` wakes the service thread of `to`.
  bool send(int to, std::uint16_t kind, std::span<const std::byte> body, std::span<const std::byte> more = {},
            bool solicited = false);
  /// The same, patiently: tries for at most 100 ms. Not under the lock.
  void insist(int to, std::uint16_t kind, std::span<const std::byte> body);
  /// Sends to all other ranks of which `is_there` is true what nobody answers; five times, since datagrams
  /// may be lost, so that the receiver must not mind to hear it again. A rank that cannot be sent to does not
  /// keep the others from hearing it. Takes a second at most. Not under the lock.
  void broadcast(std::uint16_t kind, const std::function<std::span<const std::byte>(int to)>& body,
                 const std::function<bool(int to)>& is_there);
  /// Looks whether what was sent has left, and how: `send` looks only when its queue fills. @throws error if
  /// it has failed.
  void look_after_sends();
  /// Waits until all that was sent has left, for at most `patience`. Not under the lock.
  void drain(clock::duration patience);

  // Receiving.
  /// From now on datagrams of the kinds from `first` to `last` are handed to `h`. Nobody else has subscribed
  /// to any of these.
  [[nodiscard]] subscription subscribe(std::uint16_t first, std::uint16_t last, reader who, handler h);
  /// `heard` is called with the sender of each datagram of the group, under the lock, by either thread.
  void on_sign_of_life(std::function<void(int from)> heard);
  /// Hands out what has come. Not from a handler. @throws what the service thread has failed by; what
  /// handlers throw; error if the queue pair is broken.
  void read();
  /// A datagram that is not as its sender should have written it. Any thread.
  void refuse() noexcept { refused_.fetch_add(1, std::memory_order_relaxed); }
  /// How many that were: thrown away, and not answered.
  [[nodiscard]] std::uint64_t refused() const noexcept { return refused_.load(std::memory_order_relaxed); }

  // The service thread.
  /// From now on a thread reads while this rank is elsewhere; nothing happens if the policy says off, or at a
  /// second call. @throws error naming this rank if there can be no thread.
  void start_service();
  /// Not under the lock.
  void stop_service() noexcept { service_.reset(); }
  [[nodiscard]] service_lock& lock() noexcept { return lock_; }

 private:
  using entry = subscription::entry;

  void take(std::span<const std::byte> datagram, reader by);
  void serve() noexcept;
  void unsubscribe(const entry& gone) noexcept;

  identity self_;
  service_policy policy_;
  service_lock lock_;
  std::unique_ptr<verbs::completion_channel> events_;
  std::unique_ptr<datagram_port> port_;
  std::array<entry*, kinds> subscribed_{};
  std::vector<entry*> tended_;  ///< by the service thread
  std::function<void(int)> heard_ = [](int) {};
  /// What the service thread left to the rank's own: the newest of each source and kind.
  std::map<std::pair<int, std::uint16_t>, std::vector<std::byte>> kept_;
  std::exception_ptr service_failure_;
  std::atomic<std::uint64_t> refused_{0};
  std::optional<service> service_;
};

}  // namespace chorale::transport
