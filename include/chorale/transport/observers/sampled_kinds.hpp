// SPDX-License-Identifier: Apache-2.0
// Which of many short calls that are alike are observed.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include <chorale/core/clock.hpp>

namespace chorale::transport {

/// Samples what is short and happens often: of things that are alike, each is observed if it lasts as long as
/// `period`, otherwise one of a power of two of them that together last about as long. The first
/// `always_observed` of a kind are all observed. Ranks on which the same things happen observe the same ones,
/// as far as they take similar times: each power of two is part of the next lower one.
///
/// `Seen` describes a thing that was observed. Kinds that share a place in the table are observed more often.
template <class Seen>
class sampled_kinds {
 public:
  static constexpr std::uint64_t always_observed = 64;
  /// Most that are represented by one.
  static constexpr std::uint64_t most = 256;

  struct kind {
    std::uint32_t key = 0;
    std::uint32_t left = 0;   ///< how many more are not observed
    std::uint32_t given = 0;  ///< `left` after the last that was
    std::uint64_t known = 0;  ///< how many there were until then
    Seen last{};              ///< the last that was observed

    [[nodiscard]] std::uint64_t passed() const noexcept { return given - left; }
  };

  /// Whether the next thing with this key is not observed; counts it then.
  [[nodiscard]] bool passes(std::uint32_t key) noexcept {
    kind& one = all_[key % all_.size()];
    if (one.left == 0 || one.key != key) return false;
    --one.left;
    return true;
  }
  /// The last one of the kind that was passed is observed after all.
  void take_back(std::uint32_t key) noexcept {
    kind& one = all_[key % all_.size()];
    if (one.key == key && one.passed() != 0) ++one.left;
  }
  /// Calls `tell(last, passed)` if some of the kind with this key, or of the kind at its place, were passed
  /// since the last report.
  template <class Tell>
  void report(std::uint32_t key, const Tell& tell) noexcept {
    report_one(all_[key % all_.size()], tell);
  }
  /// Reports all kinds, of which the next ones are observed.
  template <class Tell>
  void report_all(const Tell& tell) noexcept {
    for (kind& one : all_) report_one(one, tell);
  }
  /// One with this key has been observed, and reported before: it lasted for `length`. `may_pass`: it is like
  /// the next ones.
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
