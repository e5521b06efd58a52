// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <cstdio>
#include <cstring>
#include <exception>
#include <functional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <chorale/core/clock.hpp>
#include <chorale/transport/liveness/inquiry.hpp>
#include <chorale/transport/wire/control_channel.hpp>

#include "../../core/printable.hpp"
#include "../group/membership.hpp"
#include "../wire/messages.hpp"
#include "peer_calls.hpp"
#include "questions.hpp"
#include "stall_survey.hpp"

namespace chorale::transport {
namespace {

/// Time for farewells to leave this rank's send queue.
constexpr auto drain_time = std::chrono::milliseconds{500};

/// The interval at which a leaving rank reads datagrams between its farewells, and the longest time for which
/// it repeats them.
constexpr auto look_interval = std::chrono::microseconds{200};
constexpr auto longest_farewell = std::chrono::seconds{1};

void require(const peer_calls::verdict& no) {
  if (no) throw error(*no);
}

/// Sends farewells in rounds. Meanwhile receives those of other leaving ranks, which then need no further
/// rounds.
void say_farewell(control_channel& channel, const liveness& lives, const farewell& words,
                  endpoint_user& user) {
  constexpr auto kind = raw(datagram_kind::farewell);
  const auto patient_until = clock::now() + longest_farewell;
  farewell_rounds rounds;
  for (bool somebody_listens = true; somebody_listens && !rounds.are_over();) {
    try {
      channel.read();
    } catch (const std::exception&) {
      // A failure to read must not keep this rank from sending its farewell.
    }
    somebody_listens = false;
    const auto now = clock::now();
    const bool is_due = rounds.is_due(now);
    for (int to = 0; to < channel.size(); ++to) {
      if (!lives.is_told(to)) continue;
      if (lives.listens(to))
        somebody_listens = true;
      else if (!rounds.is_first())
        continue;
      if (!is_due) break;
      send_best_effort(channel, to, kind, wire(words), user.last_words(to), patient_until);
    }
    if (is_due) rounds.note(now);
    if (somebody_listens && !rounds.are_over()) clock::sleep_for(look_interval);
  }
}

}  // namespace

inquiry::inquiry(const membership& group, call_record& calls, control_channel& channel, liveness& lives,
                 failures& failed, endpoint_user& user)
    : group_(&group),
      calls_(&calls),
      channel_(&channel),
      lives_(&lives),
      failures_(&failed),
      user_(&user),
      peers_(std::make_unique<peer_calls>(group.rank(), calls.page())) {
  using reader = control_channel::reader;
  const auto to = [this, &channel](datagram_kind kind, reader who, auto method,
                                   std::function<void()> tend = {}) {
    return channel.subscribe(raw(kind), raw(kind), who,
                             {[this, method](int from, std::uint16_t, std::span<const std::byte> body) {
                                (this->*method)(from, body);
                              },
                              std::move(tend)});
  };
  subscriptions_ = {
      to(datagram_kind::question, reader::any, &inquiry::take_question, [this] { calls_->note_absence(); }),
      to(datagram_kind::answer, reader::own, &inquiry::take_answer),
      to(datagram_kind::farewell, reader::own, &inquiry::take_farewell),
      to(datagram_kind::departure_question, reader::any, &inquiry::take_departure_question),
      to(datagram_kind::departure_answer, reader::own, &inquiry::take_departure_answer)};
}

inquiry::~inquiry() = default;

void inquiry::ask(int peer, call_id now) {
  if (channel_->send(peer, raw(datagram_kind::question), wire(now.number), {}, true))
    lives_->expect_answer(peer);
}

void inquiry::ask_about(int absent, int peer) {
  channel_->send(peer, raw(datagram_kind::departure_question), wire(departure{absent, 0}), {}, true);
}

void inquiry::take_departure_question(int from, std::span<const std::byte> body) {
  auto about = parse<departure>(body);
  if (!about || about->rank < 0 || about->rank >= group_->size()) return channel_->refuse();
  about->has_left =
      lives_->has_left(about->rank) || channel_->has_kept(about->rank, raw(datagram_kind::farewell)) ? 1 : 0;
  channel_->send(from, raw(datagram_kind::departure_answer), wire(*about));
}

void inquiry::take_departure_answer(int from, std::span<const std::byte> body) {
  const auto about = parse<departure>(body);
  if (!about || about->rank < 0 || about->rank >= group_->size() || about->rank == from)
    return channel_->refuse();
  lives_->note_reported(from, about->rank, about->has_left == 1);
}

void inquiry::take_question(int from, std::span<const std::byte> body) {
  std::uint64_t number = 0;
  if (body.size() != sizeof number) return channel_->refuse();
  std::memcpy(&number, body.data(), sizeof number);
  // A rank that asks has missed a failure notice; otherwise it would no longer wait.
  if (failures_->answer(from)) return;
  const status_answer mine{calls_->page(), number, clock::now()};
  channel_->send(from, raw(datagram_kind::answer), wire(mine));
}

void inquiry::take_answer(int from, std::span<const std::byte> body) {
  const auto theirs = parse<status_answer>(body);
  if (!theirs) return channel_->refuse();
  peers_->take(from, *theirs);
  if (survey_ != nullptr) survey_->take(from, *theirs);
}

void inquiry::judge_newest(int peer, call_id now) {
  require(peers_->judge_newest(peer, now, clock::now()));
}

void inquiry::judge_farewell(int peer, call_id now) {
  require(peers_->judge_farewell(peer, now, clock::now()));
}

void inquiry::judge(int peer, const status_answer& theirs, call_id now) {
  require(peers_->judge(peer, theirs, now, clock::now()));
}

void inquiry::mismatch(int peer, call_id now, std::uint32_t seen) {
  const std::uint64_t number = peer_calls::mismatched_call(now, seen);
  mismatch_query about{clock::now()};
  // A word in this rank's memory may show that the peer has left before its farewell, which lists its calls,
  // is read: only once the farewell has been read will the peer say no more.
  const auto next = [&] {
    channel_->read();
    return about.next(clock::now(),
                      {peers_->has_answered(peer, number), !lives_->listens(peer), failures_->has_notice()});
  };
  for (auto step = next(); step != mismatch_query::step::judge; step = next()) {
    if (step == mismatch_query::step::ask) ask(peer, {number, now.signature, now.what});
    clock::give_way();
  }
  if (!peers_->has_answered(peer, number)) failures_->check();
  require(peers_->compare(peer, now, seen));
}

void inquiry::leave() {
  left_ = true;
  const bool by_error = failures_->is_poisoned() || std::uncaught_exceptions() > 0;
  say_farewell(*channel_, *lives_, farewell{calls_->page(), by_error}, *user_);
  channel_->drain(drain_time);
  // A rank that leaves because of an error has no need to compare.
  if (by_error) return;
  channel_->read();
  if (!failures_->has_notice()) compare_farewells();
}

// Each rank sends its farewell before it checks those of others: if two leave at once, one sees the other's.
// If any two ranks differ, some neighbours do, so that few ranks report it, whatever the size of the group.
void inquiry::compare_farewells() const {
  const int rank = group_->rank();
  const int size = group_->size();
  for (const int peer : {(rank + 1) % size, (rank + size - 1) % size}) {
    const auto difference = peers_->difference(peer);
    if (!difference) continue;
    chorale::say(
        stderr,
        "chorale: the calls of rank {} (here, host {}) and rank {} (there, host {}) did not match when "
        "they left their communicator{}: {}; all ranks must make the same calls in the same order\n",
        rank, group_->host_of(rank), peer, group_->host_of(peer),
        calls_->label().empty() ? "" : fmt::format(" '{}'", calls_->label()), *difference);
    return;
  }
}

void inquiry::take_farewell(int from, std::span<const std::byte> body) {
  farewell told;
  if (body.size() < sizeof told) return channel_->refuse();
  std::memcpy(static_cast<void*>(&told), body.data(), sizeof told);
  peers_->take(from, told);
  lives_->take_farewell(from);
  user_->on_farewell(from, body.subspan(sizeof told));
}

}  // namespace chorale::transport
