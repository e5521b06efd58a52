// SPDX-License-Identifier: Apache-2.0
// The communicator: a group of ranks, a transport and an algorithm per operation, composed at compile time.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <chorale/bootstrap/launched.hpp>
#include <chorale/calls/all.hpp>
#include <chorale/calls/rank_arguments.hpp>
#include <chorale/core/arguments.hpp>  // IWYU pragma: export
#include <chorale/core/config.hpp>
#include <chorale/policies.hpp>
#include <chorale/registered_array.hpp>
#include <chorale/transport/rc.hpp>

namespace chorale {

template <class... Policies>
class communicator;
template <element Element, class Communicator = communicator<>>
class window;
class plan;
struct call_statistics;

/// A group of ranks that makes collective calls. `Policies`, in any order, are at most one transport (default
/// `transport::rc`) and at most one algorithm per operation; other operations use their default.
///
///     chorale::communicator<chorale::transport::rc, chorale::barrier::pairwise_exchange> comm;
///
/// All ranks make the same calls in the same order; calls that do not match raise an error that names the
/// ranks. If a call throws anything but errc::invalid_argument or errc::misuse, the communicator is poisoned:
/// the other ranks are told, and each later call throws errc::poisoned, or a nonblocking call's failure if no
/// request has thrown it yet. Thread safety: one thread at a time; different communicators are independent.
///
/// *Arguments.* A buffer is any contiguous range (std::vector, std::array, C array, std::span,
/// registered_array) of elements (`chorale::element`), or a single element, of any count and alignment, or an
/// operand with strides: `chorale::strided`, or a view as std::mdspan.
/// Buffers that are written must be non-const lvalues. `in` and `out` must not overlap unless the call says
/// so; `chorale::in_place` means that the operand is already in the other buffer, `chorale::nothing` that
/// this rank has no such buffer. A root is given as `root{2}`; without it rank 0 is the root. An operator
/// combines two elements in rank order; it must be associative and need not commute.
/// @throws error errc::invalid_argument, on this rank and before anything is sent, if sizes do not fit or
/// buffers overlap.
///
/// *Forms.* `call(...)` blocks until this rank's part is complete; `icall(...)` returns a request, which uses
/// the buffers until then, `plan_call(...)` a plan (`plan.hpp`). Calls without `out` return the result;
/// where some ranks have none, it is a std::optional that is empty there.
template <class... Policies>
class communicator {
  using composed = detail::composition<transport::rc, Policies...>;

 public:
  using transport_type = typename composed::transport;  ///< The communicator's transport.
  /// The algorithm that implements an operation.
  template <operation What>
  using algorithm_of = typename composed::template algorithm_of<What>;

  /// All ranks of the job that a PMIx launcher started; one rank without a launcher (see `is_singleton()`);
  /// with CHORALE_BOOTSTRAP=tcp the ranks that meet at an address (`bootstrap::tcp`).
  /// Collective. @throws error as `bootstrap::launched` and `verbs::choose`, and if ranks do not match.
  explicit communicator(const config& settings = config::from_environment())
      : communicator(bootstrap::launched{}, settings) {}

  /// The ranks of `group`, which is used during construction only. Collective.
  template <bootstrap::group Group>
  explicit communicator(Group&& group, const config& settings = config::from_environment())
      : calls_(new calls::caller<composed>{group, settings}) {}

  /// The ranks of a group that was joined step by step (`transport/joining/joining.hpp`), as `isplit` does.
  explicit communicator(transport::joined_group&& group)
      : calls_(new calls::caller<composed>{std::move(group)}) {}

  [[nodiscard]] int rank() const { return on().rank(); }  ///< This rank, from 0.
  [[nodiscard]] int size() const { return on().size(); }  ///< The number of ranks.
  /// Which ranks share a host, or what `config::places` (CHORALE_PLACES) says instead. The same on all ranks.
  [[nodiscard]] const places& hosts() const { return on().transport().core().layout(); }
  /// How this group was started, in words: the launcher, or that there was none.
  [[nodiscard]] const std::string& launcher() const { return on().transport().core().launched(); }
  /// Whether this is the one rank of a process that was started without a launcher.
  [[nodiscard]] bool is_singleton() const { return on().transport().core().where().is_singleton; }
  /// Names this communicator in errors, such as "solver", on this rank only; empty for no name.
  void set_name(std::string name) { on().transport().core().calls().set_label(std::move(name)); }
  /// The name given by `set_name`.
  [[nodiscard]] const std::string& name() const { return on().transport().core().calls().label(); }
  /// The transport, for its statistics (connections, registered bytes, device) and for custom algorithms.
  [[nodiscard]] transport_type& transport() { return on().transport(); }
  /// The statistics of its calls (`statistics.hpp`). @throws error errc::misuse if config::statistics is off.
  [[nodiscard]] call_statistics statistics() const;

