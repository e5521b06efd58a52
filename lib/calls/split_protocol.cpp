// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include <chorale/calls/split_protocol.hpp>
#include <chorale/core/error.hpp>
#include <chorale/core/sendable.hpp>
#include <chorale/core/uncancellable.hpp>

namespace chorale::calls {
namespace {

/// Upper limit on the size of a joining rank's message.
constexpr std::int64_t most_bytes = 65536;

}  // namespace

split_protocol::split_protocol(parent from, const membership_choice& mine)
    : from_(std::move(from)), mine_(mine) {
  give(mine_);
}

template <class T>
std::vector<T> split_protocol::read() const {
  std::vector<T> all(static_cast<std::size_t>(from_.size));
  std::memcpy(static_cast<void*>(all.data()), blocks_.data(), blocks_.size());
  return all;
}

template <class T>
void split_protocol::give(const T& mine) {
  static_assert(detail::sendable<T>);
  blocks_.assign(static_cast<std::size_t>(from_.size) * sizeof mine, std::byte{});
  std::memcpy(blocks_.data() + static_cast<std::size_t>(from_.rank) * sizeof mine, &mine, sizeof mine);
}

void split_protocol::take() {
  const detail::uncancellable ends_first;
  switch (due_) {
    case stage::choices:
      return take_choices();
    case stage::states:
      return take_states();
    case stage::messages:
      return take_messages();
    case stage::none:
      return;
  }
}

void split_protocol::take_choices() {
  const auto choices = read<membership_choice>();
  try {
    check_lists(choices);
  } catch (const error&) {
    // All ranks fail alike.
    fail(std::current_exception());
    due_ = stage::none;
    blocks_.clear();
    return;
  }
  find_members(choices);
  if (!members_.empty()) begin_joining();
  give_state();
}

void split_protocol::begin_joining() {
  const auto place = std::find(members_.begin(), members_.end(), from_.rank) - members_.begin();
  transport::group_view group;
  group.rank = static_cast<int>(place);
  group.size = static_cast<int>(members_.size());
  group.where = from_.where;
  group.job = [this] { return fmt::format("{}.{}", from_.job, mine_.color); };
  group.launched = [this] {
    return fmt::format("{} of {} ranks of: {}", members_.size(), from_.size, from_.launched);
  };
  group.composition = [this] { return from_.composition; };
  try {
    joining_.emplace(group, from_.plan(group.size));
  } catch (...) {
    fail(std::current_exception());
  }
}

void split_protocol::give_state() {
  due_ = stage::states;
  give(failure_ ? has_failed : joining_ ? static_cast<std::int64_t>(joining_->message().size()) : is_over);
}

void split_protocol::take_states() {
  states_ = read<std::int64_t>();
  const auto largest = *std::max_element(states_.begin(), states_.end());
  if (largest > most_bytes)
    throw error(errc::mismatch, fmt::format("split on rank {}: a message of {} bytes is announced, where at "
                                            "most {} are sent: ranks use different versions of Chorale",
                                            from_.rank, largest, most_bytes));
  if (largest >= 0) {
    const auto room = static_cast<std::size_t>(largest);
    blocks_.assign(room * states_.size(), std::byte{});
    if (joining_) {
      const auto message = joining_->message();
      std::memcpy(blocks_.data() + static_cast<std::size_t>(from_.rank) * room, message.data(),
                  message.size());
    }
    due_ = stage::messages;
    return;
  }
  // Every rank has made its part or failed to.
  due_ = stage::none;
  blocks_.clear();
  if (failure_ || members_.empty()) return;
  try {
    refuse_failures(has_failed);
  } catch (const error&) {
    fail(std::current_exception());
  }
}

void split_protocol::take_messages() {
  if (joining_) {
    try {
      refuse_failures(is_over);
      const std::size_t room = block_bytes();
      bootstrap::cards messages;
      messages.reserve(members_.size());
      for (const int r : members_) {
        const auto at = static_cast<std::size_t>(r);
        const auto block = std::span{blocks_}.subspan(at * room, room);
        const auto size = std::min(static_cast<std::size_t>(states_[at]), room);
        messages.emplace_back(block.begin(), block.begin() + static_cast<std::ptrdiff_t>(size));
      }
      joining_->take(std::move(messages));
    } catch (...) {
      fail(std::current_exception());
    }
  }
  // A rank that has joined makes its part before it reports its state, since that may fail.
  if (!has_joined()) give_state();
}

transport::joined_group split_protocol::joined() {
  transport::joined_group group = joining_->finish();
  joining_.reset();
  give_state();
  return group;
}

void split_protocol::fail(std::exception_ptr why) noexcept {
  failure_ = std::move(why);
  joining_.reset();
  if (due_ == stage::states) give(has_failed);
}

void split_protocol::find_members(const std::vector<membership_choice>& choices) {
  if (mine_.color < 0) return;
  for (int r = 0; r < from_.size; ++r) {
    if (choices[static_cast<std::size_t>(r)].color == mine_.color) members_.push_back(r);
  }
  std::stable_sort(members_.begin(), members_.end(), [&](int a, int b) {
    return choices[static_cast<std::size_t>(a)].key < choices[static_cast<std::size_t>(b)].key;
  });
}

/// Every rank checks all lists, so that either all throw or none does. @throws error errc::mismatch.
void split_protocol::check_lists(const std::vector<membership_choice>& choices) {
  struct part {
    int first;
    int other = -1;  ///< the first rank whose list differs
    std::uint64_t together = 0;
  };
  std::unordered_map<std::int64_t, part> parts;
  for (int r = 0; r < static_cast<int>(choices.size()); ++r) {
    const membership_choice& one = choices[static_cast<std::size_t>(r)];
    if (one.color < 0) continue;
    part& its = parts.try_emplace(one.color, part{r}).first->second;
    ++its.together;
    if (its.other < 0 && one.list != choices[static_cast<std::size_t>(its.first)].list) its.other = r;
  }
  for (int r = 0; r < static_cast<int>(choices.size()); ++r) {
    const membership_choice& one = choices[static_cast<std::size_t>(r)];
    if (one.color < 0) continue;
    const part& its = parts.at(one.color);
    if (its.other >= 0)
      throw error(errc::mismatch,
                  fmt::format("subgroup: ranks {} and {} gave different lists of ranks; the ranks of a "
                              "subgroup give the same, in the same order",
                              its.first, its.other),
                  {its.first, its.other});
    if (one.list != 0 && its.together != one.listed)
      throw error(errc::mismatch,
                  fmt::format("subgroup: rank {} gave a list of {} ranks, of which {} gave that list", r,
                              one.listed, its.together),
                  {r});
  }
}

/// @throws error if a member's state is `worst` or worse.
void split_protocol::refuse_failures(std::int64_t worst) const {
  std::vector<int> failed;
  std::string list;
  for (const int r : members_) {
    if (states_[static_cast<std::size_t>(r)] > worst) continue;
    list += (failed.empty() ? "" : ", ") + std::to_string(r);
    failed.push_back(r);
  }
  if (!failed.empty())
    throw error(errc::bootstrap_failed,
                fmt::format("split on rank {}: the new communicator was not made, since it failed on rank {} "
                            "(that rank's error says why)",
                            from_.rank, list),
                failed);
}

}  // namespace chorale::calls
