// SPDX-License-Identifier: Apache-2.0
// Makes one call of each operation that moves data, and compares the results with the known inputs.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <chorale/algorithm/operation_traits.hpp>
#include <chorale/core/neighbours.hpp>
#include <chorale/core/task.hpp>

#include "operands.hpp"

namespace fake {

/// A call that all ranks make. `count`: bytes or elements of each rank or block. `seed`: the same on all
/// ranks, different for each call.
struct round {
  chorale::call_id now;
  std::uint64_t seed = 0;
  std::size_t count = 0;
  int root = 0;
  bool uneven = false;

  /// The rank of `net` in this call; calls differ in alignment.
  template <class Net>
  [[nodiscard]] collectives::participant of(const Net& net) const {
    return {net.rank(), net.size(), seed, false, seed / 16 % 16};
  }
  /// The positions of all ranks' blocks, as `rank` chooses them.
  [[nodiscard]] collectives::placement blocks_of(int ranks, int rank) const {
    return uneven ? collectives::uneven(ranks, count, seed, rank) : collectives::even(ranks, count);
  }
  [[nodiscard]] std::string describe() const {
    return std::string{uneven ? "uneven " : ""} + chorale::name(now.what) + " of " + std::to_string(count) +
           ", root " + std::to_string(root) + ", call " + std::to_string(now.number);
  }
};

/// The type of a pointer to an algorithm's `run` over `Net`.
template <class Net, class Arguments>
struct run_pointer;
template <class Net, class... Arguments>
struct run_pointer<Net, chorale::run_arguments<Arguments...>> {
  using type = chorale::task<> (*)(Net&, chorale::call_id, Arguments...);
};
template <chorale::operation What, class Net>
using run_of = typename run_pointer<Net, typename chorale::operation_traits<What>::arguments>::type;

/// `came[r]`: the last barrier that rank r has begun.
template <class Net>
chorale::task<> check_barrier(Net& net, run_of<chorale::operation::barrier, Net> run, round call,
                              std::vector<std::uint64_t>& came) {
  came[static_cast<std::size_t>(net.rank())] = call.now.number;
  co_await run(net, call.now);
  if (*std::min_element(came.begin(), came.end()) < call.now.number)
    throw std::runtime_error(call.describe() + ": left before all had come");
}

template <class Net>
chorale::task<> check_broadcast(Net& net, run_of<chorale::operation::broadcast, Net> run, round call) {
  collectives::broadcast_case<std::byte> one{call.of(net), call.count, call.root};
  co_await run(net, call.now, one.data.span(), call.root);
  one.verify(call.describe());
}

template <class Net>
chorale::task<> check_allgather(Net& net, run_of<chorale::operation::allgather, Net> run, round call) {
  // All ranks know the counts, but each chooses its own displacements.
  const auto where = call.blocks_of(net.size(), net.rank());
  auto me = call.of(net);
  me.in_place = true;
  collectives::gathered_case<std::byte> one{me, where, true};
  co_await run(net, call.now, {one.all.span(), layout_of(where, !call.uneven)});
  one.verify(call.describe());
}

template <class Net>
chorale::task<> check_alltoall(Net& net, run_of<chorale::operation::alltoall, Net> run, round call) {
  auto from = collectives::even(net.size(), call.count);
  auto to = from;
  if (call.uneven)
    std::tie(from, to) = collectives::uneven_pairs(net.size(), call.count, call.seed, net.rank());
  collectives::alltoall_case<std::byte> one{call.of(net), from, to};
  co_await run(net, call.now, {one.in.span(), layout_of(from, !call.uneven)},
               {one.out().span(), layout_of(to, !call.uneven)});
  one.verify(call.describe());
}

template <class Net>
chorale::task<> check_gather(Net& net, run_of<chorale::operation::gather, Net> run, round call) {
  const auto where = call.blocks_of(net.size(), call.root);
  const bool is_root = net.rank() == call.root;
  auto me = call.of(net);
  me.in_place = call.seed % 2 == 0;
  collectives::gathered_case<std::byte> one{me, where, is_root};
  chorale::blocks<std::byte> blocks;
  if (is_root) blocks = {one.all.span(), layout_of(where, !call.uneven)};
  co_await run(net, call.now, one.mine(), blocks, call.root);
  one.verify(call.describe());
}

template <class Net>
chorale::task<> check_scatter(Net& net, run_of<chorale::operation::scatter, Net> run, round call) {
  const auto where = call.blocks_of(net.size(), call.root);
  auto me = call.of(net);
  me.in_place = call.seed % 2 == 0;
  collectives::scatter_case<std::byte> one{me, where, call.root};
  chorale::blocks<const std::byte> blocks;
  if (net.rank() == call.root) blocks = {one.all.span(), layout_of(where, !call.uneven)};
  co_await run(net, call.now, blocks, one.mine(), call.root);
  one.verify(call.describe());
}

/// Up to two messages of up to `count` bytes between any two ranks, also from a rank to itself, and list
/// entries with peer `nobody`.
template <class Net>
chorale::task<> check_exchange(Net& net, run_of<chorale::operation::exchange, Net> run, round call) {
  const int me = net.rank();
  const auto messages = [&](int from, int to) {
    return noise(call.seed, from, static_cast<std::size_t>(to)) % 3;
  };
  const auto length = [&](int from, int to, std::uint64_t which) {
    return collectives::uneven_count(call.seed + which, from * net.size() + to, call.count);
  };
  const auto content = [&](int from, int to, std::uint64_t which) {
    std::vector<std::byte> bytes(length(from, to, which));
    for (std::size_t i = 0; i < bytes.size(); ++i)
      bytes[i] = collectives::letter<std::byte>(call.seed + which, from, to, i);
    return bytes;
  };
  std::vector<std::vector<std::byte>> sent;
  std::vector<std::pair<collectives::guarded_buffer<std::byte>, std::vector<std::byte>>> taken;
  std::vector<chorale::outgoing> sends(1);
  std::vector<chorale::incoming> takes(1);
  for (int peer = 0; peer < net.size(); ++peer) {
    for (std::uint64_t which = 0; which < messages(me, peer); ++which) {
      sent.push_back(content(me, peer, which));
      sends.push_back({peer, sent.back(), 7});
    }
    for (std::uint64_t which = 0; which < messages(peer, me); ++which) {
      taken.emplace_back(collectives::guarded_buffer<std::byte>{length(peer, me, which), which},
                         content(peer, me, which));
      takes.push_back({peer, taken.back().first.span(), 7});
    }
  }
  co_await run(net, call.now, std::move(sends), std::move(takes));
  for (auto& [got, wanted] : taken) got.check(call.describe(), wanted);
}

}  // namespace fake
