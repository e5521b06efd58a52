// SPDX-License-Identifier: Apache-2.0
// Bodies of a communicator's nonblocking calls, each of which starts what its blocking form runs, and of the
// calls that create communicators.
#pragma once

#include <memory>
#include <span>

#include <chorale/calls/rank_arguments.hpp>
#include <chorale/communicator.hpp>

namespace chorale {

template <class... Policies>
request communicator<Policies...>::ibroadcast(auto&& data, calls::root_argument root) {
  return on().start(calls::broadcast(on(), calls::only<decltype(data)>(data), root.value));
}

template <class... Policies>
template <class In, class Out, class Op>
request communicator<Policies...>::ireduce(In&& in, Out&& out, Op op, calls::root_argument root) {
  return on().start(calls::reduce(on(), calls::lasting<In, Out>(in, out),
                                  calls::by<In, Out>(on(), op, in, out), root.value));
}

template <class... Policies>
template <class In, class Out, class Op>
request communicator<Policies...>::iallreduce(In&& in, Out&& out, Op op) {
  return on().start(
      calls::allreduce(on(), calls::lasting<In, Out>(in, out), calls::by<In, Out>(on(), op, in, out)));
}

template <class... Policies>
request communicator<Policies...>::iallgather(auto&& in, auto&& out) {
  return on().start(calls::allgather(on(), calls::lasting<decltype(in), decltype(out)>(in, out)));
}

template <class... Policies>
request communicator<Policies...>::iallgatherv(auto&& in, auto&& out, calls::counts sizes,
                                               calls::counts displacements) {
  return on().start(calls::allgatherv(on(), calls::lasting<decltype(in), decltype(out)>(in, out),
                                      sizes.values, displacements.values));
}

template <class... Policies>
request communicator<Policies...>::ialltoall(auto&& in, auto&& out) {
  return on().start(calls::alltoall(on(), calls::lasting<decltype(in), decltype(out)>(in, out)));
}

template <class... Policies>
request communicator<Policies...>::ialltoallv(auto&& in, calls::counts send_counts, auto&& out,
                                              calls::counts receive_counts, calls::counts send_displacements,
                                              calls::counts receive_displacements) {
  return on().start(calls::alltoallv(on(), calls::lasting<decltype(in), decltype(out)>(in, out),
                                     {send_counts.values, send_displacements.values},
                                     {receive_counts.values, receive_displacements.values}));
}

template <class... Policies>
request communicator<Policies...>::igather(auto&& in, auto&& out, calls::root_argument root) {
  return on().start(calls::gather(on(), calls::lasting<decltype(in), decltype(out)>(in, out), root.value));
}

template <class... Policies>
request communicator<Policies...>::igatherv(auto&& in, auto&& out, calls::counts sizes,
                                            calls::counts displacements, calls::root_argument root) {
  return on().start(calls::gatherv(on(), calls::lasting<decltype(in), decltype(out)>(in, out), sizes.values,
                                   root.value, displacements.values));
}

template <class... Policies>
request communicator<Policies...>::iscatter(auto&& in, auto&& out, calls::root_argument root) {
  return on().start(calls::scatter(on(), calls::lasting<decltype(in), decltype(out)>(in, out), root.value));
}

template <class... Policies>
request communicator<Policies...>::iscatterv(auto&& in, calls::counts sizes, auto&& out,
                                             calls::counts displacements, calls::root_argument root) {
  return on().start(calls::scatterv(on(), calls::lasting<decltype(in), decltype(out)>(in, out), sizes.values,
                                    root.value, displacements.values));
}

template <class... Policies>
template <class In, class Out, class Op>
request communicator<Policies...>::ireduce_scatter(In&& in, Out&& out, Op op) {
  return on().start(
      calls::reduce_scatter(on(), calls::lasting<In, Out>(in, out), calls::by<In, Out>(on(), op, in, out)));
}

template <class... Policies>
template <class In, class Out, class Op>
request communicator<Policies...>::ireduce_scatter(In&& in, Out&& out, calls::counts sizes, Op op) {
  return on().start(calls::reduce_scatter(on(), calls::lasting<In, Out>(in, out), sizes.values,
                                          calls::by<In, Out>(on(), op, in, out)));
}

template <class... Policies>
template <class In, class Out, class Op>
request communicator<Policies...>::iscan(In&& in, Out&& out, Op op) {
  return on().start(
      calls::scan(on(), calls::lasting<In, Out>(in, out), calls::by<In, Out>(on(), op, in, out)));
}

template <class... Policies>
template <class In, class Out, class Initial, class Op>
request communicator<Policies...>::iexscan(In&& in, Out&& out, const Initial& first, Op op) {
  return on().start(calls::exscan(on(), calls::lasting<In, Out>(in, out),
                                  calls::initial_of<In, Out>(on(), out, first),
                                  calls::by<In, Out>(on(), op, in, out)));
}

template <class... Policies>
request communicator<Policies...>::iexchange(const calls::messages<outgoing>& sends,
                                             const calls::messages<incoming>& takes) {
  return on().start(calls::lasting_exchange(on(), sends.list, takes.list));
}

template <class... Policies>
std::optional<communicator<Policies...>> communicator<Policies...>::part(
    const calls::membership_choice& mine) {
  const auto out =
      calls::or_fail(transport(), [] { return std::make_shared<detail::outcome<communicator>>(); });
  on().run(calls::make_part(on(), mine, out));
  return out->take();
}

template <class... Policies>
request_for<communicator<Policies...>> communicator<Policies...>::start_part(
    const calls::membership_choice& mine) {
  const auto out =
      calls::or_fail(transport(), [] { return std::make_shared<detail::outcome<communicator>>(); });
  return {on().start(calls::make_part(on(), mine, out)), out};
}

template <class... Policies>
std::optional<communicator<Policies...>> communicator<Policies...>::split(std::int64_t color,
                                                                          calls::key_argument order) {
  return part(calls::choice_of_color(on(), color, order));
}

template <class... Policies>
std::optional<communicator<Policies...>> communicator<Policies...>::subgroup(std::span<const int> ranks) {
  return part(calls::choice_of_list(on(), ranks));
}

template <class... Policies>
request_for<communicator<Policies...>> communicator<Policies...>::isplit(std::int64_t color,
                                                                         calls::key_argument order) {
  return start_part(calls::choice_of_color(on(), color, order));
}

template <class... Policies>
request_for<communicator<Policies...>> communicator<Policies...>::isubgroup(std::span<const int> ranks) {
  return start_part(calls::choice_of_list(on(), ranks));
}

}  // namespace chorale
