// SPDX-License-Identifier: Apache-2.0
// Calls that return their results, for any communicator.
#pragma once

#include <cstddef>
#include <optional>
#include <utility>

#include <chorale/calls/parts.hpp>

namespace chorale::calls {

template <class Comm, class Element, class Op>
Element make_allreduce(Comm& comm, const Element& value, Op& op) {
  Element result = value;
  if constexpr (argument::is_single_value<Element>()) comm.allreduce(in_place, result, std::move(op));
  return result;
}

template <class Comm, class Element, class Op>
std::optional<Element> make_reduce(Comm& comm, const Element& value, Op& op, int root) {
  std::optional<Element> result{value};
  if constexpr (argument::is_single_value<Element>())
    comm.reduce(in_place, *result, std::move(op), chorale::root{root});
  if (comm.rank() != root) result.reset();
  return result;
}

template <class Comm, class Element, class Op>
Element make_scan(Comm& comm, const Element& value, Op& op) {
  Element result = value;
  if constexpr (argument::is_single_value<Element>()) comm.scan(in_place, result, std::move(op));
  return result;
}

template <class Comm, class Element, class Initial, class Op>
Element make_exscan(Comm& comm, const Element& value, const Initial& first, Op& op) {
  Element result = value;
  if constexpr (argument::is_single_value<Element>()) comm.exscan(in_place, result, first, std::move(op));
  return result;
}

template <class Comm, class In>
auto make_allgather(Comm& comm, const In& in) {
  const auto ranks = static_cast<std::size_t>(comm.size());
  auto all = calls::room_for<argument::element_of<In>>(comm, calls::count_of(in) * ranks);
  comm.allgather(in, all);
  return all;
}

template <class Comm, class Caller, class In>
auto make_allgatherv(Comm& comm, const Caller& on, const In& in) {
  const std::size_t count = calls::checked_count(on, operation::allgatherv, in);
  auto all = calls::room_for_parts<argument::element_of<In>>(comm, comm.allgather(count));
  comm.allgatherv(in, all.data, all.counts);
  return all;
}

template <class Comm, class In>
auto make_alltoall(Comm& comm, const In& in) {
  auto out = calls::room_for<argument::element_of<In>>(comm, calls::count_of(in));
  comm.alltoall(in, out);
  return out;
}

template <class Comm, class Caller, class Parts>
auto make_alltoallv(Comm& comm, const Caller& on, const Parts& all) {
  const auto sent = calls::flatten(comm, on, operation::alltoallv, all);
  auto taken = calls::room_for_parts<typename part_type<Parts>::type>(comm, comm.alltoall(sent.counts));
  comm.alltoallv(sent.data, sent.counts, taken.data, taken.counts);
  return taken;
}

template <class Comm, class In>
auto make_gather(Comm& comm, const In& in, int root) {
  const auto ranks = comm.rank() == root ? static_cast<std::size_t>(comm.size()) : 0;
  std::optional all{calls::room_for<argument::element_of<In>>(comm, calls::count_of(in) * ranks)};
  comm.gather(in, *all, chorale::root{root});
  if (comm.rank() != root) all.reset();
  return all;
}

template <class Comm, class Caller, class In>
auto make_gatherv(Comm& comm, const Caller& on, const In& in, int root) {
  const auto counts = comm.gather(calls::checked_count(on, operation::gatherv, in), chorale::root{root});
  std::optional all{
      calls::room_for_parts<argument::element_of<In>>(comm, counts.value_or(std::vector<std::size_t>{}))};
  comm.gatherv(in, all->data, all->counts, {}, chorale::root{root});
  if (comm.rank() != root) all.reset();
  return all;
}

template <class Comm, class In>
auto make_scatter(Comm& comm, const In& in, int root) {
  auto mine = calls::room_for<argument::element_of<In>>(comm, 1);
  comm.scatter(in, mine, chorale::root{root});
  return mine.front();
}

template <class Comm, class Caller, class Parts>
auto make_scatterv(Comm& comm, const Caller& on, const Parts& all, int root) {
  using Element = typename part_type<Parts>::type;
  const auto sent =
      comm.rank() == root ? calls::flatten(comm, on, operation::scatterv, all) : parts<Element>{};
  auto mine = calls::room_for<Element>(comm, comm.scatter(sent.counts, chorale::root{root}));
  comm.scatterv(sent.data, sent.counts, mine, {}, chorale::root{root});
  return mine;
}

}  // namespace chorale::calls
