// The communicator: a group of ranks, a transport and an algorithm for each collective, composed at compile
// time.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <chorale/algorithm/allgather/standard.hpp>
#include <chorale/algorithm/allreduce/standard.hpp>
#include <chorale/algorithm/alltoall/standard.hpp>
#include <chorale/algorithm/barrier/standard.hpp>
#include <chorale/algorithm/broadcast/standard.hpp>
#include <chorale/algorithm/gather/standard.hpp>
#include <chorale/algorithm/reduce/standard.hpp>
#include <chorale/algorithm/reduce_scatter/direct.hpp>
#include <chorale/algorithm/scan/standard.hpp>
#include <chorale/algorithm/scatter/standard.hpp>
#include <chorale/bootstrap/pmix.hpp>
#include <chorale/calls/allgather.hpp>
#include <chorale/calls/alltoall.hpp>
#include <chorale/calls/barrier.hpp>
#include <chorale/calls/broadcast.hpp>
#include <chorale/calls/compiled/rc.hpp>
#include <chorale/calls/explain.hpp>
#include <chorale/calls/gather.hpp>
#include <chorale/calls/reduce.hpp>
#include <chorale/calls/scan.hpp>
#include <chorale/calls/split.hpp>
#include <chorale/core/config.hpp>
#include <chorale/device_array.hpp>
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
  using l2 = calls::broadcast_calls<l1, chosen<operation::broadcast, broadcast::standard>>;
  using l3 = calls::reduce_calls<l2, chosen<operation::reduce, reduce::standard>>;
  using l4 = calls::allreduce_calls<l3, chosen<operation::allreduce, allreduce::standard>>;
  using l5 = calls::allgather_calls<l4, chosen<operation::allgather, allgather::standard>>;
  using l6 = calls::alltoall_calls<l5, chosen<operation::alltoall, alltoall::standard>>;
  using l7 = calls::gather_calls<l6, chosen<operation::gather, gather::standard>>;
  using l8 = calls::scatter_calls<l7, chosen<operation::scatter, scatter::standard>>;
  using l9 = calls::reduce_scatter_calls<l8, chosen<operation::reduce_scatter, reduce_scatter::direct>>;
  using l10 = calls::scan_calls<l9, chosen<operation::scan, scan::standard>>;
  using l11 = calls::explain_calls<l10>;
  using type = calls::split_calls<l11>;
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

  /// A communicator of the ranks that give the same `color`, in the order of `key`, then of rank here; null
  /// for `undefined_color`. Collective: every rank calls it, those without a colour too. The new communicator
  /// is independent of this one, which may end first: it has an endpoint, queue pairs and memory of its own,
  /// and one may be used by another thread at the same time as the other. It has the same settings and
  /// device. Cost: four allgathers of small messages; a device context, a datagram queue pair with its
  /// buffers, and connections as they are used (`transport().registered_bytes()` and `connections()` tell). On
  /// soft0 with four ranks: 2 ms, three file descriptors and 340 KiB of registered memory; once a barrier has
  /// made connections, one descriptor and 1 MiB more.
  /// @throws error errc::invalid_argument for other negative colours, on this rank only, before anything is
  /// sent; what making an endpoint throws, on the rank where it failed, and errc::bootstrap_failed naming
  /// that rank on the others of its group. Neither poisons this communicator or another group.
  [[nodiscard]] std::unique_ptr<communicator> split(int color, int key = 0) {
    if (color < 0 && color != undefined_color)
      this->reject("split",
                   "colour " + std::to_string(color) +
                       " is negative; chorale::undefined_color (-1) is for a rank that is in no part");
    return this->template make_part<communicator>({.color = color, .key = key});
  }

  /// A communicator of the same ranks in the same order. Collective; cost and errors as `split`.
  [[nodiscard]] std::unique_ptr<communicator> duplicate() {
    return this->template make_part<communicator>({.color = 0, .key = 0});
  }

  /// A communicator of `ranks` in that order; null on a rank that gives a list without itself, such as an
  /// empty one. Collective; ranks that are to be together give the same list, so that disjoint groups can be
  /// made at once. Cost as `split`.
  /// @throws error errc::invalid_argument on this rank only if `ranks` are out of range or occur twice;
  /// errc::mismatch on all ranks if lists differ; as `split`.
  [[nodiscard]] std::unique_ptr<communicator> subgroup(std::span<const int> ranks) {
    std::vector<bool> seen(static_cast<std::size_t>(this->size()));
    typename base::wish mine;
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      const int r = ranks[i];
      if (r < 0 || r >= this->size() || seen[static_cast<std::size_t>(r)])
        this->reject("subgroup", "rank " + std::to_string(r) + ", number " + std::to_string(i) +
                                     " of the list, is not in 0.." + std::to_string(this->size() - 1) +
                                     " or occurs twice");
      seen[static_cast<std::size_t>(r)] = true;
      if (r != this->rank()) continue;
      mine = {.color = ranks.front(),
              .key = static_cast<std::int64_t>(i),
              .list = base::hash_of(ranks),
              .listed = ranks.size()};
    }
    return this->template make_part<communicator>(mine);
  }

  /// `count` elements of memory from the device, all bytes zero, registered for this communicator as long as
  /// they live, so that no call on them registers anything. Not collective. They end before the communicator.
  /// @throws error errc::invalid_argument if there cannot be so many; as verbs::registered_buffer.
  template <element T>
  [[nodiscard]] device_array<T> allocate(std::size_t count) {
    return detail::allocate_from<T>(this->transport(), count);
  }
};

}  // namespace chorale
