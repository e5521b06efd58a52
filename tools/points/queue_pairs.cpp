// SPDX-License-Identifier: Apache-2.0
// P5 figure 6(b): "a simple ping-pong latency benchmark with multiple connections present between the two
// nodes", used in turn.
#include "wires.hpp"

namespace points {
namespace {

/// Half of the round-trip time over the first `used` queue pairs of `way`.
class ping_pong final : public timed_by_one {
 public:
  ping_pong(const job& in, std::shared_ptr<wires> way, int used, const char* over)
      : timed_by_one(in, "ping-pong", fmt::format("{} queue pairs", used), over),
        way_(std::move(way)),
        used_(used) {}

  std::string check(std::size_t bytes, team&) override {
    const std::uint64_t messages = static_cast<std::uint64_t>(used_) * 2 + 1;
    std::string wrong;
    exchange(messages, bytes, [&](std::uint64_t number, bool before) {
      // The answer has the payload of the next number.
      if (before) return fill(way_->outgoing(number, bytes), number + static_cast<std::uint64_t>(rank()));
      if (way_->incoming().size() != bytes && wrong.empty())
        wrong = fmt::format("message {} has {} bytes, not {}", number, way_->incoming().size(), bytes);
      if (wrong.empty()) wrong = compare(way_->incoming(), number + static_cast<std::uint64_t>(1 - rank()));
    });
    return wrong;
  }

 private:
  double go(std::size_t bytes, int calls) override {
    const auto begin = chorale::bench::timer::now();
    exchange(static_cast<std::uint64_t>(calls), bytes, [](std::uint64_t, bool) {});
    return chorale::bench::seconds_since(begin) / 2;
  }
  /// Calls `each(number, true)` before this rank sends message `number`, and `each(number, false)` when the
  /// answer has arrived.
  template <class Each>
  void exchange(std::uint64_t messages, std::size_t bytes, Each&& each) {
    if (rank() > 1) return;
    way_->restart(used_);
    for (std::uint64_t number = 0; number < messages; ++number) {
      if (rank() == 1) {
        way_->receive(number);
        each(number, false);
      }
      each(number, true);
      way_->send(number, bytes);
      if (rank() == 0) {
        way_->receive(number);
        each(number, false);
      }
    }
  }

  std::shared_ptr<wires> way_;
  int used_;
};

}  // namespace

contestants queue_pairs(const job& in, const std::vector<int>& counts) {
  contestants all;
  auto connections =
      std::make_shared<wires>(in, IBV_QPT_RC, *std::max_element(counts.begin(), counts.end()), in.largest);
  for (const int used : counts)
    all.push_back({"RC", std::make_unique<ping_pong>(in, connections, used, "rc"), used});
  const auto mtu = static_cast<std::size_t>(in.control.transport().chosen().mtu_bytes);
  if (in.largest > mtu) return all;
  all.push_back(
      {"UD", std::make_unique<ping_pong>(in, std::make_shared<wires>(in, IBV_QPT_UD, 1, in.largest), 1, "ud"),
       1});
  return all;
}

}  // namespace points
