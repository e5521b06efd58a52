// SPDX-License-Identifier: Apache-2.0
// Choosing among algorithms at run time.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <chorale/algorithm/allreduce/recursive_doubling.hpp>
#include <chorale/algorithm/evaluation.hpp>
#include <chorale/algorithm/operation_traits.hpp>
#include <chorale/algorithm/start.hpp>
#include <chorale/core/blocks.hpp>
#include <chorale/core/clock.hpp>
#include <chorale/core/reduction.hpp>
#include <chorale/core/type_name.hpp>
#include <chorale/model/choice.hpp>
#include <chorale/transport/concepts.hpp>

namespace chorale {

namespace detail {

/// The size by which an algorithm is chosen, in bytes; the same on all ranks.
inline std::size_t payload(std::span<std::byte> data) noexcept {
  return data.size();
}
inline std::size_t payload(std::span<const std::byte> data) noexcept {
  return data.size();
}
template <class Byte>
std::size_t payload(const blocks<Byte>& all) noexcept {
  return all.layout().largest();
}
inline std::size_t payload_of() noexcept {
  return 0;
}
template <class First, class... Rest>
std::size_t payload_of(const First& first, const Rest&...) noexcept {
  return detail::payload(first);
}
/// For scatter: only the root knows all blocks, but every rank knows the size of its own.
template <class Byte>
std::size_t payload_of(const blocks<Byte>&, std::span<std::byte> mine, int) noexcept {
  return mine.size();
}

/// An algorithm whose pattern follows the places.
template <class Algorithm>
concept goes_by_places = Algorithm::goes_by_places;

/// Whether this argument permits algorithms to be exchanged without changing the bits of the result.
template <class Argument>
constexpr bool keeps_bits(const Argument&) noexcept {
  return true;
}
inline bool keeps_bits(const reduction& op) noexcept {
  return op.is_exact();
}

}  // namespace detail

/// Chooses the fastest of several algorithms of one operation, for the message size, the group size, the
/// transport, and whether ranks share cores. Excludes algorithms that do not run on the transport and those
/// whose `suits(net)` is false, unless it is false for all. An algorithm with `suits_from(net)` takes part
/// only in trials of messages of that many bytes or more. Both must return the same on all ranks.
/// Algorithms of two levels (docs/places.md) take part where the ranks of a place have a device of their own,
/// or if there are no others.
///
/// The tuning table (`model/tuning.hpp`, config::tuning) provides the initial choice and its close
/// competitors. Since the library's table was measured on another machine, the first calls of each size class
/// (steps of a factor of four or two) are a *trial* (`model/trial.hpp`): the contenders serve them in turn,
/// the ranks add up their times, the slowest contenders are dropped round by round, and the fastest serves
/// all later calls. Results whose bits depend on the bracketing, such as floating-point sums, must not depend
/// on timing: on more than two ranks such calls have separate trials, among algorithms with the same
/// bracketing as the table's choice (`algorithm/evaluation.hpp`), unless config::trials says otherwise. All
/// ranks make the same choices, since they have the same table, make the same calls and get the same sums.
///
/// Cost: a few comparisons per call, and the calls of a trial, in which contenders may be slower than the
/// best algorithm, according to the table by at most a factor of four; docs/guide/choosing.md has figures.
///
///     communicator<transport::rc, automatic<allreduce::recursive_doubling, allreduce::ring>> comm;
template <class First, class... Rest>
struct automatic {
  static constexpr auto implements = First::implements;
  using candidates = type_list<First, Rest...>;  ///< The candidates, in order.
  static_assert(((Rest::implements == implements) && ...),
                "chorale::automatic: its algorithms are of one operation");
  /// With uneven blocks, ranks do not know each other's sizes and so cannot choose by them.
  static constexpr bool uneven = false;
  template <class Net>
  static constexpr bool runs_on =
      tunable_transport<Net> && (First::template runs_on<Net> || (Rest::template runs_on<Net> || ...));

  // Always inline: the cost of choosing must not depend on how much the compiler has inlined already.
  template <tunable_transport Net, class... Arguments>
  [[gnu::always_inline]] static task<> run(Net& net, call_id now, const Arguments&... arguments) {
    model::choice& all = choice_for(net);
    model::choice::range_choice& mine =
        all.of(detail::payload_of(arguments...), (detail::keeps_bits(arguments) && ...));
    if (!mine.settled) [[unlikely]] {
      all.ran(-1);
      return try_out(net, now, mine, arguments...);
    }
    all.ran(mine.algorithm);
    return dispatch<Net, 0, First, Rest...>(mine.algorithm, net, now, arguments...);
  }

  /// Which algorithm serves messages of `bytes` (of a block, for operations on blocks) and why, for calls
  /// whose bits do not depend on the algorithm, after their trial.
  template <tunable_transport Net>
  static std::string explain(Net& net, std::size_t bytes) {
    return choice_for(net).explain(bytes);
  }
  /// Whether a trial is under way for some size. The same on all ranks that have made the same calls.
  template <tunable_transport Net>
  static bool is_trying(Net& net) {
    return net.template state<held>().all.is_trying();
  }

