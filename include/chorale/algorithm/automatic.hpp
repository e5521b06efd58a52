// The choice among algorithms at run time.
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

/// The bytes that an algorithm is chosen by: the same on all ranks.
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
/// A scatter's blocks are known at the root alone; its own block everywhere.
template <class Byte>
std::size_t payload_of(const blocks<Byte>&, std::span<std::byte> mine, int) noexcept {
  return mine.size();
}

/// Whether the bits of a result are the same whatever the algorithm, as far as this argument is concerned.
template <class Argument>
constexpr bool keeps_bits(const Argument&) noexcept {
  return true;
}
inline bool keeps_bits(const reduction& op) noexcept {
  return op.is_exact();
}

}  // namespace detail

/// Whichever of `Algorithms`, all of one operation, is the fastest for the size of a message, the size of the
/// group, the transport, and whether ranks share cores. Those that do not run on a transport are left out
/// there, and those whose `suits(net)` is false, unless it is false of all; `suits` must give the same answer
/// on all ranks.
///
/// The tuning table (`model/tuning.hpp`, config::tuning) says what to begin with, and what comes near to it.
/// Since the library's was measured on some other machine, the first calls of each size, in steps of four or
/// two, are a *trial* (`model/trial.hpp`): contenders serve them in turn, the ranks add up what the calls
/// took them, the slow ones leave round by round, and the fastest serves the rest. Results whose bits depend
/// on where the brackets are, as those of sums of floating-point numbers do, must not depend on time: on more
/// than two ranks those calls have trials of their own, of what evaluates as the table's choice does
/// (`algorithm/evaluation.hpp`), unless config::trials says otherwise. Every rank chooses alike, since all
/// have the same table, calls and sums.
///
/// Cost: a look at a few limits a call; and the calls of a trial, which are slower than the best where
/// contenders are, by the table not more than four times: docs/guide/choosing.md has figures.
///
///     communicator<transport::rc, automatic<allreduce::recursive_doubling, allreduce::ring>> comm;
template <class First, class... Rest>
struct automatic {
  static constexpr auto implements = First::implements;
  using candidates = type_list<First, Rest...>;  ///< The algorithms among which is chosen, in their order.
  static_assert(((Rest::implements == implements) && ...),
                "chorale::automatic: its algorithms are of one operation");
  /// Where ranks do not know each other's blocks they cannot choose by them.
  static constexpr bool uneven = false;
  template <class Net>
  static constexpr bool runs_on =
      tunable_transport<Net> && (First::template runs_on<Net> || (Rest::template runs_on<Net> || ...));

  // Inline even where the compiler has inlined much already: what it costs to choose must not depend on that.
  template <tunable_transport Net, class... Arguments>
  [[gnu::always_inline]] static task<> run(Net& net, call_id now, const Arguments&... arguments) {
    model::choice& all = choice_for(net);
    model::choice::lane& mine =
        all.of(detail::payload_of(arguments...), (detail::keeps_bits(arguments) && ...));
    if (!mine.settled) [[unlikely]] {
      all.ran(-1);
      return try_out(net, now, mine, arguments...);
    }
    all.ran(mine.algorithm);
    return dispatch<Net, 0, First, Rest...>(mine.algorithm, net, now, arguments...);
  }

  /// Which algorithm serves `bytes` (of a block, for operations of blocks), and why: where bits do not depend
  /// on it, once trials are over.
  template <tunable_transport Net>
  static std::string explain(Net& net, std::size_t bytes) {
    return choice_for(net).explain(bytes);
  }
  /// Whether calls of some size have begun a trial that is not over. The same on all ranks that have made the
  /// same calls.
  template <tunable_transport Net>
  static bool is_trying(Net& net) {
    return net.template state<held>().all.is_trying();
  }

 private:
  /// A type of its own, by which a transport keeps it.
  struct held {
    model::choice all;
  };

  template <class Algorithm, class Net>
  static bool suits(const Net& net) {
    if constexpr (requires { Algorithm::suits(net); })
      return Algorithm::suits(net);
    else
      return true;
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
      if constexpr (Algorithm::template runs_on<Net>)
        all.push_back({chorale::type_name<Algorithm>(), static_cast<int>(evaluation_of<Algorithm>),
                       suits<Algorithm>(net)});
    };
    add.template operator()<First>();
    (add.template operator()<Rest>(), ...);
    made.make(net.settings(),
              {{implements, Net::name, net.size(), net.oversubscribed()},
               net.rank(),
               operation_traits<implements>::is_rooted},
              std::move(all));
    if constexpr (requires { net.calls().ask(implements, &made, &name_of_last); })
      net.calls().ask(implements, &made, &name_of_last);
  }
  static std::string_view name_of_last(const void* of) {
    return static_cast<const model::choice*>(of)->name_of_last();
  }

  /// A call of a trial; or one that was made when there was one, and is reached when it is over.
  template <class Net, class... Arguments>
  static task<> try_out(Net& net, call_id now, model::choice::lane& here, Arguments... arguments) {
    model::choice& all = choice_for(net);
    const std::size_t bytes = detail::payload_of(arguments...);
    const int serving = all.next(here, bytes);
    const auto begin = clock::now();
    co_await dispatch<Net, 0, First, Rest...>(serving, net, now, arguments...);
    all.ran(serving);
    // What the program does while a nonblocking call waits is not the algorithm's time.
    if (!all.took(here, bytes, begin, clock::now(), !now.parks)) co_return;
    co_await allreduce::recursive_doubling::run(net, now, std::as_writable_bytes(here.running->times()),
                                                reduction::of<std::uint64_t>(sum));
    const std::string found = all.judge(here, bytes);
    if constexpr (requires { net.calls().tell_choice(found); })
      if (!found.empty()) net.calls().tell_choice(found);
  }
  template <class Net, int Index, class Algorithm, class... More, class... Arguments>
  [[gnu::always_inline]] static task<> dispatch(int wanted, Net& net, call_id now,
                                                const Arguments&... arguments) {
    constexpr bool runs = Algorithm::template runs_on<Net>;
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
