// SPDX-License-Identifier: Apache-2.0
// The history of a run is the same in each run and, by its checksum, with each compiler.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <catch2/catch.hpp>

#include <chorale/algorithm/allreduce/recursive_doubling.hpp>
#include <chorale/algorithm/alltoall/pairwise.hpp>
#include <chorale/core/blocks.hpp>
#include <chorale/core/call.hpp>
#include <chorale/core/fnv.hpp>
#include <chorale/core/reduction.hpp>
#include <chorale/simulation/run.hpp>
#include <chorale/transport/hybrid.hpp>
#include <chorale/transport/rc.hpp>
#include <chorale/transport/ud_rdma.hpp>

namespace {

namespace sim = chorale::simulation;
using namespace std::chrono_literals;

constexpr int ranks = 16;

/// A checksum of all records, in order.
std::uint64_t sum(const sim::recorder& notes) {
  const auto count = [](sim::instant when) {
    return static_cast<std::uint64_t>(when.time_since_epoch().count());
  };
  std::uint64_t all = chorale::detail::fnv_offset_basis;
  const auto add = [&all](std::uint64_t number) { all = chorale::detail::fnv1a(number, all); };
  for (const auto& one : notes.records()) {
    add(static_cast<std::uint64_t>(one.what));
    add(one.thread);
    add(static_cast<std::uint64_t>(one.rank));
    add(static_cast<std::uint64_t>(one.peer));
    add(one.bytes);
    add(one.message);
    add(count(one.begin));
    add(count(one.end));
  }
  return all;
}

/// Memory at the same offset within a page in each process: the time of registration depends on the pages.
std::span<std::byte> on_pages(std::vector<std::byte>& memory, std::size_t bytes) {
  constexpr std::size_t page = 4096;
  memory.resize(bytes + page);
  const auto begin = reinterpret_cast<std::uintptr_t>(memory.data());
  return std::span{memory}.subspan((page - begin % page) % page, bytes);
}

/// Allreduces and alltoalls, short and long ones.
template <class Transport>
void use(sim::group& group) {
  Transport net{group, {}};
  std::vector<std::byte> in_memory;
  std::vector<std::byte> out_memory;
  const auto in = on_pages(in_memory, ranks * 16384);
  const auto out = on_pages(out_memory, ranks * 16384);
  const auto finish = [&net](chorale::call_id now, chorale::task<> program) {
    program.resume();
    program.result();
    net.complete(now);
  };
  for (const std::size_t bytes : {std::size_t{8}, std::size_t{16384}}) {
    const auto sum_up = net.begin({.what = chorale::operation::allreduce, .bytes = bytes});
    finish(sum_up, chorale::allreduce::recursive_doubling::run(
                       net, sum_up, in.first(bytes), chorale::reduction::of<std::uint32_t>(std::plus<>{})));
    const auto exchange = net.begin({.what = chorale::operation::alltoall, .bytes = bytes});
    const auto layout = chorale::block_layout::even(ranks, bytes);
    finish(exchange, chorale::alltoall::pairwise::run(
                         net, exchange, chorale::blocks<const std::byte>{in.first(layout.total()), layout},
                         chorale::blocks<std::byte>{out.first(layout.total()), layout}));
  }
}

/// `near`: whether ranks of a host use its soft0 among themselves.
template <class Transport>
std::uint64_t history(bool near, const sim::faults& wrong = {}) {
  auto on = sim::read_machine("hdr-64core");
  on.ranks_per_host = 4;
  if (!near) on.near.reset();
  sim::recorder notes;
  sim::run_options how;
  how.seed = 7;
  how.record = &notes;
  how.wrong = wrong;
  sim::run(ranks, on, use<Transport>, how);
  CHECK(notes.made() == notes.records().size());
  return sum(notes);
}

const sim::faults unreliable{.lost = 20'000, .repeated = 10'000, .delayed = 10'000, .held_up = 5'000};

}  // namespace

// The numbers come from g++ 12 and clang 14, with and without optimisation. A change to what the library
// does, or to a machine's costs, changes them; both compilers then have to agree again.
TEST_CASE("All compilers make the same history", "[history]") {
  CHECK(history<chorale::transport::rc>(false) == 0x73de761bc70ef29dU);
  CHECK(history<chorale::transport::ud_rdma>(false) == 0x0ee193af079bd309U);
  CHECK(history<chorale::transport::hybrid<4>>(false, unreliable) == 0xdd12009504fb6738U);
  CHECK(history<chorale::transport::rc>(true) == 0x79f416b21d947b85U);
  CHECK(history<chorale::transport::hybrid<4>>(true, unreliable) == 0x799cce78ef0a5fdbU);
}
