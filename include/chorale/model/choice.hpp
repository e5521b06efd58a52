// Which of several algorithms of one operation serves calls of a size.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <chorale/core/clock.hpp>
#include <chorale/core/config.hpp>
#include <chorale/model/trial.hpp>
#include <chorale/model/tuning.hpp>

namespace chorale::model {

/// An algorithm among which is chosen.
struct entrant {
  std::string name;   ///< its `type_name`
  int brackets = 0;   ///< results of two that have the same number, other than 0, have the same bits
  bool suits = true;  ///< false: it is right here, but not what it is meant for
};

/// Where calls are made.
struct surroundings {
  situation here;
  int rank = 0;            ///< of the caller; rank 0 says what it chooses if config::explain wants it
  bool is_rooted = false;  ///< calls have a root
};

/// The choice of one communicator: by the tuning table, then by a `trial` for each stretch of sizes. It makes
/// no calls. All ranks of a group choose alike if they have the same settings and make the same calls. Not
/// thread-safe.
class choice {
 public:
  /// What serves the calls of a stretch of sizes.
  struct lane {
    int algorithm = 0;               ///< once it is settled; by the table until then
    bool settled = false;            ///< else the next call belongs to a trial
    std::unique_ptr<trial> running;  ///< from the first call on until it is settled
    clock::time_point ended;         ///< of the last call of the trial
    std::string why;
  };

  [[nodiscard]] bool is_made() const noexcept { return !rules_.empty(); }
  /// Among `entrants`, one at least, whose numbers count from 0.
  void make(const config& settings, const surroundings& around, std::vector<entrant> entrants);

  /// The lane of calls of `bytes`. `keeps_bits`: results have the same bits whatever the algorithm, so that
  /// all may take part; others take part only with the bits of the table's choice.
  [[nodiscard]] lane& of(std::size_t bytes, bool keeps_bits) noexcept {
    rule* r = rules_.data();
    while (bytes > r->up_to) ++r;
    return keeps_bits || is_free_ ? r->any : r->alike;
  }
  /// Which algorithm serves the next call of a lane, where a trial may begin.
  [[nodiscard]] int next(lane& in, std::size_t bytes);
  /// That call is made. `is_apart`: the rank was in it from `begin` to `end`, else it did other things, too.
  /// @returns whether the ranks are to add up `in.running->times()`, and to call `judge`.
  [[nodiscard]] bool took(lane& in, std::size_t bytes, clock::time_point begin, clock::time_point end,
                          bool is_apart);
  /// The ranks have added the times up. @returns what was found out, empty if the trial goes on.
  [[nodiscard]] std::string judge(lane& in, std::size_t bytes);

  /// Whether a trial has begun that is not over.
  [[nodiscard]] bool is_trying() const noexcept { return running_ != 0; }
  /// "ring: ...": what serves `bytes` where bits do not depend on it, and why.
  [[nodiscard]] std::string explain(std::size_t bytes);

  /// The algorithm of that number serves the call that was made last; -1: that is known when it runs.
  void ran(int algorithm) noexcept { ran_ = algorithm; }
  /// Its name, empty if it is not known.
  [[nodiscard]] std::string_view name_of_last() const noexcept {
    return ran_ < 0 ? std::string_view{} : entrants_[static_cast<std::size_t>(ran_)].name;
  }

 private:
  /// Messages of at most `up_to` bytes.
  struct rule {
    std::size_t up_to = 0;
    lane any;    ///< results have the same bits whatever the algorithm, or may have others
    lane alike;  ///< results have to have the bits of the table's choice
  };
  [[nodiscard]] std::vector<int> contenders(const lane& in, std::size_t bytes) const;
  [[nodiscard]] std::size_t rule_of(const lane& in) const noexcept;
  void say(const lane& of) const;

  std::vector<rule> rules_;
  bool is_free_ = false;  ///< no call has to have the bits of the table's choice
  int ran_ = -1;
  int running_ = 0;  ///< trials that have begun and are not over
  std::vector<entrant> entrants_;
  std::vector<int> suitable_;  ///< numbers of those that take part
  std::shared_ptr<const tuning_table> table_;
  surroundings around_;
  bool says_ = false;
};

}  // namespace chorale::model
