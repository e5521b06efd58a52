// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include <chorale/model/choice.hpp>

#include "../core/printable.hpp"

namespace chorale::model {
namespace {

/// Algorithms that took more than this many times the best in the table are excluded from trials. Each
/// contender serves some calls, so this bounds their cost, as far as this machine is like that of the table.
constexpr double most_times_the_best = 4;

void add_once(std::vector<int>& to, int number) {
  if (std::ranges::find(to, number) == to.end()) to.push_back(number);
}

std::vector<std::string> names_of(const std::vector<entrant>& all, const std::vector<int>& numbers) {
  std::vector<std::string> names;
  for (const int i : numbers) names.push_back(all[static_cast<std::size_t>(i)].name);
  return names;
}

bool says_the_same(const choice::range_choice& a, const choice::range_choice& b) {
  return a.algorithm == b.algorithm && a.why == b.why;
}

}  // namespace

void choice::make(const config& settings, const call_context& context, std::vector<entrant> entrants) {
  context_ = context;
  entrants_ = std::move(entrants);
  table_ = tuning_table::of(settings, context.here.is_on_adapter);
  says_ = settings.explain && context.rank == 0;
  // Begins anew if an earlier call ran out of memory; nothing is made until all is.
  suitable_.clear();
  std::vector<rule> rules;
  const bool some_suit = std::ranges::any_of(entrants_, &entrant::suits);
  for (std::size_t i = 0; i < entrants_.size(); ++i)
    // If none suits, all take part: each gives correct results.
    if (!some_suit || entrants_[i].suits) suitable_.push_back(static_cast<int>(i));
  // Tables do not know from which size on an algorithm differs from others: only trials choose such a one.
  std::vector<int> of_any_size;
  std::ranges::copy_if(suitable_, std::back_inserter(of_any_size),
                       [&](int i) { return entrants_[static_cast<std::size_t>(i)].from == 0; });
  if (of_any_size.empty()) of_any_size = suitable_;
  const trial_policy policy = settings.trials;
  const int ranks = context_.here.ranks;
  const bool tries = ranks > 1 && suitable_.size() > 1 && policy != trial_policy::off &&
                     (policy == trial_policy::all || settings.tuning.empty());
  const auto by_table = table_->rules(context_.here, names_of(entrants_, of_any_size));
  const std::vector<int> in_order = ordered(of_any_size);
  // With two operands there is only one bracketing.
  is_free_ = policy == trial_policy::all || (ranks == 2 && in_order == of_any_size);
  const auto by_table_in_order =
      in_order == of_any_size ? by_table : table_->rules(context_.here, names_of(entrants_, in_order));
  auto any = by_table.begin();
  auto alike = by_table_in_order.begin();
  const auto begin_with = [&](range_choice& one, const model::rule& by, const std::vector<int>& numbers) {
    one.algorithm = numbers[static_cast<std::size_t>(by.algorithm)];
    one.settled = !tries;
    one.why = by.why;
  };
  for (std::size_t from = 0; any != by_table.end();) {
    const std::size_t end = std::min(any->up_to, alike->up_to);
    // A barrier has only one size.
    const bool has_sizes = tries && context_.here.what != operation::barrier;
    for (const std::size_t up_to : has_sizes ? trial_limits(from, end) : std::vector{end}) {
      rule& r = rules.emplace_back();
      r.up_to = up_to;
      begin_with(r.any, *any, of_any_size);
      begin_with(r.alike, *alike, in_order);
    }
    from = end + 1;
    // Both end together, with the rule for the longest messages.
    if (alike->up_to == end) ++alike;
    if (any->up_to == end) ++any;
  }
  rules_ = std::move(rules);
  if (!says_) return;
  for (std::size_t i = 0; i < rules_.size(); ++i)
    if (i == 0 || !says_the_same(rules_[i - 1].any, rules_[i].any)) say(rules_[i].any);
}

std::vector<int> choice::ordered(const std::vector<int>& of) const {
  std::vector<int> found;
  std::ranges::copy_if(of, std::back_inserter(found),
                       [&](int i) { return entrants_[static_cast<std::size_t>(i)].is_ordered; });
  return found.empty() ? of : found;
}

std::size_t choice::rule_of(const range_choice& in) const noexcept {
  std::size_t at = 0;
  while (&rules_[at].any != &in && &rules_[at].alike != &in) ++at;
  return at;
}

/// The table's choice first, then the winners for neighbouring sizes, then those for long calls only, then
/// the others in the table's order.
std::vector<int> choice::contenders(const range_choice& in, std::size_t bytes) const {
  const std::size_t at = rule_of(in);
  const auto counterpart = [&](const rule& r) -> const range_choice& {
    return &in == &rules_[at].any ? r.any : r.alike;
  };
  std::vector<int> found{in.algorithm};
  const auto add_winner = [&](const rule& r) {
    if (counterpart(r).settled) add_once(found, counterpart(r).algorithm);
  };
  if (at > 0) add_winner(rules_[at - 1]);
  if (at + 1 < rules_.size()) add_winner(rules_[at + 1]);
  for (const int i : suitable_)
    if (entrants_[static_cast<std::size_t>(i)].from != 0) add_once(found, i);
  const auto names = names_of(entrants_, suitable_);
  for (const int i : table_->contenders(context_.here, names, bytes, most_times_the_best, names.size()))
    add_once(found, suitable_[static_cast<std::size_t>(i)]);
  if (&in == &rules_[at].alike) {
    const auto brackets = [&](int i) { return entrants_[static_cast<std::size_t>(i)].brackets; };
    std::erase_if(found, [&](int i) {
      return i != in.algorithm && (brackets(i) == 0 || brackets(i) != brackets(in.algorithm));
    });
  }
  std::erase_if(found, [&](int i) {
    return i != in.algorithm && rules_[at].up_to < entrants_[static_cast<std::size_t>(i)].from;
  });
  found.resize(std::min(found.size(), trial::most_contenders));
  return found;
}

int choice::next(range_choice& in, std::size_t bytes) {
  if (in.settled) return in.algorithm;
  if (!in.running) {
    auto found = contenders(in, bytes);
    if (found.size() == 1) {
      in.settled = true;
      return in.algorithm;
    }
    in.running = std::make_unique<trial>(std::move(found), bytes);
    ++running_;
  }
  return in.running->contender();
}

bool choice::record(range_choice& in, std::size_t bytes, clock::time_point begin, clock::time_point end,
                    bool is_apart) {
  if (!in.running) return false;
  // Where ranks share cores, the root may run ahead, and a rank that gets a core then finds its message
  // there: such a call seems to cost nothing. So the time since the end of the previous call counts, if there
  // is one in this round.
  const bool by_turns = context_.is_rooted && context_.here.crowded && in.ended != clock::time_point{};
  std::optional<clock::duration> time;
  if (is_apart) time = end - (by_turns ? in.ended : begin);
  in.ended = end;
  in.running->record(bytes, time);
  return in.running->round_is_over();
}

std::string choice::judge(range_choice& in, std::size_t bytes) {
  in.running->judge();
  // Since the last call the ranks have summed their times, which must not count as part of the next call.
  in.ended = {};
  if (!in.running->is_over()) return {};
  const auto name = [&] { return entrants_[static_cast<std::size_t>(in.algorithm)].name; };
  in.why = in.running->describe(context_.here.ranks, name());
  in.algorithm = in.running->winner();
  in.running.reset();
  in.settled = true;
  --running_;
  if (says_) say(in);
  return fmt::format("{} of about {} bytes: {}: {}", chorale::name(context_.here.what), bytes, name(),
                     in.why);
}

std::string choice::explain(std::size_t bytes) {
  const range_choice& found = of(bytes, true);
  return entrants_[static_cast<std::size_t>(found.algorithm)].name + ": " + found.why;
}

void choice::say(const range_choice& of) const {
  const std::size_t at = rule_of(of);
  // Size ranges that have separate trials, but the same choice so far, share a line.
  std::size_t last = at;
  if (!of.settled)
    while (last + 1 < rules_.size() && says_the_same(rules_[last + 1].any, of)) ++last;
  const std::size_t up_to = rules_[last].up_to;
  const bool is_last = up_to == std::numeric_limits<std::size_t>::max();
  const std::string line = fmt::format(
      "chorale: {} of {} bytes {} on {} ranks over {}: {}{}: {}{}\n", chorale::name(context_.here.what),
      at == 0 ? 0 : rules_[at - 1].up_to + 1, is_last ? "and more" : fmt::format("to {}", up_to),
      context_.here.ranks, context_.here.transport, entrants_[static_cast<std::size_t>(of.algorithm)].name,
      &of == &rules_[at].alike ? ", to the same bits" : "", of.why,
      of.settled ? "" : "; the first calls are a trial");
  chorale::say(stderr, "{}", line);
}

}  // namespace chorale::model
