// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <stdexcept>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "deliveries.hpp"
#include "forms.hpp"

namespace seeing {
namespace {

using sim::activity;
using sim::critical_path_part;
using sim::duration;

/// Number of ranks named with their parts of a share.
constexpr std::size_t named_ranks = 3;

const char* words_for(const critical_path_part& part) {
  if (part.is == critical_path_part::kind::notice) return "until a waiting rank sees it";
  if (part.is == critical_path_part::kind::unknown) return "not recorded";
  switch (part.of.what) {
    case activity::call:
      return "library, for each call";
    case activity::copy:
      return "copies";
    case activity::combine:
      return "combining operands";
    case activity::send:
    case activity::post:
      return "posting";
    case activity::receive:
    case activity::match:
    case activity::post_receive:
    case activity::poll:
      return "taking what was received";
    case activity::registration:
      return "registering memory";
    case activity::wake:
      return "waking up";
    case activity::compute:
      return "computing";
    case activity::wait_for_message:
    case activity::wait_for_answer:
      return "waiting for a message from outside of the window";
    case activity::wait:
      return "waiting, not for a message";
    case activity::leave:
      return "sending adapter";
    case activity::wire:
      return "wire";
    case activity::place:
      return "receiving adapter, into memory";
    case activity::answer_leave:
      return "adapter that answers";
    case activity::answer_wire:
      return "wire, answers";
    case activity::answer_place:
      return "receiving adapter, answers";
  }
  return "";
}

bool is_of_rank(const critical_path_part& part) {
  return part.is != critical_path_part::kind::notice &&
         !(part.is == critical_path_part::kind::recorded && is_of_message(part.of.what));
}

duration length(const critical_path_part& part) {
  return part.of.end - part.of.begin;
}

struct share {
  duration time{};
  std::map<int, duration> of_ranks;
};

std::string ranks_of(const share& one, duration whole) {
  std::vector<std::pair<int, duration>> ranks(one.of_ranks.begin(), one.of_ranks.end());
  std::stable_sort(ranks.begin(), ranks.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  if (ranks.size() == 1) return fmt::format(" on rank {}", ranks.front().first);
  std::string text;
  duration rest = one.time;
  for (std::size_t i = 0; i < std::min(ranks.size(), named_ranks); ++i) {
    text += fmt::format("{} rank {} {:.1f}%", i == 0 ? ":" : ",", ranks[i].first,
                        100 * us(ranks[i].second) / us(whole));
    rest -= ranks[i].second;
  }
  if (ranks.size() > named_ranks)
    text += fmt::format(", {} others {:.1f}%", ranks.size() - named_ranks, 100 * us(rest) / us(whole));
  return text;
}

std::string shares_in_words(const sim::critical_path& path) {
  const duration whole = path.of.end - path.of.begin;
  std::map<std::string, share> shares;
  duration sum{};
  for (const auto& part : path.parts) {
    share& one = shares[words_for(part)];
    one.time += length(part);
    sum += length(part);
    if (is_of_rank(part)) one.of_ranks[part.of.rank] += length(part);
  }
  if (sum != whole)
    throw std::logic_error(fmt::format("the parts of the critical path are {} ps, the window {} ps",
                                       sum.count(), whole.count()));
  std::vector<std::pair<std::string, share>> sorted(shares.begin(), shares.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second.time > b.second.time; });
  std::string text;
  for (const auto& [what, one] : sorted)
    text += fmt::format("{:>7.2f}% {:>12.3f} us  {}{}\n", 100 * us(one.time) / us(whole), us(one.time), what,
                        one.of_ranks.empty() ? "" : ranks_of(one, whole));
  return text + fmt::format("{:>7.2f}% {:>12.3f} us  in all\n", 100 * us(sum) / us(whole), us(sum));
}

/// A message on the path, or an answer.
struct step {
  bool answer = false;
  sim::record last;  ///< on the path
  sim::instant begin{};
  sim::instant end{};
  duration wire{};
};

std::vector<step> messages_of(const sim::critical_path& path) {
  std::vector<step> steps;
  bool goes_on = false;
  for (const auto& part : path.parts) {
    if (part.is == critical_path_part::kind::notice) {
      if (goes_on) steps.back().end = part.of.end;
      goes_on = false;
    } else if (part.is == critical_path_part::kind::recorded && is_of_message(part.of.what)) {
      const bool answer = part.of.what >= activity::answer_leave;
      if (!goes_on || steps.back().answer != answer || steps.back().last.message != part.of.message)
        steps.push_back({.answer = answer, .begin = part.of.begin});
      step& one = steps.back();
      one.last = part.of;
      one.end = part.of.end;
      if (part.of.what == activity::wire || part.of.what == activity::answer_wire) one.wire += length(part);
      goes_on = true;
    } else {
      goes_on = false;
    }
  }
  return steps;
}

}  // namespace

std::string in_words(const sim::critical_path& path, const std::string& of) {
  std::string text =
      fmt::format("\n# critical path of {}\n{:.3f} us, from {:.3f} to {:.3f} us of virtual time\n", of,
                  us(path.of.end - path.of.begin), us(path.of.begin), us(path.of.end));
  if (path.of.end == path.of.begin) return text;
  text += shares_in_words(path);
  const auto steps = messages_of(path);
  text += fmt::format(
      "\n# the {} messages on it, in us since its beginning: from posting until they were seen\n"
      "{:>10} {:>10} {:>10} {:>10}  {}\n",
      steps.size(), "from", "to", "on wire", "bytes", "ranks");
  for (const auto& one : steps)
    text += fmt::format("{:>10.3f} {:>10.3f} {:>10.3f} {:>10}  {} -> {}{}\n", us(one.begin - path.of.begin),
                        us(one.end - path.of.begin), us(one.wire), one.last.bytes, one.last.rank,
                        one.last.peer, one.answer ? ", the answer" : "");
  return text;
}

}  // namespace seeing
