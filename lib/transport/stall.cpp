// What a rank says of a wait that takes long: who waits for whom, who is in which call, who computes.
#include <algorithm>
#include <cstdio>

#include <fmt/format.h>

#include <chorale/transport/endpoint.hpp>

#include "membership.hpp"
#include "messages.hpp"
#include "stall_survey.hpp"

namespace chorale::transport {
namespace {

using activity = stall_report::activity;

constexpr std::size_t most_described = 8;

std::string name_of(const call& c, std::uint64_t number) {
  return fmt::format("{} (call {})", c.describe(), number);
}

std::string list(const std::vector<int>& ranks) {
  constexpr std::size_t shown = 16;
  std::string text;
  for (std::size_t i = 0; i < std::min(ranks.size(), shown); ++i)
    text += fmt::format("{}{}", i == 0 ? "" : ", ", ranks[i]);
  if (ranks.size() > shown) text += fmt::format(" and {} more", ranks.size() - shown);
  return text;
}

std::string whom(int rank) {
  return rank < 0 ? std::string{"any rank"} : fmt::format("rank {}", rank);
}

stall_report::rank_state state_of(int rank, const std::optional<status_answer>& answer) {
  stall_report::rank_state s;
  s.rank = rank;
  if (!answer) return s;
  if (answer->latest_known != 0) s.call = name_of(answer->latest, answer->current);
  if (answer->waits_for != status_page::for_none) {
    s.what = activity::waits;
    s.waits_for = answer->waits_for;
  } else {
    s.what = answer->current == answer->completed ? activity::computes : activity::calls;
  }
  return s;
}

std::string describe(const stall_report::rank_state& s) {
  switch (s.what) {
    case activity::waits:
      return fmt::format("rank {} waits for {} in {}", s.rank, whom(s.waits_for), s.call);
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
    case activity::departed:
      return fmt::format("rank {} has left", s.rank);
  }
  return {};
}

}  // namespace

void endpoint::begin_survey() {
  survey_ = std::make_unique<stall_survey>(size_, rank_, settings_.on_stall != nullptr, steady::now());
}

void endpoint::ask_surveyed(steady::time_point time, epoch now) {
  if (!survey_->is_time_to_ask(time)) return;
  for (int r = 0; r < size_; ++r)
    if (survey_->is_asked(r) && !departed(r)) ask(r, now);
}

void endpoint::get_on_with_survey(int peer, epoch now, steady::duration since) {
  const auto time = steady::now();
  ask_surveyed(time, now);
  if (!survey_->is_answered(time)) return;
  if (!settings_.on_stall && survey_->is_left_to_lower(settings_.stall / 2)) return survey_.reset();
  if (!survey_->asks_all()) return survey_->ask_all(time);
  const auto survey = std::move(survey_);
  const stall_report report = describe_stall(survey->answers(), peer, now, since);
  if (settings_.on_stall)
    settings_.on_stall(report);
  else
    fmt::print(stderr, "chorale: {}\n", report.text);
}

stall_report endpoint::describe_stall(const std::vector<std::optional<status_answer>>& answers, int peer,
                                      epoch now, steady::duration since) {
  stall_report report;
  report.rank = rank_;
  report.waits_for = peer;
  report.waited = std::chrono::duration_cast<std::chrono::milliseconds>(attend() - since);
  const auto mine = status_.find(now.number);
  report.call = mine ? name_of(*mine, now.number) : "a call";
  if (status_.completed() >= now.number) report.call = "a window operation after " + report.call;
  if (!label_.empty()) report.text = fmt::format("communicator '{}': ", label_);
  report.text +=
      fmt::format("rank {} on host {} has waited {:.1f} s for {} in {}", rank_, members_->host_of(rank_),
                  static_cast<double>(report.waited.count()) / 1000, whom(peer), report.call);
  for (int r = 0; r < size_; ++r) {
    if (r == rank_) continue;
    auto state = state_of(r, answers[static_cast<std::size_t>(r)]);
    const process_identity* process = members_->process_of(r);
    if (departed(r))
      state.what = activity::departed;
    else if (process != nullptr && chorale::state_of(*process) == process_state::stopped)
      state.what = activity::stopped;
    report.others.push_back(std::move(state));
  }
  report.text += describe_ranks(report.others);
  report.text += "; all is well so far, and the wait goes on (config::stall, CHORALE_STALL_MS)";
  return report;
}

std::string endpoint::describe_ranks(std::vector<stall_report::rank_state> ranks) {
  // Who does not wait is who is waited for in the end.
  std::stable_partition(ranks.begin(), ranks.end(), [](const auto& s) { return s.what != activity::waits; });
  std::string text;
  for (std::size_t i = 0; i < std::min(ranks.size(), most_described); ++i) text += "; " + describe(ranks[i]);
  if (ranks.size() > most_described)
    text += fmt::format("; and {} more ranks", ranks.size() - most_described);
  return text;
}

void endpoint::report_deadline(int peer, epoch now) {
  survey_ = std::make_unique<stall_survey>(size_, rank_, true, steady::now());
  for (auto time = steady::now(); !survey_->is_answered(time); time = steady::now()) {
    ask_surveyed(time, now);
    look_around();
    clock::give_way();
  }
  const auto survey = std::move(survey_);
  std::vector<int> absent;
  std::vector<int> late;
  std::vector<stall_report::rank_state> states;
  for (int r = 0; r < size_; ++r) {
    if (r == rank_) continue;
    const auto& answer = survey->answers()[static_cast<std::size_t>(r)];
    auto state = state_of(r, answer);
    if (departed(r)) state.what = activity::departed;
    const bool is_earlier = answer && answer->current < now.number;
    if (!answer || departed(r) || (is_earlier && state.what == activity::computes))
      absent.push_back(r);
    else if (is_earlier)
      late.push_back(r);
    else
      judge(r, *answer, now);
    states.push_back(std::move(state));
  }
  const auto mine = status_.find(now.number);
  std::string what =
      fmt::format("rank {} waited {} ms in {} (call {}) for {}", rank_, settings_.deadline.count(),
                  mine ? mine->describe() : "a call", now.number, whom(peer));
  if (!absent.empty())
    what += fmt::format("; not in any call (computing, dead or departed): ranks {}", list(absent));
  if (!late.empty()) what += fmt::format("; still in an earlier call: ranks {}", list(late));
  std::vector<int> culprits = absent;
  culprits.insert(culprits.end(), late.begin(), late.end());
  if (culprits.empty()) {
    if (peer >= 0) culprits.push_back(peer);
    what += "; all ranks answer and are in this call or a later one";
  }
  what += describe_ranks(std::move(states));
  throw error(errc::deadline, what + "; config::deadline or CHORALE_DEADLINE_MS sets the limit", culprits);
}

}  // namespace chorale::transport
