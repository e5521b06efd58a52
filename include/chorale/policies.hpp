// SPDX-License-Identifier: Apache-2.0
// Finds a communicator's transport and algorithms among its template arguments, and diagnoses mistakes in
// them.
#pragma once

#include <concepts>
#include <cstddef>
#include <type_traits>

#include <chorale/algorithm/operation_traits.hpp>
#include <chorale/core/call.hpp>
#include <chorale/core/task.hpp>
#include <chorale/transport/concepts.hpp>

namespace chorale {

/// A type intended as a communicator's transport; `communicator_transport` tests whether it can be one.
template <class Policy>
concept transport_policy = !algorithm_policy<Policy> && requires(const Policy& net) {
  { Policy::name } -> std::convertible_to<const char*>;
  net.rank();
};

namespace detail {

/// The first transport among `Policies`, else `Default`.
template <class Default, class... Policies>
struct choose_transport : std::type_identity<Default> {};
template <class Default, class First, class... Rest>
struct choose_transport<Default, First, Rest...> : choose_transport<Default, Rest...> {};
template <class Default, transport_policy First, class... Rest>
struct choose_transport<Default, First, Rest...> : std::type_identity<First> {};

/// The first of `Policies` that implements `What`, else the operation's default.
template <operation What, class... Policies>
struct choose_algorithm : std::type_identity<typename operation_traits<What>::default_algorithm> {};
template <operation What, class First, class... Rest>
struct choose_algorithm<What, First, Rest...> : choose_algorithm<What, Rest...> {};
template <operation What, class First, class... Rest>
requires(algorithm_policy<First> && First::implements == What)
struct choose_algorithm<What, First, Rest...> : std::type_identity<First> {};

/// The transport's type as algorithms see it: itself, or the base class that it shares with similar
/// transports.
template <class Transport>
struct as_algorithms_see : std::type_identity<Transport> {};
template <class Transport>
requires requires { typename Transport::seen_by_algorithms; }
struct as_algorithms_see<Transport> : std::type_identity<typename Transport::seen_by_algorithms> {};

template <class Algorithm>
constexpr int operation_of() {
  if constexpr (algorithm_policy<Algorithm>)
    return static_cast<int>(Algorithm::implements);
  else
    return -1;
}
template <class Algorithm, class Net>
constexpr bool runs_or_is_none() {
  if constexpr (algorithm_policy<Algorithm>)
    return Algorithm::template runs_on<Net>;
  else
    return true;
}

/// Compares the `run` of algorithm A with the arguments of its operation over `Net`. Instantiates only the
/// declaration of `run`.
template <class Algorithm, class Net,
          class Arguments = typename operation_traits<Algorithm::implements>::arguments>
struct signature_of_run;
template <class Algorithm, class Net, class... Arguments>
struct signature_of_run<Algorithm, Net, run_arguments<Arguments...>> {
  using wanted = task<> (*)(Net&, call_id, Arguments...);
  static constexpr bool takes_them =
      requires(Net& net, call_id now, Arguments... arguments) { Algorithm::run(net, now, arguments...); };
  static constexpr bool gives_a_task = requires(Net& net, call_id now, Arguments... arguments) {
    { Algorithm::run(net, now, arguments...) } -> std::same_as<task<>>;
  };
  static constexpr bool takes_them_by_value = requires { static_cast<wanted>(&Algorithm::run); };

  static constexpr bool check() {
    if constexpr (!takes_them)
      static_assert(takes_them,
                    "chorale: the `run` of this algorithm is not there or does not take what its operation "
                    "gives: it is `template <mailbox_transport Net> static task<> run(Net&, call_id, ...)`, "
                    "where `...` are the run_arguments<...> that stand in this message");
    else if constexpr (!gives_a_task)
      static_assert(gives_a_task, "chorale: the `run` of this algorithm does not return chorale::task<>");
    else
      static_assert(takes_them_by_value,
                    "chorale: the `run` of this algorithm does not take its arguments by value, as exactly "
                    "the run_arguments<...> that stand in this message: it is a coroutine, which goes on "
                    "when the arguments of its caller are gone; only the transport comes by reference");
    return takes_them_by_value;
  }
};

/// Checks algorithm A over `Net`, and all candidates if it is an `automatic`.
template <class Algorithm, class Net>
constexpr bool check_algorithm() {
  if constexpr (!algorithm_policy<Algorithm>) {
    return false;
  } else if constexpr (requires { typename Algorithm::candidates; }) {
    return []<class... Candidates>(type_list<Candidates...>) {
      return ((!Candidates::template runs_on<Net> || detail::check_algorithm<Candidates, Net>()) && ...);
    }(typename Algorithm::candidates{});
  } else if constexpr (!Algorithm::template runs_on<Net>) {
    return false;
  } else if constexpr (!signature_of_run<Algorithm, Net>::takes_them &&
                       requires { typename operation_traits<Algorithm::implements>::in_place_arguments; }) {
    return signature_of_run<Algorithm, Net,
                            typename operation_traits<Algorithm::implements>::in_place_arguments>::check();
  } else {
    return signature_of_run<Algorithm, Net>::check();
  }
}

template <class Policy>
concept is_complete = requires { sizeof(Policy); };

/// The number of transports among `Policies`.
template <class... Policies>
inline constexpr int transports_among = ((transport_policy<Policies> ? 1 : 0) + ... + 0);
/// True if no other of `Policies` implements the operation of A.
template <class Algorithm, class... Policies>
inline constexpr bool is_alone =
    !algorithm_policy<Algorithm> ||
    ((detail::operation_of<Algorithm>() == detail::operation_of<Policies>() ? 1 : 0) + ... + 0) == 1;

/// A communicator's transport and algorithms; `Default` is the transport if `Policies` names none.
template <class Default, class... Policies>
struct composition {
  using transport = typename choose_transport<Default, Policies...>::type;
  using net = typename as_algorithms_see<transport>::type;
  template <operation What>
  using algorithm_of = typename choose_algorithm<What, Policies...>::type;

  static_assert(
      (is_complete<Policies> && ...),
      "chorale::communicator: an argument is a type that is only declared: include its header, such as "
      "<chorale/algorithm/barrier/dissemination.hpp>, or <chorale/chorale.hpp>");
  static_assert(((algorithm_policy<Policies> || transport_policy<Policies>)&&...),
                "chorale::communicator: each argument must be a transport, such as chorale::transport::rc, "
                "or an algorithm policy, such as chorale::barrier::dissemination");
  static_assert(transports_among<Policies...> <= 1, "chorale::communicator: two transports are given");
  static_assert((is_alone<Policies, Policies...> && ...),
                "chorale::communicator: two algorithms are given for one operation");
  static_assert(communicator_transport<transport>,
                "chorale::communicator: the transport lacks what algorithms or calls use: "
                "communicator_transport (transport/concepts.hpp) lists it, and the compiler's notes name "
                "what is missing");
  static_assert((detail::runs_or_is_none<Policies, transport>() && ...),
                "chorale::communicator: an algorithm cannot run on this transport: its runs_on<Transport> "
                "names the concept (transport/concepts.hpp) that the transport does not model");
  static_assert((static_cast<void>(detail::check_algorithm<Policies, net>()), ..., true));
};

}  // namespace detail
}  // namespace chorale
