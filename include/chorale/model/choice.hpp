// SPDX-License-Identifier: Apache-2.0
// Which of an operation's algorithms serves calls of a size.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <chorale/core/clock.hpp>
#include <chorale/core/config.hpp>
#include <chorale/model/last_choice.hpp>
#include <chorale/model/trial.hpp>
#include <chorale/model/tuning.hpp>

namespace chorale::model {

/// An algorithm that can be chosen.
struct entrant {
  std::string name;        ///< its `type_name`
  int brackets = 0;        ///< algorithms with the same number, other than 0, give the same bits
  bool suits = true;       ///< false: it works here, but is not meant for such groups
  bool is_ordered = true;  ///< operands are combined in rank order
  std::size_t from = 0;    ///< bytes from which it differs from others; unless 0, only trials choose it
};

/// Where calls are made.
struct call_context {
  situation here;
  int rank = 0;            ///< of the caller; rank 0 prints its choices if config::explain asks for it
  bool is_rooted = false;  ///< calls have a root
};

/// The choice of one communicator: by the tuning table, then by a `trial` for each range of sizes. It makes
/// no calls itself. All ranks of a group make the same choices if they have the same settings and make the
/// same calls. Not thread-safe.
class choice {
 public:
  /// The choice for a range of sizes.
  struct range_choice {
    int algorithm = 0;               ///< the final choice once it is settled, before that the table's
    bool settled = false;            ///< else the next call belongs to a trial
    std::unique_ptr<trial> running;  ///< the trial, from the first call until it is settled
    clock::time_point ended;         ///< of the last call of the trial
    std::string why;
  };

  [[nodiscard]] bool is_made() const noexcept { return !rules_.empty(); }
  /// Chooses among `entrants`, at least one; their numbers count from 0.
  void make(const config& settings, const call_context& context, std::vector<entrant> entrants);

  /// The choice for calls of `bytes`. `keeps_bits`: all algorithms give the same bits, so that all may be
  /// chosen; otherwise only those with the bits of the table's choice.
  [[nodiscard]] range_choice& of(std::size_t bytes, bool keeps_bits) noexcept {
    rule* r = rules_.data();
    while (bytes > r->up_to) ++r;
    return keeps_bits || is_free_ ? r->any : r->alike;
  }
  /// The algorithm for the next call of a range; may begin a trial.
  [[nodiscard]] int next(range_choice& in, std::size_t bytes);
  /// Reports a call. `is_apart`: the rank did nothing else from `begin` to `end`. @returns whether the ranks
  /// must add up `in.running->times()`, and then call `judge`.
  [[nodiscard]] bool record(range_choice& in, std::size_t bytes, clock::time_point begin,
                            clock::time_point end, bool is_apart);
  /// To be called when the ranks have added up the times. @returns the result of the trial, empty if it goes
  /// on.
  [[nodiscard]] std::string judge(range_choice& in, std::size_t bytes);

  /// Whether a trial is under way.
  [[nodiscard]] bool is_trying() const noexcept { return running_ != 0; }
  /// "ring: ...": the algorithm for `bytes` where bits do not depend on it, and the reason.
  [[nodiscard]] std::string explain(std::size_t bytes);

  /// Reports the algorithm of the last call; -1: not yet known.
  void ran(int algorithm) noexcept { ran_ = algorithm; }
  /// The same for a call of a trial.
  void ran_in_trial(int algorithm) noexcept { ran_ = -2 - algorithm; }
  /// That algorithm.
  [[nodiscard]] last_choice last() const noexcept {
    if (ran_ == -1) return {};
    return {entrants_[static_cast<std::size_t>(ran_ < 0 ? -2 - ran_ : ran_)].name, ran_ >= 0};
  }

 private:
  /// Messages of at most `up_to` bytes.
  struct rule {
    std::size_t up_to = 0;
    range_choice any;    ///< results have the same bits whatever the algorithm, or may differ
    range_choice alike;  ///< results must have the bits of the table's choice
  };
  /// Those of these numbers whose algorithms combine in rank order; all if none does.
  [[nodiscard]] std::vector<int> ordered(const std::vector<int>& of) const;
  [[nodiscard]] std::vector<int> contenders(const range_choice& in, std::size_t bytes) const;
  [[nodiscard]] std::size_t rule_of(const range_choice& in) const noexcept;
  void say(const range_choice& of) const;

  std::vector<rule> rules_;
  bool is_free_ = false;  ///< no call must have the bits of the table's choice
  int ran_ = -1;          ///< the algorithm of the last call, in a trial -2 minus it; -1: unknown
  int running_ = 0;       ///< the number of trials under way
  std::vector<entrant> entrants_;
  std::vector<int> suitable_;  ///< numbers of the algorithms that can be chosen
  std::shared_ptr<const tuning_table> table_;
  call_context context_;
  bool says_ = false;
};

}  // namespace chorale::model
