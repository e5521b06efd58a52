// Communicators of parts of a communicator's ranks: what split, duplicate and subgroup share.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <chorale/bootstrap/subgroup.hpp>
#include <chorale/calls/caller.hpp>

namespace chorale {

/// The colour of a rank that is to be in no part.
inline constexpr int undefined_color = -1;

namespace calls {

/// What a rank wants: to be with those of the same colour, ordered by key, then by rank.
struct wish {
  std::int64_t color = undefined_color;
  std::int64_t key = 0;
  std::uint64_t list = 0;    ///< hash of the ranks that are to be together; 0 if any may be
  std::uint64_t listed = 0;  ///< their number
};

/// Makes new communicators. Cards of the new groups travel over the old one, in rounds that
/// all its ranks take part in until each has made its endpoint or failed to, so that the failure of one group
/// harms no other.
template <class Caller>
class parting {
 public:
  explicit parting(Caller& on) noexcept : on_(on), net_(on.transport()) {}

  /// This rank's part, or null. Collective.
  template <class Communicator>
  std::unique_ptr<Communicator> make(const wish& mine) {
    std::vector<wish> wishes(static_cast<std::size_t>(on_.size()));
    wishes[static_cast<std::size_t>(on_.rank())] = mine;
    const std::uint64_t number = gather_all(std::as_writable_bytes(std::span{wishes}));
    check_lists(wishes);

    const std::vector<int> members = members_of(wishes);
    std::unique_ptr<Communicator> made;
    std::exception_ptr failure;
    if (!members.empty()) {
      try {
        bootstrap::subgroup group = group_of(members, number, mine.color);
        config settings = net_.settings();
        // The same device as here, also where ranks take several in turns.
        settings.device = net_.chosen().device.name;
        settings.port = net_.chosen().port;
        made = std::make_unique<Communicator>(group, settings);
      } catch (...) {
        failure = std::current_exception();
      }
    }
    std::vector<std::int64_t> states;
    try {
      do {
        states = round(failure ? has_failed : is_over, {}, nullptr);
      } while (std::any_of(states.begin(), states.end(), [](auto s) { return s >= 0; }));
    } catch (...) {
      if (failure) std::rethrow_exception(failure);
      throw;
    }
    if (failure) std::rethrow_exception(failure);
    refuse_failures(states, members, has_failed);
    return made;
  }

 private:
  static constexpr std::int64_t is_over = -1;
  static constexpr std::int64_t has_failed = -2;

  /// One block of each rank, all of one size; the number of the call.
  std::uint64_t gather_all(std::span<std::byte> all) {
    const std::size_t bytes = all.size() / static_cast<std::size_t>(on_.size());
    std::uint64_t number = 0;
    on_.run(prepared{call{.what = operation::split, .bytes = bytes}, [&](epoch now) {
                       number = now.number;
                       return launch<algorithm_of<operation::allgather, Caller>>(
                           on_.net(), now, blocks<std::byte>{all, block_layout::even(on_.size(), bytes)});
                     }});
    return number;
  }

  /// Tells all what this rank is up to: the size of its card, or that it is over or has failed. If any has a
  /// card, all cards follow, into `cards` if that is not null.
  std::vector<std::int64_t> round(std::int64_t mine, std::span<const std::byte> card,
                                  bootstrap::cards* cards) {
    const auto rank = static_cast<std::size_t>(on_.rank());
    std::vector<std::int64_t> states(static_cast<std::size_t>(on_.size()));
    states[rank] = mine;
    gather_all(std::as_writable_bytes(std::span{states}));
    const auto largest = *std::max_element(states.begin(), states.end());
    if (largest < 0) return states;
    const auto room = static_cast<std::size_t>(largest);
    std::vector<std::byte> all(room * states.size());
    std::copy(card.begin(), card.end(), all.begin() + static_cast<std::ptrdiff_t>(rank * room));
    gather_all(all);
    if (cards == nullptr) return states;
    cards->clear();
    for (std::size_t r = 0; r < states.size(); ++r) {
      const auto first = all.begin() + static_cast<std::ptrdiff_t>(r * room);
      cards->emplace_back(first, first + std::max<std::int64_t>(states[r], 0));
    }
    return states;
  }

