// Failures, and what ranks tell each other of them: mismatches, lost peers, notices.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <utility>

#include <fmt/format.h>

#include <chorale/core/background.hpp>
#include <chorale/transport/endpoint.hpp>
#include <chorale/transport/withdrawal_guard.hpp>

#include "membership.hpp"
#include "messages.hpp"

namespace chorale::transport {
namespace {

/// Questions are asked again as often, since they and their answers may be lost.
constexpr auto question_interval = std::chrono::milliseconds{40};
/// Time that a living rank gets to say what it is doing: it answers from inside its waits, where naps take at
/// most 1 ms.
constexpr auto answer_time = std::chrono::milliseconds{250};
/// How often, and for how long, a peer says that it has gone on before what it has sent counts as arrived.
/// Its answers come by datagram as well, so that no loss hides a message from repetition for as long.
constexpr unsigned overdue_answers = 8;
constexpr auto overdue_time = std::chrono::seconds{1};

}  // namespace

void endpoint::look_around() {
  progress();
  check();
  // Others may be waiting for what this thread has begun elsewhere.
  background::get_on_with_all(attention::passes);
}

void endpoint::check() {
  // By what was driven from inside this wait, or by an await whose failure the algorithm has caught: that is
  // the failure of this call, whatever it does next and whatever others say.
  if (withdrawn_) throw_unfinished();
  if (notice_) {
    // The reporter has told everyone: to tell it again would only multiply messages.
    failure_ = std::move(notice_);
    notice_.reset();
    keep_notice();
    throw *failure_;
  }
  require_whole();
}

void endpoint::ask(int peer, epoch now) {
  if (send_datagram(peer, static_cast<std::uint16_t>(datagram_kind::question),
                    std::as_bytes(std::span{&now.number, 1}), {}, true))
    expect_answer(peer);
}

void endpoint::judge(int peer, const status_answer& theirs, epoch now) {
  const call* c = theirs.find(now.number);
  if (now.what == operation::exchange && theirs.current > now.number) {
    // The two do not name each other alike, which no signature shows. What the peer has sent would have come.
    auto& overdue = doubts_.overdue;
    if (overdue.peer != peer || overdue.now != now.number) overdue = {peer, now.number, 0, steady::now()};
    if (++overdue.answers >= overdue_answers && steady::now() - overdue.since > overdue_time) {
      throw error(
          errc::mismatch,
          fmt::format("rank {} waits in exchange (call {}) for rank {}, which has completed that call "
                      "without rank {} and is in call {}; what one rank sends, the other has to take",
                      rank_, now.number, peer, rank_, theirs.current),
          {rank_, peer});
    }
  }
  if (c == nullptr || c->signature() == now.signature) return;
  answers_[static_cast<std::size_t>(peer)] = theirs;
  mismatch(peer, now);
}

void endpoint::mismatch(int peer, epoch now, std::uint32_t seen) {
  // Calls are counted in 32 bits where they travel; two that meet are never that far apart.
  const auto ahead = static_cast<std::int32_t>(seen - static_cast<std::uint32_t>(now.number));
  // A message of an earlier call was left over there; one of a later call leaves this call without.
  const std::uint64_t number =
      ahead < 0 ? now.number - static_cast<std::uint64_t>(-std::int64_t{ahead}) : now.number;
  // The peer is alive, or its message would not be here: give it a moment to say what it is doing.
  auto& answer = answers_[static_cast<std::size_t>(peer)];
  const auto knows = [&] {
    if (answer && answer->find(number) != nullptr) return true;
    // Who has left answers nothing, but has said what its last calls were.
    const auto told = farewells_.find(peer);
    if (told == farewells_.end()) return false;
    answer = told->second.about(number);
    return answer->find(number) != nullptr;
  };
  if (!knows()) {
    const auto until = steady::now() + answer_time;
    auto next = steady::time_point{};
    // The peer may have seen the mismatch as well; then it has said so, and answers no more.
    while (!knows() && !notice_ && !departed(peer) && steady::now() < until) {
      if (steady::now() >= next) {
        next = steady::now() + question_interval;
        ask(peer, {number, now.signature, now.what});
      }
      read_datagrams();
      clock::give_way();
    }
  }
  if (!knows()) check();
  const auto mine = status_.find(number);
  const call* theirs = answer ? answer->find(number) : nullptr;
  const bool same = theirs != nullptr && mine && theirs->signature() == mine->signature();
  if (same) {
    // What was seen may not be all there yet. It is when it is seen again.
    const doubts::stray_message here{peer, seen, now.number};
    if (ahead == 0 || std::exchange(doubts_.stray, here) != here) return;
  }
  std::string what =
      fmt::format("call {} on rank {} is {}", number, rank_, mine ? mine->describe() : "unknown");
  if (same)
    what +=
        fmt::format(" as on rank {}, but what the two send and take there does not fit: {}", peer,
                    ahead < 0 ? "a message of it was never taken" : "the other has gone on without sending");
  else if (mine && theirs != nullptr)
    what += fmt::format(", on rank {} it is {} ({})", peer, theirs->describe(), mine->difference(*theirs));
  else
    what += fmt::format(", on rank {} it is another one", peer);
  throw error(errc::mismatch, what + "; all ranks must make the same calls in the same order", {rank_, peer});
}

void endpoint::lost(int peer, const std::string& why) {
  // A rank that fails says so before it ends its connections.
  check();
  throw error(
      errc::peer_lost,
      fmt::format("rank {} on host {} is lost to rank {}: {}{}", peer, members_->host_of(peer), rank_, why,
                  dependents_.has_withdrawn()
                      ? "; this rank has left a window by an exception, and an access of "
                        "that rank to it would end the connection"
                      : ""),
      {peer});
}

void endpoint::throw_poisoned() const {
  throw error(errc::poisoned,
              fmt::format("the communicator {}of rank {} failed before: {}",
                          label_.empty() ? "" : fmt::format("'{}' ", label_), rank_,
                          failure_->code() == errc::poisoned ? failure_->reason() : failure_->what()),
              failure_->ranks());
}

std::string endpoint::algorithm_of(operation what) const {
  return algorithm_names_ == nullptr ? std::string{} : algorithm_names_(what);
}

std::string endpoint::call_under_way() const {
  const auto mine = status_.find(status_.completed() + 1);
  return mine ? mine->describe() : "a call";
}

void endpoint::throw_unfinished() const {
  if (ended_by_) std::rethrow_exception(ended_by_);
  if (failure_) throw_poisoned();
  const auto mine = status_.find(status_.completed() + 1);
  const std::string call = call_under_way();
  const std::string algorithm = mine ? algorithm_of(mine->what) : std::string{};
  if (withdrawn_)
    throw error(
        errc::misuse,
        fmt::format("{} on rank {}: an exception has ended memory that peers may reach, and its "
                    "algorithm {} has caught it (or a program outside of calls, where such memory says "
                    "beyond_calls()); after that no call of this communicator goes on",
                    call, rank_, algorithm),
        {rank_});
  throw error(
      errc::misuse,
      fmt::format("{} on rank {}: its algorithm {} made an operation of the transport, or a task, that was "
                  "never awaited and so has done nothing; write co_await in front of it",
                  call, rank_, algorithm),
      {rank_});
}

std::exception_ptr endpoint::labelled(const std::exception_ptr& why) const noexcept {
  if (label_.empty()) return why;
  try {
    std::rethrow_exception(why);
  } catch (const error& e) {
    try {
      return std::make_exception_ptr(
          error(e.code(), fmt::format("communicator '{}': {}", label_, e.reason()), e.ranks()));
    } catch (...) {
      return why;
    }
  } catch (...) {
    // What a program throws through a call stays what it is.
    return why;
  }
}

void endpoint::fail(const std::exception_ptr& why) noexcept {
  if (!failure_) {
    note_failure(why);
    tell_failure();
  }
  let_go(nullptr);
}

void endpoint::abandon() noexcept {
  try {
    fmt::print(
        stderr,
        "chorale: rank {} destroyed its communicator from inside a call of it, by a reduction operator "
        "or a stall handler: what it holds stays until the process ends\n",
        rank_);
    note_failure(std::make_exception_ptr(error(
        errc::misuse,
        fmt::format("rank {} destroyed its communicator from inside a call of it, by a reduction operator "
                    "or a stall handler",
                    rank_),
        {rank_})));
    tell_failure();
  } catch (...) {
    // The others see a rank that computes.
  }
}

void endpoint::let_go(std::exception_ptr why) noexcept {
  if (std::exchange(withdrawn_, true)) return;
  ended_by_ = std::move(why);
  // So that the call does not end well, and no question is asked of calls that do.
  frames_.note_forgotten();
  user_->withdraw();
}

void withdrawal_guard::end() const noexcept {
  if (std::uncaught_exceptions() > net_->exceptions_outside(exceptions_)) net_->let_go(nullptr);
}

void endpoint::note_failure(const std::exception_ptr& why) noexcept {
  try {
    std::rethrow_exception(why);
  } catch (const error& e) {
    failure_.emplace(e);
  } catch (const std::exception& e) {
    failure_.emplace(errc::poisoned,
                     fmt::format("rank {} left {} by an exception: {}", rank_, call_under_way(), e.what()),
                     std::vector<int>{rank_});
  } catch (...) {
    failure_.emplace(errc::poisoned,
                     fmt::format("rank {} left {} by an unknown exception", rank_, call_under_way()),
                     std::vector<int>{rank_});
  }
}

std::exception_ptr endpoint::poison() const noexcept {
  try {
    throw_poisoned();
  } catch (...) {
    return std::current_exception();
  }
}

void endpoint::tell_failure() noexcept {
  keep_notice();
  try {
    const auto body = std::span{std::as_const(failure_told_)};
    channel_.broadcast(
        static_cast<std::uint16_t>(datagram_kind::notice), [body](int) { return body; },
        [this](int to) { return listens(to); });
  } catch (...) {
    // What cannot be told is seen by the others as silence.
  }
}

void endpoint::keep_notice() noexcept {
  try {
    auto body = write_notice(*failure_, channel_.room());
    const std::lock_guard hold{lock()};
    failure_told_ = std::move(body);
  } catch (...) {
    // Then the others see silence.
  }
}

void endpoint::take_notice(int from, std::span<const std::byte> body) {
  if (failure_ || notice_) return;
  if (auto told = read_notice(from, size_, body)) notice_.emplace(std::move(*told));
}

}  // namespace chorale::transport
