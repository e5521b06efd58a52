// In which order an algorithm of a reduction combines.
#pragma once

#include <cstdint>

namespace chorale {

/// Where the brackets are in what an algorithm computes. Of two algorithms that say the same, if it is not
/// `own`, every result has the same bits, whatever the operator, the size and the number of ranks.
enum class evaluation : std::uint8_t {
  own,       ///< in a tree that no other algorithm has
  serial,    ///< ((x_0 op x_1) op x_2) ..., as a loop over the ranks
  doubling,  ///< in the tree of `allreduce::recursive_doubling`
};

/// What algorithm A says by a member `static constexpr auto evaluates`; `own` if it has none.
template <class Algorithm>
inline constexpr evaluation evaluation_of = evaluation::own;
template <class Algorithm>
requires requires { Algorithm::evaluates; }
inline constexpr evaluation evaluation_of<Algorithm> = Algorithm::evaluates;

}  // namespace chorale
