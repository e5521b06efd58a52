// SPDX-License-Identifier: Apache-2.0
// The text that describes a communicator's algorithms, which ranks compare when they join.
#pragma once

#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <type_traits>

#include <chorale/algorithm/operation_traits.hpp>
#include <chorale/bootstrap/concept.hpp>
#include <chorale/core/type_name.hpp>

namespace chorale::calls {

/// "allreduce ring, barrier pairwise_exchange; else standard", independent of the order of the policies.
template <class Composition>
std::string describe_composition() {
  std::string text;
  chorale::for_each_operation(operations_with_algorithms{}, [&]<operation What>() {
    using algorithm = typename Composition::template algorithm_of<What>;
    if constexpr (!std::is_same_v<algorithm, typename operation_traits<What>::default_algorithm>)
      text.append(text.empty() ? "" : ", ")
          .append(name(What))
          .append(" ")
          .append(chorale::type_name<algorithm>());
  });
  return text.empty() ? "standard" : text + "; else standard";
}

/// A group that also provides the composition, which all its ranks must have in common.
template <class Group>
class composed_group {
 public:
  composed_group(Group& group, std::string (*text)()) : group_(group), composition_(text) {}

  [[nodiscard]] int rank() { return group_.rank(); }
  [[nodiscard]] int size() { return group_.size(); }
  [[nodiscard]] int local_rank() requires requires(Group& g) { g.local_rank(); } {
    return group_.local_rank();
  }
  [[nodiscard]] bool singleton() { return bootstrap::is_singleton(group_); }
  [[nodiscard]] std::string job() { return group_.job(); }
  [[nodiscard]] std::string describe() { return group_.describe(); }
  [[nodiscard]] std::string composition() const { return composition_(); }
  bootstrap::cards exchange(std::span<const std::byte> mine, std::chrono::milliseconds deadline) {
    return group_.exchange(mine, deadline);
  }

 private:
  Group& group_;
  std::string (*composition_)();
};

}  // namespace chorale::calls
