// The communicator: a group of ranks, a transport and an algorithm for each collective, composed at compile
// time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <chorale/algorithm/allreduce/rank_by_rank.hpp>
#include <chorale/algorithm/allreduce/standard.hpp>
#include <chorale/algorithm/barrier/standard.hpp>
#include <chorale/algorithm/broadcast/binomial.hpp>
#include <chorale/algorithm/reduce/degree_k.hpp>
#include <chorale/bootstrap/pmix.hpp>
#include <chorale/core/config.hpp>
#include <chorale/core/operators.hpp>
#include <chorale/policies.hpp>
#include <chorale/request.hpp>
#include <chorale/transport/rc.hpp>

namespace chorale {

/// A group of ranks that makes collective calls over `Transport`. `Algorithms` are policies in any order, at
/// most one an operation; the others have defaults.
///
///     chorale::communicator<chorale::transport::rc, chorale::barrier::pairwise_exchange> comm;
///
/// Every rank makes the same calls in the same order; calls that do not match are an error that names the
/// ranks. Every wait has a deadline (`config::deadline`). After a call has thrown anything but
/// errc::invalid_argument the communicator is poisoned: the other ranks are told, and each later call throws
/// errc::poisoned. Elements are of any trivially copyable type; counts may be zero; pointers need not be
/// aligned. Thread safety: one thread at a time; different communicators are independent.
template <class Transport = transport::rc, class... Algorithms>
class communicator {
  static_assert(
      (algorithm_policy<Algorithms> && ...),
      "chorale::communicator: each argument after the transport must be an algorithm policy, such as "
      "chorale::barrier::dissemination");
  static_assert(detail::how_many<operation::barrier, Algorithms...> <= 1 &&
                    detail::how_many<operation::broadcast, Algorithms...> <= 1 &&
                    detail::how_many<operation::reduce, Algorithms...> <= 1 &&
                    detail::how_many<operation::allreduce, Algorithms...> <= 1,
                "chorale::communicator: two algorithms are given for one operation");
  static_assert((Algorithms::template runs_on<Transport> && ...),
                "chorale::communicator: an algorithm cannot run on this transport: its runs_on<Transport> "
                "names the concept "
                "(transport/concepts.hpp) that the transport does not model");

  template <operation What, class Default>
  using chosen = typename detail::choose_algorithm<What, Default, Algorithms...>::type;

 public:
  using transport_type = Transport;
  using barrier_algorithm = chosen<operation::barrier, barrier::standard>;
  using broadcast_algorithm = chosen<operation::broadcast, broadcast::binomial>;
  using reduce_algorithm = chosen<operation::reduce, reduce::degree_k<3>>;
  using allreduce_algorithm = chosen<operation::allreduce, allreduce::standard>;

  /// All ranks of the job that a PMIx launcher started; without a launcher one rank (see `launched()`).
  /// Collective.
  /// @throws error as `bootstrap::pmix` and `verbs::choose`, and if ranks do not fit together.
  explicit communicator(const config& settings = config::from_environment())
      : communicator(bootstrap::pmix{}, settings) {}

  /// The ranks of `group`, which is not used after construction. Collective.
  template <bootstrap::group G>
  explicit communicator(G&& group, const config& settings = config::from_environment())
      : net_(group, settings), queue_(net_) {}

  communicator(const communicator&) = delete;
  communicator& operator=(const communicator&) = delete;

  [[nodiscard]] int rank() const noexcept { return net_.rank(); }
  [[nodiscard]] int size() const noexcept { return net_.size(); }
  /// How this group came to be: the launcher, or that it is a singleton.
  [[nodiscard]] const std::string& launched() const noexcept { return net_.launched(); }
  /// The transport, for its figures (connections, registered bytes, device) and for algorithms of your own.
  [[nodiscard]] Transport& transport() noexcept { return net_; }

  /// Returns when all ranks have called it.
  void barrier() { run(barrier_call(), start_barrier()); }
  request ibarrier() { return start(barrier_call(), start_barrier()); }

  /// Copies `data` of rank `root` into `data` of all ranks; the same count everywhere.
  template <element T, std::size_t N>
  void broadcast(std::span<T, N> data, int root = 0) {
    run(broadcast_call<T>(data, root), start_broadcast<T>(data, root));
  }
  template <element T, std::size_t N>
  request ibroadcast(std::span<T, N> data, int root = 0) {
    return start(broadcast_call<T>(data, root), start_broadcast<T>(data, root));
  }
  template <element T>
  void broadcast(T& value, int root = 0) {
    broadcast(std::span{&value, 1}, root);
  }

  /// data[i] = op over all ranks' data[i], evaluated in rank order, on every rank and to the same bits. In
  /// place.
  template <element T, std::size_t N, class Op = sum_t>
  requires reduction_operator<Op, T>
  void allreduce(std::span<T, N> data, Op op = {}) {
    run(reduction_call<Op, T>(operation::allreduce, data, -1), start_allreduce<T>(data, std::move(op)));
  }
  template <element T, std::size_t N, class Op = sum_t>
  requires reduction_operator<Op, T> request iallreduce(std::span<T, N> data, Op op = {}) {
    return start(reduction_call<Op, T>(operation::allreduce, data, -1),
                 start_allreduce<T>(data, std::move(op)));
  }
  /// The same with separate buffers of equal size, which do not overlap unless they are the same.
  template <element T, std::size_t N, std::size_t M, class Op = sum_t>
  requires reduction_operator<Op, T>
  void allreduce(std::span<const T, N> in, std::span<T, M> out, Op op = {}) {
    copy_operand<T>(in, out, "allreduce");
    allreduce(out, std::move(op));
  }
  template <element T, class Op = sum_t>
  requires(reduction_operator<Op, T> && !std::is_const_v<T>) [[nodiscard]] T allreduce(T value, Op op = {}) {
    allreduce(std::span{&value, 1}, std::move(op));
    return value;
  }

