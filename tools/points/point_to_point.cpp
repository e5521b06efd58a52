// SPDX-License-Identifier: Apache-2.0
// P5 figure 8: latency and bandwidth of RC and UD.
#include <chorale/transport/rc_send_receive.hpp>
#include <chorale/transport/ud.hpp>

#include "figure.hpp"

namespace points {
namespace {

/// Messages between ranks 0 and 1 by the library's exchange: `in_flight` in one direction, and one back; a
/// ping-pong if that is 1.
template <class Transport>
class messages final : public timed_by_one {
 public:
  messages(const job& in, int in_flight)
      : timed_by_one(in, in_flight == 1 ? "latency" : "bandwidth", "exchange", Transport::name),
        comm_(chorale::config::from_environment()),
        in_flight_(in_flight),
        out_(room(in)),
        into_(room(in)) {}

  std::string check(std::size_t bytes, team&) override {
    std::string wrong;
    for (std::uint64_t round = 0; round < 3; ++round) {
      for (int i = 0; i < in_flight_; ++i) fill(message(out_, i, bytes), number(round, i, rank()));
      std::fill(into_.begin(), into_.end(), std::byte{0});
      call(bytes);
      const int came = rank() == 0 ? 1 : rank() == 1 ? in_flight_ : 0;
      for (int i = 0; i < came && wrong.empty(); ++i)
        wrong = compare(message(into_, i, bytes), number(round, i, 1 - rank()));
    }
    return wrong;
  }

 private:
  [[nodiscard]] std::vector<std::byte> room(const job& in) const {
    return std::vector<std::byte>(in.largest * static_cast<std::size_t>(in_flight_));
  }
  static std::uint64_t number(std::uint64_t round, int i, int from) {
    return round * 64 + static_cast<std::uint64_t>(i * 2 + from);
  }
  static std::span<std::byte> message(std::vector<std::byte>& of, int i, std::size_t bytes) {
    return std::span{of}.subspan(static_cast<std::size_t>(i) * bytes, bytes);
  }

  double go(std::size_t bytes, int calls) override {
    // A ping-pong counts as two one-way calls. In one direction, each message is a call, and the time
    // includes the answer.
    const int rounds = std::max(1, calls / in_flight_);
    const double took = chorale::bench::time_together(rounds, [&] { call(bytes); });
    return took * calls / rounds / (in_flight_ == 1 ? 2 : in_flight_);
  }
  /// The two sides may pass lists of different lengths, since messages are matched by sender and order.
  void call(std::size_t bytes) {
    std::vector<chorale::outgoing> sends;
    std::vector<chorale::incoming> takes;
    const bool first = rank() == 0;
    for (int i = 0; i < (first ? in_flight_ : 1); ++i)
      sends.push_back(chorale::to(1 - rank(), message(out_, i, bytes)));
    for (int i = 0; i < (first ? 1 : in_flight_); ++i)
      takes.push_back(chorale::from(1 - rank(), message(into_, i, bytes)));
    if (rank() > 1) {
      comm_.exchange({}, {});
      return comm_.exchange({}, {});
    }
    if (first) comm_.exchange(sends, {});
    comm_.exchange({}, takes);
    if (!first) comm_.exchange(sends, {});
  }

  chorale::communicator<Transport> comm_;
  int in_flight_;
  std::vector<std::byte> out_;
  std::vector<std::byte> into_;
};

}  // namespace

contestants point_to_point(const job& in, int in_flight) {
  using namespace chorale::transport;
  contestants all;
  all.push_back({"RC, RDMA", std::make_unique<messages<rc>>(in, in_flight)});
  all.push_back({"RC, send/receive", std::make_unique<messages<rc_send_receive>>(in, in_flight)});
  all.push_back({"UD", std::make_unique<messages<ud>>(in, in_flight)});
  return all;
}

}  // namespace points
