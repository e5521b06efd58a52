// SPDX-License-Identifier: Apache-2.0
// The owner of a rank's streams: datagrams and lock of the endpoint, clock, and failures.
#include <algorithm>
#include <chrono>
#include <mutex>

#include <fmt/format.h>

#include <chorale/core/system_services.hpp>
#include <chorale/transport/reliable/streams.hpp>

#include "streams_parts.hpp"

namespace chorale::transport::reliable {
namespace {

constexpr std::chrono::microseconds least_timeout{500};
/// If ranks share cores, a peer answers only when it is scheduled.
constexpr std::chrono::milliseconds least_timeout_oversubscribed{2};

}  // namespace

/// Sends the rank's datagrams.
class streams::port final : public packet_port {
 public:
  explicit port(control_channel& channel) noexcept : channel_(&channel) {}
  bool send(int peer, stream_kind kind, std::span<const std::byte> body, bool solicited) override {
    return channel_->send(peer, static_cast<std::uint16_t>(kind), body, {}, solicited);
  }
  void refuse() noexcept override { channel_->refuse(); }

 private:
  control_channel* channel_;
};

std::uint32_t streams::receives_for(int ranks) noexcept {
  return stream_table::receives_for(ranks);
}

streams::streams(endpoint& owner)
    : owner_(&owner),
      lock_(&owner.channel().lock()),
      rank_(owner.rank()),
      ranks_(owner.size()),
      block_bytes_(
          std::min(owner.settings().block_bytes, (owner.channel().room() - sizeof(packet_header)) / 16 * 16)),
      port_(std::make_unique<port>(owner.channel())),
      last_words_(sizeof(report_body)) {
  stream_table::options o;
  o.ranks = owner.size();
  o.packet_bytes = owner.channel().room();
  o.block_bytes = block_bytes_;
  o.blocks = owner.settings().least_blocks();
  o.secret = unguessable_word();
  o.least_timeout =
      owner.oversubscribed() ? clock::duration{least_timeout_oversubscribed} : clock::duration{least_timeout};
  table_ = std::make_unique<stream_table>(*port_, o);
  datagrams_ = owner.channel().subscribe(
      static_cast<std::uint16_t>(stream_kind::packet), static_cast<std::uint16_t>(stream_kind::question),
      control_channel::reader::any,
      {[this](int from, std::uint16_t kind, std::span<const std::byte> body) {
         on_datagram(from, kind, body);
       },
       [this] { progress(); }});
}

streams::~streams() = default;

void streams::reject(int peer, const char* what) const {
  throw error(errc::invalid_argument,
              fmt::format("rank {} cannot {} rank {} of {}", rank_, what, peer, ranks_));
}

void streams::lose(int peer) const {
  owner_->failures().lose(peer, table_->broken(peer));
}

bool streams::make_room(int to) {
  if (table_->has_room(to)) [[likely]]
    return true;
  owner_->channel().read();
  if (table_->has_room(to)) return true;
  table_->request_report(to, clock::now());
  return false;
}

bool streams::try_signal(int to, call_id now) {
  check(to, "signal");
  const std::lock_guard hold{*lock_};
  require_sound(to);
  return table_->signal(to, now, clock::now());
}

bool streams::try_signalled(int from, call_id now) {
  check(from, "await a signal of");
  return attempt(from, now, [&] { return table_->signalled(from, now); });
}

bool streams::try_send(int to, call_id now, std::span<const std::byte> bytes) {
  if (bytes.size() > block_bytes_) {
    throw error(errc::invalid_argument,
                fmt::format("send of {} bytes to rank {}: a block takes {}", bytes.size(), to, block_bytes_));
  }
  check(to, "send to");
  const std::lock_guard hold{*lock_};
  require_sound(to);
  if (!table_->may_send(to)) {
    owner_->channel().read();
    if (!table_->may_send(to)) {
      table_->request_report(to, clock::now());
      return false;
    }
  }
  table_->send(to, now, bytes, clock::now());
  return true;
}

bool streams::try_receive(int from, call_id now, std::span<const std::byte>& message) {
  check(from, "receive from");
  return attempt(from, now, [&] { return table_->receive(from, now, message); });
}

void streams::release(int from) noexcept {
  const std::lock_guard hold{*lock_};
  try {
    if (table_->release(from)) table_->deliver_kept(from, clock::now());
  } catch (...) {
    // The next send reports a broken queue pair.
  }
}

bool streams::try_tell(int to, path_mark what) {
  check(to, "speak to");
  const std::lock_guard hold{*lock_};
  if (!table_->has_room(to)) {
    table_->request_report(to, clock::now());
    return false;
  }
  table_->tell(to, what, clock::now());
  return true;
}

std::vector<received_path_mark> streams::take_path_marks() {
  const std::lock_guard hold{*lock_};
  return table_->take_marks();
}

bool streams::has_departed(int from) const noexcept {
  const std::lock_guard hold{*lock_};
  return table_->has_departed(from);
}

bool streams::has_no_more_messages(int from) const noexcept {
  const std::lock_guard hold{*lock_};
  return table_->has_no_more_messages(from);
}

bool streams::has_no_more_notices(int from) const noexcept {
  const std::lock_guard hold{*lock_};
  return table_->has_no_more_notices(from);
}

bool streams::try_drain(int peer) {
  check(peer, "drain the stream to");
  const std::lock_guard hold{*lock_};
  if (table_->is_drained(peer)) return true;
  owner_->channel().read();
  if (table_->is_drained(peer)) return true;
  table_->request_report(peer, clock::now());
  return false;
}

void streams::on_datagram(int from, std::uint16_t kind, std::span<const std::byte> body) {
  if (from == rank_) return owner_->channel().refuse();
  table_->on_datagram(from, kind, body, lazy_time{&clock::now});
}

void streams::progress() {
  const std::lock_guard hold{*lock_};
  if (table_->has_lagging()) table_->progress(clock::now());
}

std::span<const std::byte> streams::last_words(int peer) {
  const std::lock_guard hold{*lock_};
  const report_body words = table_->last_words(peer);
  const auto bytes = wire(words);
  std::copy(bytes.begin(), bytes.end(), last_words_.begin());
  return last_words_;
}

void streams::on_farewell(int from, std::span<const std::byte> body) {
  if (from != rank_) table_->on_farewell(from, body, clock::now());
}

void streams::close() noexcept {
  try {
    {
      const std::lock_guard hold{*lock_};
      for (int peer = 0; peer < ranks_; ++peer) table_->end_report_requests(peer);
    }
    owner_->engine().wait_to_leave([this] { return confirm(); });
  } catch (...) {
    // Peers notice the silence.
  }
  owner_->channel().stop_service();
}

bool streams::is_awaited(int peer) const {
  // Locked, since the service thread reads the confirmations.
  const std::lock_guard hold{*lock_};
  return !table_->is_confirmed(peer) && !owner_->liveness().is_lost(peer);
}

std::optional<int> streams::confirm() {
  const std::lock_guard hold{*lock_};
  owner_->channel().read();
  std::optional<int> missing;
  const auto now = clock::now();
  for (int peer = 0; peer < ranks_; ++peer) {
    if (!is_awaited(peer)) continue;
    if (!missing) missing = peer;
    if (table_->confirm(peer, now)) owner_->liveness().expect_answer(peer);
  }
  return missing;
}

stream_statistics streams::statistics() const {
  const std::lock_guard hold{*lock_};
  return table_->statistics();
}

std::size_t streams::memory_bytes() const {
  const std::lock_guard hold{*lock_};
  return table_->memory_bytes();
}

std::size_t streams::exposed_bytes() const {
  const std::lock_guard hold{*lock_};
  return table_->exposed().bytes();
}

}  // namespace chorale::transport::reliable
