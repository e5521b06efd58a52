// SPDX-License-Identifier: Apache-2.0
// Connects a group's protocol with its endpoint: queue pair, datagrams, clock and lock.
#include <algorithm>
#include <cstdint>
#include <mutex>

#include <fmt/format.h>

#include <chorale/core/error.hpp>
#include <chorale/transport/endpoint/endpoint.hpp>
#include <chorale/transport/endpoint/multicast_group.hpp>

#include "../group/membership.hpp"
#include "../liveness/awaited.hpp"
#include "../multicast/multicast_address.hpp"
#include "../multicast/multicast_protocol.hpp"
#include "../multicast/multicast_queue_pair.hpp"
#include "../wire/messages.hpp"

namespace chorale::transport {
namespace {

/// For multicasts that arrive while this rank does not poll: the windows of four senders.
constexpr std::uint32_t receives = 4 * multicast_window;

multicast_queue_pair::options options_for(const endpoint& owner) {
  require_multicast(owner.port().device(), owner.port().local(), owner.settings());
  return {
      .group = multicast_gid(owner.port().device(), owner.port().local(),
                             owner.members().numbers().multicast_address),
      .is_managed = is_managed(owner.port().device(), owner.port().local(), owner.settings()),
      .deadline = owner.settings().silence,
      .qkey = owner.members().numbers().multicast_qkey,
      .datagram_bytes = sizeof(datagram_header) + sizeof(message_head) + owner.multicast().payload_bytes(),
      .receives =
          std::min(receives, static_cast<std::uint32_t>(owner.port().device().attributes().max_qp_wr)),
      .places = multicast_sender::places,
      .pkey_index = owner.port().local().pkey_index};
}

}  // namespace

/// A rank's membership in a group.
class multicast_group::member final : multicast_port {
 public:
  explicit member(endpoint& owner)
      : owner_(&owner),
        options_(options_for(owner)),
        pair_(owner.channel().port().queue(), owner.port().device(), owner.port().domain(),
              owner.port().datagrams(), options_),
        protocol_(*this, {.rank = owner.rank(),
                          .size = owner.size(),
                          .secret = owner.members().numbers().multicast_secret,
                          .payload_bytes = owner.multicast().payload_bytes(),
                          .patience = owner.settings().multicast_patience}) {}

  [[nodiscard]] endpoint& owner() noexcept { return *owner_; }
  [[nodiscard]] const multicast_queue_pair::options& options() const noexcept { return options_; }
  [[nodiscard]] const multicast_queue_pair& pair() const noexcept { return pair_; }
  [[nodiscard]] multicast_protocol& protocol() noexcept { return protocol_; }
  [[nodiscard]] multicast_sender& sender() noexcept { return protocol_.sender(); }
  [[nodiscard]] multicast_receiver& receiver() noexcept { return protocol_.receiver(); }

  /// Reads the datagrams that arrived by multicast; returns false if there were none.
  bool drain() {
    return pair_.poll([this](std::span<const std::byte> datagram, const ibv_wc& completion) {
      auto read = read_datagram(datagram, protocol_.options().secret, protocol_.options().size);
      if (read && !owner_->channel().port().is_from(read->source, datagram, completion)) read.reset();
      if (read) owner_->liveness().hear(read->source);
      note(protocol_.on_multicast(read));
    });
  }
  void note(bool taken) noexcept {
    if (!taken) owner_->channel().refuse();
  }
  /// Call when a message is missing, perhaps because this rank or a peer has lost its membership in the
  /// group.
  void require_membership() {
    try {
      pair_.require_membership();
    } catch (const error& e) {
      throw error(e.code(), fmt::format("rank {}: {}", owner_->rank(), e.reason()), {owner_->rank()});
    }
  }
  /// The time, if the receiver needs to know when its wait ended.
  [[nodiscard]] clock::time_point end_of_wait() noexcept {
    return receiver().is_timed() ? clock::now() : clock::time_point{};
  }
  /// One attempt to receive the multicast of `root` in call `now`. @throws error errc::mismatch if the
  /// multicast that has arrived belongs to another call.
  template <class Take, class Await>
  bool attempt(int root, call_id now, const Take& take, const Await& await) {
    return take_awaited(
        owner_->channel().lock(), take, [this] { return drain(); }, await,
        [&](std::uint32_t) { owner_->inquiry().mismatch(root, now); });
  }

