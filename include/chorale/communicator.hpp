// The communicator: a group of ranks, a transport and an algorithm for each collective, composed at compile
// time.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <chorale/bootstrap/pmix.hpp>
#include <chorale/calls/all.hpp>
#include <chorale/core/config.hpp>
#include <chorale/core/in_place.hpp>
#include <chorale/device_array.hpp>
#include <chorale/policies.hpp>
#include <chorale/transport/rc.hpp>

namespace chorale {

template <element T, class Communicator>
class window;
class plan;
struct call_statistics;

/// A group of ranks that makes collective calls. `Policies`, in any order: a transport (`transport::rc` if
/// there is none) and algorithms, at most one an operation; the other operations have defaults.
///
///     chorale::communicator<chorale::transport::rc, chorale::barrier::pairwise_exchange> comm;
///
/// Every rank makes the same calls in the same order; calls that do not match are an error that names the
/// ranks. After a call has thrown anything but errc::invalid_argument or errc::misuse the communicator is
/// poisoned: the other ranks are told, and each later call throws errc::poisoned. Thread safety: one thread
/// at a time; different communicators are independent.
///
/// *Arguments.* A buffer is any contiguous range (std::vector, std::array, C array, std::span, device_array)
/// of elements (`chorale::element`), or one element, of any count and alignment. What is written is a
/// variable, not const; `in` and `out` are apart, or the same where the call says so; `chorale::in_place`
/// stands for an operand that is in the other buffer already, `chorale::nothing` for a buffer that this rank
/// does not have. An operator combines two elements in the order of the ranks and is associative; it need not
/// commute.
/// @throws error errc::invalid_argument, on this rank and before anything is sent, for sizes that do not fit
/// and buffers that overlap.
///
/// *Forms.* `call(...)` returns when this rank's part is over; `icall(...)` gives a request, which has the
/// buffers until it is over, `plan_call(...)` a plan (`plan.hpp`). Calls without `out` make their result.
template <class... Policies>
class communicator {
  using composed = detail::composition<transport::rc, Policies...>;

 public:
  using transport_type = typename composed::transport;  ///< The transport it was composed with.
  /// The algorithm that serves an operation.
  template <operation What>
  using algorithm_of = typename composed::template algorithm_of<What>;

  /// All ranks of the job that a PMIx launcher started; without a launcher one rank (see `launched()`).
  /// Collective. @throws error as `bootstrap::pmix` and `verbs::choose`, and if ranks do not fit together.
  explicit communicator(const config& settings = config::from_environment())
      : communicator(bootstrap::pmix{}, settings) {}

  /// The ranks of `group`, which is not used after construction. Collective.
  template <bootstrap::group G>
  explicit communicator(G&& group, const config& settings = config::from_environment())
      : calls_(new calls::caller<composed>{group, settings}) {}

  /// The ranks of a group that has been joined step by step (`transport/joining.hpp`), as `isplit` does.
  explicit communicator(transport::joined_group&& group)
      : calls_(new calls::caller<composed>{std::move(group)}) {}

  [[nodiscard]] int rank() const { return on().rank(); }  ///< This rank, from 0 on.
  [[nodiscard]] int size() const { return on().size(); }  ///< How many ranks it has.
  /// How this group came to be: the launcher, or that it is a singleton.
  [[nodiscard]] const std::string& launched() const { return on().transport().core().launched(); }
  /// What errors call this communicator, such as "solver"; on this rank only. Empty: it has no name.
  void set_name(std::string name) { on().transport().core().calls().set_label(std::move(name)); }
  /// That name.
  [[nodiscard]] const std::string& name() const { return on().transport().core().calls().label(); }
  /// The transport, for its figures (connections, registered bytes, device) and for algorithms of your own.
  [[nodiscard]] transport_type& transport() { return on().transport(); }
  /// What its calls have cost (`statistics.hpp`). @throws error errc::misuse if config::statistics is off.
  [[nodiscard]] call_statistics statistics() const;

  /// Returns when all ranks have called it.
  void barrier() { run(calls::barrier(on())); }
  request ibarrier() { return on().start(calls::barrier(on())); }
  plan plan_barrier();

