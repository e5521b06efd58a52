// SPDX-License-Identifier: Apache-2.0
#include "world.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <utility>

#include <fmt/format.h>

#include <chorale/core/error.hpp>

#include "transport.hpp"

namespace chorale::simulation::ghosts {
namespace {

places by_host(const host_layout& all) {
  std::vector<int> of(static_cast<std::size_t>(all.ranks()));
  for (int rank = 0; rank < all.ranks(); ++rank) of[static_cast<std::size_t>(rank)] = all.host_of(rank);
  return places{std::move(of)};
}

}  // namespace

world::world(const machine& on, int ranks, const config& settings)
    : machine_(on),
      hosts_(layout_of(ranks, on)),
      config_(settings),
      layout_(by_host(hosts_)),
      passages_(on, hosts_, queue_,
                {[this](flight& one) { place(one); }, [this](flight& one) { complete(one); }}),
      queue_pairs_(static_cast<std::size_t>(hosts_.hosts())),
      near_(on.near, queue_pairs_.size()),
      ranks_(static_cast<std::size_t>(ranks)),
      blocks_(settings.mailbox_blocks(has_neighbours(), ranks)),
      zeroes_(settings.block_bytes),
      neighbours_zeroes_(settings.block_bytes) {
  for (int rank = 0; rank < ranks; ++rank) at(rank).net = std::make_unique<transport>(*this, rank);
}

world::~world() {
  // Discarded coroutines are destroyed before the members that they refer to.
  for (auto& rank : ranks_) rank.program.discard();
}

void world::run(const std::function<task<>(transport&)>& program) {
  const replaced_clock replaced{*this};
  program_ = &program;
  for (auto& rank : ranks_) queue_.add<&world::start>(std::max(rank.now, time_), *this, rank);
  while (!queue_.empty()) {
    time_ = queue_.first();
    passages_.advance(time_);
    ++events_;
    queue_.happen();
  }
  look_at_ends();
  for (auto& rank : ranks_) rank.program = {};
}

void world::start(rank_state& one) {
  runs_ = number_of(one);
  one.settled = one.now;
  charge(runs_, machine_.host.call);
  one.program = (*program_)(*one.net);
  one.program.resume();
}

void world::look_at_ends() {
  std::size_t waiting = 0;
  int first = -1;
  for (int rank = 0; rank < size(); ++rank) {
    // Reports the first failure, which comes before any wait that it has caused.
    if (at(rank).program.done())
      at(rank).program.result();
    else if (waiting++ == 0)
      first = rank;
  }
  if (waiting == 0) return;
  throw error(
      errc::deadline,
      fmt::format(
          "ghosts: {} of {} ranks wait for messages that no rank sends; the first is rank {}, which {}",
          waiting, size(), first, at(first).net->waits_for()),
      {first});
}

void world::gather() {
  const auto last = end();
  for (auto& rank : ranks_) rank.now = last;
}

instant world::end() const noexcept {
  instant last{};
  for (const auto& rank : ranks_) last = std::max(last, rank.now);
  return last;
}

connection& world::connected(int a, int b) {
  const auto [low, high] = std::minmax(a, b);
  if (low < 0 || high >= size() || low == high)
    throw error(errc::invalid_argument,
                fmt::format("ghosts: ranks {} and {} of {} cannot talk", a, b, size()));
  const auto [found, is_new] =
      connections_.find(static_cast<std::uint32_t>(low), static_cast<std::uint32_t>(high));
  if (is_new) {
    found->low = static_cast<std::uint32_t>(low);
    found->high = static_cast<std::uint32_t>(high);
    found->is_near = machine_.near && layout_.of(a) == layout_.of(b);
    if (found->is_near) return *found;
    found->low_queue_pair = queue_pairs_[host_of(low)]++;
    found->high_queue_pair = queue_pairs_[host_of(high)]++;
  }
  return *found;
}

lane& world::between(int from, int to) {
  auto& both = connected(from, to);
  return from < to ? both.upwards : both.downwards;
}

flight& world::post(int from, int to, flight::kind what, std::uint64_t bytes, bool is_inline,
                    std::uint64_t elsewhere) {
  auto& on = connected(from, to);
  const auto& costs = machine_.adapter.posting;
  charge(from, machine_.host.send);
  if (on.is_near) {
    charge(from, machine_.near->post);
    copy(from, bytes, elsewhere);
  } else {
    charge(from, costs.request + costs.doorbell + (is_inline ? costs.inline_copy(bytes) : duration{}));
  }
  at(from).settled = now(from);
  auto& one = passages_.begin();
  one.what = what;
  one.is_in_request = is_inline && bytes <= costs.inline_bytes;
  one.is_upwards = from < to;
  one.on = &on;
  one.bytes = bytes;
  return one;
}

void world::place(flight& one) {
  auto& lane = one.over();
  switch (one.what) {
    case flight::kind::signal:
      lane.signal = std::max(lane.signal, one.value);
      break;
    case flight::kind::message:
      lane.messages.push(one);
      if (lane.unseen == nullptr) lane.unseen = &one;
      break;
    case flight::kind::notification: {
      auto& theirs = one.is_upwards ? one.on->downwards : one.on->upwards;
      theirs.known = std::max(theirs.known, static_cast<std::uint32_t>(one.value));
      return tell(one.to(), theirs, notice_of(one));
    }
    case flight::kind::notified_put:
      if (one.is_passed) pass(one.to(), one.bytes);
      ++lane.notices;
      break;
    case flight::kind::put:
      if (one.is_passed) pass(one.to(), one.bytes);
      return;
    case flight::kind::get:
      return;
  }
  tell(one.to(), lane, notice_of(one));
}

void world::complete(flight& one) {
  ++one.over().completions;
  tell(one.from(), one.over(), notice_of(one));
}

bool world::may_act(int rank, turn then, bool settles) {
  auto& looks = at(rank);
  looks.next = then;
  if (settles) looks.settled = looks.now;
  if (queue_.empty() || queue_.first() >= looks.settled) return true;
  queue_.add<&world::act>(std::max(looks.settled, time_), *this, looks);
  return false;
}

bool world::waits_for(int rank, const lane& of) {
  at(rank).awaited = &of;
  return false;
}

void world::tell(int rank, const lane& of, duration notice) {
  auto& waits = at(rank);
  if (waits.awaited != &of) return;
  waits.awaited = nullptr;
  see(waits, time_ + notice);
}

void world::see(rank_state& waits, instant when) noexcept {
  // The rank's first poll has found nothing; a later one does.
  const auto look = machine_.host.waiting_look();
  waits.now += look;
  const auto waited = std::max(when - waits.now, duration::zero());
  waits.now += (waited + look - duration{1}) / look * look;
  waits.settled = waits.now;
  queue_.add<&world::act>(std::max(waits.now, time_), *this, waits);
}

void world::act(rank_state& one) {
  runs_ = number_of(one);
  const auto next = one.next;
  next.act(next.self);
}

clock::time_point world::now() noexcept {
  const auto since = at(runs_).now.time_since_epoch();
  return clock::time_point{std::chrono::hours{1} +
                           std::chrono::duration_cast<std::chrono::nanoseconds>(since)};
}

void world::copied(void* to, const void* from, std::size_t bytes) noexcept {
  const auto elsewhere = fetch(runs_, from, bytes);
  copy(runs_, bytes, std::max(elsewhere, write(runs_, to, bytes)));
}

void world::combined(void* mine, const void* other, std::size_t bytes) noexcept {
  const auto elsewhere = std::max(fetch(runs_, mine, bytes), fetch(runs_, other, bytes));
  work(runs_, {machine_.host.combine(bytes), bytes, std::max(elsewhere, write(runs_, mine, bytes))});
}

void world::copy(int rank, std::uint64_t bytes, std::uint64_t elsewhere) noexcept {
  work(rank, {machine_.host.copy(bytes), bytes, elsewhere});
}

std::uint64_t world::fetch(int rank, const void* from, std::uint64_t bytes) noexcept {
  const auto* const first = static_cast<const std::byte*>(from);
  const auto is_in = [first](std::span<const std::byte> memory) {
    const std::less<> before;
    return !before(first, memory.data()) && before(first, memory.data() + memory.size());
  };
  if (is_in(at(rank).content)) return bytes;
  if (!is_in(neighbours_zeroes_) && !kept_.has(first)) return read(rank, from, bytes);
  auto& passed = at(rank).passed;
  const auto found = std::min(bytes, passed);
  passed -= found;
  return found;
}

}  // namespace chorale::simulation::ghosts
