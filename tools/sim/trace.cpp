// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "deliveries.hpp"
#include "forms.hpp"

namespace seeing {
namespace {

using nlohmann::ordered_json;
using sim::activity;
using sim::instant;
using sim::record;

/// Thread numbers in a rank's process: its threads keep theirs, followed by the lanes.
constexpr int first_lane = 1000;
constexpr int first_answer_lane = 100'000;

/// The lines of a trace file, written one by one: a trace may be larger than its records in memory.
class events {
 public:
  explicit events(std::function<void(std::string_view)> write) : write_(std::move(write)) {
    write_("{\"traceEvents\":[\n");
  }
  void add(const ordered_json& one) {
    write_((first_ ? "" : ",\n") + one.dump());
    first_ = false;
  }
  void finish(const ordered_json& about) { write_("\n],\"otherData\":" + about.dump() + "}\n"); }

 private:
  std::function<void(std::string_view)> write_;
  bool first_ = true;
};

ordered_json slice(const std::string& name, const char* category, int rank, int thread, instant begin,
                   instant end) {
  return {{"name", name},           {"cat", category}, {"ph", "X"},    {"ts", us(begin)},
          {"dur", us(end - begin)}, {"pid", rank},     {"tid", thread}};
}

ordered_json flow(const char* phase, std::uint64_t number, int rank, int thread, instant at) {
  ordered_json one{{"name", "message"}, {"cat", "flow"}, {"ph", phase},  {"id", number},
                   {"ts", us(at)},      {"pid", rank},   {"tid", thread}};
  if (*phase == 'f') one["bp"] = "e";
  return one;
}

void name_it(events& to, const char* what, int rank, int thread, const std::string& name, int order) {
  const bool process = std::string_view{what} == "process";
  to.add({{"name", fmt::format("{}_name", what)},
          {"ph", "M"},
          {"pid", rank},
          {"tid", thread},
          {"args", {{"name", name}}}});
  to.add({{"name", fmt::format("{}_sort_index", what)},
          {"ph", "M"},
          {"pid", rank},
          {"tid", thread},
          {"args", {{"sort_index", process ? rank : order}}}});
}

bool overlaps(instant begin, instant end, const sim::window& of) {
  return begin < of.end && end > of.begin;
}

/// Adds the activity of ranks, and their phases.
void add_processors(events& to, const sim::recorder& notes, const sim::window& of,
                    std::set<std::pair<int, int>>& threads) {
  for (const auto& one : notes.phases()) {
    if (!overlaps(one.begin, one.end, of)) continue;
    threads.emplace(one.rank, one.thread);
    to.add(slice(notes.name_of(one), "phase", one.rank, one.thread, one.begin, one.end));
  }
  for (const record& one : notes.records()) {
    if (is_of_message(one.what) || !overlaps(one.begin, one.end, of)) continue;
    threads.emplace(one.rank, one.thread);
    const bool waits = is_wait(one.what);
    // A helper's wait may be much longer than the window, which would then be a speck in the picture.
    const instant begin = waits ? std::max(one.begin, of.begin) : one.begin;
    const instant end = waits ? std::min(one.end, of.end) : one.end;
    auto event = slice(name(one.what), waits ? "wait" : "work", one.rank, one.thread, begin, end);
    ordered_json arguments = ordered_json::object();
    if (one.peer >= 0) arguments["to rank"] = one.peer;
    if (one.what == activity::poll)
      arguments["completions"] = one.bytes;
    else if (one.bytes != 0)
      arguments["bytes"] = one.bytes;
    if (one.message != 0) arguments["message"] = one.message;
    if (!arguments.empty()) event["args"] = std::move(arguments);
    to.add(event);
  }
}

/// Slices of one thread must be nested or disjoint: overlapping messages of a rank get separate lanes.
class lanes {
 public:
  int take(int rank, bool answer, instant begin, instant end) {
    auto& busy_until = taken_[{rank, answer}];
    auto lane =
        std::find_if(busy_until.begin(), busy_until.end(), [&](instant until) { return until <= begin; });
    if (lane == busy_until.end()) lane = busy_until.insert(lane, instant{});
    *lane = end;
    return (answer ? first_answer_lane : first_lane) + static_cast<int>(lane - busy_until.begin());
  }

