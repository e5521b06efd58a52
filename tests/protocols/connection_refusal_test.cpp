// How often a rank asks to close a connection that its peer keeps.
#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include <catch2/catch.hpp>

#include <chorale/core/clock.hpp>
#include <chorale/transport/connections/connection_table.hpp>
#include <chorale/transport/connections/ledger.hpp>

namespace {

using namespace chorale::transport;
using namespace std::chrono_literals;
using time_point = connection_table::time_point;

/// Queue pairs that do nothing, and the last request to close one.
struct idle_port final : connection_port {
  void open(int) override {}
  void accept(int) override {}
  void close(int) noexcept override {}
  void set_ready(int, bool) noexcept override {}
  void send(int, const connect_request&) override {}
  void send(int, const close_message& m) override { asked = m; }
  bool is_drained(int) override { return true; }
  ledger counts(int) override { return {}; }
  [[nodiscard]] std::uint64_t used(int) const noexcept override { return uses; }
  [[nodiscard]] bool works(int) const noexcept override { return true; }
  [[nodiscard]] bool has_left(int) const noexcept override { return false; }
  [[nodiscard]] bool admits(int) const noexcept override { return true; }

  std::uint64_t uses = 0;
  std::optional<close_message> asked;
};

}  // namespace

TEST_CASE("after a refusal a rank asks again after pauses that double, until the connection is used again",
          "[protocols]") {
  idle_port port;
  connection_table table{port, 3, {.limit = 1, .patience = 1h}};
  time_point now{1h};
  table.wish(1);
  table.advance(1, now);
  table.on_connect(1, {0, 1, 0}, now);
  REQUIRE(table.advance(1, now));
  port.uses = 1;
  // There is room for one, and peer 1 keeps its.
  table.wish(2);
  const auto pauses = [&](std::size_t how_many) {
    std::vector<std::int64_t> all;
    for (time_point last = now; all.size() < how_many; now += 1ms) {
      CHECK(!table.advance(2, now));
      table.progress(now);
      if (!port.asked) continue;
      all.push_back((now - last) / 1ms);
      last = now;
      close_message answer = *port.asked;
      port.asked.reset();
      answer.what = close_message::verdict::refused;
      table.on_close(1, answer, now);
    }
    return all;
  };
  CHECK(pauses(9) == std::vector<std::int64_t>{0, 1, 2, 4, 8, 16, 32, 64, 64});
  ++port.uses;
  const auto after = pauses(4);
  CHECK(std::vector(after.begin() + 1, after.end()) == std::vector<std::int64_t>{1, 2, 4});
}
