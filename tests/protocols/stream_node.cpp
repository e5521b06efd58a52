// SPDX-License-Identifier: Apache-2.0
#include "stream_node.hpp"

#include <algorithm>
#include <cstring>

#include "contents.hpp"
#include "simulated_job.hpp"

namespace protocols {
namespace {

using reliable::stream_kind;
using kind = step::kind;
using outcome = failure_detector::outcome;

// The same as an endpoint's.
constexpr std::uint16_t question_kind = 1;
constexpr std::uint16_t answer_kind = 2;
constexpr std::uint16_t goodbye_kind = 4;
constexpr std::uint16_t first_served = 64;
constexpr auto longest_sleep = 250ms;

}  // namespace

stream_node::stream_node(simulated_job& all, int rank)
    : job_(&all),
      rank_(rank),
      port_(all.net, all.receives),
      detector_(all.ranks, all.limits),
      memory_(std::make_unique<exposed>()),
      sent_(static_cast<std::size_t>(all.ranks)),
      received_(sent_),
      held_(sent_) {
  fill(memory_->readable, name_of(rank, rank, 0));
  memory_->puts.resize(static_cast<std::size_t>(all.ranks) * all.calls * all.put_bytes);
}

void stream_node::run(std::vector<step> program, clock::duration late) {
  program_ = std::move(program);
  later(late);
}

std::string stream_node::describe() const {
  constexpr const char* stages[] = {"late", "running", "closing", "leaving", "gone"};
  constexpr const char* names[] = {"send",     "receive", "give_back", "signal", "signalled", "put",
                                   "notified", "flush",   "get",       "add",    "compute",   "stop"};
  std::string s = fmt::format("rank {} is {}", rank_, stages[static_cast<int>(stage_)]);
  if (stage_ == stage::running && at_ < program_.size())
    s += fmt::format(", step {} of {}: {} with rank {}", at_, program_.size(),
                     names[static_cast<int>(program_[at_].what)], program_[at_].peer);
  return s;
}

// --- datagrams

bool stream_node::send(int peer, stream_kind k, std::span<const std::byte> body, bool solicited) {
  return send_datagram(peer, static_cast<std::uint16_t>(k), body, solicited);
}

void stream_node::refuse() noexcept {}

bool stream_node::send_datagram(int to, std::uint16_t k, std::span<const std::byte> body, bool solicited) {
  auto& net = job_->net;
  if (job_->refusal > 0 && net.chance(job_->refusal)) return false;
  if (to == rank_) violated("a rank sends to itself");
  if (body.size() > job_->options.packet_bytes) violated("a datagram is too long");
  ++job_->datagrams;
  datagram d{rank_, k, {body.begin(), body.end()}};
  net.note([&] {
    std::uint32_t number = 0;
    if (body.size() >= 4) std::memcpy(&number, body.data(), 4);
    return fmt::format("{} -> {}: kind {}, {} bytes, {:#x}{}", rank_, to, k, body.size(), number,
                       solicited ? ", solicited" : "");
  });
  if (k >= first_served) job_->disturb(d, to);
  net.send(job_->wrong, [job = job_, to, solicited, d = std::move(d)] {
    job->nodes[static_cast<std::size_t>(to)]->port_.arrive(d, solicited);
  });
  return true;
}

void stream_node::take(const datagram& d) {
  detector_.hear(d.from);
  switch (d.kind) {
    case question_kind:
      send_datagram(d.from, answer_kind, {}, false);
      return;
    case answer_kind:
      return;
    case goodbye_kind:
      job_->net.note([&] { return fmt::format("{}: hears that {} has left", rank_, d.from); });
      detector_.leave(d.from);
      table_->on_farewell(d.from, d.body, job_->net.now());
      return;
    default:
      table_->on_datagram(d.from, d.kind, d.body, job_->net.now());
  }
}

bool stream_node::read() {
  const auto kept = std::exchange(kept_, {});
  for (const auto& [key, d] : kept) take(d);
  const bool has_arrived = port_.poll([this](const datagram& d) { take(d); });
  check_bounds();
  return has_arrived || !kept.empty();
}

// --- the service thread

void stream_node::arm() {
  port_.arm([this] {
    job_->net.after(job_->net.between(5us, job_->busy ? clock::duration{5ms} : clock::duration{60us}),
                    [this] { serve(); });
  });
}

void stream_node::serve() {
  if (!serves_) return;
  if (stopped_) {
    job_->net.after(1ms, [this] { serve(); });
    return;
  }
  port_.poll([this](const datagram& d) {
    if (d.kind >= first_served || d.kind == question_kind) return take(d);
    detector_.hear(d.from);
    kept_.insert_or_assign({d.from, d.kind}, d);
  });
  table_->progress(job_->net.now());
  check_bounds();
  arm();
}

// --- the rank's own thread

void stream_node::later(clock::duration pause) {
  job_->net.after(pause, [this] { turn(); });
}

clock::duration stream_node::pause() {
  const auto waited = slow_wait_.begun ? job_->net.now() - slow_wait_.since : clock::duration{};
  const auto nap = waited > 5ms ? std::min<clock::duration>(1ms, waited / 32) : clock::duration{};
  return nap + job_->net.between(2us, job_->busy ? clock::duration{1500us} : clock::duration{60us});
}

void stream_node::start() {
  stage_ = stage::running;
  table_.reset(new stream_table{*this, job_->options});
  table_->exposed().add(memory_->readable, false);
  table_->exposed().add(std::as_bytes(std::span{&memory_->counter, 1}), true);
  table_->exposed().add(memory_->puts, true);
  serves_ = true;
  arm();
  struct sleeper {
    stream_node* node;
    void operator()() const {
      if (!node->serves_) return;
      node->serve();
      node->job_->net.after(longest_sleep, *this);
    }
  };
  job_->net.after(longest_sleep, sleeper{this});
}

void stream_node::turn() {
  auto& net = job_->net;
  if (stage_ == stage::late) start();
  if (stage_ == stage::leaving) return say_goodbye();
  if (stage_ == stage::closing) return close();
  while (at_ < program_.size()) {
    const step& s = program_[at_];
    if (s.what == kind::compute || s.what == kind::stop) {
      if (!begun_) {
        net.note([&] {
          return fmt::format("{}: {} for {} us", rank_, s.what == kind::stop ? "is stopped" : "computes",
                             s.amount);
        });
        begun_ = true;
        stopped_ = s.what == kind::stop;
        return later(std::chrono::microseconds{s.amount});
      }
      stopped_ = false;
    } else if (!attempt(s)) {
      if (++slow_wait_.looks % 4 == 0) look(s.peer);
      return later(pause());
    }
    begun_ = false;
    slow_wait_ = {};
    ++at_;
    net.note([&] { return fmt::format("{}: step {} of {}", rank_, at_, program_.size()); });
    if (net.chance(0.2)) return later(net.between(1us, 20us));
  }
  for (int peer = 0; peer < job_->ranks; ++peer) table_->end_report_requests(peer);
  stage_ = stage::closing;
  net.note([&] { return fmt::format("{}: leaves", rank_); });
  close();
}

void stream_node::check_bounds() {
  // Beyond its limit the pool gives a block to each sending stream, and for each message before the awaited
  // one.
  const std::size_t most =
      job_->options.most_packets + static_cast<std::size_t>(job_->ranks) * (job_->options.blocks + 2) + 16;
  if (table_->memory_bytes() > most * ((job_->options.packet_bytes + 63) / 64 * 64))
    violated(fmt::format("{}: {} bytes are kept", describe(), table_->memory_bytes()));
}

// --- the slow path of a wait

void stream_node::look(int awaited) {
  const auto now = job_->net.now();
  if (!slow_wait_.begun) {
    slow_wait_.begun = true;
    slow_wait_.since = now;
    detector_.advance_to(now);
    slow_wait_.wait.begin(now, detector_.begin(awaited));
  }
  read();
  table_->progress(now);
  detector_.advance_to(now);
  judge(awaited);
  const auto waited = detector_.waited(slow_wait_.wait.judged());
  const auto next = slow_wait_.wait.next(now, waited, chorale::attention::waits, false);
  if (!next.probes) return;
  if (!detector_.is_gone(awaited)) ask(awaited);
  watch(awaited, next.asks_others);
}

void stream_node::judge(int awaited) {
  slow_wait_.wait.expect(awaited);
  const auto verdict = detector_.judge(slow_wait_.wait.judged_by(chorale::attention::waits));
  if (verdict.what == outcome::keep_waiting || verdict.what == outcome::stalled) return;
  const std::string there =
      verdict.peer < 0 ? "" : job_->nodes[static_cast<std::size_t>(verdict.peer)]->describe();
  if (verdict.what == outcome::left)
    violated(fmt::format("{}: a wait ends since its peer has left: {}", describe(), there));
  if (verdict.what == outcome::silent && job_->nodes[static_cast<std::size_t>(verdict.peer)]->is_done()) {
    ++job_->missed_farewells;
    const auto words = job_->nodes[static_cast<std::size_t>(verdict.peer)]->table_->last_words(rank_);
    take({verdict.peer,
          goodbye_kind,
          {chorale::transport::wire(words).begin(), chorale::transport::wire(words).end()}});
    return;
  }
  if (verdict.what == outcome::silent)
    violated(fmt::format(
        "{}: no sign of life of a peer for {} ms: {}", describe(),
        std::chrono::duration_cast<std::chrono::milliseconds>(detector_.silence_of(verdict.peer)).count(),
        there));
  violated(fmt::format("{}: a wait ends without reason: {}", describe(), there));
}

void stream_node::ask(int peer) {
  const std::uint64_t number = at_;
  if (send_datagram(peer, question_kind, std::as_bytes(std::span{&number, 1}), true)) detector_.ask(peer);
}

void stream_node::watch(int awaited, bool asks_others) {
  if (job_->same_host) {
    for (int peer = 0; peer < job_->ranks; ++peer)
      if (peer != rank_ && job_->nodes[static_cast<std::size_t>(peer)]->is_stopped() &&
          !detector_.is_gone(peer))
        detector_.hear(peer);
  }
  const auto suspects = detector_.suspects();
  for (const int peer : suspects)
    if (peer != awaited) ask(peer);
  if (!asks_others) return;
  const int next = static_cast<int>(turns_++ % static_cast<unsigned>(job_->ranks));
  if (next != rank_ && next != awaited && !detector_.is_gone(next)) ask(next);
}

// --- the end

void stream_node::close() {
  const auto now = job_->net.now();
  read();
  detector_.advance_to(now);
  bool all_there = true;
  for (int peer = 0; peer < job_->ranks; ++peer) {
    if (peer == rank_ || table_->is_confirmed(peer) || detector_.is_gone(peer)) continue;
    const auto& there = *job_->nodes[static_cast<std::size_t>(peer)];
    if (job_->same_host && there.is_stopped()) detector_.hear(peer);
    if (detector_.is_silent(peer)) {
      if (!there.is_done()) violated(fmt::format("{}: takes {} for lost", describe(), there.describe()));
      ++job_->missed_farewells;
      continue;
    }
    all_there = false;
    if (table_->confirm(peer, now)) detector_.ask(peer);
  }
  if (!all_there) {
    slow_wait_.begun = true;
    if (slow_wait_.since == clock::time_point{}) slow_wait_.since = now;
    return later(pause());
  }
  serves_ = false;
  stage_ = stage::leaving;
  say_goodbye();
}

void stream_node::say_goodbye() {
  const auto now = job_->net.now();
  read();
  bool somebody_listens = false;
  const bool is_due = rounds_.is_due(now);
  for (int peer = 0; peer < job_->ranks; ++peer) {
    if (peer == rank_ || detector_.is_dead(peer)) continue;
    if (!detector_.is_gone(peer))
      somebody_listens = true;
    else if (!rounds_.is_first())
      continue;
    const auto words = table_->last_words(peer);
    // A rank tries again while its send queue is full.
    while (is_due && !send_datagram(peer, goodbye_kind, chorale::transport::wire(words), false)) {
    }
  }
  if (is_due) rounds_.note(now);
  if (somebody_listens && !rounds_.are_over()) return later(job_->net.between(200us, 400us));
  stage_ = stage::gone;
  port_.close();
  job_->net.note([&] { return fmt::format("{}: is gone", rank_); });
}

}  // namespace protocols
