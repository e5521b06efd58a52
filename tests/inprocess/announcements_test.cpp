// SPDX-License-Identifier: Apache-2.0
// Data announced by completions, since memory may show writes in any order: every call is correct, and
// announcements of peers are validated.
#include <arpa/inet.h>
#include <atomic>
#include <cstring>
#include <string>

#include <chorale/algorithm/barrier/dissemination.hpp>
#include <chorale/transport/hybrid.hpp>
#include <chorale/transport/rc.hpp>
#include <chorale/transport/rc_send_receive.hpp>
#include <chorale/transport/wire/mailbox.hpp>

#include "../misuse/harness.hpp"
#include "../support/in_call.hpp"
#include "all_calls.hpp"
#include "ranks.hpp"

using namespace inprocess;
using chorale::errc;
using chorale::placement_policy;
using chorale::transport::connections;
using chorale::transport::mailbox_layout;
using support::in_call;

namespace {

chorale::config announced(placement_policy how) {
  auto c = settings();
  c.placement = how;
  return c;
}

/// The invalid announcement that a rank sends to rank 1.
struct bad_announcement {
  const char* what;
  ibv_wr_opcode opcode;
  std::uint32_t imm;
  std::uint32_t bytes;
};

template <class Net>
void post(Net& net, const bad_announcement& bad) {
  auto& link = *net.parts().mailbox().sender_of(1)->account.link;
  const std::uint64_t word[4]{};
  ibv_sge from{reinterpret_cast<std::uintptr_t>(word), bad.bytes, 0};
  ibv_send_wr request{};
  request.sg_list = &from;
  request.num_sge = 1;
  request.opcode = bad.opcode;
  request.send_flags = IBV_SEND_INLINE;
  request.imm_data = htonl(bad.imm);
  request.wr.rdma.remote_addr = link.there.inbox;
  request.wr.rdma.rkey = link.there.key;
  link.qp->post_send(request);
}

/// Rank 0 sends an invalid announcement; both ranks then wait for a message that never arrives.
chorale::task<> announce_badly(chorale::transport::rc& net, chorale::call_id now,
                               const bad_announcement& bad) {
  const int other = 1 - net.rank();
  if (net.rank() == 0) {
    co_await net.signal(other, now);
    post(net, bad);
  }
  co_await net.signalled(other, now);
  auto arrived = co_await net.receive(other, now);
}

/// Rank 0 puts into memory of rank 1, and flushes after rank 1 has left.
chorale::task<> flush_late(chorale::transport::rc& net, chorale::call_id now,
                           const std::atomic<bool>& has_left) {
  std::array<std::byte, 100> memory{};
  const auto here = net.expose(memory);
  if (net.rank() == 1) {
    const chorale::remote_region mine = here.region();
    co_await net.send(0, now, std::as_bytes(std::span{&mine, 1}));
    co_await net.notified(0, now);
    co_return;
  }
  chorale::remote_region there;
  {
    const auto arrived = co_await net.receive(1, now);
    std::memcpy(&there, arrived.bytes().data(), sizeof there);
  }
  co_await net.put_notified(there, 0, here, memory, now);
  while (!has_left) chorale::clock::give_way();
  co_await net.flush(1, now);
}

}  // namespace

TEST_CASE("a flush needs nothing of a rank that has ended the call and left", "[connections]") {
  std::atomic<bool> has_left{false};
  run_anywhere(2, [&](support::any_group& group) {
    {
      chorale::communicator<chorale::transport::rc> comm{group, announced(placement_policy::unordered)};
      in_call(comm, [&](auto& net, auto now) { return flush_late(net, now, has_left); });
    }
    if (group.rank() == 1) has_left = true;
  });
}

TEMPLATE_TEST_CASE("every collective is right where completions announce data", "[connections]",
                   chorale::transport::rc, chorale::transport::rc_send_receive,
                   chorale::transport::hybrid<2>) {
  using communicator = chorale::communicator<TestType>;
  for (const int size : {1, 2, 3, 5, 8}) {
    if (too_large(size)) continue;
    auto c = announced(placement_policy::unordered);
    c.send_receive_eager =
        size % 2 == 0 ? chorale::eager_policy::receive_queue : chorale::eager_policy::rdma_write;
    if (size == 5) c.blocks = 2;
    if (size == 8) c.connections = 2;
    barrier_witness witness{size};
    run_ranks<communicator>(size, c, [&](communicator& comm) {
      check_calls(comm, witness, {0, 1, 5, 2061, 20000}, seed());
      const std::string why = comm.explain(chorale::operation::barrier);
      if (why.find("announced by completions, as CHORALE_PLACEMENT=unordered says") == std::string::npos)
        throw std::runtime_error(why);
    });
  }
}

TEST_CASE("ranks may differ in how data is announced to them", "[connections]") {
  using communicator = chorale::communicator<chorale::transport::rc>;
  run_anywhere(3, [](support::any_group& group) {
    communicator comm{
        group, announced(group.rank() == 1 ? placement_policy::unordered : placement_policy::automatic)};
    check_moves(comm, 100, seed());
    check_reductions(comm, 100, seed());
  });
}

TEST_CASE("an announcement of a peer is validated before it is used", "[connections]") {
  // A communicator type that the tests of misuse do not instantiate.
  using communicator = chorale::communicator<chorale::transport::rc, chorale::barrier::dissemination>;
  constexpr std::uint32_t mark = connections::written_mark;
  for (const bad_announcement& bad : {
           bad_announcement{"a word in a block", IBV_WR_SEND_WITH_IMM, mailbox_layout::blocks_offset, 8},
           bad_announcement{"a word far away", IBV_WR_SEND_WITH_IMM, 0xffff'fff8, 8},
           bad_announcement{"a word between two", IBV_WR_SEND_WITH_IMM, 4, 8},
           bad_announcement{"half a word", IBV_WR_SEND_WITH_IMM, 0, 4},
           bad_announcement{"no word", IBV_WR_SEND_WITH_IMM, 0, 0},
           bad_announcement{"a message before the first", IBV_WR_RDMA_WRITE_WITH_IMM, mark, 0},
           bad_announcement{"a message of long ago", IBV_WR_RDMA_WRITE_WITH_IMM, mark | 0x7fff'fff0, 0},
           bad_announcement{"a message far ahead", IBV_WR_RDMA_WRITE_WITH_IMM, mark | 1000, 0},
       }) {
    const auto all =
        misuse::run<communicator>(2, announced(placement_policy::unordered), [&](communicator& comm) {
          in_call(comm, [&](auto& net, auto now) { return announce_badly(net, now, bad); });
        });
    INFO(bad.what << "\n" << misuse::describe(all));
    CHECK(all[1].is(errc::peer_lost));
    CHECK((all[1].says({"it sent a word that belongs nowhere"}) ||
           all[1].says({"it announced a message that it may not have sent"})));
    CHECK(all[1].names(0));
  }
}
