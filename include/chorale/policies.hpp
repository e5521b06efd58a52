// Finding a communicator's algorithms among its template arguments.
#pragma once

#include <concepts>
#include <cstddef>
#include <type_traits>

#include <chorale/core/call.hpp>

namespace chorale {

/// An algorithm policy: says which operation it implements and on which transports it runs.
template <class A>
concept algorithm_policy = requires {
  { A::implements } -> std::convertible_to<operation>;
  { A::template runs_on<int> } -> std::convertible_to<bool>;
};

namespace detail {

template <operation What, class Default, class... Algorithms>
struct choose_algorithm {
  using type = Default;
};
template <operation What, class Default, class First, class... Rest>
struct choose_algorithm<What, Default, First, Rest...> {
  using type = typename std::conditional_t<First::implements == What, std::type_identity<First>,
                                           choose_algorithm<What, Default, Rest...>>::type;
};

/// True if no other of `Algorithms` implements the operation of `A`.
template <class A, class... Algorithms>
inline constexpr bool is_alone = ((Algorithms::implements == A::implements ? 1U : 0U) + ... + 0U) == 1;

}  // namespace detail
}  // namespace chorale
