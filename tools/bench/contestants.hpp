// SPDX-License-Identifier: Apache-2.0
// Communicators as contestants: one for each algorithm and transport.
#pragma once

#include <bit>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <chorale/algorithm/every_algorithm.hpp>
#include <chorale/bench/trials.hpp>
#include <chorale/bench/trials_of_blocks.hpp>
#include <chorale/communicator.hpp>
#include <chorale/core/type_name.hpp>

#include "any_group.hpp"
#include "loop.hpp"

namespace bench {

using contestants = std::vector<std::unique_ptr<contestant>>;

/// Is notified on a rank when samples and calls begin and end. Takes no part in the measurement.
class onlooker {
 public:
  virtual ~onlooker() = default;
  /// A sample begins, or the calls before the first sample: `run` of a contestant.
  virtual void sample_begins(const contestant& of, std::size_t bytes) = 0;
  virtual void sample_ends() = 0;
  /// A call of the sample begins.
  virtual void call_begins(const contestant& of, std::size_t bytes) = 0;
  virtual void call_ends() = 0;
};

/// The ranks of a run.
struct job {
  any_group group;  ///< from which contestants make their communicators
  team& all;
  onlooker* watched_by = nullptr;
};

/// The memory that the calls of a contestant use.
struct memory_use {
  const char* remark;         ///< shown after the algorithm's name
  std::size_t places;         ///< number of buffers, used round-robin
  bool registered_each_call;  ///< otherwise registrations are cached as usual
};
inline constexpr memory_use same_memory{"", 1, false};
/// The uses that --fresh compares. Buffers used round-robin have left the near caches, registered or not: the
/// cost of registration is the difference from buffers that stay registered.
inline constexpr std::size_t places_in_turns = 8;
inline constexpr memory_use fresh_memory[] = {{", one buffer", 1, false},
                                              {", 8 in turns", places_in_turns, false},
                                              {", 8 fresh", places_in_turns, true}};

/// The measured time of an operation with a root. Calls of other operations follow each other without a
/// pause.
enum class timing {
  each_call,     ///< the time of each rank in a call, with a barrier before it
  back_to_back,  ///< the same without the barrier, which measures the rate
  last_leaf,     ///< from the root's begin to the end on the leaf with the most steps, by one host's clock
};

/// The selected contestants.
struct selection {
  std::vector<std::string> operations;
  std::vector<std::string> transports;
  bool all_algorithms = false;          ///< otherwise the defaults of a communicator
  std::vector<std::string> algorithms;  ///< parts of names; if there are any, only these
  bool whole_names = false;             ///< `algorithms` are not parts of names
  bench::timing timing = bench::timing::each_call;
  std::span<const memory_use> memory{&same_memory, 1};  ///< each contestant uses each of these
  chorale::config settings = chorale::config::from_environment();
};

/// A policy that can be measured, for --list.
struct listing {
  std::string operation;
  std::string algorithm;
  std::string transport;
  bool is_default;
};

/// The rank that is the most steps away from rank 0 in a binomial tree; the highest if there are several.
inline int deepest_leaf(int ranks) {
  int deepest = 0;
  for (int rank = 1; rank < ranks; ++rank)
    if (std::popcount(static_cast<unsigned>(rank)) >= std::popcount(static_cast<unsigned>(deepest)))
      deepest = rank;
  return deepest;
}

/// Seconds from the begin of a call on rank 0, the root, to its end on `deepest_leaf`, summed over `calls`
/// calls; the same on every rank. A barrier before each call does not count. Precondition: the ranks share a
/// clock. Source: P2 section 6.1.
template <class Call>
double time_to_last_leaf(int calls, Call&& call, team& all) {
  const auto now = [] { return std::chrono::duration<double>(timer::now().time_since_epoch()).count(); };
  const bool is_root = all.rank() == 0;
  const bool is_last = all.rank() == deepest_leaf(all.size());
  const double zero = all.max(now());
  double sum = 0;
  for (int i = 0; i < calls; ++i) {
    all.max(0);
    if (is_root) sum -= now() - zero;
    call();
    if (is_last) sum += now() - zero;
  }
  all.sum({&sum, 1});
  return sum;
}

template <class Transport, class Algorithm>
class entry final : public contestant {
 public:
  static constexpr auto what = Algorithm::implements;

