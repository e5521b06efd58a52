// The choice among algorithms at run time.
#pragma once

#include <cstddef>
#include <cstdio>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <chorale/algorithm/operation_traits.hpp>
#include <chorale/core/blocks.hpp>
#include <chorale/core/type_name.hpp>
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

}  // namespace detail

/// Whichever of `Algorithms`, all of one operation, is the fastest for the size of a message, the size of the
/// group, the transport, and whether ranks share cores, as the tuning table says (`model/tuning.hpp`;
/// config::tuning). Every rank chooses alike, since all have the same table. Those that do not run on a
/// transport are left out there, and those whose `suits(net)` is false, unless it is false of all; `suits`
/// must give the same answer on all ranks. Cost: a look at a few limits a call.
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
    const auto& chosen = choice_for(net).of(detail::payload_of(arguments...));
    return dispatch<Net, 0, First, Rest...>(chosen.algorithm, net, now, arguments...);
  }

  /// Which algorithm serves `bytes` (of a block, for operations of blocks), and why.
  template <tunable_transport Net>
  static std::string explain(Net& net, std::size_t bytes) {
    auto& all = choice_for(net);
    const auto& chosen = all.of(bytes);
    return all.names[static_cast<std::size_t>(chosen.algorithm)] + ": " + chosen.why;
  }

 private:
  struct choice {
    std::vector<std::string> names;
    std::vector<model::rule> rules;
    [[nodiscard]] const model::rule& of(std::size_t bytes) const noexcept {
      const model::rule* r = rules.data();
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
    made.rules = model::tuning_table::of(net.settings())
                     ->rules({implements, Net::name, net.size(), net.oversubscribed()}, suitable);
    for (auto& r : made.rules) r.algorithm = numbers[static_cast<std::size_t>(r.algorithm)];
    if (!net.settings().explain || net.rank() != 0) return;
    std::size_t from = 0;
    for (const auto& r : made.rules) {
      const bool last = r.up_to == std::numeric_limits<std::size_t>::max();
      std::fprintf(stderr, "chorale: %s of %zu bytes %s%s on %d ranks over %s: %s: %s\n", name(implements),
                   from, last ? "and more" : "to ", last ? "" : std::to_string(r.up_to).c_str(), net.size(),
                   Net::name, made.names[static_cast<std::size_t>(r.algorithm)].c_str(), r.why.c_str());
      from = r.up_to + 1;
    }
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
