// SPDX-License-Identifier: Apache-2.0
// The cost of matching a message with its receive.
#include <chrono>
#include <cstddef>
#include <span>
#include <vector>

#include <catch2/catch.hpp>

#include <chorale/algorithm/transfer.hpp>
#include <chorale/communicator.hpp>
#include <chorale/simulation/run.hpp>
#include <chorale/transport/rc.hpp>
#include <chorale/transport/rc_send_receive.hpp>

#include "../support/in_call.hpp"
#include "../support/simulated.hpp"

using namespace chorale::simulation;
using namespace std::chrono_literals;
using chorale::eager_policy;

namespace {

/// When rank 1 has received the first message of rank 0 over its connection, if matching takes `match`.
template <class Transport>
instant received(std::size_t bytes, duration match, const chorale::config& settings = {}) {
  machine on = support::test_machine(2);
  on.host.match = match;
  instant then{};
  run(2, on, [&](group& g) {
    chorale::communicator<Transport> comm{g, settings};
    std::vector<std::byte> data(bytes, std::byte{7});
    support::in_call(comm, [&](auto& net, auto now) -> chorale::task<> {
      if (comm.rank() == 0) {
        co_await chorale::transfer::send(net, 1, now, std::span<const std::byte>{data});
      } else {
        data.assign(bytes, std::byte{0});
        co_await chorale::transfer::receive(net, 0, now, std::span{data});
        then = chorale::simulation::now();
        if (data.back() != std::byte{7}) throw std::runtime_error{"the message is wrong"};
      }
    });
  });
  return then;
}

}  // namespace

TEST_CASE("Matching costs once per message over send and receive, and nothing over other transports",
          "[matching]") {
  using chorale::transport::rc_send_receive;
  chorale::config settings;
  settings.send_receive_eager = GENERATE(eager_policy::receive_queue, eager_policy::rdma_write);
  CHECK(received<rc_send_receive>(100, 1us, settings) - received<rc_send_receive>(100, 0us, settings) == 1us);
  // In three blocks; the later ones may arrive while the first is matched.
  settings.send_receive_block_bytes = 256;
  const auto longer =
      received<rc_send_receive>(600, 5us, settings) - received<rc_send_receive>(600, 0us, settings);
  CHECK(longer > 0us);
  CHECK(longer <= 5us);
  CHECK(received<chorale::transport::rc>(100, 1us) == received<chorale::transport::rc>(100, 0us));
}