  /// Returns once all ranks have called it.
  void barrier() { run(calls::barrier(on())); }
  request ibarrier() { return on().start(calls::barrier(on())); }
  plan plan_barrier();

  /// Copies `data` of rank `root` into `data` of all ranks. The count is the same on all ranks.
  template <class Data>
  void broadcast(Data&& data, calls::root_argument root = {}) {
    run(calls::broadcast(on(), calls::only<Data>(data), root.value));
  }
  request ibroadcast(auto&& data, calls::root_argument root = {});
  plan plan_broadcast(auto&& data, calls::root_argument root = {});

  /// out[i] = op over in[i] of all ranks, at rank `root`, in the order that the algorithm documents;
  /// elsewhere `out` is not touched and may be `nothing`. `in` and `out` may be the same, or `in` `in_place`.
  template <class In, class Out, calls::no_root Op>
  void reduce(const In& in, Out&& out, Op op, calls::root_argument root = {}) {
    run(calls::reduce(on(), calls::both<In, Out>(in, out), calls::by<In, Out>(on(), op, in, out),
                      root.value));
  }
  template <class In, class Out, class Op = calls::no_operator>
  request ireduce(In&& in, Out&& out, Op op = {}, calls::root_argument root = {});
  template <class In, class Out, class Op = calls::no_operator>
  plan plan_reduce(In&& in, Out&& out, Op op = {}, calls::root_argument root = {});
  /// Returns the result at the root and an empty optional elsewhere.
  template <class Element, class Op = calls::no_operator>
  [[nodiscard]] std::optional<Element> reduce(const Element& value, Op op = {},
                                              calls::root_argument root = {}) {
    return calls::make_reduce(*this, value, op, root.value);
  }

  /// out[i] = op over in[i] of all ranks; every rank gets the same bits. The order is the one that the
  /// algorithm documents; operators that do not commute are applied in rank order. `in` and `out` may be the
  /// same, or `in` `in_place`.
  template <class In, class Out, class Op>
  void allreduce(const In& in, Out&& out, Op op) {
    run(calls::allreduce(on(), calls::both<In, Out>(in, out), calls::by<In, Out>(on(), op, in, out)));
  }
  template <class In, class Out, class Op = calls::no_operator>
  request iallreduce(In&& in, Out&& out, Op op = {});
  template <class In, class Out, class Op = calls::no_operator>
  plan plan_allreduce(In&& in, Out&& out, Op op = {});
  template <class Element, class Op = calls::no_operator>
  [[nodiscard]] Element allreduce(const Element& value, Op op = {}) {
    return calls::make_allreduce(*this, value, op);
  }

  /// out[r * n + i] = in[i] of rank r, on every rank; n, the size of `in`, is the same on all ranks. `in` may
  /// be this rank's block of `out`, or `in_place`.
  template <class In, class Out>
  void allgather(const In& in, Out&& out) {
    run(calls::allgather(on(), calls::both<In, Out>(in, out)));
  }
  request iallgather(auto&& in, auto&& out);
  plan plan_allgather(auto&& in, auto&& out);
  template <class In>
  [[nodiscard]] auto allgather(const In& in) {
    return calls::make_allgather(*this, in);
  }

  /// The block of rank r has counts[r] elements, at displacements[r] of `out`, or directly after the block of
  /// rank r - 1 if no displacements are given. `counts` are the same on all ranks; displacements may differ.
  /// Blocks must not overlap. `in` as in `allgather`.
  template <class In, class Out>
  void allgatherv(const In& in, Out&& out, calls::counts sizes, calls::counts displacements = {}) {
    run(calls::allgatherv(on(), calls::both<In, Out>(in, out), sizes.values, displacements.values));
  }
  request iallgatherv(auto&& in, auto&& out, calls::counts sizes, calls::counts displacements = {});
  plan plan_allgatherv(auto&& in, auto&& out, calls::counts sizes, calls::counts displacements = {});
  /// The same if ranks do not know the counts. Cost: an additional `allgather` of 8 bytes.
  template <class In>
  [[nodiscard]] auto allgatherv(const In& in) {
    return calls::make_allgatherv(*this, on(), in);
  }

