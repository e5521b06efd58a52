// The choice among algorithms at run time.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <chorale/algorithm/allreduce/recursive_doubling.hpp>
#include <chorale/algorithm/operation_traits.hpp>
#include <chorale/core/blocks.hpp>
#include <chorale/core/clock.hpp>
#include <chorale/core/reduction.hpp>
#include <chorale/core/type_name.hpp>
#include <chorale/model/trial.hpp>
#include <chorale/model/tuning.hpp>
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
  return payload(first);
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
/// Since the library's was measured on some other machine, the first calls of each size, in steps of four, are a *trial*
/// (`model/trial.hpp`): contenders serve them in turn, the ranks add up what the calls took them, and
/// the fastest serves the rest. Results that depend on where the brackets are, as sums of floating-point
/// numbers do, must not depend on time: on more than two ranks those calls take no part and go by the table,
/// unless config::trials says otherwise. Every rank chooses alike, since all have the same table, calls and sums.
///
/// Cost: a look at a few limits a call; and up to 288 calls a size, which are slower than the best where
/// contenders are, by the table not more than twice.
///
///     communicator<transport::rc, automatic<allreduce::recursive_doubling, allreduce::ring>> comm;
template <class First, class... Rest>
struct automatic {
  static constexpr auto implements = First::implements;
  using candidates = type_list<First, Rest...>;
  static_assert(((Rest::implements == implements) && ...),
                "chorale::automatic: its algorithms are of one operation");
  /// Where ranks do not know each other's blocks they cannot choose by them.
  static constexpr bool uneven = false;
  template <class T>
  static constexpr bool runs_on =
      tunable_transport<T> && (First::template runs_on<T> || (Rest::template runs_on<T> || ...));

  // Inline even where the compiler has inlined much already: what it costs to choose must not depend on that.
  template <tunable_transport Net, class... Arguments>
  [[gnu::always_inline]] static task<> run(Net& net, call_id now, const Arguments&... arguments) {
    choice& all = choice_for(net);
    rule& found = all.of(detail::payload_of(arguments...));
    if (!all.tries_all && !(detail::keeps_bits(arguments) && ...))
      return dispatch<Net, 0, First, Rest...>(found.by_table, net, now, arguments...);
    if (found.trial) [[unlikely]]
      return try_out(net, now, found, arguments...);
    return dispatch<Net, 0, First, Rest...>(found.algorithm, net, now, arguments...);
  }

  /// Which algorithm serves `bytes` (of a block, for operations of blocks), and why: of calls that take part
  /// in trials, once those are over.
  template <tunable_transport Net>
  static std::string explain(Net& net, std::size_t bytes) {
    auto& all = choice_for(net);
    const rule& found = all.of(bytes);
    return all.names[static_cast<std::size_t>(found.algorithm)] + ": " + found.why;
  }

 private:
  /// Messages of at most `up_to` bytes.
  struct rule {
    std::size_t up_to = 0;
    int algorithm = 0;  ///< once there is no trial
    int by_table = 0;
    std::optional<model::trial> trial;
    std::string why;
  };
  struct choice {
    std::vector<std::string> names;
    std::vector<rule> rules;
    bool tries_all = false;
    [[nodiscard]] rule& of(std::size_t bytes) noexcept {
      rule* r = rules.data();
      while (bytes > r->up_to) ++r;
      return *r;
    }
  };