 private:
  std::span<std::byte> place(std::uint32_t index) noexcept override { return pair_.place(index); }
  bool is_free(std::uint32_t index) override { return pair_.is_free(index); }
  bool multicast(std::uint32_t index, std::size_t bytes) override { return pair_.send(index, bytes); }
  bool send_to(int rank, multicast_kind kind, std::span<const std::byte> body, bool solicited) override {
    if (kind != multicast_kind::acknowledgement) require_membership();
    return owner_->channel().send(rank, raw(kind), body, {}, solicited);
  }
  bool has_left(int rank) const noexcept override { return owner_->liveness().is_gone(rank); }
  bool is_lost(int rank) const noexcept override { return owner_->liveness().is_lost(rank); }
  void ask_for_life(int rank) override { owner_->inquiry().ask(rank, owner_->calls().current()); }

  endpoint* owner_;
  multicast_queue_pair::options options_;
  multicast_queue_pair pair_;
  multicast_protocol protocol_;
};

multicast_group::multicast_group(endpoint& owner) : member_(std::make_unique<member>(owner)) {}
multicast_group::~multicast_group() = default;

bool multicast_group::try_signal(call_id now) {
  member& m = *member_;
  const std::lock_guard hold{m.owner().channel().lock()};
  m.drain();
  return m.sender().try_signal(now, clock::now());
}

bool multicast_group::try_signalled(int root, call_id now) {
  member& m = *member_;
  const auto take = [&] {
    const auto found = m.receiver().look_for_signal(root, now);
    if (found == presence::here) m.receiver().take_signal(m.end_of_wait());
    return found;
  };
  return m.attempt(root, now, take, [&] { m.receiver().wait_for_signal(root, now); });
}

bool multicast_group::try_send(call_id now, std::span<const std::byte> bytes) {
  member& m = *member_;
  if (bytes.size() > m.protocol().options().payload_bytes)
    throw error(errc::invalid_argument,
                fmt::format("multicast of {} bytes by rank {}: a message takes {}", bytes.size(),
                            m.owner().rank(), m.protocol().options().payload_bytes));
  const std::lock_guard hold{m.owner().channel().lock()};
  m.drain();
  if (!m.sender().window_is_open()) m.owner().channel().read();
  return m.sender().try_send(now, bytes, clock::now());
}

bool multicast_group::try_receive(int root, call_id now, std::span<const std::byte>& message) {
  member& m = *member_;
  const auto take = [&] {
    const auto found = m.receiver().look_for_message(root, now, message);
    if (found == presence::here) m.receiver().take_message(root, m.end_of_wait());
    return found;
  };
  return m.attempt(root, now, take, [&] { m.receiver().wait_for_message(root); });
}

void multicast_group::release(int from) noexcept {
  const std::lock_guard hold{member_->owner().channel().lock()};
  member_->receiver().release(from);
}

int multicast_group::slowest() {
  const std::lock_guard hold{member_->owner().channel().lock()};
  return member_->sender().slowest();
}

void multicast_group::take(int from, std::uint16_t kind, std::span<const std::byte> body) {
  // Read multicasts first, so that nothing that has arrived is requested again.
  if (kind == raw(multicast_kind::question)) member_->drain();
  if (kind == raw(multicast_kind::message_missing) || kind == raw(multicast_kind::signal_missing))
    member_->require_membership();
  member_->note(member_->protocol().on_datagram(from, kind, body, clock::now()));
}

void multicast_group::progress() {
  member& m = *member_;
  const std::lock_guard hold{m.owner().channel().lock()};
  m.drain();
  if (m.protocol().is_pending()) m.protocol().progress(clock::now());
}

bool multicast_group::settle() {
  member& m = *member_;
  const std::lock_guard hold{m.owner().channel().lock()};
  m.drain();
  return m.sender().settle(clock::now());
}

multicast_statistics multicast_group::statistics() const {
  const std::lock_guard hold{member_->owner().channel().lock()};
  return member_->protocol().statistics();
}

std::size_t multicast_group::memory_bytes() const noexcept {
  return member_->pair().memory_bytes();
}

const ibv_gid& multicast_group::group() const noexcept {
  return member_->options().group;
}

std::uint32_t multicast_group::qkey() const noexcept {
  return member_->options().qkey;
}

}  // namespace chorale::transport