  /// Copies `data` of rank `root` into `data` of all ranks; the same count everywhere.
  template <class Data>
  void broadcast(Data&& data, calls::rank_number root = 0) {
    run(calls::broadcast(on(), calls::written<Data>(data), root.value));
  }
  request ibroadcast(auto&& data, calls::rank_number root = 0);
  plan plan_broadcast(auto&& data, calls::rank_number root = 0);

  /// out[i] = op over all ranks' in[i], at rank `root`, in the order that the algorithm documents; elsewhere
  /// `out` is not touched and may be `nothing`. `in` and `out` may be the same, and `in` `in_place`.
  template <class In, calls::other_buffer<In> Out, class Op = sum_t>
  void reduce(const In& in, Out&& out, Op op = {}, calls::rank_number root = 0) {
    run(calls::reduce(on(), calls::both<In, Out>(in, out), calls::by<In, Out>(op, in, out), root.value));
  }
  template <class In, calls::other_buffer<In> Out, class Op = sum_t>
  request ireduce(In&& in, Out&& out, Op op = {}, calls::rank_number root = 0);
  plan plan_reduce(auto&&... arguments);
  /// The result at the root; empty elsewhere.
  template <calls::value T, calls::value Op = sum_t>
  [[nodiscard]] std::optional<T> reduce(const T& value, Op op = {}, calls::rank_number root = 0) {
    return calls::make_reduce(*this, value, op, root.value);
  }

  /// data[i] = op over all ranks' data[i], on every rank and to the same bits; in the order that the
  /// algorithm documents, which is that of the ranks if the operator does not commute. In place.
  template <calls::buffer Data, calls::value Op = sum_t>
  void allreduce(Data&& data, Op op = {}) {
    run(calls::allreduce(on(), calls::written<Data>(data), calls::by<Data>(op, data)));
  }
  template <class Data, calls::value Op = sum_t>
  request iallreduce(Data&& data, Op op = {});
  /// The same with a buffer of its own for the result, of the same size.
  template <class In, calls::other_buffer<In> Out, class Op = sum_t>
  void allreduce(const In& in, Out&& out, Op op = {}) {
    run(calls::allreduce(on(), calls::both<In, Out>(in, out), calls::by<In, Out>(op, in, out)));
  }
  template <class In, calls::other_buffer<In> Out, class Op = sum_t>
  request iallreduce(In&& in, Out&& out, Op op = {});
  plan plan_allreduce(auto&&... arguments);
  template <calls::value T, calls::value Op = sum_t>
  [[nodiscard]] T allreduce(const T& value, Op op = {}) {
    return calls::make_allreduce(*this, value, op);
  }

  /// out[r * n + i] = in[i] of rank r, on every rank; n, the size of `in`, is the same everywhere. `in` may
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

  /// The block of rank r has counts[r] elements, at displacements[r] of `out`, or behind that of rank r - 1
  /// if there are no displacements. `counts` are the same on all ranks, displacements need not be; blocks
  /// must not overlap. `in` as in `allgather`.
  template <class In, class Out>
  void allgatherv(const In& in, Out&& out, calls::counts sizes, calls::counts displacements = {}) {
    run(calls::allgatherv(on(), calls::both<In, Out>(in, out), sizes.values, displacements.values));
  }
  request iallgatherv(auto&& in, auto&& out, calls::counts sizes, calls::counts displacements = {});
  plan plan_allgatherv(auto&& in, auto&& out, calls::counts sizes, calls::counts displacements = {});
  /// The same where ranks do not know the counts. Cost: an `allgather` of 8 bytes more.
  template <class In>
  [[nodiscard]] auto allgatherv(const In& in) {
    return calls::make_allgatherv(*this, in);
  }

  /// Block r of `in` comes to block `rank()` of `out` at rank r. Both have the same number of elements, one
  /// block for each rank. `in` and `out` may be the same, and `in` `in_place`: that costs a copy of `in`.
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

  /// Sends send_counts[r] elements to rank r and gets receive_counts[r] from it, which must be what that rank
  /// sends here. Displacements as in `allgatherv`, `in` and `out` as in `alltoall`.
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
  /// all[r], of a range of ranges, comes to rank r, which gets it as its result[rank()]. Cost: a copy of what
  /// is sent, and an `alltoall` of 8 bytes for each rank.
  template <class Parts>
  [[nodiscard]] auto alltoallv(const Parts& all) {
    return calls::make_alltoallv(*this, all);
  }

