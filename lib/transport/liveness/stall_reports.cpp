// SPDX-License-Identifier: Apache-2.0
#include "stall_reports.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <utility>

#include <fmt/format.h>

#include <chorale/core/error.hpp>

#include "../../core/printable.hpp"

namespace chorale::transport {
namespace {

using activity = stall_report::activity;

constexpr std::size_t most_described = 8;
constexpr std::size_t most_listed = 16;

std::string describe(const stall_report::rank_state& s) {
  switch (s.what) {
    case activity::waits:
      return fmt::format("rank {} waits for {} in {}", s.rank, name_of_awaited(s.waits_for), s.call);
    case activity::calls:
      return fmt::format("rank {} is in {}", s.rank, s.call);
    case activity::computes:
      return s.call.empty()
                 ? fmt::format("rank {} computes, or is in another communicator, and has made no call yet",
                               s.rank)
                 : fmt::format("rank {} computes, or is in another communicator; its last call was {}",
                               s.rank, s.call);
    case activity::stopped:
      return fmt::format("rank {} is stopped, by a signal or a debugger", s.rank);
    case activity::silent:
      return fmt::format("rank {} has not answered", s.rank);
    case activity::left:
      return fmt::format("rank {} has left", s.rank);
  }
  return {};
}

}  // namespace

stall_report::rank_state state_of(int rank, const std::optional<status_answer>& answer) {
  stall_report::rank_state s;
  s.rank = rank;
  if (!answer) return s;
  if (answer->latest_known != 0)
    s.call = fmt::format("{} (call {})", answer->latest.describe(), answer->current);
  if (answer->waits_for != status_page::for_none) {
    s.what = activity::waits;
    s.waits_for = answer->waits_for;
  } else {
    s.what = answer->current == answer->completed ? activity::computes : activity::calls;
  }
  return s;
}

std::string describe_ranks(std::vector<stall_report::rank_state> ranks) {
  // Ranks that do not wait first: all others ultimately wait for them.
  std::stable_partition(ranks.begin(), ranks.end(), [](const auto& s) { return s.what != activity::waits; });
  std::string text;
  for (std::size_t i = 0; i < std::min(ranks.size(), most_described); ++i) text += "; " + describe(ranks[i]);
  if (ranks.size() > most_described)
    text += fmt::format("; and {} more ranks", ranks.size() - most_described);
  return text;
}

std::string name_of_awaited(int rank) {
  return rank < 0 ? std::string{"any rank"} : fmt::format("rank {}", rank);
}

std::string list_of(const std::vector<int>& ranks) {
  std::string text;
  for (std::size_t i = 0; i < std::min(ranks.size(), most_listed); ++i)
    text += fmt::format("{}{}", i == 0 ? "" : ", ", ranks[i]);
  if (ranks.size() > most_listed) text += fmt::format(" and {} more", ranks.size() - most_listed);
  return text;
}

std::string order_hint(const config& settings) {
  if (settings.placement != placement_policy::ordered) return {};
  return "; data are announced by order, as CHORALE_PLACEMENT=ordered says: where the fabric does not keep "
         "it, calls hang or give wrong results";
}

stall_reports::stall_reports(const membership& group, const config& settings, const call_record& calls,
                             liveness& lives, inquiry& asks)
    : group_(&group), settings_(&settings), calls_(&calls), lives_(&lives), asks_(&asks) {}

stall_reports::~stall_reports() {
  cancel();
}

void stall_reports::start(bool all) {
  survey_ = std::make_unique<stall_survey>(group_->size(), group_->rank(), all, clock::now());
  asks_->survey(survey_.get());
}

stall_reports::answers stall_reports::finish() {
  answers told = survey_->answers();
  cancel();
  return told;
}

void stall_reports::begin() {
  start(settings_->on_stall != nullptr);
}

void stall_reports::cancel() noexcept {
  asks_->survey(nullptr);
  survey_.reset();
}

void stall_reports::ask(clock::time_point time, call_id now) {
  if (!survey_->is_time_to_ask(time)) return;
  for (int r = 0; r < group_->size(); ++r)
    if (survey_->is_asked(r) && !lives_->is_gone(r)) asks_->ask(r, now);
}

bool stall_reports::advance(int peer, call_id now, clock::duration since) {
  // A nested wait may have used the survey meanwhile.
  if (!survey_) return true;
  const auto time = clock::now();
  ask(time, now);
  if (!survey_->is_answered(time)) return false;
  if (!settings_->on_stall && survey_->is_left_to_lower(settings_->stall / 2)) {
    cancel();
    return true;
  }
  if (!survey_->asks_all()) {
    survey_->ask_all(time);
    return false;
  }
  const stall_report report = describe(finish(), peer, now, since);
  if (settings_->on_stall)
    settings_->on_stall(report);
  else
    chorale::say(stderr, "chorale: {}\n", report.text);
  return true;
}

stall_report stall_reports::describe(const answers& told, int peer, call_id now, clock::duration since) {
  const int rank = group_->rank();
  stall_report report;
  report.rank = rank;
  report.waits_for = peer;
  report.waited = std::chrono::duration_cast<std::chrono::milliseconds>(lives_->attended_now() - since);
  const auto mine = calls_->page().find(now.number);
  report.call = mine ? fmt::format("{} (call {})", mine->describe(), now.number) : "a call";
  if (now.what == operation::none)
    report.call = "the end of its communicator" + (mine ? ", after " + report.call : "");
  else if (calls_->page().completed() >= now.number)
    report.call = "a window operation after " + report.call;
  if (!calls_->label().empty()) report.text = fmt::format("communicator '{}': ", calls_->label());
  report.text +=
      fmt::format("rank {} on host {} has waited {:.1f} s for {} in {}", rank, group_->host_of(rank),
                  static_cast<double>(report.waited.count()) / 1000, name_of_awaited(peer), report.call);
  for (int r = 0; r < group_->size(); ++r) {
    if (r == rank) continue;
    auto state = state_of(r, told[static_cast<std::size_t>(r)]);
    if (lives_->is_gone(r))
      state.what = activity::left;
    else if (lives_->is_stopped(r))
      state.what = activity::stopped;
    report.others.push_back(std::move(state));
  }
  report.text += describe_ranks(report.others);
  report.text += order_hint(*settings_) + lives_->route_hint(peer);
  report.text += "; all is well so far, and the wait goes on (config::stall, CHORALE_STALL_MS)";
  return report;
}

void stall_reports::fail_by_deadline(int peer, call_id now, const std::function<void()>& progress_all) {
  start(true);
  for (auto time = clock::now(); !survey_ || !survey_->is_answered(time); time = clock::now()) {
    // Another wait that ends in progress_all() takes its survey with it, and this one in its place.
    if (!survey_) start(true);
    ask(time, now);
    progress_all();
    clock::give_way();
  }
  const answers told = finish();
  std::vector<int> absent;
  std::vector<int> late;
  std::vector<stall_report::rank_state> states;
  for (int r = 0; r < group_->size(); ++r) {
    if (r == group_->rank()) continue;
    const auto& answer = told[static_cast<std::size_t>(r)];
    const bool is_gone = lives_->is_gone(r);
    auto state = state_of(r, answer);
    if (is_gone) state.what = activity::left;
    const bool is_earlier = answer && answer->current < now.number;
    if (!answer || is_gone || (is_earlier && state.what == activity::computes))
      absent.push_back(r);
    else if (is_earlier)
      late.push_back(r);
    else
      asks_->judge(r, *answer, now);
    states.push_back(std::move(state));
  }
  std::string what =
      fmt::format("rank {} waited {} ms in {} (call {}) for {}", group_->rank(), settings_->deadline.count(),
                  calls_->describe(now.number), now.number, name_of_awaited(peer));
  if (!absent.empty())
    what += fmt::format("; not in any call (they compute, are dead or have left): ranks {}", list_of(absent));
  if (!late.empty()) what += fmt::format("; still in an earlier call: ranks {}", list_of(late));
  std::vector<int> culprits = absent;
  culprits.insert(culprits.end(), late.begin(), late.end());
  if (culprits.empty()) {
    if (peer >= 0) culprits.push_back(peer);
    what += "; all ranks answer and are in this call or a later one";
  }
  what += describe_ranks(std::move(states)) + order_hint(*settings_) + lives_->route_hint(peer);
  throw error(errc::deadline, what + "; config::deadline or CHORALE_DEADLINE_MS sets the limit", culprits);
}

}  // namespace chorale::transport
