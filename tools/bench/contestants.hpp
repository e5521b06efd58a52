// Communicators as contestants: one for each algorithm and transport.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <chorale/bench/trials.hpp>
#include <chorale/bench/trials_of_blocks.hpp>
#include <chorale/communicator.hpp>
#include <chorale/core/type_name.hpp>

#include "algorithms.hpp"
#include "loop.hpp"

namespace bench {

using contestants = std::vector<std::unique_ptr<contestant>>;

/// Which memory the calls of a contestant use.
struct memory_use {
  const char* remark;         ///< behind the name of the algorithm
  std::size_t places;         ///< taken in turns
  bool registered_each_call;  ///< else registrations are kept as a communicator keeps them
};
inline constexpr memory_use same_memory{"", 1, false};
/// What --fresh compares. Buffers in turns are in no near cache any more, registered or not: what registering
/// costs is the difference to those whose registrations stay.
inline constexpr std::size_t places_in_turns = 8;
inline constexpr memory_use fresh_memory[] = {{", one buffer", 1, false},
                                              {", 8 in turns", places_in_turns, false},
                                              {", 8 fresh", places_in_turns, true}};

/// Which contestants take part.
struct selection {
  std::vector<std::string> operations;
  std::vector<std::string> transports;
  bool all_algorithms = false;          ///< else the defaults of a communicator
  std::vector<std::string> algorithms;  ///< parts of names; if there are any, only these
  bool back_to_back = false;
  bool fresh = false;  ///< each of them with each use of memory
};

/// A policy that can be measured, for --list.
struct listing {
  std::string operation;
  std::string algorithm;
  std::string transport;
  bool is_default;
};

template <class Transport, class Algorithm>
class entry final : public contestant {
 public:
  static constexpr auto what = Algorithm::implements;

  entry(buffers& memory, bool back_to_back, const memory_use& use)
      : contestant(chorale::name(what), chorale::type_name<Algorithm>() + use.remark, Transport::name),
        comm_(settings(use)),
        memory_(memory),
        places_(use.places),
        turn_(use.registered_each_call ? use.places / 2 : 0),
        apart_(trial<what>::rooted && !back_to_back) {}

  void meet() override { comm_.barrier(); }
  double run(std::size_t bytes, int calls) override {
    const auto call = [&] {
      memory_.go_to(turn_++ % places_);
      trial<what>::call(comm_, memory_, bytes);
    };
    return apart_ ? time_apart(calls, call, [this] { comm_.barrier(); }) : time_together(calls, call);
  }
  std::string check(std::size_t bytes, team& all) override {
    memory_.go_to(turn_++ % places_);
    return trial<what>::check(comm_, memory_, bytes, all);
  }

  /// False if the device has not what the algorithm needs.
  [[nodiscard]] bool usable() {
    if constexpr (requires { Algorithm::needs_multicast; })
      return comm_.transport().has_multicast();
    else
      return true;
  }

  static listing describe() {
    using standard = typename chorale::operation_traits<what>::default_algorithm;
    return {chorale::name(what), chorale::type_name<Algorithm>(), Transport::name,
            std::is_same_v<standard, Algorithm>};
  }

 private:
  static chorale::config settings(const memory_use& use) {
    auto c = chorale::config::from_environment();
    if (use.registered_each_call) c.registration_entries = 1;
    return c;
  }

  chorale::communicator<Transport, Algorithm> comm_;
  buffers& memory_;
  std::size_t places_;
  std::size_t turn_;  ///< fresh buffers are not those that another contestant used just before
  bool apart_;
};

namespace detail {
template <class Algorithm, class List>
inline constexpr bool listed = false;
template <class Algorithm, class... Algorithms>
inline constexpr bool listed<Algorithm, chorale::type_list<Algorithms...>> =
    (std::is_same_v<Algorithm, Algorithms> || ...);
}  // namespace detail
namespace detail {
template <chorale::operation... All>
constexpr bool defaults_are_listed(chorale::operation_list<All...>) {
  return (listed<typename chorale::operation_traits<All>::default_algorithm, algorithms> && ...);
}
}  // namespace detail
static_assert(
    detail::defaults_are_listed(chorale::operations_with_algorithms{}),
    "add the default algorithm of a communicator to bench/algorithms.hpp: without --algorithms it is "
    "what is measured");

bool selected(const selection& wanted, const listing& one);

/// Makes those of `Transport` that were selected. Collective. Defined for each transport in enter_*.cpp.
template <class Transport>
void enter(const selection& wanted, buffers& memory, contestants& all);
/// All policies that run on `Transport`.
template <class Transport>
std::vector<listing> list();
/// The same for connections to some peers and datagrams to the rest, whose number is a part of the type: what
/// P5 compares.
void enter_hybrid(const selection& wanted, buffers& memory, contestants& all);
std::vector<listing> list_hybrid();

namespace detail {
/// Calls `use.template operator()<Algorithm>()` for each algorithm that runs on Transport.
template <class Transport, class Use, class... Algorithms>
void for_each_algorithm(chorale::type_list<Algorithms...>, Use&& use) {
  const auto one = [&]<class Algorithm>() {
    if constexpr (Algorithm::template runs_on<Transport>) use.template operator()<Algorithm>();
  };
  (one.template operator()<Algorithms>(), ...);
}

template <class Transport, class Algorithm>
void enter_one(const selection& wanted, buffers& memory, contestants& all) {
  if (!selected(wanted, entry<Transport, Algorithm>::describe())) return;
  for (const auto& use : wanted.fresh ? std::span{fresh_memory} : std::span{&same_memory, 1}) {
    auto made = std::make_unique<entry<Transport, Algorithm>>(memory, wanted.back_to_back, use);
    if (made->usable()) all.push_back(std::move(made));
  }
}
}  // namespace detail

template <class Transport>
void enter(const selection& wanted, buffers& memory, contestants& all) {
  detail::for_each_algorithm<Transport>(
      algorithms{}, [&]<class Algorithm>() { detail::enter_one<Transport, Algorithm>(wanted, memory, all); });
}

template <class Transport>
std::vector<listing> list() {
  std::vector<listing> found;
  detail::for_each_algorithm<Transport>(
      algorithms{}, [&]<class Algorithm>() { found.push_back(entry<Transport, Algorithm>::describe()); });
  return found;
}

}  // namespace bench