 private:
  /// A distinct type, the key by which the transport stores the choice.
  struct held {
    model::choice all;
  };

  template <class Algorithm, class Net>
  static constexpr bool runs_without_lanes =
      Algorithm::template runs_on<Net> && !detail::goes_by_places<Algorithm>;
  /// A choice needs one that takes part, so without lanes those by places do if they are all there is.
  template <class Algorithm, class Net>
  static constexpr bool takes_part =
      Algorithm::template runs_on<Net> &&
      (laned_transport<Net> || !detail::goes_by_places<Algorithm> ||
       !(runs_without_lanes<First, Net> || (runs_without_lanes<Rest, Net> || ...)));
  template <class Algorithm, class Net>
  static bool suits(const Net& net) {
    if constexpr (detail::goes_by_places<Algorithm> && laned_transport<Net>)
      return net.uses_lanes() && Algorithm::suits(net);
    else if constexpr (requires { Algorithm::suits(net); })
      return Algorithm::suits(net);
    else
      return true;
  }
  template <class Algorithm, class Net>
  static std::size_t suits_from(const Net& net) {
    if constexpr (requires { Algorithm::suits_from(net); })
      return Algorithm::suits_from(net);
    else
      return 0;
  }
  /// `entrant::brackets`. What is not in rank order has no bracketing in common with others.
  template <class Algorithm>
  static constexpr int brackets =
      evaluation_of<Algorithm> == evaluation::unordered ? 0 : static_cast<int>(evaluation_of<Algorithm>);
  /// Whether operands are combined in rank order, also where their order does not matter to the operator.
  template <class Algorithm, class Net>
  static bool combines_in_order(const Net& net) {
    if constexpr (detail::goes_by_places<Algorithm>)
      return net.layout().are_contiguous();
    else
      return evaluation_of<Algorithm> != evaluation::unordered;
  }
  template <class Net>
  static model::situation situation_of(const Net& net) {
    model::situation here{implements, Net::name, net.size(), net.oversubscribed()};
    if constexpr (requires { net.is_on_adapter(); }) here.is_on_adapter = net.is_on_adapter();
    if constexpr (laned_transport<Net>) {
      if (net.uses_lanes()) {
        here.places = net.layout().count();
        here.largest = net.layout().largest();
      }
    }
    return here;
  }
  template <class Net>
  static model::choice& choice_for(Net& net) {
    model::choice& made = net.template state<held>().all;
    if (!made.is_made()) [[unlikely]]
      make(net, made);
    return made;
  }
  template <class Net>
  static void make(Net& net, model::choice& made) {
    std::vector<model::entrant> all;
    const auto add = [&]<class Algorithm>() {
      if constexpr (takes_part<Algorithm, Net>)
        all.push_back({chorale::type_name<Algorithm>(), brackets<Algorithm>, suits<Algorithm>(net),
                       combines_in_order<Algorithm>(net), suits_from<Algorithm>(net)});
    };
    add.template operator()<First>();
    (add.template operator()<Rest>(), ...);
    made.make(net.settings(), {situation_of(net), net.rank(), operation_traits<implements>::is_rooted},
              std::move(all));
    if constexpr (requires { net.calls().ask(implements, &made, &last); })
      net.calls().ask(implements, &made, &last);
  }
  static model::last_choice last(const void* of) { return static_cast<const model::choice*>(of)->last(); }

  /// Serves a call of a trial, or one that was made during a trial but runs after its end.
  template <class Net, class... Arguments>
  static task<> try_out(Net& net, call_id now, model::choice::range_choice& here, Arguments... arguments) {
    model::choice& all = choice_for(net);
    const std::size_t bytes = detail::payload_of(arguments...);
    const int serving = all.next(here, bytes);
    const auto begin = clock::now();
    co_await dispatch<Net, 0, First, Rest...>(serving, net, now, arguments...);
    all.ran_in_trial(serving);
    // A nonblocking call is not timed, since the program's own computation would be included.
    if (!all.record(here, bytes, begin, clock::now(), !now.parks())) co_return;
    co_await allreduce::recursive_doubling::run(net, now, std::as_writable_bytes(here.running->times()),
                                                reduction::of<std::uint64_t>(sum));
    const std::string found = all.judge(here, bytes);
    if constexpr (requires { net.calls().tell_choice(found); })
      if (!found.empty()) net.calls().tell_choice(found);
  }
  template <class Net, int Index, class Algorithm, class... More, class... Arguments>
  [[gnu::always_inline]] static task<> dispatch(int wanted, Net& net, call_id now,
                                                const Arguments&... arguments) {
    constexpr bool runs = takes_part<Algorithm, Net>;
    if constexpr (runs) {
      if (sizeof...(More) == 0 || wanted == Index) return chorale::start<Algorithm>(net, now, arguments...);
    }
    if constexpr (sizeof...(More) != 0)
      return dispatch<Net, Index + (runs ? 1 : 0), More...>(wanted, net, now, arguments...);
    else
      __builtin_unreachable();
  }
};

}  // namespace chorale
