// SPDX-License-Identifier: Apache-2.0
// Bodies of a communicator's plans, each of which prepares what its blocking and nonblocking forms run.
#pragma once

#include <memory>
#include <span>
#include <utility>

#include <chorale/calls/pinned_buffers.hpp>
#include <chorale/calls/rank_arguments.hpp>
#include <chorale/communicator.hpp>
#include <chorale/plan.hpp>

namespace chorale {

namespace calls {

/// Starts a prepared call repeatedly, and keeps its buffers registered between calls.
template <class Start, class Net>
class prepared_start final : public repeated_start {
 public:
  prepared_start(Start start, pinned_buffers<Net> buffers)
      : start_(std::move(start)), buffers_(std::move(buffers)) {}
  task<> operator()(call_id now) override { return start_(now); }

 private:
  Start start_;
  pinned_buffers<Net> buffers_;
};

/// `pin(buffers)` names the buffers that the call reads and writes on this rank.
template <class Caller, class Start, class Pin>
plan make_plan(Caller& on, prepared<Start> made, Pin&& pin) {
  using net_type = typename Caller::transport_type;
  const transport::occupancy::entry inside{on.transport().core().use(), made.what.what};
  return calls::or_fail(on.transport(), [&] {
    pinned_buffers<net_type> buffers{on.transport()};
    pin(buffers);
    return plan{detail::process_bound_ptr<planned_call>{new planned_call(
        on.queue(), made.what,
        std::make_unique<prepared_start<Start, net_type>>(std::move(made.start), std::move(buffers)))}};
  });
}
/// A plan of a call that reads `reads` and writes `writes`.
template <class Caller, class Start>
plan make_plan(Caller& on, prepared<Start> made, std::span<const std::byte> reads,
               std::span<std::byte> writes) {
  return calls::make_plan(on, std::move(made), [&](auto& buffers) {
    buffers.read(reads);
    buffers.write(writes);
  });
}

}  // namespace calls

template <class... Policies>
plan communicator<Policies...>::plan_barrier() {
  return calls::make_plan(on(), calls::barrier(on()), {}, {});
}

template <class... Policies>
plan communicator<Policies...>::plan_broadcast(auto&& data, calls::root_argument root) {
  const auto io = calls::only<decltype(data)>(data);
  return calls::make_plan(on(), calls::broadcast(on(), io, root.value), {}, calls::kept_memory(io));
}

template <class... Policies>
template <class In, class Out, class Op>
plan communicator<Policies...>::plan_reduce(In&& in, Out&& out, Op op, calls::root_argument root) {
  const auto io = calls::lasting<In, Out>(in, out);
  const bool takes = rank() == root.value;
  return calls::make_plan(on(), calls::reduce(on(), io, calls::by<In, Out>(on(), op, in, out), root.value),
                          io.in.is_in_place && !takes ? io.out.bytes : io.in.bytes,
                          takes ? io.out.bytes : std::span<std::byte>{});
}

template <class... Policies>
template <class In, class Out, class Op>
plan communicator<Policies...>::plan_allreduce(In&& in, Out&& out, Op op) {
  const auto io = calls::lasting<In, Out>(in, out);
  return calls::make_plan(on(), calls::allreduce(on(), io, calls::by<In, Out>(on(), op, in, out)), {},
                          io.out.bytes);
}

template <class... Policies>
plan communicator<Policies...>::plan_allgather(auto&& in, auto&& out) {
  const auto io = calls::lasting<decltype(in), decltype(out)>(in, out);
  return calls::make_plan(on(), calls::allgather(on(), io), {}, io.out.bytes);
}

template <class... Policies>
plan communicator<Policies...>::plan_allgatherv(auto&& in, auto&& out, calls::counts sizes,
                                                calls::counts displacements) {
  const auto io = calls::lasting<decltype(in), decltype(out)>(in, out);
  return calls::make_plan(on(), calls::allgatherv(on(), io, sizes.values, displacements.values), {},
                          io.out.bytes);
}

template <class... Policies>
plan communicator<Policies...>::plan_alltoall(auto&& in, auto&& out) {
  const auto io = calls::lasting<decltype(in), decltype(out)>(in, out);
  return calls::make_plan(on(), calls::alltoall(on(), io), io.in.bytes, io.out.bytes);
}

template <class... Policies>
plan communicator<Policies...>::plan_alltoallv(auto&& in, calls::counts send_counts, auto&& out,
                                               calls::counts receive_counts, calls::counts send_displacements,
                                               calls::counts receive_displacements) {
  const auto io = calls::lasting<decltype(in), decltype(out)>(in, out);
  return calls::make_plan(on(),
                          calls::alltoallv(on(), io, {send_counts.values, send_displacements.values},
                                           {receive_counts.values, receive_displacements.values}),
                          io.in.bytes, io.out.bytes);
}

template <class... Policies>
plan communicator<Policies...>::plan_gather(auto&& in, auto&& out, calls::root_argument root) {
  const auto io = calls::lasting<decltype(in), decltype(out)>(in, out);
  return calls::make_plan(on(), calls::gather(on(), io, root.value), io.in.bytes,
                          rank() == root.value ? io.out.bytes : std::span<std::byte>{});
}

template <class... Policies>
plan communicator<Policies...>::plan_gatherv(auto&& in, auto&& out, calls::counts sizes,
                                             calls::counts displacements, calls::root_argument root) {
  const auto io = calls::lasting<decltype(in), decltype(out)>(in, out);
  return calls::make_plan(on(), calls::gatherv(on(), io, sizes.values, root.value, displacements.values),
                          io.in.bytes, rank() == root.value ? io.out.bytes : std::span<std::byte>{});
}

template <class... Policies>
plan communicator<Policies...>::plan_scatter(auto&& in, auto&& out, calls::root_argument root) {
  const auto io = calls::lasting<decltype(in), decltype(out)>(in, out);
  return calls::make_plan(on(), calls::scatter(on(), io, root.value),
                          rank() == root.value ? io.in.bytes : std::span<const std::byte>{}, io.out.bytes);
}

template <class... Policies>
plan communicator<Policies...>::plan_scatterv(auto&& in, calls::counts sizes, auto&& out,
                                              calls::counts displacements, calls::root_argument root) {
  const auto io = calls::lasting<decltype(in), decltype(out)>(in, out);
  return calls::make_plan(on(), calls::scatterv(on(), io, sizes.values, root.value, displacements.values),
                          rank() == root.value ? io.in.bytes : std::span<const std::byte>{}, io.out.bytes);
}

template <class... Policies>
template <class In, class Out, class Op>
plan communicator<Policies...>::plan_reduce_scatter(In&& in, Out&& out, Op op) {
  const auto io = calls::lasting<In, Out>(in, out);
  return calls::make_plan(on(), calls::reduce_scatter(on(), io, calls::by<In, Out>(on(), op, in, out)),
                          io.in.bytes, io.out.bytes);
}

template <class... Policies>
template <class In, class Out, class Op>
plan communicator<Policies...>::plan_reduce_scatter(In&& in, Out&& out, calls::counts sizes, Op op) {
  const auto io = calls::lasting<In, Out>(in, out);
  return calls::make_plan(
      on(), calls::reduce_scatter(on(), io, sizes.values, calls::by<In, Out>(on(), op, in, out)), io.in.bytes,
      io.out.bytes);
}

template <class... Policies>
template <class In, class Out, class Op>
plan communicator<Policies...>::plan_scan(In&& in, Out&& out, Op op) {
  const auto io = calls::lasting<In, Out>(in, out);
  return calls::make_plan(on(), calls::scan(on(), io, calls::by<In, Out>(on(), op, in, out)), {},
                          io.out.bytes);
}

template <class... Policies>
template <class In, class Out, class Initial, class Op>
plan communicator<Policies...>::plan_exscan(In&& in, Out&& out, const Initial& first, Op op) {
  const auto io = calls::lasting<In, Out>(in, out);
  return calls::make_plan(on(),
                          calls::exscan(on(), io, calls::initial_of<In, Out>(on(), out, first),
                                        calls::by<In, Out>(on(), op, in, out)),
                          {}, io.out.bytes);
}

template <class... Policies>
plan communicator<Policies...>::plan_exchange(const calls::messages<outgoing>& sends,
                                              const calls::messages<incoming>& takes) {
  return calls::make_plan(on(), calls::planned_exchange(on(), sends.list, takes.list), [&](auto& buffers) {
    for (const outgoing& one : sends.list)
      if (one.peer != nobody && one.where.is_contiguous()) buffers.read(one.bytes);
    for (const incoming& one : takes.list)
      if (one.peer != nobody && one.where.is_contiguous()) buffers.write(one.bytes);
  });
}

}  // namespace chorale
