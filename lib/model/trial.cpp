#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include <chorale/model/trial.hpp>

namespace chorale::model {
namespace {

/// Calls of a turn: the shorter they are, the more of them it takes to tell them from noise.
constexpr std::size_t calls_of_turn(std::size_t bytes) noexcept {
  return bytes < 4096 ? 16 : bytes < 65536 ? 8 : 4;
}
/// Another contender than the first wins if it takes less by one part in so many.
constexpr std::uint64_t margin = 20;

}  // namespace

trial::trial(std::vector<int> contenders, std::size_t bytes)
    : contenders_(std::move(contenders)),
      nanoseconds_(rounds * contenders_.size()),
      calls_(calls_of_turn(bytes)) {}

void trial::took(clock::duration time) noexcept {
  if (made_ % calls_ != 0) nanoseconds_[turn()] += static_cast<std::uint64_t>(time.count());
  ++made_;
}

std::uint64_t trial::median(std::size_t contender) const noexcept {
  std::array<std::uint64_t, rounds> of{};
  for (std::size_t i = 0; i < rounds; ++i) of[i] = nanoseconds_[i * contenders_.size() + contender];
  std::ranges::sort(of);
  return of[rounds / 2];
}

std::size_t trial::fastest() const noexcept {
  const std::uint64_t of_first = median(0);
  std::size_t best = 0;
  std::uint64_t least = of_first - of_first / margin;
  for (std::size_t i = 1; i < contenders_.size(); ++i) {
    if (median(i) >= least) continue;
    best = i;
    least = median(i);
  }
  return best;
}

std::string trial::describe(int ranks, std::string_view first) const {
  const auto microseconds = [&](std::size_t contender) {
    return static_cast<double>(median(contender)) / 1e3 / ranks / static_cast<double>(calls_ - 1);
  };
  const std::size_t best = fastest();
  if (best == 0) return fmt::format("none was faster in a trial: {:.3g} us a call", microseconds(0));
  return fmt::format("fastest in a trial: {:.3g} us a call, where {} took {:.3g}", microseconds(best), first,
                     microseconds(0));
}

std::vector<std::size_t> trial_limits(std::size_t first, std::size_t last) {
  std::vector<std::size_t> limits;
  for (std::size_t border = 16; border <= std::size_t{64} << 20; border *= 4) {
    if (border >= first && border < last) limits.push_back(border);
  }
  limits.push_back(last);
  return limits;
}

}  // namespace chorale::model
