// SPDX-License-Identifier: Apache-2.0
// The send/receive transport of the papers' baselines: every collective, and its queue of unexpected
// messages.
#include <cstring>

#include <chorale/transport/rc_send_receive.hpp>
#include <chorale/transport/wire/mailbox.hpp>

#include "../misuse/harness.hpp"
#include "../support/in_call.hpp"
#include "all_calls.hpp"
#include "ranks.hpp"

using namespace inprocess;
using chorale::eager_policy;
using chorale::errc;
using chorale::transport::rc_send_receive;
using support::in_call;
using baseline = chorale::communicator<rc_send_receive>;

namespace {

chorale::config settings_for(eager_policy how) {
  auto c = settings();
  c.send_receive_eager = how;
  return c;
}

}  // namespace

TEST_CASE("every collective runs over send and receive", "[baseline]") {
  const auto how = GENERATE(eager_policy::receive_queue, eager_policy::rdma_write);
  for (const int size : {1, 2, 3, 4, 5, 7, 8}) {
    if (too_large(size) || (how == eager_policy::rdma_write && size % 2 == 0 && size != 8)) continue;
    barrier_witness witness{size};
    run_ranks<baseline>(size, settings_for(how), [&](baseline& comm) {
      // Empty, less than a block, a block and a word, and longer messages by rendezvous.
      check_calls(comm, witness, {0, 1, 2, 2061, 9000}, seed());
      if (size == 3 || size == 4) check_calls(comm, witness, {16384, 50000}, seed());
    });
  }
}

TEST_CASE("small blocks, and few of them", "[baseline]") {
  auto c = settings_for(GENERATE(eager_policy::receive_queue, eager_policy::rdma_write));
  c.send_receive_block_bytes = 256;
  c.blocks = 2;
  barrier_witness witness{4};
  run_ranks<baseline>(4, c, [&](baseline& comm) {
    for (std::size_t count = 0; count < 300; count += 7) check_calls(comm, witness, {count}, seed());
  });
}

TEST_CASE("unexpected messages do not block the awaited one", "[baseline]") {
  // The other 4 ranks may have 4 * 128 messages in flight to rank 0, more than half of the 512 receives of
  // its queue; rank 0 first receives those of the last rank, each of which is sent after all others have
  // arrived.
  auto c = settings();
  c.blocks = 128;
  std::uint64_t copied_out = 0;
  constexpr int size = 5;
  run_ranks<baseline>(size, c, [&](baseline& comm) {
    const chorale::call what{.what = chorale::operation::barrier};
    auto& net = comm.transport();
    const auto now = net.begin(what);
    const auto run = [&](auto&& body) {
      chorale::task<> t = body();
      t.resume();
      t.result();
    };
    const auto payload = [&](int from, int i) {
      return element(seed(), from, everybody, static_cast<std::size_t>(i));
    };
    constexpr int messages = 120;
    if (comm.rank() != 0) {
      run([&]() -> chorale::task<> {
        if (comm.rank() == size - 1) {
          for (int r = 1; r < size - 1; ++r) co_await net.signalled(r, now);
        }
        for (int i = 0; i < messages; ++i) {
          const word w = payload(comm.rank(), i);
          co_await net.send(0, now, std::as_bytes(std::span{&w, 1}));
        }
        if (comm.rank() != size - 1) co_await net.signal(size - 1, now);
      });
    } else {
      run([&]() -> chorale::task<> {
        for (int r = size - 1; r > 0; --r) {
          for (int i = 0; i < messages; ++i) {
            auto arrived = co_await net.receive(r, now);
            word w = 0;
            if (arrived.bytes().size() == sizeof w) std::memcpy(&w, arrived.bytes().data(), sizeof w);
            if (w != payload(r, i)) throw std::runtime_error("a message is not the one that was sent");
          }
        }
      });
      copied_out = net.parts().mailbox().copied_out();
    }
    net.complete(now);
    comm.barrier();
  });
  CHECK(copied_out > 0);
}

TEST_CASE("messages by RDMA write take no receives", "[baseline]") {
  auto c = settings_for(eager_policy::rdma_write);
  c.blocks = 4;
  run_ranks<baseline>(3, c, [&](baseline& comm) {
    std::vector<word> mine(100, element(seed(), comm.rank(), everybody, 0)), all(300);
    for (int call = 0; call < 10; ++call) {
      comm.allgather(std::span<const word>{mine}, std::span{all});
      for (std::size_t i = 0; i < all.size(); ++i)
        if (all[i] != element(seed(), static_cast<int>(i / 100), everybody, 0))
          throw std::runtime_error("word " + std::to_string(i) + " is wrong");
    }
    const auto& boxes = comm.transport().parts().mailbox();
    // Each call sends at least one message, whichever algorithm is chosen for the device.
    if (boxes.statistics().blocks < 10 || boxes.copied_out() != 0)
      throw std::runtime_error(std::to_string(boxes.statistics().blocks) + " messages, " +
                               std::to_string(boxes.copied_out()) + " of which were copied out");
  });
}

TEST_CASE("a message stays where it is while later ones arrive", "[baseline]") {
  auto c = settings_for(GENERATE(eager_policy::receive_queue, eager_policy::rdma_write));
  c.blocks = 4;
  run_ranks<baseline>(2, c, [&](baseline& comm) {
    const int other = 1 - comm.rank();
    in_call(comm, [&](auto& net, auto now) -> chorale::task<> {
      for (std::size_t i = 0; i < 4; ++i) {
        const word w = element(seed(), comm.rank(), other, i);
        co_await net.send(other, now, std::as_bytes(std::span{&w, 1}));
      }
      std::vector<rc_send_receive::arrival> held;
      for (int i = 0; i < 4; ++i) held.push_back(co_await net.receive(other, now));
      for (std::size_t i = 0; i < 4; ++i) {
        word w = 0;
        std::memcpy(&w, held[i].bytes().data(), sizeof w);
        if (w != element(seed(), other, comm.rank(), i))
          throw std::runtime_error("a held message has changed");
      }
      for (auto& h : held) h.release();
      // As many again: all blocks have been released.
      for (int i = 0; i < 4; ++i) co_await net.send(other, now, {});
      for (int i = 0; i < 4; ++i) auto arrived = co_await net.receive(other, now);
    });
  });
}

