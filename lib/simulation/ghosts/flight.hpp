// A message on its way.
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

/// A message from the doorbell to the completion; that of a mailbox until its receiver has given it back.
/// There are millions.
struct flight {
  enum class kind : std::uint8_t { signal, message, notification, put, notified_put, get };

  kind what = kind::signal;
  bool is_in_request = false;   ///< it was posted inline, and the request has room for it
  bool is_upwards = false;      ///< from the lower rank of its connection
  std::uint32_t signature = 0;  ///< of a message: that of its call
  std::uint32_t payload = 0;    ///< of a message: how many of its bytes
  connection* on = nullptr;
  flight* next = nullptr;   ///< in a list
  std::uint64_t bytes = 0;  ///< as they go over the wire
  std::uint64_t left = 0;   ///< of these so many have not departed
  std::uint64_t value = 0;  ///< of a signal or a message the number of its call; of a notification how many
  std::unique_ptr<std::byte[]> content{};  ///< of a message; null: zeroes
  departure leaves{};
  placement placed{};

  [[nodiscard]] bool notifies() const noexcept { return what == kind::notified_put; }
  /// Whether its sender hears of its end.
  [[nodiscard]] bool is_signalled() const noexcept {
    return what == kind::put || what == kind::notified_put || what == kind::get;
  }
  /// Whether its receiver keeps it.
  [[nodiscard]] bool is_kept() const noexcept { return what == kind::message; }
  [[nodiscard]] int from() const noexcept;
  [[nodiscard]] int to() const noexcept;
  [[nodiscard]] std::uint32_t from_queue_pair() const noexcept;
  [[nodiscard]] std::uint32_t to_queue_pair() const noexcept;
  [[nodiscard]] lane& over() const noexcept;
};

/// Flights in a row, each in one at most: a pointer, since there are two for each pair of ranks.
class flight_list {
 public:
  [[nodiscard]] bool empty() const noexcept { return last_ == nullptr; }
  [[nodiscard]] flight& front() const noexcept { return *last_->next; }
  /// What comes after one of them; null after the last.
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
  flight* last_ = nullptr;  ///< whose next is the first
};

/// Flights, each at its place until it is given back.
class hangar {
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
