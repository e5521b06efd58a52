// SPDX-License-Identifier: Apache-2.0
// P1 section 2.1.3: a datagram to several ranks, by one multicast, and one by one.
#include <chrono>
#include <optional>
#include <random>
#include <sched.h>
#include <stdexcept>

#include <chorale/core/clock.hpp>
#include <chorale/transport/wire/datagram_queue.hpp>

#include "../../lib/transport/multicast/multicast_address.hpp"
#include "../../lib/transport/multicast/multicast_queue_pair.hpp"
#include "wires.hpp"

namespace points {
namespace {

namespace net = chorale::transport;
namespace verbs = chorale::verbs;

constexpr std::uint32_t group_key = 0x1ee8;
/// More datagrams than a receiver can fall behind, since the receivers answer in turn.
constexpr std::uint32_t most_waiting = 256;

/// Datagrams between all pairs of ranks.
class letters {
 public:
  /// Collective.
  explicit letters(const job& in)
      : queue_(in.control.transport().device(), in.control.transport().domain(),
               {.datagram_bytes = in.largest, .receives = most_waiting}) {
    struct card {
      verbs::endpoint_address where;
      std::uint32_t number;
    };
    auto& control = in.control;
    const auto port = port_of(control);
    queue_.open({.port = port.number, .pkey_index = port.pkey_index, .qkey = group_key});
    for (const card& theirs : control.allgather(card{port.address, queue_.pair().number()})) {
      ways_.emplace_back(control.transport().domain(), verbs::path_to(port, theirs.where));
      numbers_.push_back(theirs.number);
    }
  }
  /// Sends the first `bytes` of message `number`. Precondition: the previous message in the same place was
  /// answered.
  void send(int to, std::uint64_t number, std::size_t bytes) {
    while (!queue_.may_send()) {
    }
    const auto rank = static_cast<std::size_t>(to);
    queue_.send(queue_.content(index(number), bytes), {ways_[rank].native(), numbers_[rank], group_key},
                false);
  }
  [[nodiscard]] std::byte* place(std::uint64_t number) const noexcept { return queue_.place(index(number)); }
  [[nodiscard]] net::datagram_queue& queue() noexcept { return queue_; }
  template <class Handler>
  void poll(Handler&& handler) {
    queue_.poll(handler);
  }

 private:
  static std::uint32_t index(std::uint64_t number) noexcept { return number % 2; }

  std::vector<verbs::address_handle> ways_;
  std::vector<std::uint32_t> numbers_;
  net::datagram_queue queue_;
};

/// A multicast group of rank 0 and the next `receivers` ranks.
std::unique_ptr<net::multicast_queue_pair> make_group(const job& in, letters& by, int receivers) {
  auto& control = in.control;
  const auto& transport = control.transport();
  const auto port = port_of(control);
  const auto number = control.allgather(std::uint32_t{std::random_device{}()}).front();
  const auto& settings = transport.settings();
  std::unique_ptr<net::multicast_queue_pair> made;
  if (control.rank() <= receivers)
    made = std::make_unique<net::multicast_queue_pair>(
        by.queue(), transport.device(), transport.domain(), port,
        net::multicast_queue_pair::options{.group = net::multicast_gid(transport.device(), port, number),
                                           .is_managed = net::is_managed(transport.device(), port, settings),
                                           .qkey = group_key,
                                           .datagram_bytes = in.largest,
                                           .receives = most_waiting,
                                           .places = 1,
                                           .pkey_index = port.pkey_index});
  control.barrier();
  return made;
}

/// Half of the time from sending to `receivers` ranks until the answer of one of them, a datagram to rank 0,
/// has arrived. They answer in turn, so that the mean covers all of them.
class to_several final : public timed_by_one {
 public:
  to_several(const job& in, std::shared_ptr<letters> one_by_one, bool by_multicast, int receivers)
      : timed_by_one(in, "datagrams", by_multicast ? "multicast" : "one by one", "verbs"),
        letters_(std::move(one_by_one)),
        group_(by_multicast ? make_group(in, *letters_, receivers) : nullptr),
        by_multicast_(by_multicast),
        receivers_(receivers),
        yields_(in.control.transport().oversubscribed()),
        largest_(in.largest),
        waiting_(most_waiting * largest_),
        sizes_(most_waiting) {}