  bootstrap::subgroup group_of(const std::vector<int>& members, std::uint64_t number, std::int64_t color) {
    const auto place = std::find(members.begin(), members.end(), on_.rank()) - members.begin();
    const std::string which = std::to_string(number) + "." + std::to_string(color);
    return {static_cast<int>(place), static_cast<int>(members.size()),
            std::to_string(net_.job()) + "/" + which,
            std::to_string(members.size()) + " of " + std::to_string(on_.size()) +
                " ranks of: " + net_.launched(),
            [this, members](std::span<const std::byte> card, std::chrono::milliseconds) {
              bootstrap::cards all;
              const auto states = round(static_cast<std::int64_t>(card.size()), card, &all);
              refuse_failures(states, members, is_over);
              bootstrap::cards ours;
              for (const int r : members) ours.push_back(std::move(all[static_cast<std::size_t>(r)]));
              return ours;
            }};
  }

  /// The ranks of this rank's part in their order.
  std::vector<int> members_of(const std::vector<wish>& wishes) const {
    const wish& mine = wishes[static_cast<std::size_t>(on_.rank())];
    std::vector<int> members;
    if (mine.color == undefined_color) return members;
    for (int r = 0; r < on_.size(); ++r) {
      if (wishes[static_cast<std::size_t>(r)].color == mine.color) members.push_back(r);
    }
    std::stable_sort(members.begin(), members.end(), [&](int a, int b) {
      return wishes[static_cast<std::size_t>(a)].key < wishes[static_cast<std::size_t>(b)].key;
    });
    return members;
  }

  /// Every rank judges all lists, so that all throw or none. @throws error errc::mismatch.
  void check_lists(const std::vector<wish>& wishes) const {
    for (std::size_t r = 0; r < wishes.size(); ++r) {
      const wish& one = wishes[r];
      if (one.color == undefined_color) continue;
      std::uint64_t together = 0;
      for (std::size_t s = 0; s < wishes.size(); ++s) {
        if (wishes[s].color != one.color) continue;
        ++together;
        if (wishes[s].list != one.list)
          throw error(
              errc::mismatch,
              "subgroup: ranks " + std::to_string(r) + " and " + std::to_string(s) +
                  " gave different lists of ranks; the ranks of a subgroup give the same, in the same order",
              {static_cast<int>(r), static_cast<int>(s)});
      }
      if (one.list != 0 && together != one.listed)
        throw error(errc::mismatch,
                    "subgroup: rank " + std::to_string(r) + " gave a list of " + std::to_string(one.listed) +
                        " ranks, of which " + std::to_string(together) + " gave that list",
                    {static_cast<int>(r)});
    }
  }

  /// @throws error if a member's state is `worst` or worse.
  void refuse_failures(const std::vector<std::int64_t>& states, const std::vector<int>& members,
                       std::int64_t worst) const {
    std::vector<int> failed;
    std::string list;
    for (const int r : members) {
      if (states[static_cast<std::size_t>(r)] > worst) continue;
      list += (failed.empty() ? "" : ", ") + std::to_string(r);
      failed.push_back(r);
    }
    if (!failed.empty())
      throw error(errc::bootstrap_failed,
                  "split on rank " + std::to_string(on_.rank()) +
                      ": the new communicator was not made, since it failed on rank " + list +
                      " (that rank's error says why)",
                  failed);
  }

  Caller& on_;
  typename Caller::transport_type& net_;
};

/// The wish of a rank that gives a colour. @throws error errc::invalid_argument.
template <class Caller>
wish wish_of_color(const Caller& on, int color, int key) {
  if (color < 0 && color != undefined_color)
    on.reject("split", "colour " + std::to_string(color) +
                           " is negative; chorale::undefined_color (-1) is for a rank that is in no part");
  return {.color = color, .key = key};
}

/// The wish of a rank that gives a list, with an FNV-1a of it. @throws error errc::invalid_argument.
template <class Caller>
wish wish_of_list(const Caller& on, std::span<const int> ranks) {
  std::vector<bool> seen(static_cast<std::size_t>(on.size()));
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  wish mine;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const int r = ranks[i];
    if (r < 0 || r >= on.size() || seen[static_cast<std::size_t>(r)])
      on.reject("subgroup", "rank " + std::to_string(r) + ", number " + std::to_string(i) +
                                " of the list, is not in 0.." + std::to_string(on.size() - 1) +
                                " or occurs twice");
    seen[static_cast<std::size_t>(r)] = true;
    hash = (hash ^ static_cast<std::uint32_t>(r)) * 0x100000001b3ULL;
    if (r == on.rank())
      mine = {.color = ranks.front(), .key = static_cast<std::int64_t>(i), .list = 0, .listed = ranks.size()};
  }
  mine.list = mine.listed == 0 ? 0 : hash;
  return mine;
}

}  // namespace calls
}  // namespace chorale