  template <class A, class Net>
  static bool suits(const Net& net) {
    if constexpr (requires { A::suits(net); })
      return A::suits(net);
    else
      return true;
  }
  template <class Net>
  static choice& choice_for(Net& net) {
    choice& made = net.template state<choice>();
    if (made.rules.empty()) [[unlikely]]
      make(net, made);
    return made;
  }
  template <class Net>
  static void make(Net& net, choice& made) {
    std::vector<std::string> suitable;
    std::vector<int> numbers;
    const auto add = [&]<class A>() {
      if constexpr (A::template runs_on<Net>) {
        made.names.push_back(type_name<A>());
        if (!suits<A>(net)) return;
        suitable.push_back(made.names.back());
        numbers.push_back(static_cast<int>(made.names.size()) - 1);
      }
    };
    add.template operator()<First>();
    (add.template operator()<Rest>(), ...);
    if (suitable.empty()) {
      // Each is right all the same, if not what it is meant for.
      suitable = made.names;
      for (std::size_t i = 0; i < suitable.size(); ++i) numbers.push_back(static_cast<int>(i));
    }
    const trial_policy policy = net.settings().trials;
    const bool tries = net.size() > 1 && suitable.size() > 1 && policy != trial_policy::off &&
                       (policy == trial_policy::all || net.settings().tuning.empty());
    // Two operands have no brackets.
    made.tries_all = policy == trial_policy::all || net.size() == 2;
    const auto table = model::tuning_table::of(net.settings());
    const model::situation here{implements, Net::name, net.size(), net.oversubscribed()};
    // A barrier has one size.
    const auto limits = [&](std::size_t from, std::size_t up_to) {
      return tries && implements != operation::barrier ? model::trial_limits(from, up_to)
                                                       : std::vector{up_to};
    };
    for (const model::rule& by_table : table->rules(here, suitable)) {
      const int first = numbers[static_cast<std::size_t>(by_table.algorithm)];
      std::size_t from = made.rules.empty() ? 0 : made.rules.back().up_to + 1;
      for (const std::size_t up_to : limits(from, by_table.up_to)) {
        rule& r = made.rules.emplace_back(rule{up_to, first, first, {}, by_table.why});
        if (!tries) continue;
        std::vector<int> contenders{first};
        for (const int i : table->contenders(here, suitable, from, 2, model::trial::most_contenders))
          if (const int other = numbers[static_cast<std::size_t>(i)];
              other != first && contenders.size() < model::trial::most_contenders)
            contenders.push_back(other);
        if (contenders.size() > 1) r.trial.emplace(std::move(contenders), from);
        from = up_to + 1;
      }
    }
    if (!net.settings().explain || net.rank() != 0) return;
    for (std::size_t i = 0; i < made.rules.size(); ++i) say(net, made, i);
  }
  /// One line of what `config::explain` asks for.
  template <class Net>
  static void say(const Net& net, const choice& made, std::size_t index) {
    const rule& r = made.rules[index];
    const bool last = r.up_to == std::numeric_limits<std::size_t>::max();
    std::string tried;
    if (r.trial) tried = "; the first " + std::to_string(r.trial->calls_left()) + " calls are a trial";
    std::fprintf(stderr, "chorale: %s of %zu bytes %s%s on %d ranks over %s: %s: %s%s\n", name(implements),
                 index == 0 ? 0 : made.rules[index - 1].up_to + 1, last ? "and more" : "to ",
                 last ? "" : std::to_string(r.up_to).c_str(), net.size(), Net::name,
                 made.names[static_cast<std::size_t>(r.algorithm)].c_str(), r.why.c_str(), tried.c_str());
  }

  /// A call of a trial; or one that was made when there was one, and is reached when it is over.
  template <class Net, class... Arguments>
  static task<> try_out(Net& net, call_id now, rule& here, Arguments... arguments) {
    if (!here.trial) {
      co_await dispatch<Net, 0, First, Rest...>(here.algorithm, net, now, arguments...);
      co_return;
    }
    const auto begin = clock::now();
    co_await dispatch<Net, 0, First, Rest...>(here.trial->contender(), net, now, arguments...);
    // What the program does while a nonblocking call waits is not the algorithm's time.
    here.trial->took(now.parks ? clock::duration{} : clock::now() - begin);
    if (!here.trial->is_over()) co_return;
    co_await allreduce::recursive_doubling::run(net, now, std::as_writable_bytes(here.trial->times()),
                                                reduction::of<std::uint64_t>(sum));
    const choice& all = choice_for(net);
    here.algorithm = here.trial->winner();
    here.why = here.trial->describe(net.size(), all.names[static_cast<std::size_t>(here.by_table)]);
    here.trial.reset();
    if (net.settings().explain && net.rank() == 0)
      say(net, all, static_cast<std::size_t>(&here - all.rules.data()));
  }
  template <class Net, int Index, class A, class... More, class... Arguments>
  [[gnu::always_inline]] static task<> dispatch(int wanted, Net& net, call_id now,
                                                const Arguments&... arguments) {
    constexpr bool runs = A::template runs_on<Net>;
    if constexpr (runs) {
      if (sizeof...(More) == 0 || wanted == Index) return A::run(net, now, arguments...);
    }
    if constexpr (sizeof...(More) != 0)
      return dispatch<Net, Index + (runs ? 1 : 0), More...>(wanted, net, now, arguments...);
    else
      __builtin_unreachable();
  }
};

}  // namespace chorale
