// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <chorale/model/trial.hpp>

namespace chorale::model {
namespace {

/// From this size on the time of a call grows with its bytes.
constexpr std::size_t long_bytes = 4096;
/// Calls of this size may take milliseconds.
constexpr std::size_t very_long_bytes = 65536;
/// Timed calls of a turn in the first round, before any time is known. That round makes connections, and
/// may be the first to touch memory.
constexpr std::size_t first_timed(std::size_t bytes) noexcept {
  return bytes < very_long_bytes ? 16 : 1;
}
/// The intended time of a turn in later rounds, in nanoseconds, and its largest number of timed calls: short
/// calls need more of them to stand out from noise.
constexpr double turn_time = 200e3;
constexpr double most_timed = 32;
/// The same once slow contenders have left, and the rounds until then: where ranks share cores times vary
/// from moment to moment, and longer turns of close contenders cost little.
constexpr double late_turn_time = 1e6;
constexpr std::size_t early_rounds = 3;
/// Times that differ by less than this fraction count as equal.
constexpr double margin = 1.0 / 32;

/// A contender leaves after this number of rounds, at least two, if its median exceeds the least one by this
/// factor.
constexpr double bound(std::size_t rounds) noexcept {
  // The median of two is the lower one, since a single turn may be disturbed.
  return rounds == 2 ? 4 : rounds == 3 ? 2 : rounds < 6 ? 1.4 : rounds < 9 ? 1.2 : 1.1;
}
/// After this many rounds the first one is dropped, since its calls mostly measure set-up.
constexpr std::size_t rounds_with_first = 2;

}  // namespace

trial::trial(std::vector<int> contenders, std::size_t bytes)
    : contenders_(std::move(contenders)),
      bytes_(bytes),
      seen_(contenders_.size()),
      turn_calls_(1 + first_timed(bytes)) {
  for (std::size_t i = 0; i < contenders_.size(); ++i) racing_.push_back(i);
  begin_round();
}

void trial::begin_round() {
  at_ = 0;
  times_.assign(2 + 2 * racing_.size(), 0);
}

void trial::record(std::size_t bytes, std::optional<clock::duration> time) {
  // The round is over, even if the ranks have failed to sum its times.
  if (round_is_over()) return;
  ++made_;
  if (time && time->count() >= 0) {
    auto nanoseconds = static_cast<std::uint64_t>(time->count());
    if (bytes != bytes_ && bytes_ >= long_bytes && bytes != 0)
      nanoseconds = static_cast<std::uint64_t>(static_cast<double>(nanoseconds) *
                                               static_cast<double>(bytes_) / static_cast<double>(bytes));
    const auto count = [&](std::size_t where) {
      times_[where] += nanoseconds;
      ++times_[where + 1];
    };
    count(0);
    if (in_turn_ != 0) count(2 + 2 * at_);
  }
  if (++in_turn_ < turn_calls_) return;
  in_turn_ = 0;
  ++at_;
}

/// The lower of the two middle values: of two turns the less disturbed one.
double trial::median(std::size_t contender) const {
  auto all = seen_[contender];
  const auto middle = all.begin() + static_cast<std::ptrdiff_t>((all.size() - 1) / 2);
  std::ranges::nth_element(all, middle);
  return *middle;
}

double trial::least_median() const {
  double least = -1;
  for (const std::size_t i : racing_) {
    if (is_known(i) && (least < 0 || median(i) < least)) least = median(i);
  }
  return least;
}

void trial::take_sums() {
  spent_ += static_cast<double>(times_[0]);
  spent_calls_ += static_cast<double>(times_[1]);
  for (std::size_t i = 0; i < racing_.size(); ++i) {
    if (const std::uint64_t calls = times_[3 + 2 * i]; calls != 0)
      seen_[racing_[i]].push_back(static_cast<double>(times_[2 + 2 * i]) / static_cast<double>(calls));
  }
}

/// A contender that once beat the least median stays, as both may have been disturbed.
void trial::drop_the_slow() {
  const double least = least_median();
  const double most = least * bound(rounds_);
  std::erase_if(racing_, [&](std::size_t i) {
    return is_known(i) && median(i) > most && std::ranges::min(seen_[i]) > least;
  });
}

bool trial::all_are_close() const {
  const double most = least_median() * (1 + margin);
  return std::ranges::all_of(racing_, [&](std::size_t i) { return is_known(i) && median(i) <= most; });
}

void trial::judge() {
  const bool was_timed = times_[1] != 0;
  take_sums();
  ++rounds_;
  if (rounds_ == rounds_with_first + 1) {
    for (const std::size_t i : racing_)
      if (seen_[i].size() > 1) seen_[i].erase(seen_[i].begin());
  }
  if (rounds_ > 1) drop_the_slow();
  constexpr std::size_t rounds_to_be_close = 5;
  if (!was_timed || racing_.size() == 1 || rounds_ == most_rounds ||
      (rounds_ >= rounds_to_be_close && all_are_close())) {
    end();
    return;
  }
  const double lasts = rounds_ < early_rounds ? turn_time : late_turn_time;
  const double timed = least_median() > 0 ? lasts / least_median() : most_timed;
  turn_calls_ = 1 + static_cast<std::size_t>(std::clamp(timed, 1.0, most_timed));
  begin_round();
}

void trial::end() {
  over_ = true;
  const double least = least_median();
  for (const std::size_t i : racing_) {
    if (!is_known(i)) continue;
    if (i == 0 && median(0) <= least * (1 + margin)) {
      best_ = 0;
      return;
    }
    if (best_ == none || median(i) < median(best_)) best_ = i;
  }
}

std::string trial::describe(int ranks, std::string_view first) const {
  if (best_ == none) return fmt::format("a trial of {} calls could not time any", made_);
  const double best = median(best_);
  const std::string cost =
      fmt::format("; the trial cost {:.3g} us", std::max(0.0, spent_ - spent_calls_ * best) / 1e3 / ranks);
  if (best_ == 0)
    return fmt::format("none was faster in a trial of {} calls: {:.3g} us a call{}", made_, best / 1e3, cost);
  const std::string beaten = is_known(0) ? fmt::format(", where {} took {:.3g}", first, median(0) / 1e3) : "";
  return fmt::format("fastest in a trial of {} calls: {:.3g} us a call{}{}", made_, best / 1e3, beaten, cost);
}

std::vector<std::size_t> trial_limits(std::size_t first, std::size_t last) {
  std::vector<std::size_t> limits;
  for (std::size_t border = 16; border <= std::size_t{64} << 20; border *= border < long_bytes ? 4 : 2) {
    if (border >= first && border < last) limits.push_back(border);
  }
  limits.push_back(last);
  return limits;
}

}  // namespace chorale::model