TEST_CASE("calls that differ are a mismatch over send and receive", "[baseline]") {
  auto c = settings_for(GENERATE(eager_policy::receive_queue, eager_policy::rdma_write));
  c.deadline = std::chrono::seconds{20};
  const auto all = errors_of<baseline>(3, c, [](auto& comm) {
    if (comm.rank() == 1)
      static_cast<void>(comm.allreduce(word{1}, chorale::sum));
    else
      comm.barrier();
    comm.barrier();
  });
  CHECK(count_of(all, errc::mismatch) == 3);
}

TEST_CASE("a message that was not received is detected by a signal of a later call", "[baseline]") {
  auto c = settings_for(GENERATE(eager_policy::receive_queue, eager_policy::rdma_write));
  const auto all = misuse::run<baseline>(2, c, [](baseline& comm) {
    const int one = 1;
    if (comm.rank() == 0)
      comm.exchange({chorale::to(1, one)}, {});
    else
      comm.exchange({}, {});
    comm.barrier();
  });
  INFO(misuse::describe(all));
  CHECK(all[1].is(errc::mismatch));
  CHECK(all[1].says({"exchange", "never taken"}));
  CHECK((all[0].failed() || all[0].later));
}

namespace {

using chorale::transport::mailbox_layout;
using chorale::transport::mailbox_trailer;
using chorale::transport::send_receive_mailbox;

/// The bytes that a faulty peer writes in place of its second message.
struct forged {
  const char* what;
  send_receive_mailbox::message_header header;
  std::uint32_t bytes;  ///< according to its trailer
  std::uint32_t count;  ///< number of its message, from 1
};

chorale::task<> send_and_forge(rc_send_receive& net, chorale::call_id now, const forged& second) {
  const word w = 0;
  co_await net.send(1, now, std::as_bytes(std::span{&w, 1}));
  const mailbox_layout ring{
      net.block_bytes() + sizeof(send_receive_mailbox::message_header) + sizeof(mailbox_trailer),
      net.settings().least_blocks()};
  const mailbox_trailer trailer{second.bytes, 0, 0, second.count};
  std::vector<std::byte> text(sizeof second.header + 8 + sizeof trailer);
  std::memcpy(text.data(), &second.header, sizeof second.header);
  std::memcpy(text.data() + text.size() - sizeof trailer, &trailer, sizeof trailer);
  const auto& link = *net.parts().mailbox().sender_of(1)->account.link;
  const chorale::remote_region inbox{link.there.inbox, ring.total_bytes(), link.there.key, 1};
  const auto held = net.lend(text);
  co_await net.put(inbox, ring.block_end(1) - text.size(), held, text, now);
  co_await net.flush(1, now);
  co_await net.signalled(1, now);
}

chorale::task<> receive_two(rc_send_receive& net, chorale::call_id now) {
  for (int i = 0; i < 2; ++i) auto arrived = co_await net.receive(0, now);
  co_await net.signal(0, now);
}

}  // namespace

TEST_CASE("a message in a ring is validated before it is used", "[baseline]") {
  auto c = settings_for(eager_policy::rdma_write);
  c.blocks = 4;
  using kind = send_receive_mailbox::kind;
  for (const forged& second : {
           forged{"longer than a block", {kind::message, 1, 8}, 0xffff'fff0, 2},
           forged{"a byte longer than a block", {kind::message, 1, 8}, 8208 + 1, 2},
           forged{"shorter than a header", {kind::message, 1, 0}, 15, 2},
           forged{"nothing", {kind::message, 1, 0}, 0, 2},
           forged{"of another length than its header says", {kind::message, 1, 9}, 24, 2},
           forged{"a request that is none", {kind::request, 1, 8}, 24, 2},
           forged{"a signal", {kind::signal, 1, 0}, 16, 2},
           forged{"of no kind", {static_cast<kind>(77), 1, 8}, 24, 2},
           forged{"in a block that was not given back", {kind::message, 1, 8}, 24, 6},
       }) {
    const auto all = misuse::run<baseline>(2, c, [&](baseline& comm) {
      in_call(comm, [&](auto& net, auto now) {
        return comm.rank() == 0 ? send_and_forge(net, now, second) : receive_two(net, now);
      });
    });
    INFO(second.what << "\n" << misuse::describe(all));
    CHECK(all[1].is(errc::peer_lost));
    CHECK(all[1].says({"it wrote something that is not a message"}));
    CHECK(all[1].names(0));
  }
}

TEST_CASE("a communicator ends with messages unread", "[baseline]") {
  const auto how = GENERATE(eager_policy::receive_queue, eager_policy::rdma_write);
  run_ranks<baseline>(3, settings_for(how), [&](baseline& comm) {
    comm.barrier();
    auto& net = comm.transport();
    const auto now = net.begin({.what = chorale::operation::barrier});
    const auto body = [&]() -> chorale::task<> {
      const std::vector<std::byte> bytes(1000);
      for (int to = 0; to < comm.size(); ++to) {
        if (to == comm.rank()) continue;
        for (int i = 0; i < 5; ++i) co_await net.send(to, now, bytes);
        co_await net.signal(to, now);
      }
    };
    chorale::task<> t = body();
    t.resume();
    t.result();
  });
}
