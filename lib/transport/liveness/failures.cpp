// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <chorale/transport/liveness/failures.hpp>

#include "../../core/printable.hpp"
#include "../group/membership.hpp"
#include "../wire/messages.hpp"

namespace chorale::transport {

kept_failure::kept_failure(int rank, std::size_t room)
    : what_(errc::poisoned,
            fmt::format("rank {} failed, and had no memory left for the words of its error", rank), {rank}),
      notice_(write_notice(what_, room)) {}

void kept_failure::publish(std::vector<std::byte> body) noexcept {
  if (!body.empty()) notice_ = std::move(body);
  is_published_ = true;
}

std::span<const std::byte> kept_failure::notice() const noexcept {
  return is_published_ ? std::span{notice_} : std::span<const std::byte>{};
}

failures::failures(const collaborators& with)
    : group_(&with.group),
      windows_(&with.windows),
      calls_(&with.calls),
      frames_(&with.frames),
      channel_(&with.channel),
      lives_(&with.lives),
      user_(&with.user),
      failure_(group_->rank(), channel_->room()),
      notices_(channel_->subscribe(
          raw(datagram_kind::notice), raw(datagram_kind::notice), control_channel::reader::own,
          {[this](int from, std::uint16_t, std::span<const std::byte> body) { take_notice(from, body); }})) {}

void failures::throw_earlier() {
  if (is_reported_ && !std::exchange(*is_reported_, true)) std::rethrow_exception(unreported_);
  throw_poisoned();
}

void failures::note_unseen(const std::exception_ptr& why) noexcept {
  if (!failure_) return;
  try {
    if (why != unreported_) std::rethrow_exception(why);
    *is_reported_ = false;
  } catch (const error& e) {
    // errc::poisoned only repeats a failure that the program knows.
    if (e.code() != errc::poisoned) note_unreported(why, nullptr);
  } catch (...) {
    note_unreported(why, nullptr);
  }
}

void failures::note_unreported(const std::exception_ptr& why, std::shared_ptr<bool> is_reported) noexcept {
  try {
    is_reported_ = is_reported ? std::move(is_reported) : std::make_shared<bool>(false);
    unreported_ = why;
  } catch (...) {
    // Without memory for a flag, later calls throw errc::poisoned with the reason.
  }
}

void failures::throw_poisoned() const {
  throw error(
      errc::poisoned,
      fmt::format("the communicator {}of rank {} failed before: {}",
                  calls_->label().empty() ? "" : fmt::format("'{}' ", calls_->label()), group_->rank(),
                  failure_->code() == errc::poisoned ? failure_->reason() : failure_->what()),
      failure_->ranks());
}

std::exception_ptr failures::poison() const noexcept {
  try {
    throw_poisoned();
  } catch (...) {
    return std::current_exception();
  }
}

void failures::throw_unfinished() const {
  if (ended_by_) std::rethrow_exception(ended_by_);
  if (failure_) throw_poisoned();
  const int rank = group_->rank();
  const auto mine = calls_->page().find(calls_->under_way());
  const std::string call = calls_->describe(calls_->under_way());
  const std::string algorithm = mine ? calls_->algorithm_of(mine->what) : std::string{};
  if (withdrawn_)
    throw error(
        errc::misuse,
        fmt::format("{} on rank {}: an exception has ended memory that peers may reach, and its "
                    "algorithm {} has caught it (or a program outside of calls, where such memory says "
                    "beyond_calls()); after that no call of this communicator goes on",
                    call, rank, algorithm),
        {rank});
  throw error(
      errc::misuse,
      fmt::format("{} on rank {}: its algorithm {} made an operation of the transport, or a task, that was "
                  "never awaited and so has done nothing; write co_await in front of it",
                  call, rank, algorithm),
      {rank});
}

void failures::check() {
  // Memory was withdrawn by work driven from inside this wait, or by an await whose failure the algorithm has
  // caught: that is the failure of this call, whatever the algorithm does next and other ranks report.
  if (withdrawn_) {
    if (failure_ && is_reported_) throw_earlier();
    throw_unfinished();
  }
  if (notice_) {
    // The reporting rank has told everyone: repeating it would only multiply messages.
    failure_.keep([this] { return std::move(*notice_); });
    notice_.reset();
    calls_->note_failure(failure_->what());
    keep_notice();
    throw *failure_;
  }
  require_whole();
}

void failures::lose(int peer, const std::string& why) {
  // A failing rank reports the failure before it closes its connections.
  check();
  const std::string trouble = channel_->device_trouble();
  throw error(
      errc::peer_lost,
      fmt::format(
          "rank {} on host {} is lost to rank {}: {}{}{}", peer, group_->host_of(peer), group_->rank(), why,
          trouble.empty() ? "" : fmt::format("; rank {}'s own device: {}", group_->rank(), trouble),
          windows_->has_withdrawn() ? "; this rank has left a window by an exception, and an access of "
                                      "that rank to it would end the connection"
                                    : ""),
      {peer});
}

void failures::fail(const std::exception_ptr& why) noexcept {
  if (!channel_->is_here()) return;
  if (!failure_) {
    record(why);
    tell();
  }
  withdraw_after(nullptr);
}

void failures::abandon() noexcept {
  if (!channel_->is_here()) return;
  std::exception_ptr why;
  try {
    const std::string what = fmt::format(
        "rank {} destroyed its communicator from inside a call of it, by a reduction operator or a stall "
        "handler, or after longjmp() out of a call",
        group_->rank());
    chorale::say(stderr, "chorale: {}: what it holds stays until the process ends\n", what);
    throw error(errc::misuse, what, {group_->rank()});
  } catch (...) {
    why = std::current_exception();
  }
  record(why);
  tell();
}

void failures::withdraw_after(std::exception_ptr why) noexcept {
  if (!channel_->is_here()) return;
  if (std::exchange(withdrawn_, true)) return;
  ended_by_ = std::move(why);
  // Makes this call fail without an extra check in calls that succeed.
  frames_->note_forgotten();
  user_->withdraw();
}

void failures::record(const std::exception_ptr& why) noexcept {
  failure_.keep([&] { return in_words(why); });
  calls_->note_failure(failure_->what());
}

error failures::in_words(const std::exception_ptr& why) const {
  const int rank = group_->rank();
  const auto left_by = [&](std::string_view what) {
    return error{errc::poisoned,
                 fmt::format("rank {} left {} by {}", rank, calls_->describe(calls_->under_way()), what),
                 {rank}};
  };
  try {
    std::rethrow_exception(why);
  } catch (const error& e) {
    return e;
  } catch (const std::exception& e) {
    return left_by(fmt::format("an exception: {}", e.what()));
  } catch (...) {
    return left_by("an unknown exception");
  }
}

void failures::tell() noexcept {
  keep_notice();
  try {
    channel_->broadcast(
        raw(datagram_kind::notice), [this](int) { return failure_.notice(); },
        [this](int to) { return lives_->listens(to); });
  } catch (...) {
    // Ranks that miss the notice ask.
  }
}

void failures::keep_notice() noexcept {
  std::vector<std::byte> body;
  try {
    body = write_notice(*failure_, channel_->room());
  } catch (...) {
    // The others then receive the notice that memory ran out.
  }
  const std::lock_guard hold{channel_->lock()};
  failure_.publish(std::move(body));
}

void failures::take_notice(int from, std::span<const std::byte> body) {
  if (has_any()) return;
  if (auto told = read_notice(from, group_->size(), body)) notice_.emplace(std::move(*told));
}

bool failures::answer(int from) {
  const auto notice = failure_.notice();
  if (notice.empty()) return false;
  channel_->send(from, raw(datagram_kind::notice), notice);
  return true;
}

}  // namespace chorale::transport
