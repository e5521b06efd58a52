// The communicator: a group of ranks, a transport and an algorithm for each collective, composed at compile
// time.
#pragma once

#include <chorale/algorithm/allgather/ring.hpp>
#include <chorale/algorithm/allreduce/standard.hpp>
#include <chorale/algorithm/alltoall/pairwise.hpp>
#include <chorale/algorithm/barrier/standard.hpp>
#include <chorale/algorithm/broadcast/binomial.hpp>
#include <chorale/algorithm/gather/flat.hpp>
#include <chorale/algorithm/reduce/degree_k.hpp>
#include <chorale/algorithm/reduce_scatter/direct.hpp>
#include <chorale/algorithm/scan/recursive_doubling.hpp>
#include <chorale/algorithm/scatter/flat.hpp>
#include <chorale/bootstrap/pmix.hpp>
#include <chorale/calls/allgather.hpp>
#include <chorale/calls/alltoall.hpp>
#include <chorale/calls/barrier.hpp>
#include <chorale/calls/broadcast.hpp>
#include <chorale/calls/gather.hpp>
#include <chorale/calls/reduce.hpp>
#include <chorale/calls/scan.hpp>
#include <chorale/core/config.hpp>
#include <chorale/policies.hpp>
#include <chorale/transport/rc.hpp>

namespace chorale {

namespace detail {

template <class Transport, class... Algorithms>
struct composition {
  template <operation What, class Default>
  using chosen = typename choose_algorithm<What, Default, Algorithms...>::type;

  using l0 = calls::caller<Transport>;
  using l1 = calls::barrier_calls<l0, chosen<operation::barrier, barrier::standard>>;
  using l2 = calls::broadcast_calls<l1, chosen<operation::broadcast, broadcast::binomial>>;
  using l3 = calls::reduce_calls<l2, chosen<operation::reduce, reduce::degree_k<3>>>;
  using l4 = calls::allreduce_calls<l3, chosen<operation::allreduce, allreduce::standard>>;
  using l5 = calls::allgather_calls<l4, chosen<operation::allgather, allgather::ring>>;
  using l6 = calls::alltoall_calls<l5, chosen<operation::alltoall, alltoall::pairwise>>;
  using l7 = calls::gather_calls<l6, chosen<operation::gather, gather::flat>>;
  using l8 = calls::scatter_calls<l7, chosen<operation::scatter, scatter::flat>>;
  using l9 = calls::reduce_scatter_calls<l8, chosen<operation::reduce_scatter, reduce_scatter::direct>>;
  using type = calls::scan_calls<l9, chosen<operation::scan, scan::recursive_doubling>>;
};

}  // namespace detail

/// A group of ranks that makes collective calls over `Transport`. `Algorithms` are policies in any order, at
/// most one an operation; the others have defaults. The calls are in `calls/`, one operation a header.
///
///     chorale::communicator<chorale::transport::rc, chorale::barrier::pairwise_exchange> comm;
///
/// Every rank makes the same calls in the same order; calls that do not match are an error that names the
/// ranks. Every wait has a deadline (`config::deadline`). After a call has thrown anything but
/// errc::invalid_argument the communicator is poisoned: the other ranks are told, and each later call throws
/// errc::poisoned. Elements are of any trivially copyable type; counts may be zero; pointers need not be
/// aligned. Thread safety: one thread at a time; different communicators are independent.
template <class Transport = transport::rc, class... Algorithms>
class communicator : public detail::composition<Transport, Algorithms...>::type {
  static_assert(
      (algorithm_policy<Algorithms> && ...),
      "chorale::communicator: each argument after the transport must be an algorithm policy, such as "
      "chorale::barrier::dissemination");
  static_assert((detail::is_alone<Algorithms, Algorithms...> && ...),
                "chorale::communicator: two algorithms are given for one operation");
  static_assert((Algorithms::template runs_on<Transport> && ...),
                "chorale::communicator: an algorithm cannot run on this transport: its runs_on<Transport> "
                "names the concept "
                "(transport/concepts.hpp) that the transport does not model");

  using base = typename detail::composition<Transport, Algorithms...>::type;

 public:
  /// All ranks of the job that a PMIx launcher started; without a launcher one rank (see `launched()`).
  /// Collective.
  /// @throws error as `bootstrap::pmix` and `verbs::choose`, and if ranks do not fit together.
  explicit communicator(const config& settings = config::from_environment())
      : communicator(bootstrap::pmix{}, settings) {}

  /// The ranks of `group`, which is not used after construction. Collective.
  template <bootstrap::group G>
  explicit communicator(G&& group, const config& settings = config::from_environment())
      : base(group, settings) {}
};

}  // namespace chorale