  /// Block r of `in` goes to block `rank()` of `out` on rank r. Both have equally many elements, one
  /// block for each rank. `in` and `out` may be the same, or `in` `in_place`, at the cost of a copy of `in`.
  template <class In, class Out>
  void alltoall(const In& in, Out&& out) {
    run(calls::alltoall(on(), calls::both<In, Out>(in, out)));
  }
  request ialltoall(auto&& in, auto&& out);
  plan plan_alltoall(auto&& in, auto&& out);
  template <class In>
  [[nodiscard]] auto alltoall(const In& in) {
    return calls::make_alltoall(*this, in);
  }

  /// Sends send_counts[r] elements to rank r and receives receive_counts[r] from it, which must equal what
  /// that rank sends here. Displacements as in `allgatherv`, `in` and `out` as in `alltoall`.
  template <class In, class Out>
  void alltoallv(const In& in, calls::counts send_counts, Out&& out, calls::counts receive_counts,
                 calls::counts send_displacements = {}, calls::counts receive_displacements = {}) {
    run(calls::alltoallv(on(), calls::both<In, Out>(in, out), {send_counts.values, send_displacements.values},
                         {receive_counts.values, receive_displacements.values}));
  }
  request ialltoallv(auto&& in, calls::counts send_counts, auto&& out, calls::counts receive_counts,
                     calls::counts send_displacements = {}, calls::counts receive_displacements = {});
  plan plan_alltoallv(auto&& in, calls::counts send_counts, auto&& out, calls::counts receive_counts,
                      calls::counts send_displacements = {}, calls::counts receive_displacements = {});
  /// Sends all[r], of a range of ranges, to rank r; result[r] is what rank r sent here. Cost: a copy of the
  /// data sent, and an `alltoall` of 8 bytes for each rank.
  template <class Parts>
  [[nodiscard]] auto alltoallv(const Parts& all) {
    return calls::make_alltoallv(*this, on(), all);
  }

  /// At `root`: out[r * n + i] = in[i] of rank r, where n, the size of `in`, is the same on all ranks. On
  /// other ranks `out` is not touched and may be `nothing`. The root's `in` may be its block of `out`, or
  /// `in_place`.
  template <class In, calls::no_root Out>
  void gather(const In& in, Out&& out, calls::root_argument root = {}) {
    run(calls::gather(on(), calls::both<In, Out>(in, out), root.value));
  }
  request igather(auto&& in, auto&& out, calls::root_argument root = {});
  plan plan_gather(auto&& in, auto&& out, calls::root_argument root = {});
  /// Returns the result at the root and an empty optional elsewhere.
  template <class In>
  [[nodiscard]] auto gather(const In& in, calls::root_argument root = {}) {
    return calls::make_gather(*this, in, root.value);
  }

  /// The same with counts[r] elements from rank r, which must equal what that rank sends. `counts` and
  /// `displacements` (as in `allgatherv`) are read at the root only.
  template <class In, class Out>
  void gatherv(const In& in, Out&& out, calls::counts sizes, calls::counts displacements = {},
               calls::root_argument root = {}) {
    run(calls::gatherv(on(), calls::both<In, Out>(in, out), sizes.values, root.value, displacements.values));
  }
  request igatherv(auto&& in, auto&& out, calls::counts sizes, calls::counts displacements = {},
                   calls::root_argument root = {});
  plan plan_gatherv(auto&& in, auto&& out, calls::counts sizes, calls::counts displacements = {},
                    calls::root_argument root = {});
  /// The same if the root does not know the counts. Cost: an additional `gather` of 8 bytes.
  template <class In>
  [[nodiscard]] auto gatherv(const In& in, calls::root_argument root = {}) {
    return calls::make_gatherv(*this, on(), in, root.value);
  }

  /// Block r of the root's `in` goes to `out` of rank r; `out` has the same size on all ranks. Elsewhere `in`
  /// is not read and may be `nothing`. The root's `out` may be its block of `in`, or `in_place`.
  template <class In, calls::no_root Out>
  void scatter(const In& in, Out&& out, calls::root_argument root = {}) {
    run(calls::scatter(on(), calls::both<In, Out>(in, out), root.value));
  }
  request iscatter(auto&& in, auto&& out, calls::root_argument root = {});
  plan plan_scatter(auto&& in, auto&& out, calls::root_argument root = {});
  /// One element for each rank; `in` may be empty on ranks other than the root.
  template <class In>
  [[nodiscard]] auto scatter(const In& in, calls::root_argument root = {}) {
    return calls::make_scatter(*this, in, root.value);
  }

