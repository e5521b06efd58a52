// SPDX-License-Identifier: Apache-2.0
// Sparse alltoall: each rank has data for a few others, and receivers do not know their senders.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <chorale/calls/exchange.hpp>
#include <chorale/core/error.hpp>
#include <chorale/core/neighbours.hpp>
#include <chorale/core/types.hpp>
#include <chorale/transport/concepts.hpp>
#include <chorale/window.hpp>

namespace chorale {

/// How ranks discover which ranks send to them.
namespace sparse {

/// Each sender puts one word into the memory of each of its receivers; after a fence the words have arrived.
/// Cost: a put of 8 bytes per receiver, a barrier, and a scan of 8 bytes per rank of local memory; 16 bytes
/// of memory per rank. Source: Hoefler, Siebert and Lumsdaine 2010, "Scalable communication protocols for
/// dynamic sparse data exchange". They need a nonblocking barrier because receivers take part in each
/// message; puts do not involve the receiver, so a plain barrier after a flush suffices.
template <class Communicator>
class announced {
 public:
  /// Collective.
  explicit announced(Communicator& comm)
      : rank_(static_cast<std::size_t>(comm.rank())),
        ranks_(static_cast<std::size_t>(comm.size())),
        words_(comm, 2 * ranks_) {}

  /// Collective. Calls `use(source, bytes)` for each rank that sends to this one, in ascending order.
  template <class Use>
  void meet(std::span<const outgoing> sends, Use&& use) {
    // Two halves alternate: words of the next call may arrive while these are read, but words of the call
    // after that may not, since their senders must first complete a fence with this rank.
    const std::size_t first = std::exchange(first_, ranks_ - first_);
    const auto here = words_.local().subspan(first, ranks_);
    for (const outgoing& message : sends) {
      if (message.peer == nobody) continue;
      const std::uint64_t word = message.bytes.size() + 1;  // 0 means no message
      if (static_cast<std::size_t>(message.peer) == rank_)
        here[rank_] = word;
      else
        words_.put(message.peer, first + rank_, word);
    }
    words_.fence();
    for (std::size_t source = 0; source < ranks_; ++source)
      if (here[source] != 0) use(static_cast<int>(source), std::exchange(here[source], 0) - 1);
  }

 private:
  std::size_t rank_;
  std::size_t ranks_;
  std::size_t first_ = 0;
  window<std::uint64_t, Communicator> words_;
};

/// An alltoall of the lengths, over any transport: 8 bytes for each pair of ranks.
template <class Communicator>
class counted {
 public:
  explicit counted(Communicator& comm) : comm_(&comm) {}  ///< Local.

  /// As `announced::meet`.
  template <class Use>
  void meet(std::span<const outgoing> sends, Use&& use) {
    std::vector<std::uint64_t> out = calls::or_fail(comm_->transport(), [&] {
      return std::vector<std::uint64_t>(static_cast<std::size_t>(comm_->size()), 0);
    });
    for (const outgoing& message : sends)
      if (message.peer != nobody) out[static_cast<std::size_t>(message.peer)] = message.bytes.size() + 1;
    const std::vector<std::uint64_t> in = comm_->alltoall(out);
    for (std::size_t source = 0; source < in.size(); ++source)
      if (in[source] != 0) use(static_cast<int>(source), in[source] - 1);
  }

 private:
  Communicator* comm_;
};

/// `announced` over transports with windows, otherwise `counted`.
template <class Communicator>
using standard = std::conditional_t<window_transport<typename Communicator::transport_type>,
                                    announced<Communicator>, counted<Communicator>>;

}  // namespace sparse

/// The data received from rank `source`.
template <element Element>
struct received {
  int source;                 ///< the sender's rank
  std::vector<Element> data;  ///< all elements that it sent
};

/// Sends data to a few ranks that do not know their senders: a step of a particle code, graph search or load
/// balancing. If receivers know their senders, `communicator::exchange` avoids the cost of discovery.
///
///     chorale::sparse_alltoall sparse{comm};
///     for (auto& [source, moved] : sparse.run<particle>({chorale::to(right, leaving)})) { ... }
///
/// Construction and destruction are collective; it needs 16 bytes per rank over transports with windows. The
/// communicator must not be moved or destroyed before it. Thread safety: as the communicator. Errors and
/// progress: as `window` and `communicator::exchange`.
template <class Communicator, template <class> class Discovery = sparse::standard>
class sparse_alltoall {
 public:
  /// Collective. @throws error as the constructor of `Discovery`.
  explicit sparse_alltoall(Communicator& comm) : comm_(&comm), discovery_(comm) {}

  /// Collective: ranks that send nothing call it too. `sends`: a list of `to(rank, data)`, in any order, with
  /// elements of type Element and each rank at most once, possibly this one; messages to `nobody` are
  /// ignored, and empty messages are delivered. @returns what was sent to this rank, ordered by source rank.
  /// Cost: that of `Discovery`, then `exchange::direct`.
  /// @throws error errc::invalid_argument, before anything is sent, for ranks that are out of range or occur
  /// twice, null pointers and other element types; errc::mismatch if a rank sends elements of another type
  /// than this rank receives; std::bad_alloc if there is no memory for the received data, which poisons the
  /// communicator.
  template <element Element>
  [[nodiscard]] std::vector<received<Element>> run(const calls::messages<outgoing>& sends) {
    static_assert(!std::same_as<Element, bool>,
                  "chorale::sparse_alltoall: std::vector<bool> has no elements");
    calls::or_fail(comm_->transport(), [&] {
      // Refused here, and not by the second of the calls below.
      const transport::occupancy::entry inside{comm_->transport().core().use(), operation::exchange};
      require_sendable(sends.list, chorale::type_tag<Element>());
    });
    std::vector<received<Element>> all;
    std::vector<incoming> takes;
    std::exception_ptr failure;
    discovery_.meet(sends.list, [&](int source, std::uint64_t bytes) {
      if (failure) return;
      try {
        all.push_back({source, std::vector<Element>(bytes / sizeof(Element))});
        takes.push_back(chorale::from(source, all.back().data));
      } catch (...) {
        failure = std::current_exception();
      }
    });
    if (failure) {
      // The other ranks have entered the exchange by now and wait for this one.
      comm_->transport().fail(failure);
      std::rethrow_exception(failure);
    }
    comm_->exchange(sends, takes);
    return all;
  }

 private:
  void require_sendable(std::span<const outgoing> sends, std::uint32_t type) const {
    std::string fault = calls::fault_of_messages(comm_->size(), sends, {});
    std::vector<std::byte> is_target(static_cast<std::size_t>(comm_->size()));
    for (const outgoing& message : sends) {
      if (!fault.empty()) break;
      if (message.peer == nobody) continue;
      if (message.type != type)
        fault = "elements of " + describe_type(message.type) + " for rank " + std::to_string(message.peer) +
                ", of " + describe_type(type) + " in this call";
      else if (std::exchange(is_target[static_cast<std::size_t>(message.peer)], std::byte{1}) != std::byte{})
        fault = "two messages to rank " + std::to_string(message.peer) + ": put together what goes there";
    }
    if (!fault.empty())
      throw error(errc::invalid_argument,
                  "sparse_alltoall on rank " + std::to_string(comm_->rank()) + ": " + fault);
  }

  Communicator* comm_;
  Discovery<Communicator> discovery_;
};

template <class Communicator>
sparse_alltoall(Communicator&) -> sparse_alltoall<Communicator>;

}  // namespace chorale
