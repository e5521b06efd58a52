// SPDX-License-Identifier: Apache-2.0
// Selects the short, similar calls that are observed.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include <chorale/core/clock.hpp>

namespace chorale::transport {

/// Samples short and frequent events. Of the events of one kind, every one is observed while they last at
/// least `period`; while they are shorter, one of N, where N is the power of two for which N events last
/// about `period`. The first `always_observed` of a kind are all observed. Ranks with the same events observe
/// the same ones as far as these take similar times, since multiples of a power of two are multiples of
/// smaller ones, too.
///
/// `Seen` describes an observed event. Kinds that share a slot of the table are observed more often.
template <class Seen>
class sampled_kinds {
 public:
  static constexpr std::uint64_t always_observed = 64;
  /// Maximum number of events that one observed event represents.
  static constexpr std::uint64_t most = 256;

  struct kind {
    std::uint32_t key = 0;
    std::uint32_t left = 0;   ///< events still to be passed, that is, not observed
    std::uint32_t given = 0;  ///< `left` after the last observed event
    std::uint64_t known = 0;  ///< number of events up to that one
    Seen last{};              ///< the last observed event

    [[nodiscard]] std::uint64_t passed() const noexcept { return given - left; }
  };

  /// Whether the next event with this key is passed; counts it if so.
  [[nodiscard]] bool passes(std::uint32_t key) noexcept {
    kind& one = all_[key % all_.size()];
    if (one.left == 0 || one.key != key) return false;
    --one.left;
    return true;
  }
  /// The last passed event of this kind is observed after all.
  void take_back(std::uint32_t key) noexcept {
    kind& one = all_[key % all_.size()];
    if (one.key == key && one.passed() != 0) ++one.left;
  }
  /// Calls `tell(last, passed)` if events of the kind with this key, or of the kind in its slot, were passed
  /// since the last report.
  template <class Tell>
  void report(std::uint32_t key, const Tell& tell) noexcept {
    report_one(all_[key % all_.size()], tell);
  }
  /// Reports all kinds; the next event of each is observed.
  template <class Tell>
  void report_all(const Tell& tell) noexcept {
    for (kind& one : all_) report_one(one, tell);
  }
  /// An event with this key was observed and lasted for `length`; its kind was reported before. `may_pass`:
  /// the next events are likely to be like it.
  void note(std::uint32_t key, const Seen& seen, clock::duration length, clock::duration period,
            bool may_pass) noexcept {
    kind& one = all_[key % all_.size()];
    if (one.key != key) one = {.key = key};
    ++one.known;
    one.last = seen;
    if (!may_pass || one.known < always_observed || length >= period) return;
    const auto times = static_cast<std::uint64_t>(period / std::max(length, clock::duration{1}));
    const std::uint64_t every = std::bit_ceil(std::min(times, most));
    one.given = one.left = static_cast<std::uint32_t>((every - one.known % every) % every);
  }

 private:
  template <class Tell>
  void report_one(kind& one, const Tell& tell) noexcept {
    const std::uint64_t passed = one.passed();
    one.known += passed;
    one.given = one.left = 0;
    if (passed != 0) tell(one.last, passed);
  }

  std::array<kind, 16> all_;
};

}  // namespace chorale::transport