  /// At `root`: out[r * n + i] = in[i] of rank r, where n, the size of `in`, is the same everywhere.
  /// Elsewhere `out` is not touched and may be `nothing`. `in` of the root may be its block of `out`, or
  /// `in_place`.
  template <class In, calls::other_buffer<In> Out>
  void gather(const In& in, Out&& out, calls::rank_number root = 0) {
    run(calls::gather(on(), calls::both<In, Out>(in, out), root.value));
  }
  request igather(auto&& in, auto&& out, calls::rank_number root = 0);
  plan plan_gather(auto&& in, auto&& out, calls::rank_number root = 0);
  /// The result is empty but at the root.
  template <class In>
  [[nodiscard]] auto gather(const In& in, calls::rank_number root = 0) {
    return calls::make_gather(*this, in, root.value);
  }

  /// The same with counts[r] elements of rank r, which must be what that rank gives. `counts` and
  /// `displacements` (as in `allgatherv`) are those of the root and not looked at elsewhere.
  template <class In, class Out>
  void gatherv(const In& in, Out&& out, calls::counts sizes, calls::rank_number root = 0,
               calls::counts displacements = {}) {
    run(calls::gatherv(on(), calls::both<In, Out>(in, out), sizes.values, root.value, displacements.values));
  }
  request igatherv(auto&& in, auto&& out, calls::counts sizes, calls::rank_number root = 0,
                   calls::counts displacements = {});
  plan plan_gatherv(auto&& in, auto&& out, calls::counts sizes, calls::rank_number root = 0,
                    calls::counts displacements = {});
  /// The same where the root does not know the counts; empty elsewhere. Cost: a `gather` of 8 bytes more.
  template <class In>
  [[nodiscard]] auto gatherv(const In& in, calls::rank_number root = 0) {
    return calls::make_gatherv(*this, in, root.value);
  }

  /// Block r of the root's `in` comes to `out` of rank r; the size of `out` is the same everywhere. Elsewhere
  /// `in` is not looked at and may be `nothing`. `out` of the root may be its block of `in`, or `in_place`.
  template <class In, calls::other_buffer<In> Out>
  void scatter(const In& in, Out&& out, calls::rank_number root = 0) {
    run(calls::scatter(on(), calls::both<In, Out>(in, out), root.value));
  }
  request iscatter(auto&& in, auto&& out, calls::rank_number root = 0);
  plan plan_scatter(auto&& in, auto&& out, calls::rank_number root = 0);
  /// One element for each rank; elsewhere than at the root `in` may be empty.
  template <class In>
  [[nodiscard]] auto scatter(const In& in, calls::rank_number root = 0) {
    return calls::make_scatter(*this, in, root.value);
  }

  /// The same with counts[r] elements for rank r, which must be what that rank takes; `counts` and
  /// `displacements` are those of the root.
  template <class In, class Out>
  void scatterv(const In& in, calls::counts sizes, Out&& out, calls::rank_number root = 0,
                calls::counts displacements = {}) {
    run(calls::scatterv(on(), calls::both<In, Out>(in, out), sizes.values, root.value, displacements.values));
  }
  request iscatterv(auto&& in, calls::counts sizes, auto&& out, calls::rank_number root = 0,
                    calls::counts displacements = {});
  plan plan_scatterv(auto&& in, calls::counts sizes, auto&& out, calls::rank_number root = 0,
                     calls::counts displacements = {});
  /// all[r] of the root, a range of ranges, comes to rank r; elsewhere `all` is not looked at. Cost: a copy
  /// at the root, and a `scatter` of 8 bytes more.
  template <class Parts>
  [[nodiscard]] auto scatterv(const Parts& all, calls::rank_number root = 0) {
    return calls::make_scatterv(*this, all, root.value);
  }

