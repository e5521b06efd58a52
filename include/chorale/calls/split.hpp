// SPDX-License-Identifier: Apache-2.0
// Communicators of subsets of a communicator's ranks: what split, duplicate and subgroup share.
#pragma once

#include <concepts>
#include <cstdint>
#include <exception>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <chorale/calls/caller.hpp>
#include <chorale/calls/split_protocol.hpp>
#include <chorale/core/fnv.hpp>
#include <chorale/core/uncancellable.hpp>

namespace chorale {

/// The type of `undefined_color`. It converts to a number that is not a colour, so that a conditional may
/// choose between it and a colour: `takes_part ? 0 : undefined_color`.
struct undefined_color_t {
  constexpr operator int() const noexcept { return std::numeric_limits<int>::min(); }  ///< no colour
};
/// The colour of a rank that joins no part.
inline constexpr undefined_color_t undefined_color{};

/// Orders the ranks of a part: `comm.split(color, key{-comm.rank()})`. It has a type of its own, so that it
/// cannot be mistaken for the colour.
struct key {
  std::int64_t value = 0;  ///< ranks with smaller ones come first
  constexpr key() = default;
  /// Any number; ranks with the same one keep their order.
  constexpr explicit key(std::int64_t number) : value(number) {}
};

namespace calls {

/// The key as an argument.
struct key_argument {
  std::int64_t value = 0;
  constexpr key_argument() = default;
  constexpr key_argument(key given) : value(given.value) {}  // implicit, as both calls take it
  template <class Other>
  constexpr key_argument(const Other&) {
    static_assert(std::same_as<Other, key>,
                  "chorale: the key of a split, by which ranks are ordered, is given as chorale::key{k}; is "
                  "the order of the arguments right?");
  }
};

/// Runs the rounds of a split as allgathers within one call. Uses the library's algorithm that may run
/// several times in one call, since a user's algorithm may not be able to.
template <class Communicator, class Net>
task<> part(Net& net, call_id now, split_protocol rounds,
            std::shared_ptr<detail::outcome<Communicator>> out) {
  std::optional<Communicator> made;
  using gathering = operation_traits<operation::allgather>::repeatable;
  while (!rounds.due().empty()) {
    co_await calls::launch<operation::allgather, gathering>(
        net, now, blocks<std::byte>{rounds.due(), block_layout::even(net.size(), rounds.block_bytes())});
    rounds.take();
    if (!rounds.has_joined()) continue;
    try {
      const detail::uncancellable ends_first;
      made.emplace(rounds.joined());
    } catch (...) {
      rounds.fail(std::current_exception());
    }
  }
  // Failure to make a part does not fail this call, which would poison the parent.
  out->failure = rounds.failure();
  if (!out->failure) out->made = std::move(made);
}

/// The collective call that makes this rank's part and stores it in `out`.
template <class Communicator, class Caller>
auto make_part(Caller& on, const membership_choice& mine,
               std::shared_ptr<detail::outcome<Communicator>> out) {
  return prepared{
      call{.what = operation::split}, [&on, mine, out = std::move(out)](call_id now) {
        const transport::endpoint& net = on.transport().core();
        config settings = net.settings();
        // The part uses the same device as its parent, even where ranks of a host are spread over
        // several devices.
        settings.device = net.port().chosen().device.name;
        settings.port = net.port().chosen().port;
        const auto plan = [settings = std::move(settings)](int ranks) {
          return Caller::transport_type::plan(ranks, settings);
        };
        return calls::part<Communicator>(
            on.net(), now,
            split_protocol{{.rank = on.rank(),
                            .size = on.size(),
                            .where = net.where(),
                            .job = std::to_string(net.public_name()) + "/" + std::to_string(now.number),
                            .launched = net.launched(),
                            .composition = Caller::composition(),
                            .plan = plan},
                           mine},
            out);
      }};
}

/// The choice of a rank that passes a colour. @throws error errc::invalid_argument.
template <class Caller>
membership_choice choice_of_color(const Caller& on, std::int64_t color, key_argument order) {
  if (color < 0 && color != undefined_color)
    on.arguments().reject("split",
                          "colour " + std::to_string(color) +
                              " is negative; chorale::undefined_color is for a rank that is in no part");
  return {.color = color, .key = order.value};
}

/// The choice of a rank that passes a list of ranks, with its FNV-1a hash. @throws error
/// errc::invalid_argument.
template <class Caller>
membership_choice choice_of_list(Caller& on, std::span<const int> ranks) {
  auto seen = calls::or_fail(on.transport(),
                             [&on] { return std::vector<bool>(static_cast<std::size_t>(on.size())); });
  std::uint64_t hash = detail::fnv_offset_basis;
  membership_choice mine;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const int r = ranks[i];
    if (r < 0 || r >= on.size() || seen[static_cast<std::size_t>(r)])
      on.arguments().reject("subgroup", "rank " + std::to_string(r) + ", number " + std::to_string(i) +
                                            " of the list, is not in 0.." + std::to_string(on.size() - 1) +
                                            " or occurs twice");
    seen[static_cast<std::size_t>(r)] = true;
    hash = detail::fnv1a(static_cast<std::uint32_t>(r), hash);
    if (r == on.rank())
      mine = {.color = ranks.front(), .key = static_cast<std::int64_t>(i), .list = 0, .listed = ranks.size()};
  }
  mine.list = mine.listed == 0 ? 0 : hash;
  return mine;
}

}  // namespace calls
}  // namespace chorale
