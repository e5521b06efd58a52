// Makes one call of each operation that moves data, and compares the results with the known inputs.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
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
  buffer data{call.count, call.seed};
  data.fill(call.seed, call.root, net.rank() == call.root ? everybody : 0);
  co_await run(net, call.now, data.span(), call.root);
  std::vector<std::byte> wanted(call.count);
  for (std::size_t i = 0; i < call.count; ++i) wanted[i] = byte_of(call.seed, call.root, everybody, i);
  data.require(call.describe(), wanted);
}

template <class Net>
chorale::task<> check_allgather(Net& net, run_of<chorale::operation::allgather, Net> run, round call) {
  // All ranks know the counts, but each chooses its own displacements.
  auto where = collectives::even(net.size(), call.count);
  if (call.uneven) {
    for (int r = 0; r < net.size(); ++r)
      where.counts[static_cast<std::size_t>(r)] = collectives::uneven_count(call.seed, r, call.count);
    where = collectives::placed(where.counts, call.seed + static_cast<std::uint64_t>(net.rank()));
  }
  buffer all{where.room, call.seed};
  const std::size_t mine = where.first(net.rank());
  for (std::size_t i = 0; i < where.count(net.rank()); ++i)
    all.data()[mine + i] = byte_of(call.seed, net.rank(), everybody, i);
  co_await run(net, call.now, {all.span(), layout_of(where, !call.uneven)});
  all.require(call.describe(), image_of(where, call.seed, everybody));
}

template <class Net>
chorale::task<> check_alltoall(Net& net, run_of<chorale::operation::alltoall, Net> run, round call) {
  const int me = net.rank();
  auto from = collectives::even(net.size(), call.count);
  auto to = from;
  if (call.uneven) {
    // Only the two ranks of a pair know the size of their blocks.
    const auto between = [&](int sender, int receiver) {
      return collectives::uneven_count(call.seed + static_cast<std::uint64_t>(sender), receiver, call.count);
    };
    for (int r = 0; r < net.size(); ++r) {
      from.counts[static_cast<std::size_t>(r)] = between(me, r);
      to.counts[static_cast<std::size_t>(r)] = between(r, me);
    }
    from = collectives::placed(from.counts, call.seed + static_cast<std::uint64_t>(me));
    to = collectives::placed(to.counts, call.seed + 1000 + static_cast<std::uint64_t>(me));
  }
  const auto sent =
      from.template image<std::byte>([&](int r, std::size_t i) { return byte_of(call.seed, me, r, i); },
                                     [](std::size_t) { return buffer::filling; });
  buffer in{from.room, call.seed};
  std::copy(sent.begin(), sent.end(), in.data());
  buffer out{to.room, call.seed / 16};
  co_await run(net, call.now, {in.span(), layout_of(from, !call.uneven)},
               {out.span(), layout_of(to, !call.uneven)});
  out.require(call.describe(), image_of(to, call.seed, me));
  in.require(call.describe() + ": what was sent", sent);
}

template <class Net>
chorale::task<> check_gather(Net& net, run_of<chorale::operation::gather, Net> run, round call) {
  auto where = collectives::even(net.size(), call.count);
  if (call.uneven) where = collectives::uneven(net.size(), call.count, call.seed, call.root);
  const bool is_root = net.rank() == call.root;
  buffer mine{where.count(net.rank()), call.seed};
  mine.fill(call.seed, net.rank(), everybody);
  buffer all{is_root ? where.room : 0, call.seed / 16};
  chorale::blocks<std::byte> blocks;
  std::span<const std::byte> given = mine.span();
  if (is_root) {
    blocks = {all.span(), layout_of(where, !call.uneven)};
    // In place in every other call.
    if (call.seed % 2 == 0) {
      std::copy(given.begin(), given.end(), blocks[call.root].begin());
      given = blocks[call.root];
    }
  }
  co_await run(net, call.now, given, blocks, call.root);
  if (is_root) all.require(call.describe(), image_of(where, call.seed, everybody));
}

template <class Net>
chorale::task<> check_scatter(Net& net, run_of<chorale::operation::scatter, Net> run, round call) {
  auto where = collectives::even(net.size(), call.count);
  if (call.uneven) where = collectives::uneven(net.size(), call.count, call.seed, call.root);
  const bool is_root = net.rank() == call.root;
  const auto image = image_of(where, call.seed, everybody);
  buffer all{is_root ? where.room : 0, call.seed};
  buffer mine{where.count(net.rank()), call.seed / 16};
  chorale::blocks<const std::byte> blocks;
  if (is_root) {
    std::copy(image.begin(), image.end(), all.data());
    blocks = {all.span(), layout_of(where, !call.uneven)};
    mine.fill(call.seed, net.rank(), everybody);
  }
  co_await run(net, call.now, blocks, mine.span(), call.root);
  if (is_root) all.require(call.describe() + ": what was scattered", image);
  std::vector<std::byte> wanted(where.count(net.rank()));
  for (std::size_t i = 0; i < wanted.size(); ++i) wanted[i] = byte_of(call.seed, net.rank(), everybody, i);
  mine.require(call.describe(), wanted);
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
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = byte_of(call.seed + which, from, to, i);
    return bytes;
  };
  std::vector<std::vector<std::byte>> sent;
  std::vector<std::pair<buffer, std::vector<std::byte>>> taken;
  std::vector<chorale::outgoing> sends(1);
  std::vector<chorale::incoming> takes(1);
  for (int peer = 0; peer < net.size(); ++peer) {
    for (std::uint64_t which = 0; which < messages(me, peer); ++which) {
      sent.push_back(content(me, peer, which));
      sends.push_back({peer, sent.back(), 7});
    }
    for (std::uint64_t which = 0; which < messages(peer, me); ++which) {
      taken.emplace_back(buffer{length(peer, me, which), which}, content(peer, me, which));
      takes.push_back({peer, taken.back().first.span(), 7});
    }
  }
  co_await run(net, call.now, std::move(sends), std::move(takes));
  for (auto& [got, wanted] : taken) got.require(call.describe(), wanted);
}

}  // namespace fake