  /// out[i] = op over all ranks' in[rank() * n + i], where n, the size of `out`, is the same everywhere.
  /// `out` may be this rank's block of `in`; with `in_place`, `out` has all blocks, and this rank's becomes
  /// the result.
  template <class In, class Out, calls::value Op = sum_t>
  void reduce_scatter(const In& in, Out&& out, Op op = {}) {
    run(calls::reduce_scatter(on(), calls::both<In, Out>(in, out), calls::by<In, Out>(op, in, out)));
  }
  template <class In, class Out, calls::value Op = sum_t>
  request ireduce_scatter(In&& in, Out&& out, Op op = {});
  /// The same with counts[r] elements for rank r, one block behind the other in `in`; the same counts on all
  /// ranks.
  template <class In, class Out, calls::buffer Counts, class Op = sum_t>
  void reduce_scatter(const In& in, Out&& out, const Counts& sizes, Op op = {}) {
    run(calls::reduce_scatter(on(), calls::both<In, Out>(in, out), calls::counts{sizes}.values,
                              calls::by<In, Out>(op, in, out)));
  }
  template <class In, class Out, calls::buffer Counts, class Op = sum_t>
  request ireduce_scatter(In&& in, Out&& out, const Counts& sizes, Op op = {});
  plan plan_reduce_scatter(auto&&... arguments);

  /// data[i] = op over data[i] of ranks 0 to rank(), in rank order. In place.
  template <calls::buffer Data, calls::value Op = sum_t>
  void scan(Data&& data, Op op = {}) {
    run(calls::scan(on(), operation::scan, calls::written<Data>(data), calls::by<Data>(op, data)));
  }
  template <class Data, calls::value Op = sum_t>
  request iscan(Data&& data, Op op = {});
  /// The same with a buffer of its own for the result, of the same size.
  template <class In, calls::other_buffer<In> Out, class Op = sum_t>
  void scan(const In& in, Out&& out, Op op = {}) {
    run(calls::scan(on(), operation::scan, calls::both<In, Out>(in, out), calls::by<In, Out>(op, in, out)));
  }
  template <class In, calls::other_buffer<In> Out, class Op = sum_t>
  request iscan(In&& in, Out&& out, Op op = {});
  plan plan_scan(auto&&... arguments);
  template <calls::value T, calls::value Op = sum_t>
  [[nodiscard]] T scan(const T& value, Op op = {}) {
    return calls::make_scan(*this, value, op);
  }

  /// data[i] = op over data[i] of ranks 0 to rank() - 1, in rank order; that of rank 0 is left as it is. In
  /// place.
  template <calls::buffer Data, calls::value Op = sum_t>
  void exscan(Data&& data, Op op = {}) {
    run(calls::scan(on(), operation::exscan, calls::written<Data>(data), calls::by<Data>(op, data)));
  }
  template <class Data, calls::value Op = sum_t>
  request iexscan(Data&& data, Op op = {});
  /// The same with a buffer of its own for the result, of the same size; that of rank 0 becomes its `in`.
  template <class In, calls::other_buffer<In> Out, class Op = sum_t>
  void exscan(const In& in, Out&& out, Op op = {}) {
    run(calls::scan(on(), operation::exscan, calls::both<In, Out>(in, out), calls::by<In, Out>(op, in, out)));
  }
  template <class In, calls::other_buffer<In> Out, class Op = sum_t>
  request iexscan(In&& in, Out&& out, Op op = {});
  plan plan_exscan(auto&&... arguments);
  /// Empty at rank 0, which has nothing before it: `comm.exscan(n).value_or(0)`.
  template <calls::value T, calls::value Op = sum_t>
  [[nodiscard]] std::optional<T> exscan(const T& value, Op op = {}) {
    return calls::make_exscan(*this, value, op);
  }

