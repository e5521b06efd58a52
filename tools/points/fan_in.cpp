// SPDX-License-Identifier: Apache-2.0
// P5 figure 6(c): "several nodes send messages to the root node": with copies all at once (concurrent), and
// without copies one after another (serial).
#include <chorale/algorithm/gather/flat.hpp>
#include <chorale/transport/rc_send_receive.hpp>

#include "figure.hpp"

namespace points {
namespace {

/// So small that all messages count as long.
constexpr std::size_t least_eager = 64;

template <class Transport>
class gathering final : public timed_by_one {
 public:
  gathering(const job& in, const char* series, const chorale::config& settings)
      : timed_by_one(in, "fan-in", series, Transport::name),
        comm_(settings),
        out_(in.largest),
        into_(in.largest * static_cast<std::size_t>(comm_.size())) {}

  std::string check(std::size_t bytes, team&) override {
    std::string wrong;
    for (std::uint64_t round = 0; round < 3; ++round) {
      const auto number = [&](int from) { return round * 64 + static_cast<std::uint64_t>(from); };
      fill(std::span{out_}.first(bytes), number(rank()));
      std::fill(into_.begin(), into_.end(), std::byte{0});
      call(bytes);
      for (int from = 1; from < comm_.size() && rank() == 0 && wrong.empty(); ++from)
        wrong = compare(place(from, bytes), number(from));
    }
    return wrong;
  }

 private:
  [[nodiscard]] std::span<std::byte> place(int from, std::size_t bytes) {
    return std::span{into_}.subspan(static_cast<std::size_t>(from) * bytes, bytes);
  }
  double go(std::size_t bytes, int calls) override {
    return chorale::bench::time_apart(
        calls, [&] { call(bytes); }, [this] { meet(); });
  }
  void call(std::size_t bytes) {
    comm_.gather(std::span<const std::byte>{out_}.first(bytes),
                 std::span{into_}.first(rank() == 0 ? bytes * static_cast<std::size_t>(comm_.size()) : 0));
  }

  chorale::communicator<Transport, chorale::gather::flat> comm_;
  std::vector<std::byte> out_;
  std::vector<std::byte> into_;
};

}  // namespace

contestants fan_in(const job& in) {
  contestants all;
  using chorale::transport::rc_send_receive;
  auto settings = chorale::config::from_environment();
  settings.send_receive_eager_bytes = least_eager;
  settings.send_receive_long = chorale::long_send_policy::copy;
  all.push_back({"concurrent", std::make_unique<gathering<rc_send_receive>>(in, "concurrent", settings)});
  settings.send_receive_long = chorale::long_send_policy::serial;
  all.push_back({"serial", std::make_unique<gathering<rc_send_receive>>(in, "serial", settings)});
  return all;
}

}  // namespace points
