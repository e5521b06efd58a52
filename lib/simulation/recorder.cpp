// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <new>

#include <chorale/core/error.hpp>
#include <chorale/simulation/recorder.hpp>

namespace chorale::simulation {

const char* name(activity what) noexcept {
  switch (what) {
    case activity::call:
      return "call";
    case activity::copy:
      return "copy";
    case activity::combine:
      return "combine";
    case activity::send:
      return "send";
    case activity::receive:
      return "receive";
    case activity::match:
      return "match";
    case activity::post:
      return "post";
    case activity::post_receive:
      return "post receive";
    case activity::poll:
      return "poll";
    case activity::registration:
      return "registration";
    case activity::wake:
      return "wake";
    case activity::compute:
      return "compute";
    case activity::wait_for_message:
      return "wait for message";
    case activity::wait_for_answer:
      return "wait for answer";
    case activity::wait:
      return "wait";
    case activity::leave:
      return "leave";
    case activity::wire:
      return "wire";
    case activity::place:
      return "place";
    case activity::answer_leave:
      return "answer leaves";
    case activity::answer_wire:
      return "answer on wire";
    case activity::answer_place:
      return "answer placed";
  }
  return "";
}

recorder::recorder(std::size_t most) : most_(most) {
  if (most == 0) throw error(errc::invalid_argument, "simulation::recorder: a bound of no records");
}

void recorder::add(const record& one) noexcept {
  ++made_;
  try {
    records_.push_back(one);
  } catch (const std::bad_alloc&) {
    complete_since_ = std::max(complete_since_, one.end);
  }
  if (records_.size() <= most_) return;
  complete_since_ = std::max(complete_since_, records_.front().end);
  records_.pop_front();
}

void recorder::add(std::string_view name, phase_record one) {
  one.name = number_of(name);
  phases_.push_back(one);
  if (phases_.size() <= most_) return;
  complete_since_ = std::max(complete_since_, phases_.front().end);
  phases_.pop_front();
}

std::uint64_t recorder::take_numbers(std::size_t count) noexcept {
  const std::uint64_t first = messages_ + 1;
  messages_ += count;
  return first;
}

std::uint32_t recorder::number_of(std::string_view name) {
  // The newest names are the most likely to recur.
  const auto found = std::find(names_.rbegin(), names_.rend(), name);
  if (found != names_.rend()) return static_cast<std::uint32_t>(names_.rend() - found - 1);
  names_.emplace_back(name);
  return static_cast<std::uint32_t>(names_.size() - 1);
}

std::vector<phase_record> recorder::last_phases(std::string_view name) const {
  std::vector<phase_record> found;
  for (auto one = phases_.rbegin(); one != phases_.rend(); ++one) {
    if (one->rank < 0 || name_of(*one) != name) continue;
    const auto rank = static_cast<std::size_t>(one->rank);
    if (found.size() <= rank) found.resize(rank + 1);
    if (found[rank].rank < 0) found[rank] = *one;
  }
  std::erase_if(found, [](const phase_record& one) { return one.rank < 0; });
  if (found.empty())
    throw error(errc::invalid_argument, "simulation::recorder: no phase '" + std::string{name} +
                                            "' is among the " + std::to_string(phases_.size()) +
                                            " that are kept");
  return found;
}

window window_of(const std::vector<phase_record>& phases) noexcept {
  window all{instant::max(), instant::min()};
  for (const auto& one : phases) all = {std::min(all.begin, one.begin), std::max(all.end, one.end)};
  return all;
}

}  // namespace chorale::simulation
