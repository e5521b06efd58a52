// SPDX-License-Identifier: Apache-2.0
#include <chrono>

#include <chorale/transport/liveness/watched_wait.hpp>

namespace chorale::transport {
namespace {

constexpr auto first_probe = std::chrono::milliseconds{20};
constexpr auto probe_interval = std::chrono::milliseconds{100};
/// After this time, peers that are not awaited are asked too, one at a time.
constexpr auto long_wait = std::chrono::seconds{1};

}  // namespace

void watched_wait::begin(time_point time, const failure_detector::wait& judged) noexcept {
  judged_ = judged;
  begun_ = true;
  since_ = time;
  next_probe_ = time + first_probe;
}

watched_wait::time_point watched_wait::shown_until(time_point time, attention how) noexcept {
  // A wait by polling lasts until the program stops polling, which is not visible here.
  return how == attention::waits ? time_point::max() : time + failure_detector::longest_gap;
}

watched_wait::steps watched_wait::next(time_point time, clock::duration waited, attention how,
                                       bool stalls) noexcept {
  steps now;
  if (stalls) surveys_ = now.begins_survey = true;
  // No reports about calls that are only advanced.
  now.surveys = surveys_ && how != attention::passes;
  now.probes = time >= next_probe_;
  if (now.probes) next_probe_ = time + probe_interval;
  now.asks_others = now.probes && waited >= long_wait;
  return now;
}

}  // namespace chorale::transport
