// SPDX-License-Identifier: Apache-2.0
#include "transport.hpp"

#include <cstring>
#include <utility>

#include <fmt/format.h>

#include <chorale/core/cache_lines.hpp>
#include <chorale/core/error.hpp>

namespace chorale::simulation::ghosts {
namespace {

// Messages are laid out as by `transport::rc`, with a trailer behind the payload. Messages of up to this many
// bytes, trailer included, are assembled and then posted inline. Longer ones fill whole cache lines; they are
// posted inline from the payload's own memory, or copied to registered memory.
constexpr std::size_t trailer_bytes = 16;
constexpr std::size_t word_bytes = 8;
constexpr std::size_t put_together = 256;
constexpr std::size_t most_inline = 512;

constexpr std::size_t with_trailer(std::size_t bytes) noexcept {
  const std::size_t message = (bytes + 15) / 16 * 16 + trailer_bytes;
  return message <= put_together ? message : in_cache_lines(message);
}

void require_same(const flight& theirs, const call_id& now, int from, int to) {
  if (theirs.value == now.number && theirs.signature == now.signature) return;
  throw error(errc::mismatch,
              fmt::format("ghosts: rank {} is in call {}, and has a message of rank {} of call {}", to,
                          now.number, from, theirs.value),
              {from, to});
}

/// Ascends with the calls, and with the phases of a call.
std::uint64_t signal_value(call_id now) noexcept {
  return now.number * call_id::most_phases + static_cast<unsigned>(now.phase());
}

}  // namespace

void arrival_of_ghost::release() noexcept {
  if (in_ == nullptr) return;
  auto& in = *std::exchange(in_, nullptr);
  auto& lane = message_->over();
  const int from = message_->from();
  const int to = message_->to();
  if (message_->content) in.pass(to, std::span<const std::byte>{});
  in.messages().end(lane.messages.pop());
  ++lane.freed;
  if (lane.freed - lane.acknowledged < in.blocks() / 2) return;
  lane.acknowledged = lane.freed;
  auto& back = in.post(to, from, flight::kind::notification, word_bytes, true);
  back.value = lane.acknowledged;
  in.send(back);
}

kept_ghost::kept_ghost(world& in, int owner, std::size_t bytes)
    : in_(&in), memory_(in.kept().bytes(bytes)), exposure_(owner, memory_, in.number_kept()) {}

std::span<std::byte> kept_ghost::memory() const noexcept {
  const auto mapped = in_->mapped(region().key);
  return mapped.empty() ? memory_ : mapped;
}

std::uint64_t ghost_words::load(std::uint64_t& word) const noexcept {
  return in_->load(rank_, word);
}

void ghost_words::store(std::uint64_t& word, std::uint64_t value) const noexcept {
  in_->store(rank_, word, value);
}

std::uint64_t ghost_words::add(std::uint64_t& word, std::uint64_t value) const noexcept {
  return in_->add(rank_, word, value);
}

std::size_t transport::block_bytes() const noexcept {
  return settings().block_bytes - trailer_bytes;
}

bool transport::begin_signal(int to, call_id now) {
  auto& one = in_.post(rank_, to, flight::kind::signal, word_bytes, true);
  one.value = signal_value(now);
  in_.send(one);
  return true;
}

bool transport::has_signal(int from, call_id now, lane*& by) {
  if (by == nullptr) by = &in_.between(from, rank_);
  return by->signal >= signal_value(now) || in_.waits_for(rank_, *by);
}

bool transport::begin_send(int to, call_id now, std::span<const std::byte> bytes, shared_ghost* shared) {
  if (bytes.size() > block_bytes())
    throw error(errc::invalid_argument, fmt::format("ghosts: send of {} bytes to rank {}: a block takes {}",
                                                    bytes.size(), to, block_bytes()));
  auto& lane = in_.between(rank_, to);
  if (lane.sent - lane.known >= in_.blocks()) return in_.waits_for(rank_, lane);
  ++lane.sent;
  const auto total = with_trailer(bytes.size());
  // To a neighbour a core copies long messages from the payload's own memory.
  const bool is_staged = total > most_inline && !in_.are_neighbours(rank_, to);
  auto elsewhere = in_.fetch(rank_, bytes.data(), bytes.size());
  if (!bytes.empty() && (total <= put_together || is_staged)) {
    if (shared == nullptr || shared->copies()) in_.copy(rank_, bytes.size(), elsewhere);
    elsewhere = 0;
  }
  auto& one = in_.post(rank_, to, flight::kind::message, total, total <= most_inline, elsewhere);
  one.value = now.number;
  one.signature = now.signature;
  one.payload = static_cast<std::uint32_t>(bytes.size());
  // Payloads are zeroes in memory that nothing writes to; anything else consists of addresses and sizes.
  if (!bytes.empty() && std::memcmp(bytes.data(), in_.zeroes().data(), bytes.size()) != 0) {
    one.content = std::make_unique<std::byte[]>(bytes.size());
    std::memcpy(one.content.get(), bytes.data(), bytes.size());
  }
  in_.send(one);
  return true;
}

bool transport::has_message(int from, call_id now, lane*& by) {
  if (by == nullptr) by = &in_.between(from, rank_);
  if (by->unseen == nullptr) return in_.waits_for(rank_, *by);
  require_same(*by->unseen, now, from, rank_);
  return true;
}

arrival_of_ghost transport::take(int from) {
  auto& lane = in_.between(from, rank_);
  const flight& message = *lane.unseen;
  lane.unseen = lane.messages.after(message);
  const std::size_t bytes = message.payload;
  const bool is_of_neighbour = message.on->is_near;
  if (message.content) {
    const std::span<const std::byte> content{message.content.get(), bytes};
    if (is_of_neighbour) in_.pass(rank_, content);
    return {in_, message, content};
  }
  if (is_of_neighbour) in_.pass(rank_, bytes);
  return {in_, message, in_.zeroes(is_of_neighbour).first(bytes)};
}

bool transport::begin_put(const remote_region& target, std::size_t bytes, bool notifies) {
  const int to = target.owner;
  if (to == rank_ || (bytes == 0 && !notifies)) return true;
  ++in_.between(rank_, to).requests;
  // What algorithms keep is memory of the device, other memory is in the cache of the neighbour.
  const bool is_kept = in_.kept().has(reinterpret_cast<const std::byte*>(target.address));
  auto& one = in_.post(rank_, to, notifies ? flight::kind::notified_put : flight::kind::put, bytes, false,
                       is_kept ? 0 : bytes);
  one.is_passed = is_kept && one.on->is_near;
  in_.send(one);
  return true;
}

bool transport::has_notice(int from) {
  auto& lane = in_.between(from, rank_);
  if (lane.notices == 0) return in_.waits_for(rank_, lane);
  --lane.notices;
  in_.charge(rank_, in_.on().host.receive + in_.on().adapter.posting.receive);
  return take_completions(1);
}

bool transport::is_flushed(int peer) {
  if (peer == rank_) return true;
  auto& lane = in_.between(rank_, peer);
  if (lane.completed == lane.requests) return true;
  if (lane.completions < lane.requests) return in_.waits_for(rank_, lane);
  return take_completions(lane.requests - std::exchange(lane.completed, lane.requests));
}

bool transport::has_got(int from, std::size_t bytes, std::uint32_t& request) {
  if (from == rank_ || bytes == 0) return true;
  auto& lane = in_.between(rank_, from);
  if (request == 0) {
    request = ++lane.requests;
    in_.send(in_.post(rank_, from, flight::kind::get, bytes, false, bytes));
  }
  if (lane.completions < request) return in_.waits_for(rank_, lane);
  if (lane.completed >= request) return true;
  return take_completions(request - std::exchange(lane.completed, request));
}

bool transport::take_completions(std::uint32_t count) {
  const auto& costs = in_.on().adapter.posting;
  in_.charge(rank_, costs.poll + costs.completion * count);
  return true;
}

bool transport::copies_by_core() const noexcept {
  return in_.has_neighbours() && in_.layout().count() == 1;
}

std::size_t transport::zero_copy_bytes() const noexcept {
  return settings().zero_copy_from(copies_by_core() && !oversubscribed() ? near_work::zero_copy_from() : 0);
}

mapped_ghost transport::mapped_memory_of(const remote_region& there) {
  if (there.owner == rank_ || !in_.are_neighbours(rank_, there.owner)) return mapped_ghost{{}};
  return mapped_ghost{in_.map(there.key, there.bytes)};
}

void transport::differs(int from, call_id now, std::uint32_t seen) {
  throw error(
      errc::mismatch,
      fmt::format("ghosts: rank {} is in call {}, and rank {} in call {}", rank_, now.number, from, seen),
      {rank_, from});
}

std::string transport::waits_for() const {
  if (where_.peer < 0) return fmt::format("waits {}", where_.operation);
  return fmt::format("waits {} rank {}", where_.operation, where_.peer);
}

}  // namespace chorale::simulation::ghosts
