// SPDX-License-Identifier: Apache-2.0
// An algorithm without zero copy.
#pragma once

#include <cstddef>
#include <limits>
#include <numeric>
#include <optional>
#include <vector>

#include <chorale/algorithm/evaluation.hpp>
#include <chorale/algorithm/operation_traits.hpp>
#include <chorale/algorithm/start.hpp>
#include <chorale/algorithm/subset.hpp>
#include <chorale/algorithm/transfer.hpp>
#include <chorale/core/call.hpp>
#include <chorale/core/config.hpp>
#include <chorale/core/task.hpp>
#include <chorale/transport/concepts.hpp>

namespace chorale {

/// `Algorithm` with all messages copied through blocks of the mailbox, however long they are. On a host whose
/// cores do the copying, the size from which zero copy pays off depends on how near two cores are: while
/// their caches pass lines fast, blocks are faster for messages of several times the transport's threshold
/// (docs/comparison.md). Trials choose between both. Cost: that of `Algorithm`, and two copies of each byte.
template <class Algorithm>
struct through_blocks {
  static constexpr auto implements = Algorithm::implements;
  static constexpr auto evaluates = evaluation_of<Algorithm>;
  /// Uneven calls, whose ranks do not know all sizes, have no trials.
  static constexpr bool uneven = false;
  template <class Net>
  static constexpr bool runs_on = core_copying_transport<Net> && run_over_subsets<Net, Algorithm>;
  template <core_copying_transport Net>
  static bool suits(const Net& net) noexcept {
    // An alltoall obeys its own threshold, if that is set, in a subset, too, so both would do the same.
    if (implements == operation::alltoall && net.settings().alltoall_zero_copy_bytes) return false;
    return transfer::own_cores_copy(net);
  }
  /// No shorter message is ever zero copy.
  template <core_copying_transport Net>
  static std::size_t suits_from(const Net& net) noexcept {
    return net.zero_copy_bytes();
  }

  template <placed_transport Net, class... Arguments>
  static task<> run(Net& net, call_id now, Arguments... arguments) {
    return chorale::start<Algorithm>(whole_group<Net>::of(net), now, arguments...);
  }

 private:
  /// The group as a subset of itself that has no zero copy. Made at first use, and kept by the transport.
  template <placed_transport Net>
  class whole_group {
   public:
    static subset<Net>& of(Net& net) {
      auto& made = net.template state<whole_group>().all_;
      if (!made) [[unlikely]] {
        std::vector<int> ranks(static_cast<std::size_t>(net.size()));
        std::iota(ranks.begin(), ranks.end(), 0);
        made.emplace(net, ranks, std::numeric_limits<std::size_t>::max());
      }
      return *made;
    }

   private:
    std::optional<subset<Net>> all_;
  };
};

}  // namespace chorale
