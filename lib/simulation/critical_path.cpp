// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

#include <chorale/core/error.hpp>
#include <chorale/simulation/critical_path.hpp>

namespace chorale::simulation {
namespace {

/// The stages of a message to one rank, in the order of time.
using stages = std::vector<const record*>;

class walk {
 public:
  walk(const recorder& notes, const window& of) : window_(of), first_(of.begin), at_(of.end) {
    for (const record& one : notes.records()) {
      if (one.begin >= of.end) continue;
      if (!is_of_message(one.what))
        flows_[{one.rank, one.thread}].push_back(&one);
      else
        messages_[one.message].push_back(&one);
    }
  }

  /// The walk ends on a rank where the rank's phase begins.
  void end_with(const std::vector<phase_record>& phases) {
    for (const auto& one : phases) begins_[one.rank] = one.begin;
  }

  critical_path from(processor last) {
    flow_ = last;
    while (at_ > window_.begin) {
      const auto begin = begins_.find(flow_.rank);
      const instant least = begin == begins_.end() ? window_.begin : begin->second;
      if (at_ <= least) {
        // The sender may have posted the message in the phase before.
        window_.begin = at_;
        break;
      }
      first_ = std::max(least, window_.begin);
      step();
      first_ = window_.begin;
    }
    std::reverse(path_.parts.begin(), path_.parts.end());
    path_.of = window_;
    return std::move(path_);
  }

 private:
  /// Goes back by one record on the current processor.
  void step() {
    auto& all = flows_[flow_];
    // The walk may return to a processor, but never to a later time.
    while (!all.empty() && all.back()->begin >= at_) all.pop_back();
    if (all.empty()) return add(critical_path_part::kind::unknown, {.rank = flow_.rank}, first_);
    const record& last = *all.back();
    if (last.end < at_) return add(critical_path_part::kind::unknown, {.rank = flow_.rank}, last.end);
    if (last.message != 0 && is_wait(last.what) && at_ == last.end && follow(last)) return;
    add(critical_path_part::kind::recorded, last, last.begin);
  }

  /// Goes from a wait to the message that ended it, and to the sender. False if the message is not known.
  bool follow(const record& ended) {
    const bool answered = ended.what == activity::wait_for_answer;
    const stages way = way_to(ended.rank, ended.message, answered);
    if (way.empty() || way.back()->end > at_ || way.front()->begin >= at_) return false;
    const record seen{.rank = ended.rank, .peer = way.front()->rank, .message = ended.message};
    first_ = window_.begin;
    add(critical_path_part::kind::notice, seen, way.back()->end);
    for (auto one = way.rbegin(); one != way.rend(); ++one) {
      // An acknowledgement leaves before all data are in memory.
      if ((*one)->begin < at_) add(critical_path_part::kind::recorded, **one, (*one)->begin);
    }
    flow_ = {way.front()->rank, way.front()->thread};
    return true;
  }

  /// The stages by which a message has reached a rank, or by which the answer to the rank's own message came
  /// back; empty if a stage is missing.
  stages way_to(int rank, std::uint64_t message, bool answered) const {
    const auto found = messages_.find(message);
    if (found == messages_.end()) return {};
    // Of several copies or retransmissions, the last that arrived counts.
    const auto last = [&](activity what, const auto& fits) -> const record* {
      const auto one = std::find_if(found->second.rbegin(), found->second.rend(), [&](const record* r) {
        return r->what == what && r->end <= at_ && fits(*r);
      });
      return one == found->second.rend() ? nullptr : *one;
    };
    const auto any = [](const record&) { return true; };
    const auto came_to = [&](const record& r) { return answered || r.peer == rank; };
    stages way{last(activity::leave, any), last(activity::wire, came_to), last(activity::place, came_to)};
    if (answered)
      for (const activity what : {activity::answer_leave, activity::answer_wire, activity::answer_place})
        way.push_back(last(what, any));
    if (std::find(way.begin(), way.end(), nullptr) != way.end()) way.clear();
    return way;
  }

  /// Adds the part from `begin` to the current time of the walk.
  void add(critical_path_part::kind kind, record of, instant begin) {
    begin = std::max(begin, first_);
    if (begin >= at_) return;
    of.begin = begin;
    of.end = std::exchange(at_, begin);
    path_.parts.push_back({kind, of});
  }

  window window_;
  instant first_;  ///< the earliest begin of the next part
  instant at_;
  std::map<int, instant> begins_;  ///< of each rank's phase
  processor flow_;
  std::map<processor, std::vector<const record*>> flows_;
  std::unordered_map<std::uint64_t, stages> messages_;
  critical_path path_;
};

void validate(const recorder& notes, const window& of) {
  if (of.end < of.begin)
    throw error(errc::invalid_argument,
                "simulation::find_critical_path: a window that ends before it begins");
  if (of.begin < notes.complete_since())
    throw error(errc::invalid_argument,
                "simulation::find_critical_path: the window begins at " +
                    std::to_string(of.begin.time_since_epoch().count()) + " ps, before the oldest of the " +
                    std::to_string(notes.records().size()) +
                    " records that were kept; a larger bound of the recorder keeps more");
}

}  // namespace

critical_path find_critical_path(const recorder& notes, const window& of, processor last) {
  validate(notes, of);
  return walk{notes, of}.from(last);
}

critical_path find_critical_path(const recorder& notes, const std::vector<phase_record>& phases) {
  const window all = window_of(phases);
  validate(notes, all);
  walk back{notes, all};
  back.end_with(phases);
  const auto last =
      std::find_if(phases.begin(), phases.end(), [&](const auto& one) { return one.end == all.end; });
  return back.from({last->rank, last->thread});
}

processor last_to_work(const recorder& notes, const window& of) {
  std::pair<instant, processor> last{instant::min(), {}};
  for (const record& one : notes.records()) {
    if (is_of_message(one.what) || is_wait(one.what) || one.begin >= of.end) continue;
    const std::pair found{std::min(one.end, of.end), processor{one.rank, one.thread}};
    if (found.first > last.first || (found.first == last.first && found.second < last.second)) last = found;
  }
  return last.second;
}

}  // namespace chorale::simulation
