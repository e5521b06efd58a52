// SPDX-License-Identifier: Apache-2.0
// Exchanges in which one rank sends a message that the other does not receive.
#include <chorale/transport/ud.hpp>

#include "../support/collectives/guarded_buffer.hpp"
#include "harness.hpp"

using chorale::errc;

#define EXCHANGE_TRANSPORTS MISUSE_TRANSPORTS, chorale::transport::ud

namespace {

using buffer = collectives::guarded_buffer<int>;

/// Rank 1, the receiver, detects the error in the call, all ranks at the latest in the next barrier; the text
/// contains `words`.
void check_named(const misuse::outcomes& all, const std::vector<std::string>& words) {
  INFO(misuse::describe(all));
  CHECK(all[1].is(errc::mismatch));
  for (const auto& one : all) {
    const auto& seen = one.failure ? one.failure : one.later;
    REQUIRE(seen);
    const std::string text = seen->what();
    for (const auto& word : words) {
      INFO(word);
      CHECK(text.find(word) != std::string::npos);
    }
  }
}

}  // namespace

TEMPLATE_TEST_CASE("exchange: the counts of a message differ", "[misuse]", EXCHANGE_TRANSPORTS) {
  struct lengths {
    std::size_t sent;
    std::size_t taken;
    int earlier = 0;  // calls before, with the count that is sent: senders that learn try both ways
  };
  std::size_t turn = 0;
  for (const auto& [sent, taken, earlier] :
       {lengths{9, 10}, lengths{100, 10}, lengths{0, 1}, lengths{1, 0}, lengths{5000, 4500},
        lengths{100'000, 90'000}, lengths{10, 100'000}, lengths{100'000, 0}, lengths{25'000, 24'000, 1},
        lengths{25'000, 40'000, 3}}) {
    const int size = misuse::group_sizes[turn++ % std::size(misuse::group_sizes)];
    buffer in{taken, 4};
    auto c = misuse::settings();
    if (earlier != 0) c.blocks = 2;  // which the first call uses
    const auto all = misuse::run<chorale::communicator<TestType>>(
        size, c, [&, sent = sent, earlier = earlier](auto& comm) {
          const std::vector<int> out(sent, 7);
          const int n = comm.size();
          const int me = comm.rank();
          int around = 0;
          std::vector<int> before(sent);
          for (int i = 0; i < earlier; ++i) {
            const int peer = me < 2 ? 1 - me : static_cast<int>(chorale::nobody);
            comm.exchange({chorale::to(peer, out)}, {chorale::from(peer, before)});
          }
          if (me == 0)
            comm.exchange({chorale::to(1, me), chorale::to(1, out)}, {chorale::from(n - 1, around)});
          else if (me == 1)
            comm.exchange({chorale::to((me + 1) % n, me)},
                          {chorale::from(0, around), chorale::from(0, in.span())});
          else
            comm.exchange({chorale::to((me + 1) % n, me)}, {chorale::from(me - 1, around)});
        });
    check_named(all, {"message 1 (from 0) of those from rank 0 to rank 1", std::to_string(4 * sent),
                      "rank 1 expects " + std::to_string(4 * taken) + " bytes"});
    in.check_guards("what is taken");
  }
}

TEMPLATE_TEST_CASE("exchange: more messages are sent, or other elements", "[misuse]", EXCHANGE_TRANSPORTS) {
  for (const int size : misuse::group_sizes) {
    const auto more = misuse::run<TestType>(size, [](auto& comm) {
      const int one = 1, two = 2;
      int in = 0;
      if (comm.rank() == 0) comm.exchange({chorale::to(1, one), chorale::to(1, two)}, {});
      if (comm.rank() == 1) comm.exchange({}, {chorale::from(0, in)});
      if (comm.rank() > 1) comm.exchange({}, {});
    });
    check_named(more, {"rank 0 sends 2 messages to rank 1 in exchange, which takes 1"});
    const auto other = misuse::run<TestType>(size, [](auto& comm) {
      const int one = 1;
      float in = 0;
      if (comm.rank() == 0) comm.exchange({chorale::to(1, one)}, {});
      if (comm.rank() == 1) comm.exchange({}, {chorale::from(0, in)});
      if (comm.rank() > 1) comm.exchange({}, {});
    });
    check_named(other, {"int32", "float32"});
  }
}

TEMPLATE_TEST_CASE("exchange: a message that nobody takes is an error of the next call", "[misuse]",
                   EXCHANGE_TRANSPORTS) {
  const auto all = misuse::run<TestType>(2, [](auto& comm) {
    const int one = 1;
    if (comm.rank() == 0)
      comm.exchange({chorale::to(1, one)}, {});
    else
      comm.exchange({}, {});
    comm.barrier();
  });
  check_named(all, {"exchange", "never taken"});
}

TEMPLATE_TEST_CASE("exchange: a message that nobody sends is named, not waited for", "[misuse]",
                   EXCHANGE_TRANSPORTS) {
  for (const int size : misuse::group_sizes) {
    const std::size_t count = size == 4 ? 100'000 : 1;
    const auto all = misuse::run<TestType>(size, [count](auto& comm) {
      std::vector<int> in(count);
      if (comm.rank() == 1)
        comm.exchange({}, {chorale::from(0, in)});
      else
        comm.exchange({}, {});
    });
    check_named(all, {"rank 0", "rank 1", "exchange"});
  }
}