  /// Messages to some ranks and from some, such as the halos of a stencil: lists of `to(peer, data)` and
  /// `from(peer, data)`, empty ones too, of any counts, in the order in which those of two ranks are matched.
  /// Every rank makes the call, those without neighbours too; each may be its own peer; for `nobody` nothing
  /// happens. Nobody waits for ranks with which it has no messages. Cost: `exchange::direct`.
  /// @throws error errc::mismatch where the lists of two ranks do not fit together, on those that see it; one
  /// that only sent short messages may hear of it at its next call.
  void exchange(const calls::messages<outgoing>& sends, const calls::messages<incoming>& takes) {
    run(calls::exchange(on(), sends.list, takes.list));
  }
  request iexchange(const calls::messages<outgoing>& sends, const calls::messages<incoming>& takes);
  plan plan_exchange(const calls::messages<outgoing>& sends, const calls::messages<incoming>& takes);
  /// The same with one message each way: a shift around a ring, or along a line, with `nobody` at its ends.
  template <class Out, class In>
  void send_receive(calls::rank_number to, const Out& out, calls::rank_number from, In&& in) {
    calls::check_same_elements<Out, In>();
    exchange({chorale::to(to, out)}, {chorale::from(from, in)});
  }
  request isend_receive(calls::rank_number to, auto&& out, calls::rank_number from, auto&& in);
  plan plan_send_receive(calls::rank_number to, auto&& out, calls::rank_number from, auto&& in);

  /// A communicator of the ranks that give the same `color`, in the order of `key`, then of rank here; null
  /// for `undefined_color`. Collective: every rank calls it, those without a colour too. The new communicator
  /// is independent of this one, which may end first: it has an endpoint, queue pairs and memory of its own,
  /// and one may be used by another thread at the same time as the other. It has the same settings and
  /// device. Cost: six allgathers of small messages, and an endpoint (docs/joining.md).
  /// @throws error errc::invalid_argument for other negative colours, on this rank only, before anything is
  /// sent; what making an endpoint throws, on the rank where it failed, and errc::bootstrap_failed naming
  /// that rank on the others of its group. Neither poisons this communicator or another group.
  [[nodiscard]] std::unique_ptr<communicator> split(int color, int key = 0);
  /// The request's `take()` gives what `split` returns; its `wait()` and `test()` throw what `split` throws.
  request_for<communicator> isplit(int color, int key = 0);
  /// A communicator of the same ranks in the same order. Collective; cost and errors as `split`.
  [[nodiscard]] std::unique_ptr<communicator> duplicate() { return part({.color = 0, .key = 0}); }
  request_for<communicator> iduplicate() { return start_part({.color = 0, .key = 0}); }
  /// A communicator of `ranks` in that order; null on a rank that gives a list without itself, such as an
  /// empty one. Collective; ranks that are to be together give the same list, so that disjoint groups can be
  /// made at once. Cost as `split`.
  /// @throws error errc::invalid_argument on this rank only if `ranks` are out of range or occur twice;
  /// errc::mismatch on all ranks if lists differ; as `split`.
  [[nodiscard]] std::unique_ptr<communicator> subgroup(std::span<const int> ranks);
  request_for<communicator> isubgroup(std::span<const int> ranks);

  /// `count` elements of memory from the device, all bytes zero, registered for this communicator as long as
  /// they live, so that no call on them registers anything. Not collective. They end before the communicator.
  /// @throws error errc::invalid_argument if there cannot be so many; as verbs::registered_buffer.
  template <element T>
  [[nodiscard]] device_array<T> allocate(std::size_t count) {
    return detail::allocate_from<T>(transport(), count);
  }

  /// Says which algorithm serves operation `what` with `bytes` (of one rank's message, or of one block for
  /// operations of blocks), and why. Not collective. Operations with uneven blocks are served as the even
  /// ones are if the algorithm can, else by allgather::ring, alltoall::pairwise, gather::flat or
  /// scatter::flat.
  [[nodiscard]] std::string explain(operation what, std::size_t bytes = 0) {
    return calls::explain(on(), what, bytes);
  }

 private:
  template <element T, class Communicator>
  friend class window;
  using caller_type = calls::caller<composed>;

  [[nodiscard]] caller_type& on() const {
    if (!calls_) [[unlikely]]
      calls::refuse_moved_from();
    return *calls_;
  }
  [[gnu::always_inline]] void run(const auto& made) { calls_->run(made); }
  [[nodiscard]] std::unique_ptr<communicator> part(const calls::wish& mine);
  request_for<communicator> start_part(const calls::wish& mine);

  /// Where requests and windows find it, wherever the communicator is moved.
  std::unique_ptr<caller_type, calls::ending> calls_;
};

}  // namespace chorale

#include <chorale/nonblocking.hpp>  // IWYU pragma: export
