// The end of a rank's communicator: what it says to the others, and what they make of that.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <exception>
#include <mutex>

#include <fmt/format.h>

#include <chorale/transport/endpoint.hpp>

#include "membership.hpp"
#include "messages.hpp"

namespace chorale::transport {

std::optional<std::string> farewell::difference(const farewell& there) const {
  const auto [fewer, more] = std::minmax(current, there.current);
  const std::uint64_t first = more < kept ? 1 : more - kept + 1;
  for (std::uint64_t n = first; n >= first && n <= fewer; ++n) {
    const call& ours = calls[n % kept];
    const call& theirs = there.calls[n % kept];
    if (ours.signature() != theirs.signature())
      return fmt::format("call {} is {} here and {} there ({})", n, ours.describe(), theirs.describe(),
                         ours.difference(theirs));
  }
  if (fewer == more) return std::nullopt;
  const farewell& longer = current == more ? *this : there;
  return fmt::format("{} calls were made here and {} there, the last of which is {}", current, there.current,
                     longer.calls[more % kept].describe());
}

void endpoint::say_goodbye() noexcept {
  has_left_ = true;
  multicasts_.settle();
  try {
    const farewell calls{status_};
    std::vector<std::byte> body;
    const auto words = [&](int to) {
      const auto common = std::as_bytes(std::span{&calls, 1});
      body.assign(common.begin(), common.end());
      const auto more = user_->last_words(to);
      body.insert(body.end(), more.begin(), more.end());
      return std::span<const std::byte>{body};
    };
    channel_.broadcast(static_cast<std::uint16_t>(datagram_kind::goodbye), words,
                       [this](int to) { return listens(to); });
    channel_.drain(std::chrono::milliseconds{500});
    compare_farewells(calls);
  } catch (...) {
    // A farewell that cannot be sent changes nothing: the peers then see silence.
  }
  stop_service();
}

// Two ranks that each only send in calls that do not match, and then end, wait for nothing, so that no wait
// finds it. Each sends its farewell before it looks for those of others: of two that leave at once one sees
// the other's. Where any two ranks differ some neighbours do, so that few say it however many ranks there
// are.
void endpoint::compare_farewells(const farewell& mine) {
  // Whoever leaves by an error knows of it.
  if (failure_ || std::uncaught_exceptions() > 0) return;
  read_datagrams();
  if (notice_) return;
  for (const int peer : {(rank_ + 1) % size_, (rank_ + size_ - 1) % size_}) {
    const auto told = farewells_.find(peer);
    if (told == farewells_.end()) continue;
    const auto difference = mine.difference(told->second);
    if (!difference) continue;
    fmt::print(
        stderr,
        "chorale: the calls of rank {} (here, host {}) and rank {} (there, host {}) did not match when "
        "they left their communicator{}: {}; all ranks must make the same calls in the same order\n",
        rank_, members_->host_of(rank_), peer, members_->host_of(peer),
        label_.empty() ? "" : fmt::format(" '{}'", label_), *difference);
    return;
  }
}

void endpoint::take_goodbye(int from, std::span<const std::byte> body) {
  farewell told;
  if (body.size() < sizeof told) return refuse_datagram();
  std::memcpy(static_cast<void*>(&told), body.data(), sizeof told);
  farewells_.insert_or_assign(from, told);
  note_departure(from);
  user_->on_goodbye(from, body.subspan(sizeof told));
}

void endpoint::left(int peer, epoch now) {
  const auto mine = status_.find(now.number);
  // It may have left after another call than the one in which this rank waits for it.
  if (const auto told = farewells_.find(peer); told != farewells_.end())
    judge(peer, told->second.about(now.number), now);
  const std::string call = mine ? mine->describe() : "a call";
  if (peer < 0)
    throw error(errc::peer_lost,
                fmt::format("all other ranks have left: they destroyed their communicators while rank {} is "
                            "in {}",
                            rank_, call));
  lost(peer, fmt::format("it has left: it destroyed its communicator while this rank is in {}", call));
}

}  // namespace chorale::transport
