// What a communicator with the standard algorithms runs, for one transport.
#pragma once

#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <chorale/algorithm/allgather/standard.hpp>
#include <chorale/algorithm/allreduce/rank_by_rank.hpp>
#include <chorale/algorithm/allreduce/standard.hpp>
#include <chorale/algorithm/alltoall/standard.hpp>
#include <chorale/algorithm/barrier/standard.hpp>
#include <chorale/algorithm/broadcast/standard.hpp>
#include <chorale/algorithm/exchange/direct.hpp>
#include <chorale/algorithm/gather/standard.hpp>
#include <chorale/algorithm/reduce/standard.hpp>
#include <chorale/algorithm/reduce_scatter/direct.hpp>
#include <chorale/algorithm/scan/standard.hpp>
#include <chorale/algorithm/scatter/standard.hpp>
#include <chorale/calls/by_rank.hpp>

namespace chorale::calls {

/// Stands for algorithm A in the choice of an overload.
template <class A>
using of = std::type_identity<A>;

/// Starts each of them over `Net`, a transport as algorithms see it. `template struct` instantiates all in
/// one place; `extern template struct` says that the library has them.
template <class Net>
struct standard_algorithms {
  using bytes = std::span<std::byte>;
  using const_bytes = std::span<const std::byte>;
  using in_blocks = blocks<const std::byte>;
  using out_blocks = blocks<std::byte>;

  static task<> run(of<barrier::standard>, Net&, epoch);
  static task<> run(of<broadcast::standard>, Net&, epoch, bytes, int);
  static task<> run(of<reduce::standard>, Net&, epoch, const_bytes, bytes, const reduction&, int);
  static task<> run(of<reduce_by_rank>, Net&, epoch, const_bytes, bytes, const reduction&, int);
  static task<> run(of<allreduce::standard>, Net&, epoch, bytes, const reduction&);
  static task<> run(of<allreduce::rank_by_rank>, Net&, epoch, bytes, const reduction&);
  static task<> run(of<allgather::standard>, Net&, epoch, const out_blocks&);
  static task<> run(of<allgather::ring>, Net&, epoch, const out_blocks&);
  static task<> run(of<alltoall::standard>, Net&, epoch, const in_blocks&, const out_blocks&);
  static task<> run(of<alltoall::pairwise>, Net&, epoch, const in_blocks&, const out_blocks&);
  static task<> run(of<gather::standard>, Net&, epoch, const_bytes, const out_blocks&, int);
  static task<> run(of<gather::flat>, Net&, epoch, const_bytes, const out_blocks&, int);
  static task<> run(of<scatter::standard>, Net&, epoch, const in_blocks&, bytes, int);
  static task<> run(of<scatter::flat>, Net&, epoch, const in_blocks&, bytes, int);
  static task<> run(of<reduce_scatter::direct>, Net&, epoch, const in_blocks&, bytes, const reduction&);
  static task<> run(of<reduce_scatter_by_rank>, Net&, epoch, const in_blocks&, bytes, const reduction&);
  static task<> run(of<scan::standard>, Net&, epoch, bytes, const reduction&, bool);
  static task<> run(of<exchange::direct>, Net&, epoch, std::vector<outgoing>, std::vector<incoming>);
};

// Not inside the class, where they would be inline, and compiled in spite of `extern template`.
template <class Net>
task<> standard_algorithms<Net>::run(of<barrier::standard>, Net& net, epoch now) {
  return barrier::standard::run(net, now);
}
template <class Net>
task<> standard_algorithms<Net>::run(of<broadcast::standard>, Net& net, epoch now, bytes data, int root) {
  return broadcast::standard::run(net, now, data, root);
}
template <class Net>
task<> standard_algorithms<Net>::run(of<reduce::standard>, Net& net, epoch now, const_bytes in, bytes out,
                                     const reduction& op, int root) {
  return reduce::standard::run(net, now, in, out, op, root);
}
template <class Net>
task<> standard_algorithms<Net>::run(of<reduce_by_rank>, Net& net, epoch now, const_bytes in, bytes out,
                                     const reduction& op, int root) {
  return reduce_by_rank::run(net, now, in, out, op, root);
}
template <class Net>
task<> standard_algorithms<Net>::run(of<allreduce::standard>, Net& net, epoch now, bytes data,
                                     const reduction& op) {
  return allreduce::standard::run(net, now, data, op);
}
template <class Net>
task<> standard_algorithms<Net>::run(of<allreduce::rank_by_rank>, Net& net, epoch now, bytes data,
                                     const reduction& op) {
  return allreduce::rank_by_rank::run(net, now, data, op);
}
template <class Net>
task<> standard_algorithms<Net>::run(of<allgather::standard>, Net& net, epoch now, const out_blocks& all) {
  return allgather::standard::run(net, now, all);
}
template <class Net>
task<> standard_algorithms<Net>::run(of<allgather::ring>, Net& net, epoch now, const out_blocks& all) {
  return allgather::ring::run(net, now, all);
}
template <class Net>
task<> standard_algorithms<Net>::run(of<alltoall::standard>, Net& net, epoch now, const in_blocks& in,
                                     const out_blocks& out) {
  return alltoall::standard::run(net, now, in, out);
}
template <class Net>
task<> standard_algorithms<Net>::run(of<alltoall::pairwise>, Net& net, epoch now, const in_blocks& in,
                                     const out_blocks& out) {
  return alltoall::pairwise::run(net, now, in, out);
}
template <class Net>
task<> standard_algorithms<Net>::run(of<gather::standard>, Net& net, epoch now, const_bytes mine,
                                     const out_blocks& all, int root) {
  return gather::standard::run(net, now, mine, all, root);
}
template <class Net>
task<> standard_algorithms<Net>::run(of<gather::flat>, Net& net, epoch now, const_bytes mine,
                                     const out_blocks& all, int root) {
  return gather::flat::run(net, now, mine, all, root);
}
template <class Net>
task<> standard_algorithms<Net>::run(of<scatter::standard>, Net& net, epoch now, const in_blocks& all,
                                     bytes mine, int root) {
  return scatter::standard::run(net, now, all, mine, root);
}
template <class Net>
task<> standard_algorithms<Net>::run(of<scatter::flat>, Net& net, epoch now, const in_blocks& all, bytes mine,
                                     int root) {
  return scatter::flat::run(net, now, all, mine, root);
}
template <class Net>
task<> standard_algorithms<Net>::run(of<reduce_scatter::direct>, Net& net, epoch now, const in_blocks& in,
                                     bytes out, const reduction& op) {
  return reduce_scatter::direct::run(net, now, in, out, op);
}
template <class Net>
task<> standard_algorithms<Net>::run(of<reduce_scatter_by_rank>, Net& net, epoch now, const in_blocks& in,
                                     bytes out, const reduction& op) {
  return reduce_scatter_by_rank::run(net, now, in, out, op);
}
template <class Net>
task<> standard_algorithms<Net>::run(of<scan::standard>, Net& net, epoch now, bytes data, const reduction& op,
                                     bool inclusive) {
  return scan::standard::run(net, now, data, op, inclusive);
}

template <class Net>
task<> standard_algorithms<Net>::run(of<exchange::direct>, Net& net, epoch now, std::vector<outgoing> sends,
                                     std::vector<incoming> takes) {
  return exchange::direct::run(net, now, std::move(sends), std::move(takes));
}

}  // namespace chorale::calls
