// SPDX-License-Identifier: Apache-2.0
// A message in flight.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include <chorale/simulation/time.hpp>

#include "../machine/adapter.hpp"
#include "steady.hpp"

namespace chorale::simulation::ghosts {

struct connection;
struct lane;

/// A message, from the doorbell to its completion or, in a mailbox, until its receiver has released it.
/// A large run has millions.
struct flight {
  enum class kind : std::uint8_t { signal, message, notification, put, notified_put, get };

  kind what = kind::signal;
  bool is_in_request = false;   ///< it was posted inline and fits into the request
  bool is_upwards = false;      ///< from the lower rank of its connection
  bool is_passed = false;       ///< a put whose bytes stay in its sender's cache until they are read
  std::uint32_t signature = 0;  ///< of the message's call
  std::uint32_t payload = 0;    ///< bytes of a message's payload
  connection* on = nullptr;
  flight* next = nullptr;   ///< in its list
  std::uint64_t bytes = 0;  ///< on the wire
  std::uint64_t left = 0;   ///< bytes that have not departed
  std::uint64_t value = 0;  ///< number of the call; in a notification the count of freed messages
  std::unique_ptr<std::byte[]> content{};  ///< of a message; null: all zeroes
  departure leaves{};
  placement placed{};

  [[nodiscard]] bool notifies() const noexcept { return what == kind::notified_put; }
  /// Whether its sender gets a completion.
  [[nodiscard]] bool is_signalled() const noexcept {
    return what == kind::put || what == kind::notified_put || what == kind::get;
  }
  /// Whether it stays in the receiver's mailbox.
  [[nodiscard]] bool is_kept() const noexcept { return what == kind::message; }
  [[nodiscard]] int from() const noexcept;
  [[nodiscard]] int to() const noexcept;
  [[nodiscard]] std::uint32_t from_queue_pair() const noexcept;
  [[nodiscard]] std::uint32_t to_queue_pair() const noexcept;
  [[nodiscard]] lane& over() const noexcept;
};

/// A queue of flights, each in one queue at most. It is a single pointer, since there are two queues for each
/// pair of ranks.
class flight_list {
 public:
  [[nodiscard]] bool empty() const noexcept { return last_ == nullptr; }
  [[nodiscard]] flight& front() const noexcept { return *last_->next; }
  /// The flight after `one`; null after the last.
  [[nodiscard]] flight* after(const flight& one) const noexcept { return &one == last_ ? nullptr : one.next; }
  void push(flight& one) noexcept {
    one.next = empty() ? &one : last_->next;
    if (!empty()) last_->next = &one;
    last_ = &one;
  }
  flight& pop() noexcept {
    flight& first = front();
    if (&first == last_)
      last_ = nullptr;
    else
      last_->next = first.next;
    first.next = nullptr;
    return first;
  }

 private:
  flight* last_ = nullptr;  ///< its `next` is the first
};

/// A pool of flights with stable addresses.
class flight_pool {
 public:
  [[nodiscard]] flight& take() {
    if (free_ == nullptr) return all_.add();
    return *std::exchange(free_, std::exchange(free_->next, nullptr));
  }
  void give_back(flight& one) noexcept {
    one = {};
    one.next = std::exchange(free_, &one);
  }

 private:
  steady<flight> all_;
  flight* free_ = nullptr;
};

}  // namespace chorale::simulation::ghosts