  entry(const job& ranks, buffers& memory, const selection& wanted, const memory_use& use)
      : contestant(chorale::name(what), chorale::type_name<Algorithm>() + use.remark, Transport::name),
        comm_(any_group{ranks.group}, settings(wanted.settings, use)),
        all_(ranks.all),
        watched_by_(ranks.watched_by),
        memory_(memory),
        places_(use.places),
        turn_(use.registered_each_call ? use.places / 2 : 0),
        timing_(trial<what>::rooted ? wanted.timing : timing::back_to_back) {}

  void meet() override { comm_.barrier(); }
  double run(std::size_t bytes, int calls) override {
    if (watched_by_ == nullptr) return take_sample(bytes, calls);
    watched_by_->sample_begins(*this, bytes);
    const double seconds = take_sample(bytes, calls);
    watched_by_->sample_ends();
    return seconds;
  }
  std::string check(std::size_t bytes, team& all) override {
    memory_.go_to(turn_++ % places_);
    return trial<what>::check(comm_, memory_, bytes, all);
  }

  bool is_trying() override {
    if constexpr (requires { Algorithm::is_trying(comm_.transport()); })
      return Algorithm::is_trying(comm_.transport());
    else
      return false;
  }

  /// False if the device lacks a feature that the algorithm needs.
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
  double take_sample(std::size_t bytes, int calls) {
    const auto call = [&] {
      memory_.go_to(turn_++ % places_);
      if (watched_by_ != nullptr) watched_by_->call_begins(*this, bytes);
      trial<what>::call(comm_, memory_, bytes);
      if (watched_by_ != nullptr) watched_by_->call_ends();
    };
    switch (timing_) {
      case timing::each_call:
        return time_apart(calls, call, [this] { comm_.barrier(); });
      case timing::last_leaf:
        return time_to_last_leaf(calls, call, all_);
      case timing::back_to_back:
        break;
    }
    return time_together(calls, call);
  }

  static chorale::config settings(chorale::config c, const memory_use& use) {
    if (use.registered_each_call) c.registration_entries = 1;
    return c;
  }

  chorale::communicator<Transport, Algorithm> comm_;
  team& all_;
  onlooker* watched_by_;
  buffers& memory_;
  std::size_t places_;
  std::size_t turn_;  ///< so that fresh buffers differ from the previous contestant's
  timing timing_;
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
  return (listed<typename chorale::operation_traits<All>::default_algorithm, chorale::every_algorithm> &&
          ...);
}
}  // namespace detail
static_assert(detail::defaults_are_listed(chorale::operations_with_algorithms{}),
              "add the default algorithm of a communicator to chorale/algorithm/every_algorithm.hpp: without "
              "--algorithms it is "
              "what is measured");

bool selected(const selection& wanted, const listing& one);

/// Makes the selected contestants of `Transport`. Collective. Defined for each transport in enter_*.cpp.
template <class Transport>
void enter(const selection& wanted, const job& ranks, buffers& memory, contestants& all);
/// All policies that run on `Transport`.
template <class Transport>
std::vector<listing> list();
/// The same for `hybrid` with several limits, which are part of the type: the comparison of P5.
void enter_hybrid(const selection& wanted, const job& ranks, buffers& memory, contestants& all);
std::vector<listing> list_hybrid();
std::vector<listing> list_all();
/// All selected contestants, in the order of the table. Collective.
contestants enter_all(const selection& wanted, const job& ranks, buffers& memory);

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
void enter_one(const selection& wanted, const job& ranks, buffers& memory, contestants& all) {
  if (!selected(wanted, entry<Transport, Algorithm>::describe())) return;
  for (const auto& use : wanted.memory) {
    auto made = std::make_unique<entry<Transport, Algorithm>>(ranks, memory, wanted, use);
    if (made->usable()) all.push_back(std::move(made));
  }
}
}  // namespace detail

template <class Transport>
void enter(const selection& wanted, const job& ranks, buffers& memory, contestants& all) {
  detail::for_each_algorithm<Transport>(chorale::every_algorithm{}, [&]<class Algorithm>() {
    detail::enter_one<Transport, Algorithm>(wanted, ranks, memory, all);
  });
}

template <class Transport>
std::vector<listing> list() {
  std::vector<listing> found;
  detail::for_each_algorithm<Transport>(chorale::every_algorithm{}, [&]<class Algorithm>() {
    found.push_back(entry<Transport, Algorithm>::describe());
  });
  return found;
}

}  // namespace bench
