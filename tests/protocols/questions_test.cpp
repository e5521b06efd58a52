// Ranks that wait for each other, ask and answer: the failure detector and the comparison of calls, in
// virtual time.
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <chorale/core/attention.hpp>
#include <chorale/core/call.hpp>
#include <chorale/core/error.hpp>
#include <chorale/transport/failure_detector.hpp>
#include <chorale/transport/status.hpp>
#include <chorale/transport/watched_wait.hpp>

#include "transport/peer_calls.hpp"
#include "transport/status_messages.hpp"
#include "virtual_net.hpp"

namespace protocols {
namespace {

using chorale::call;
using chorale::call_id;
using chorale::operation;
using namespace chorale::transport;

constexpr std::uint64_t calls = 5;
constexpr auto silence = 5s;
/// Longer than any wait can last: the limit of silence, as the detector counts it, and a chain of notices.
constexpr auto limit = 60s;

enum class fate { none, deviates, leaves, dies, is_late };

class waiting_rank;

struct group {
  virtual_net& net;
  faults wrong;
  fate what;
  int victim;          ///< the rank with that fate
  std::uint64_t when;  ///< the call in which, or before which, it happens
  double missed;       ///< probability that a rank misses all farewells of another
  std::vector<std::unique_ptr<waiting_rank>> ranks{};

  [[nodiscard]] int size() const { return static_cast<int>(ranks.size()); }
  [[nodiscard]] call made_by(int rank, std::uint64_t number) const {
    const bool differs = what == fate::deviates && rank == victim && number == when;
    return {.what = differs ? operation::broadcast : operation::barrier, .root = differs ? 0 : -1};
  }
};

/// Waits in each call for a message of the next rank, which is never lost. Its questions, answers, notices
/// and farewells may be.
class waiting_rank {
 public:
  enum class state { waits, finished, failed, dead };

  waiting_rank(group& all, int number, int size)
      : all_(all),
        number_(number),
        size_(size),
        detector_(size, {.silence = silence, .stall = limit, .deadline = {}}),
        known_(number, size, page_) {}

  void enter() {
    if (all_.victim == number_ && all_.when == made_ + 1) {
      if (all_.what == fate::leaves) return leave();
      if (all_.what == fate::dies) return end(state::dead, "dies");
      // Longer than the limit of silence, but it answers.
      if (all_.what == fate::is_late && !std::exchange(was_late_, true)) {
        note([&] { return "is late"; });
        return all_.net.after(all_.net.between(1s, 4 * silence), [this] { enter(); });
      }
    }
    if (made_ == calls) return leave();
    const call c = all_.made_by(number_, ++made_);
    page_.begin(made_, c);
    now_ = {made_, c.signature(), c.what};
    wait_.reset();
    note([&] { return fmt::format("enters call {}: {}", made_, c.describe()); });
    waiting_rank& waiter = at(number_ + size_ - 1);
    all_.net.after(all_.net.between(5us, 300us),
                   [&waiter, now = now_] { waiter.came_[now.number] = now.signature; });
    poll_soon();
  }

  [[nodiscard]] state what() const noexcept { return state_; }
  [[nodiscard]] const std::string& why() const noexcept { return why_; }
  [[nodiscard]] bool is_gone() const noexcept { return state_ == state::dead || state_ == state::finished; }
  /// The rank whose silence made this one fail; negative if something else did.
  [[nodiscard]] int silent() const noexcept { return silent_; }

 private:
  [[nodiscard]] waiting_rank& at(int rank) const {
    return *all_.ranks[static_cast<std::size_t>(rank % size_)];
  }
  [[nodiscard]] int awaited() const noexcept { return (number_ + 1) % size_; }
  template <class Say>
  void note(Say&& say) {
    all_.net.note([&] { return fmt::format("{} {}", number_, say()); });
  }
  void end(state how, std::string why) {
    note([&] { return why; });
    state_ = how;
    why_ = std::move(why);
  }
  void leave() {
    end(state::finished, "leaves");
    for (int to = 0; to < size_; ++to) {
      if (to == number_) continue;
      if (all_.net.chance(all_.missed)) {
        note([&] { return fmt::format("is not heard by {} as it leaves", to); });
        continue;
      }
      for (int again = 0; again < 5; ++again)
        tell(to, [from = number_, told = farewell{page_}](waiting_rank& there) {
          there.known_.take(from, told);
          there.detector_.leave(from);
        });
    }
  }

  /// Sends a datagram, whose effect on a rank that is there is `what`.
  template <class What>
  void tell(int to, What what) {
    all_.net.send(all_.wrong, [from = number_, &there = at(to), what] {
      if (there.state_ == state::dead || there.state_ == state::finished) return;
      there.detector_.hear(from);
      what(there);
    });
  }
  void ask(int to) {
    detector_.ask(to);
    tell(to, [from = number_, number = made_](waiting_rank& there) { there.answer(from, number); });
  }
  void answer(int to, std::uint64_t number) {
    if (state_ == state::failed)
      return tell(to, [from = number_](waiting_rank& there) {
        if (there.state_ == state::waits) there.end(state::failed, fmt::format("notice of {}", from));
      });
    tell(to, [from = number_, mine = status_answer{page_, number, all_.net.now()}](waiting_rank& there) {
      there.known_.take(from, mine);
    });
  }