  /// The same with counts[r] elements for rank r, which must equal what that rank receives; `counts` and
  /// `displacements` are read at the root only.
  template <class In, class Out>
  void scatterv(const In& in, calls::counts sizes, Out&& out, calls::counts displacements = {},
                calls::root_argument root = {}) {
    run(calls::scatterv(on(), calls::both<In, Out>(in, out), sizes.values, root.value, displacements.values));
  }
  request iscatterv(auto&& in, calls::counts sizes, auto&& out, calls::counts displacements = {},
                    calls::root_argument root = {});
  plan plan_scatterv(auto&& in, calls::counts sizes, auto&& out, calls::counts displacements = {},
                     calls::root_argument root = {});
  /// Sends all[r] of the root, a range of ranges, to rank r; `all` is not read elsewhere. Cost: a copy at the
  /// root, and an additional `scatter` of 8 bytes.
  template <class Parts>
  [[nodiscard]] auto scatterv(const Parts& all, calls::root_argument root = {}) {
    return calls::make_scatterv(*this, on(), all, root.value);
  }

  /// out[i] = op over in[rank() * n + i] of all ranks, where n, the size of `out`, is the same on all ranks.
  /// `out` may be this rank's block of `in`. With `in_place`, `out` holds all blocks, and the result replaces
  /// this rank's block, at the same offset as in `allgather` (MPI puts it at the beginning).
  template <class In, class Out, class Op = calls::no_operator>
  void reduce_scatter(const In& in, Out&& out, Op op = {}) {
    run(calls::reduce_scatter(on(), calls::both<In, Out>(in, out), calls::by<In, Out>(on(), op, in, out)));
  }
  template <class In, class Out, class Op = calls::no_operator>
  request ireduce_scatter(In&& in, Out&& out, Op op = {});
  template <class In, class Out, class Op = calls::no_operator>
  plan plan_reduce_scatter(In&& in, Out&& out, Op op = {});
  /// The same with counts[r] elements for rank r, one block after the other in `in`; the same counts on all
  /// ranks.
  template <class In, class Out, class Op>
  void reduce_scatter(const In& in, Out&& out, calls::counts sizes, Op op) {
    run(calls::reduce_scatter(on(), calls::both<In, Out>(in, out), sizes.values,
                              calls::by<In, Out>(on(), op, in, out)));
  }
  template <class In, class Out, class Op>
  request ireduce_scatter(In&& in, Out&& out, calls::counts sizes, Op op);
  template <class In, class Out, class Op>
  plan plan_reduce_scatter(In&& in, Out&& out, calls::counts sizes, Op op);

  /// out[i] = op over in[i] of ranks 0 to rank(), in rank order. `in` and `out` as in `allreduce`.
  template <class In, class Out, class Op>
  void scan(const In& in, Out&& out, Op op) {
    run(calls::scan(on(), calls::both<In, Out>(in, out), calls::by<In, Out>(on(), op, in, out)));
  }
  template <class In, class Out, class Op = calls::no_operator>
  request iscan(In&& in, Out&& out, Op op = {});
  template <class In, class Out, class Op = calls::no_operator>
  plan plan_scan(In&& in, Out&& out, Op op = {});
  template <class Element, class Op = calls::no_operator>
  [[nodiscard]] Element scan(const Element& value, Op op = {}) {
    return calls::make_scan(*this, value, op);
  }

  /// out[i] = op over `first` and in[i] of ranks 0 to rank() - 1, in rank order, like std::exclusive_scan; on
  /// rank 0 out[i] = first. `first` is one element, given as `initial{0}`; only that of rank 0 is used. `in`
  /// and `out` as in `allreduce`.
  template <class In, class Out, class Initial, class Op>
  void exscan(const In& in, Out&& out, const Initial& first, Op op) {
    run(calls::exscan(on(), calls::both<In, Out>(in, out), calls::initial_of<In, Out>(on(), out, first),
                      calls::by<In, Out>(on(), op, in, out)));
  }
  template <class In, class Out, class Initial, class Op>
  request iexscan(In&& in, Out&& out, const Initial& first, Op op);
  template <class In, class Out, class Initial, class Op>
  plan plan_exscan(In&& in, Out&& out, const Initial& first, Op op);
  template <class Element, class Initial, class Op>
  [[nodiscard]] Element exscan(const Element& value, const Initial& first, Op op) {
    return calls::make_exscan(*this, value, first, op);
  }

