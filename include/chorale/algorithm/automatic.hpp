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
#include <chorale/algorithm/evaluation.hpp>
#include <chorale/algorithm/operation_traits.hpp>
#include <chorale/core/blocks.hpp>
#include <chorale/core/clock.hpp>
#include <chorale/core/lean_algorithm.hpp>
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
/// Since the library's was measured on some other machine, the first calls of each size, in steps of four,
/// are a *trial* (`model/trial.hpp`): contenders serve them in turn, the ranks add up what the calls took
/// them, and the fastest serves the rest. Results whose bits depend on where the brackets are, as those of
/// sums of floating-point numbers do, must not depend on time: on more than two ranks those calls have trials
/// of their own, of what evaluates as the table's choice does (`algorithm/evaluation.hpp`), unless
/// config::trials says otherwise. Every rank chooses alike, since all have the same table, calls and sums.
///
/// Cost: a look at a few limits a call; and up to 288 calls a size, which are slower than the best where
/// contenders are, by the table not more than twice.
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
  template <class T>
  static constexpr bool runs_on =
      tunable_transport<T> && (First::template runs_on<T> || (Rest::template runs_on<T> || ...));

  // Inline even where the compiler has inlined much already: what it costs to choose must not depend on that.
  template <tunable_transport Net, class... Arguments>
  [[gnu::always_inline]] static task<> run(Net& net, call_id now, const Arguments&... arguments) {
    choice& all = choice_for(net);
    rule& found = all.of(detail::payload_of(arguments...));
    const bool is_free = all.is_free || (detail::keeps_bits(arguments) && ...);
    lane& mine = is_free ? found.any : found.alike;
    if (mine.trial) [[unlikely]] {
      all.ran = -1;
      return try_out(net, now, mine, arguments...);
    }
    all.ran = mine.algorithm;
    return dispatch<Net, 0, First, Rest...>(mine.algorithm, net, now, arguments...);
  }

  /// Which algorithm serves `bytes` (of a block, for operations of blocks), and why: where bits do not depend
  /// on it, once trials are over.
  template <tunable_transport Net>
  static std::string explain(Net& net, std::size_t bytes) {
    auto& all = choice_for(net);
    const lane& found = all.of(bytes).any;
    return all.names[static_cast<std::size_t>(found.algorithm)] + ": " + found.why;
  }

 private:
  /// What serves calls of a size.
  struct lane {
    int algorithm = 0;  ///< once there is no trial; by the table until then
    std::optional<model::trial> trial;
    std::string why;
  };
  /// Messages of at most `up_to` bytes.
  struct rule {
    std::size_t up_to = 0;
    lane any;    ///< results have the same bits whatever the algorithm, or may have others
    lane alike;  ///< results have to have the bits of the table's choice
  };
  struct choice {
    std::vector<std::string> names;
    std::vector<rule> rules;
    bool is_free = false;  ///< no call has to have the bits of the table's choice
    int ran = -1;          ///< what serves the call that was made last; -1: that is known when it runs
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
    std::vector<evaluation> evaluations;
    const auto add = [&]<class A>() {
      if constexpr (A::template runs_on<Net>) {
        made.names.push_back(type_name<A>());
        evaluations.push_back(evaluation_of<A>);
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
    made.is_free = policy == trial_policy::all || net.size() == 2;
    const auto table = model::tuning_table::of(net.settings());
    const model::situation here{implements, Net::name, net.size(), net.oversubscribed()};
    for (const model::rule& by_table : table->rules(here, suitable)) {
      const int first = numbers[static_cast<std::size_t>(by_table.algorithm)];
      std::size_t from = made.rules.empty() ? 0 : made.rules.back().up_to + 1;
      // A barrier has one size.
      for (const std::size_t up_to : tries&& implements != operation::barrier
                                         ? model::trial_limits(from, by_table.up_to)
                                         : std::vector{by_table.up_to}) {
        const lane served{first, {}, by_table.why};
        rule& r = made.rules.emplace_back(rule{up_to, served, served});
        if (tries) {
          auto any = table->contenders(here, suitable, from, 2, model::trial::most_contenders);
          for (int& one : any) one = numbers[static_cast<std::size_t>(one)];
          std::erase(any, first);
          any.insert(any.begin(), first);
          any.resize(std::min(any.size(), model::trial::most_contenders));
          auto alike = any;
          const auto kind = [&](int one) { return evaluations[static_cast<std::size_t>(one)]; };
          std::erase_if(alike, [&](int one) {
            return one != first && (kind(one) == evaluation::own || kind(one) != kind(first));
          });
          if (any.size() > 1) r.any.trial.emplace(std::move(any), from);
          if (alike.size() > 1) r.alike.trial.emplace(std::move(alike), from);
        }
        from = up_to + 1;
      }
    }
    if constexpr (requires(std::string_view (*name)(const void*)) {
                    net.ask_for_algorithm(implements, &made, name);
                  })
      net.ask_for_algorithm(implements, &made, &name_of_last);
    if (!net.settings().explain || net.rank() != 0) return;
    for (const rule& r : made.rules) say(net, made, r, r.any);
  }
  static std::string_view name_of_last(const void* of) {
    const choice& all = *static_cast<const choice*>(of);
    return all.ran < 0 ? std::string_view{} : all.names[static_cast<std::size_t>(all.ran)];
  }
  /// One line of what `config::explain` asks for.
  template <class Net>
  static void say(const Net& net, const choice& made, const rule& r, const lane& served) {
    const bool first = &r == made.rules.data();
    const bool last = r.up_to == std::numeric_limits<std::size_t>::max();
    std::string tried;
    if (served.trial)
      tried = "; the first " + std::to_string(served.trial->calls_left()) + " calls are a trial";
    std::fprintf(stderr, "chorale: %s of %zu bytes %s%s on %d ranks over %s: %s%s: %s%s\n", name(implements),
                 first ? 0 : (&r)[-1].up_to + 1, last ? "and more" : "to ",
                 last ? "" : std::to_string(r.up_to).c_str(), net.size(), Net::name,
                 made.names[static_cast<std::size_t>(served.algorithm)].c_str(),
                 &served == &r.alike ? ", to the same bits" : "", served.why.c_str(), tried.c_str());
  }

  /// A call of a trial; or one that was made when there was one, and is reached when it is over.
  template <class Net, class... Arguments>
  static task<> try_out(Net& net, call_id now, lane& here, Arguments... arguments) {
    if (!here.trial) {
      const int winner = here.algorithm;
      co_await dispatch<Net, 0, First, Rest...>(winner, net, now, arguments...);
      choice_for(net).ran = winner;
      co_return;
    }
    const auto begin = clock::now();
    const int contender = here.trial->contender();
    co_await dispatch<Net, 0, First, Rest...>(contender, net, now, arguments...);
    choice_for(net).ran = contender;
    // What the program does while a nonblocking call waits is not the algorithm's time.
    here.trial->took(now.parks ? clock::duration{} : clock::now() - begin);
    if (!here.trial->is_over()) co_return;
    co_await allreduce::recursive_doubling::run(net, now, std::as_writable_bytes(here.trial->times()),
                                                reduction::of<std::uint64_t>(sum));
    const choice& all = choice_for(net);
    const std::string& by_table = all.names[static_cast<std::size_t>(here.algorithm)];
    here.why = here.trial->describe(net.size(), by_table);
    here.algorithm = here.trial->winner();
    here.trial.reset();
    if constexpr (requires { net.tell_choice(here.why); })
      net.tell_choice(std::string{name(implements)} + " of about " +
                      std::to_string(detail::payload_of(arguments...)) +
                      " bytes: " + all.names[static_cast<std::size_t>(here.algorithm)] + ": " + here.why);
    if (!net.settings().explain || net.rank() != 0) co_return;
    for (const rule& r : all.rules)
      if (&here == &r.any || &here == &r.alike) say(net, all, r, here);
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