  void poll_soon() {
    const bool is_away = all_.net.chance(0.01);
    all_.net.after(is_away ? all_.net.between(1ms, 2s) : all_.net.between(50us, 10ms), [this] { poll(); });
  }
  void poll() {
    if (state_ != state::waits) return;
    const auto time = all_.net.now();
    detector_.advance_to(time);
    if (const auto here = came_.find(made_); here != came_.end() && here->second == now_.signature) {
      page_.complete(made_);
      return enter();
    }
    if (!wait_) {
      wait_.emplace(awaited(), now_);
      wait_->begin(time, detector_.begin(awaited()));
    }
    judge(time);
    const auto waited = detector_.waited(wait_->judged());
    const auto next = wait_->next(time, waited, chorale::attention::waits, false);
    if (state_ == state::waits && next.probes) probe(time, next.asks_others);
    poll_soon();
  }
  void judge(clock::time_point time) {
    const auto verdict = detector_.judge(wait_->judged_by(chorale::attention::waits));
    if (verdict.what == failure_detector::outcome::left) {
      if (const auto no = known_.judge_farewell(verdict.peer, now_, time))
        return end(state::failed, no->what());
      return end(state::failed, fmt::format("{} has left", verdict.peer));
    }
    if (verdict.what != failure_detector::outcome::silent) return;
    silent_ = verdict.peer;
    end(state::failed, fmt::format("{} is silent", verdict.peer));
  }
  void probe(clock::time_point time, bool asks_others) {
    if (const auto no = known_.judge_newest(awaited(), now_, time)) return end(state::failed, no->what());
    const std::vector<int> suspects = detector_.suspects();
    if (!detector_.is_gone(awaited())) ask(awaited());
    for (const int other : suspects)
      if (other != awaited()) ask(other);
    const int next = next_asked_++ % size_;
    if (asks_others && next != number_ && next != awaited() && !detector_.is_gone(next)) ask(next);
  }

  group& all_;
  int number_;
  int size_;
  status_page page_;
  failure_detector detector_;
  peer_calls known_;
  std::uint64_t made_ = 0;
  bool was_late_ = false;
  int next_asked_ = 0;
  call_id now_;
  std::map<std::uint64_t, std::uint32_t> came_;  ///< signatures by the number of the call
  std::optional<watched_wait> wait_;
  state state_ = state::waits;
  std::string why_;
  int silent_ = -1;
};

[[noreturn]] void wrong(const std::string& what) {
  throw std::runtime_error(what);
}

void check(const group& all) {
  bool named = false;
  for (int r = 0; r < all.size(); ++r) {
    const waiting_rank& rank = *all.ranks[static_cast<std::size_t>(r)];
    const bool says_mismatch = rank.why().find("all ranks must make the same calls") != std::string::npos;
    const auto says = [&](const char* words) { return rank.why().find(words) != std::string::npos; };
    if (rank.what() == waiting_rank::state::waits) wrong(fmt::format("rank {} still waits", r));
    if (says_mismatch && all.what != fate::deviates)
      wrong(fmt::format("rank {} sees a mismatch where there is none: {}", r, rank.why()));
    if (says_mismatch && !says(fmt::format("call {} on rank {} is", all.when, r).c_str()))
      wrong(fmt::format("rank {} names another call: {}", r, rank.why()));
    // A farewell tells of the last three calls: if a rank leaves long after the call that differs, its
    // departure may be the only sign.
    named = named || says_mismatch || says("has left") || rank.silent() >= 0;
    if ((all.what == fate::none || all.what == fate::is_late) && rank.what() != waiting_rank::state::finished)
      wrong(fmt::format("rank {} fails: {}", r, rank.why()));
    // A rank that has left is silent to one that missed all of its farewells.
    if (rank.silent() >= 0 && !all.ranks[static_cast<std::size_t>(rank.silent())]->is_gone())
      wrong(fmt::format("rank {} takes a living rank for silent: {}", r, rank.why()));
  }
  if (all.what == fate::deviates && !named) wrong("nobody names the mismatch");
}

void let_ranks_wait(virtual_net& net) {
  const int size = 2 + static_cast<int>(net.below(5));
  group all{.net = net,
            .wrong = {.loss = net.chance(0.5) ? 0.3 : 0.02,
                      .duplication = net.chance(0.5) ? 0.2 : 0,
                      .most_delay = net.chance(0.3) ? clock::duration{5ms} : clock::duration{200us}},
            .what = static_cast<fate>(net.below(5)),
            .victim = static_cast<int>(net.below(static_cast<std::uint64_t>(size))),
            .when = 1 + net.below(calls),
            .missed = net.chance(0.5) ? 0.3 : 0};
  for (int r = 0; r < size; ++r) all.ranks.push_back(std::make_unique<waiting_rank>(all, r, size));
  for (const auto& rank : all.ranks) net.after(net.between(0us, 50ms), [&r = *rank] { r.enter(); });
  const auto end = net.now() + limit;
  while (net.now() < end && net.step()) {
  }
  check(all);
}

}  // namespace

TEST_CASE("every wait ends, and for the right reason", "[questions]") {
  run(schedules{10'000}, let_ranks_wait);
}

}  // namespace protocols