  /// Sends to some ranks and receives from some, as for the halos of a stencil: lists of `to(peer, data)` and
  /// `from(peer, data)`, possibly empty, with any counts; messages between two ranks are matched in list
  /// order. Every rank must make the call, even without neighbors; a rank may be its own peer; messages with
  /// `nobody` are ignored. A rank waits only for its peers. Cost: `exchange::direct`.
  /// @throws error errc::mismatch where the lists of two ranks do not fit together, on the ranks that notice;
  /// a rank that only sent short messages may learn of it at its next call.
  void exchange(const calls::messages<outgoing>& sends, const calls::messages<incoming>& takes) {
    run(calls::exchange(on(), sends.list, takes.list));
  }
  request iexchange(const calls::messages<outgoing>& sends, const calls::messages<incoming>& takes);
  plan plan_exchange(const calls::messages<outgoing>& sends, const calls::messages<incoming>& takes);

  /// A communicator of the ranks that pass the same `color`, ordered by `key{k}`, then by rank here; none
  /// for `undefined_color`. Collective: every rank calls it, also those without a color. The new communicator
  /// is independent of this one, which may end first: it has its own endpoint, queue pairs and memory, and
  /// another thread may use it at the same time. It has the same settings and device. Cost: six allgathers of
  /// small messages, and an endpoint (docs/joining.md).
  /// @throws error errc::invalid_argument for other negative colors, on this rank only, before anything is
  /// sent. If making the endpoint fails, the rank where it failed throws that error and the others of its
  /// group errc::bootstrap_failed, naming that rank. Neither poisons this communicator or another group.
  [[nodiscard]] std::optional<communicator> split(std::int64_t color, calls::key_argument order = {});
  /// The request's `take()` gives what `split` returns; its `wait()` and `test()` throw what `split` throws.
  request_for<communicator> isplit(std::int64_t color, calls::key_argument order = {});
  /// A communicator of the ranks of each host, ordered by `key{k}`, then by rank here. Collective; cost and
  /// errors as `split`.
  [[nodiscard]] communicator split_by_host(calls::key_argument order = {}) {
    return *split(hosts().of(rank()), order);
  }
  /// A communicator of the same ranks in the same order. Collective; cost and errors as `split`.
  [[nodiscard]] communicator duplicate() { return *part({.color = 0, .key = 0}); }
  request_for<communicator> iduplicate() { return start_part({.color = 0, .key = 0}); }
  /// A communicator of `ranks` in that order; none on a rank whose list does not contain itself, such as an
  /// empty list. Collective; the ranks of a group pass the same list, so that disjoint groups can be made in
  /// one call. Cost as `split`.
  /// @throws error errc::invalid_argument on this rank only if `ranks` are out of range or occur twice;
  /// errc::mismatch on all ranks if lists differ; as `split`.
  [[nodiscard]] std::optional<communicator> subgroup(std::span<const int> ranks);
  request_for<communicator> isubgroup(std::span<const int> ranks);

  /// `count` zeroed elements of host memory, registered for this communicator as long as the array
  /// lives, so that no call registers it again. Not collective. The array must end before the communicator.
  /// @throws error errc::invalid_argument if `count` is too large; as verbs::registered_buffer.
  template <element Element>
  [[nodiscard]] registered_array<Element> allocate(std::size_t count) {
    return detail::allocate_outside<Element>(transport(), count);
  }

  /// `window<Element, communicator>{*this, count, notifications}`: zeroed elements that all ranks reach.
  template <element Element>
  [[nodiscard]] auto make_window(std::size_t count, std::size_t notifications = 8) {
    return window<Element, communicator>{*this, count, notifications};
  }

  /// Says which algorithm serves operation `what` with `bytes` (of one rank's message, or of one block for
  /// block operations), and why. Not collective.
  [[nodiscard]] std::string explain(operation what, std::size_t bytes = 0) {
    return calls::explain(on(), what, bytes);
  }

 private:
  template <element Element, class Communicator>
  friend class window;
  using caller_type = calls::caller<composed>;

  [[nodiscard]] caller_type& on() const {
    if (!calls_) [[unlikely]]
      calls::refuse_moved_from();
    return *calls_;
  }
  [[gnu::always_inline]] void run(const auto& made) { calls_->run(made); }
  [[nodiscard]] std::optional<communicator> part(const calls::membership_choice& mine);
  request_for<communicator> start_part(const calls::membership_choice& mine);

  /// On the heap, so that requests and windows still find it after the communicator was moved.
  std::unique_ptr<caller_type, calls::caller_deleter> calls_;
};

}  // namespace chorale

#include <chorale/nonblocking.hpp>  // IWYU pragma: export