  /// out[i] = op over all ranks' in[i], evaluated in rank order, at rank `root`; elsewhere `out` is not
  /// touched and may be empty. `in` and `out` may be the same.
  template <element T, std::size_t N, std::size_t M, class Op = sum_t>
  requires reduction_operator<Op, T>
  void reduce(std::span<const T, N> in, std::span<T, M> out, Op op = {}, int root = 0) {
    run(reduce_call<Op, T>(in, out, root), start_reduce<T>(in, out, std::move(op), root));
  }
  template <element T, std::size_t N, std::size_t M, class Op = sum_t>
  requires reduction_operator<Op, T> request ireduce(std::span<const T, N> in, std::span<T, M> out,
                                                     Op op = {}, int root = 0) {
    return start(reduce_call<Op, T>(in, out, root), start_reduce<T>(in, out, std::move(op), root));
  }

 private:
  static call barrier_call() noexcept { return {.what = operation::barrier}; }
  template <class T>
  call broadcast_call(std::span<T> data, int root) const {
    check_root("broadcast", root);
    return {.what = operation::broadcast, .root = root, .bytes = data.size_bytes(), .type = type_tag<T>()};
  }
  template <class Op, class T>
  static call reduction_call(operation what, std::span<T> data, int root) {
    return {.what = what,
            .root = root,
            .bytes = data.size_bytes(),
            .type = type_tag<std::remove_const_t<T>>(),
            .reduction = operator_tag<Op>()};
  }
  template <class Op, class T>
  call reduce_call(std::span<const T> in, std::span<T> out, int root) const {
    check_root("reduce", root);
    if (rank() == root && out.size() != in.size()) reject_sizes("reduce", in.size(), out.size());
    return reduction_call<Op>(operation::reduce, in, root);
  }

  // Each of these makes an algorithm's coroutine for a call of the given number.
  auto start_barrier() {
    return [this](epoch now) { return barrier_algorithm::run(net_, now); };
  }
  template <class T>
  auto start_broadcast(std::span<T> data, int root) {
    return [this, data, root](epoch now) {
      return broadcast_algorithm::run(net_, now, std::as_writable_bytes(data), root);
    };
  }
  template <class T, class Op>
  auto start_allreduce(std::span<T> data, Op op) {
    return [this, data, op = std::move(op)](epoch now) {
      if (sizeof(T) > net_.block_bytes()) return allreduce::rank_by_rank::run(net_, now, data, op);
      return allreduce_algorithm::run(net_, now, data, op);
    };
  }
  template <class T, class Op>
  auto start_reduce(std::span<const T> in, std::span<T> out, Op op, int root) {
    return [this, in, out, op = std::move(op), root](epoch now) {
      if (sizeof(T) > net_.block_bytes()) return reduce_rank_by_rank(now, in, out, op, root);
      return reduce_algorithm::run(net_, now, in, out, op, root);
    };
  }
  template <class T, class Op>
  task<> reduce_rank_by_rank(epoch now, std::span<const T> in, std::span<T> out, Op op, int root) {
    // Bytes, since `in` and `out` need not be aligned.
    std::vector<std::byte> work(in.size_bytes());
    if (!work.empty()) std::memcpy(work.data(), in.data(), work.size());
    co_await allreduce::rank_by_rank::run(net_, now, std::span{reinterpret_cast<T*>(work.data()), in.size()},
                                          op);
    if (rank() == root && !work.empty()) std::memcpy(out.data(), work.data(), work.size());
  }

  /// A blocking call: its waits happen inside the awaits, so that it is over when `resume` returns.
  template <class Start>
  void run(const call& what, Start&& begin_algorithm) {
    if (!queue_.empty()) [[unlikely]]
      queue_.drain();
    const epoch now = net_.begin(what);
    net_.set_blocking(true);
    try {
      task<> algorithm = begin_algorithm(now);
      algorithm.resume();
      algorithm.result();
    } catch (...) {
      net_.fail(std::current_exception());
      throw;
    }
    net_.complete(now);
  }

  template <class Start>
  request start(const call& what, Start&& begin_algorithm) {
    auto pending = std::make_shared<detail::pending_call>();
    pending->now = net_.begin(what);
    pending->algorithm = begin_algorithm(pending->now);
    queue_.push(pending);
    queue_.drive(false);
    return {std::move(pending), queue_};
  }

  void check_root(const char* what, int root) const {
    if (root < 0 || root >= size()) {
      throw error(errc::invalid_argument, std::string{what} + " on rank " + std::to_string(rank()) +
                                              ": root " + std::to_string(root) + " is not in 0.." +
                                              std::to_string(size() - 1));
    }
  }
  void reject_sizes(const char* what, std::size_t in, std::size_t out) const {
    throw error(errc::invalid_argument, std::string{what} + " on rank " + std::to_string(rank()) + ": " +
                                            std::to_string(in) + " elements go in, but there is room for " +
                                            std::to_string(out));
  }
  template <class T>
  void copy_operand(std::span<const T> in, std::span<T> out, const char* what) const {
    if (in.size() != out.size()) reject_sizes(what, in.size(), out.size());
    if (!in.empty() && in.data() != out.data()) std::memcpy(out.data(), in.data(), in.size_bytes());
  }

  Transport net_;
  detail::call_queue queue_;
};

}  // namespace chorale