  std::string check(std::size_t bytes, team&) override {
    std::string wrong;
    exchange(static_cast<std::uint64_t>(2 * receivers_ + 1), bytes,
             [&](std::uint64_t number, std::byte* out) {
               if (out != nullptr) return fill({out, bytes}, number + (rank() == 0 ? 0 : 100));
               if (wrong.empty() && taken_.size() != bytes)
                 wrong = fmt::format("message {} has {} bytes, not {}", number, taken_.size(), bytes);
               if (wrong.empty()) wrong = compare(taken_, number + (rank() == 0 ? 100 : 0));
             });
    return wrong;
  }

 private:
  double go(std::size_t bytes, int calls) override {
    const auto begin = chorale::bench::timer::now();
    exchange(static_cast<std::uint64_t>(calls), bytes, [](std::uint64_t, std::byte*) {});
    return chorale::bench::seconds_since(begin) / 2;
  }

  /// Calls `each(number, place)` before a message is sent from `place`, and `each(number, nullptr)` when one
  /// has arrived.
  template <class Each>
  void exchange(std::uint64_t messages, std::size_t bytes, Each&& each) {
    if (rank() > receivers_) return;
    for (std::uint64_t number = 0; number < messages; ++number) {
      if (rank() == 0) {
        each(number, by_multicast_ ? group_->place(0).data() : letters_->place(number));
        send_to_all(number, bytes);
      }
      receive(number);
      each(number, nullptr);
      if (answers(number)) {
        each(number, letters_->place(number));
        letters_->send(0, number, bytes);
      }
    }
  }
  [[nodiscard]] bool answers(std::uint64_t number) const noexcept {
    return number % static_cast<std::uint64_t>(receivers_) + 1 == static_cast<std::uint64_t>(rank());
  }
  void send_to_all(std::uint64_t number, std::size_t bytes) {
    if (by_multicast_) {
      while (!group_->is_free(0) || !group_->send(0, bytes)) {
      }
      return;
    }
    for (int to = 1; to <= receivers_; ++to) letters_->send(to, number, bytes);
  }
  [[nodiscard]] std::byte* waiting(std::uint64_t arrival) noexcept {
    return waiting_.data() + arrival % most_waiting * largest_;
  }
  /// Waits for the next datagram, and sets `taken_` to it.
  void receive(std::uint64_t number) {
    const auto take = [this](std::span<const std::byte> datagram, const ibv_wc&) {
      std::ranges::copy(datagram, waiting(came_));
      sizes_[came_++ % most_waiting] = datagram.size();
    };
    const auto look = [&] {
      if (by_multicast_ && rank() > 0)
        group_->poll(take);
      else
        letters_->poll(take);
      // The sender also receives the group's datagrams.
      if (by_multicast_ && rank() == 0) group_->poll([](std::span<const std::byte>, const ibv_wc&) {});
      return came_ > over_;
    };
    const auto begin = chorale::clock::now();
    for (std::uint64_t tries = 1; !look(); ++tries) {
      if (yields_) sched_yield();
      if (tries % 65536 == 0 && chorale::clock::now() - begin > std::chrono::seconds{20})
        throw std::runtime_error(fmt::format(
            "message {} did not come within 20 s: a datagram was lost, or a rank has ended", number));
    }
    taken_ = {waiting(over_), sizes_[over_ % most_waiting]};
    ++over_;
  }

  std::shared_ptr<letters> letters_;
  std::unique_ptr<net::multicast_queue_pair> group_;
  bool by_multicast_;
  int receivers_;
  bool yields_;
  std::size_t largest_;
  std::vector<std::byte> waiting_;  ///< ring of received datagrams
  std::vector<std::size_t> sizes_;
  std::uint64_t came_ = 0;
  std::uint64_t over_ = 0;  ///< number of received datagrams
  std::span<const std::byte> taken_;
};

}  // namespace

contestants multicast(const job& in, const std::vector<int>& receivers) {
  auto& control = in.control;
  const auto& transport = control.transport();
  if (const auto mtu = transport.chosen().mtu_bytes; in.largest > static_cast<std::size_t>(mtu))
    throw std::runtime_error(fmt::format("a datagram has {} bytes at most, not {}", mtu, in.largest));
  const bool possible = net::has_multicast(transport.device(), port_of(control), transport.settings());
  const auto one_by_one = std::make_shared<letters>(in);
  contestants all;
  for (const bool by_multicast : {true, false})
    for (const int count : receivers) {
      if (count >= control.size() || (by_multicast && !possible)) continue;
      all.push_back({by_multicast ? "multicast" : "one by one",
                     std::make_unique<to_several>(in, one_by_one, by_multicast, count), count});
    }
  return all;
}

}  // namespace points
