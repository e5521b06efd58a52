// Bodies of a communicator's nonblocking calls, each of which begins what its blocking twin runs, and of
// those that make communicators.
#pragma once

#include <memory>
#include <span>

#include <chorale/communicator.hpp>

namespace chorale {

template <class... Policies>
template <class Data>
request communicator<Policies...>::ibroadcast(Data&& data, calls::rank_number root) {
  return start(calls::broadcast(on(), calls::written<Data>(data), root.value));
}

template <class... Policies>
template <class In, calls::other_buffer<In> Out, class Op>
request communicator<Policies...>::ireduce(In&& in, Out&& out, Op op, calls::rank_number root) {
  return start(
      calls::reduce(on(), calls::lasting<In, Out>(in, out), calls::by<In, Out>(op, in, out), root.value));
}

template <class... Policies>
template <class Data, calls::value Op>
request communicator<Policies...>::iallreduce(Data&& data, Op op) {
  return start(calls::allreduce(on(), calls::written<Data>(data), calls::by<Data>(op, data)));
}

template <class... Policies>
template <class In, calls::other_buffer<In> Out, class Op>
request communicator<Policies...>::iallreduce(In&& in, Out&& out, Op op) {
  return start(calls::allreduce(on(), calls::lasting<In, Out>(in, out), calls::by<In, Out>(op, in, out)));
}

template <class... Policies>
template <class In, class Out>
request communicator<Policies...>::iallgather(In&& in, Out&& out) {
  return start(calls::allgather(on(), calls::lasting<In, Out>(in, out)));
}

template <class... Policies>
template <class In, class Out>
request communicator<Policies...>::iallgatherv(In&& in, Out&& out, calls::counts sizes,
                                               calls::counts displacements) {
  return start(calls::allgatherv(on(), calls::lasting<In, Out>(in, out), sizes.values, displacements.values));
}

template <class... Policies>
template <class In, class Out>
request communicator<Policies...>::ialltoall(In&& in, Out&& out) {
  return start(calls::alltoall(on(), calls::lasting<In, Out>(in, out)));
}

template <class... Policies>
template <class In, class Out>
request communicator<Policies...>::ialltoallv(In&& in, calls::counts send_counts, Out&& out,
                                              calls::counts receive_counts, calls::counts send_displacements,
                                              calls::counts receive_displacements) {
  return start(calls::alltoallv(on(), calls::lasting<In, Out>(in, out),
                                {send_counts.values, send_displacements.values},
                                {receive_counts.values, receive_displacements.values}));
}

template <class... Policies>
template <class In, calls::other_buffer<In> Out>
request communicator<Policies...>::igather(In&& in, Out&& out, calls::rank_number root) {
  return start(calls::gather(on(), calls::lasting<In, Out>(in, out), root.value));
}

template <class... Policies>
template <class In, class Out>
request communicator<Policies...>::igatherv(In&& in, Out&& out, calls::counts sizes, calls::rank_number root,
                                            calls::counts displacements) {
  return start(
      calls::gatherv(on(), calls::lasting<In, Out>(in, out), sizes.values, root.value, displacements.values));
}

template <class... Policies>
template <class In, calls::other_buffer<In> Out>
request communicator<Policies...>::iscatter(In&& in, Out&& out, calls::rank_number root) {
  return start(calls::scatter(on(), calls::lasting<In, Out>(in, out), root.value));
}

template <class... Policies>
template <class In, class Out>
request communicator<Policies...>::iscatterv(In&& in, calls::counts sizes, Out&& out, calls::rank_number root,
                                             calls::counts displacements) {
  return start(calls::scatterv(on(), calls::lasting<In, Out>(in, out), sizes.values, root.value,
                               displacements.values));
}

template <class... Policies>
template <class In, class Out, calls::value Op>
request communicator<Policies...>::ireduce_scatter(In&& in, Out&& out, Op op) {
  return start(
      calls::reduce_scatter(on(), calls::lasting<In, Out>(in, out), calls::by<In, Out>(op, in, out)));
}

template <class... Policies>
template <class In, class Out, calls::buffer Counts, class Op>
request communicator<Policies...>::ireduce_scatter(In&& in, Out&& out, const Counts& sizes, Op op) {
  return start(calls::reduce_scatter(on(), calls::lasting<In, Out>(in, out), calls::counts{sizes}.values,
                                     calls::by<In, Out>(op, in, out)));
}

template <class... Policies>
template <class Data, calls::value Op>
request communicator<Policies...>::iscan(Data&& data, Op op) {
  return start(calls::scan(on(), operation::scan, calls::written<Data>(data), calls::by<Data>(op, data)));
}

template <class... Policies>
template <class In, calls::other_buffer<In> Out, class Op>
request communicator<Policies...>::iscan(In&& in, Out&& out, Op op) {
  return start(
      calls::scan(on(), operation::scan, calls::lasting<In, Out>(in, out), calls::by<In, Out>(op, in, out)));
}

template <class... Policies>
template <class Data, calls::value Op>
request communicator<Policies...>::iexscan(Data&& data, Op op) {
  return start(calls::scan(on(), operation::exscan, calls::written<Data>(data), calls::by<Data>(op, data)));
}

template <class... Policies>
template <class In, calls::other_buffer<In> Out, class Op>
request communicator<Policies...>::iexscan(In&& in, Out&& out, Op op) {
  return start(calls::scan(on(), operation::exscan, calls::lasting<In, Out>(in, out),
                           calls::by<In, Out>(op, in, out)));
}

template <class... Policies>
request communicator<Policies...>::iexchange(const calls::messages<outgoing>& sends,
                                             const calls::messages<incoming>& takes) {
  return start(calls::exchange(on(), sends.list, takes.list));
}

template <class... Policies>
template <class Out, class In>
request communicator<Policies...>::isend_receive(calls::rank_number to, Out&& out, calls::rank_number from,
                                                 In&& in) {
  const calls::operands io = calls::lasting<Out, In>(out, in);
  return iexchange({outgoing{to.value, io.in.bytes, io.in.type}},
                   {incoming{from.value, io.out.bytes, io.out.type}});
}

template <class... Policies>
std::unique_ptr<communicator<Policies...>> communicator<Policies...>::part(const calls::wish& mine) {
  const auto out = std::make_shared<detail::outcome<communicator>>();
  on().run(calls::make_part(on(), mine, out));
  return out->take();
}

template <class... Policies>
request_for<communicator<Policies...>> communicator<Policies...>::start_part(const calls::wish& mine) {
  const auto out = std::make_shared<detail::outcome<communicator>>();
  return {on().start(calls::make_part(on(), mine, out)), out};
}

template <class... Policies>
std::unique_ptr<communicator<Policies...>> communicator<Policies...>::split(int color, int key) {
  return part(calls::wish_of_color(on(), color, key));
}

template <class... Policies>
std::unique_ptr<communicator<Policies...>> communicator<Policies...>::subgroup(std::span<const int> ranks) {
  return part(calls::wish_of_list(on(), ranks));
}

template <class... Policies>
request_for<communicator<Policies...>> communicator<Policies...>::isplit(int color, int key) {
  return start_part(calls::wish_of_color(on(), color, key));
}

template <class... Policies>
request_for<communicator<Policies...>> communicator<Policies...>::isubgroup(std::span<const int> ranks) {
  return start_part(calls::wish_of_list(on(), ranks));
}

}  // namespace chorale