 private:
  std::map<std::pair<int, bool>, std::vector<instant>> taken_;
};

void add_messages(events& to, std::vector<delivery> all, std::set<std::pair<int, int>>& threads) {
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.posted < b.posted; });
  lanes free;
  for (const auto& one : all) {
    const int lane = free.take(one.from, one.answer, one.posted, one.seen);
    threads.emplace(one.from, lane);
    const char* const category = one.answer ? "answer" : "message";
    auto whole = slice(fmt::format("to rank {}, {} B", one.to, one.bytes), category, one.from, lane,
                       one.posted, one.seen);
    whole["args"] = {{"to rank", one.to},
                     {"bytes", one.bytes},
                     {"message", one.number},
                     {"leaves", us(one.leaves)},
                     {"arrives", us(one.arrives)}};
    to.add(whole);
    const auto stage = [&](activity what, instant begin, instant end) {
      if (end > begin) to.add(slice(name(what), category, one.from, lane, begin, end));
    };
    stage(activity::leave, one.posted, one.leaves);
    stage(activity::wire, one.leaves, one.arrives);
    stage(activity::place, one.arrives, one.seen);
  }
}

/// Adds arrows from the call that posted a message to the point where its target saw it.
void add_flows(events& to, const sim::recorder& notes, const std::vector<delivery>& all) {
  std::map<std::uint64_t, const record*> posts;
  std::map<std::pair<int, std::uint64_t>, int> waits;  // by rank and message: the woken thread
  for (const record& one : notes.records()) {
    if (one.what == activity::post) posts[one.message] = &one;
    if (one.what == activity::wait_for_message) waits[{one.rank, one.message}] = one.thread;
  }
  for (const auto& one : all) {
    if (one.answer) continue;
    const auto behind = posts.upper_bound(one.number);
    if (behind == posts.begin()) continue;
    const record& post = *std::prev(behind)->second;
    if (post.rank != one.from || post.end > one.posted) continue;
    const auto woken = waits.find({one.to, one.number});
    to.add(flow("s", one.number, post.rank, post.thread, post.begin));
    to.add(flow("f", one.number, one.to, woken == waits.end() ? 0 : woken->second, one.seen));
  }
}

void add_names(events& to, const std::set<std::pair<int, int>>& threads) {
  int before = -1;
  for (const auto& [rank, thread] : threads) {
    if (rank != before) name_it(to, "process", rank, 0, fmt::format("rank {}", rank), 0);
    before = rank;
    name_it(to, "thread", rank, thread,
            thread == 0                  ? "program"
            : thread < first_lane        ? fmt::format("helper {}", thread)
            : thread < first_answer_lane ? fmt::format("messages sent, {}", thread - first_lane + 1)
                                         : fmt::format("answers sent, {}", thread - first_answer_lane + 1),
            thread);
  }
}

}  // namespace

void write_trace(const std::function<void(std::string_view)>& write, const sim::recorder& notes,
                 const sim::window& of, int ranks, const bench::facts& about) {
  auto messages = find_deliveries(notes, of);
  events to(write);
  std::set<std::pair<int, int>> threads;
  add_processors(to, notes, of, threads);
  add_messages(to, messages.all, threads);
  add_flows(to, notes, messages.all);
  add_names(to, threads);
  ordered_json facts = ordered_json::object();
  for (const auto& [key, value] : about) facts[key] = value;
  facts["messages over the edge, left out"] = fmt::format("{}", messages.over_the_edge);
  facts["window"] = {{"begin", us(of.begin)}, {"end", us(of.end)}};
  facts["ranks"] = ranks;
  to.finish(facts);
}

}  // namespace seeing
