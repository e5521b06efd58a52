// SPDX-License-Identifier: Apache-2.0
#include "serial_channel.hpp"

#include <algorithm>

namespace chorale::transport {
namespace {

/// The same on both sides, whatever their ports: every port supports it, and it is the most that Soft-RoCE
/// supports.
constexpr std::size_t largest_piece = std::size_t{8} << 20;
/// Maximum number of pieces posted at a time.
constexpr std::uint32_t most_waiting = 8;
/// Number among the transport's sets of connections, after those in `beside`.
constexpr std::uint16_t channel_number = 1;

std::size_t piece_at(std::size_t at, std::size_t bytes) noexcept {
  return std::min(largest_piece, bytes - at);
}

}  // namespace

serial_channel::serial_channel(connections& beside, const config& settings)
    : links_(beside.owner(), beside.port(), *this,
             {.limit = settings.connections,
              .inbox_bytes = mailbox_layout::blocks_offset,
              .message_bytes = largest_piece,
              .receives = most_waiting,
              .posts_receives = false,
              .inline_bytes = 0},
             channel_number),
      peers_(beside.owner().size()) {}

void serial_channel::take(int from, std::span<std::byte> into, std::uint32_t lkey) {
  from_ = from;
  into_ = into;
  lkey_ = lkey;
  posted_ = 0;
  arrived_ = 0;
  post_pieces();
}

void serial_channel::post_pieces() {
  while (!is_free() && posted_ < into_.size() && waiting_ < links_.common_lane().receives.count()) {
    const std::size_t part = piece_at(posted_, into_.size());
    if (!links_.common_lane().receives.post_into(posted_ / largest_piece, from_, into_.subspan(posted_, part),
                                                 lkey_))
      return;
    posted_ += part;
    ++waiting_;
  }
}

bool serial_channel::send(int to, std::span<const std::byte> bytes, std::size_t& done, std::uint32_t lkey) {
  connection* c = links_.ready(to);
  if (c == nullptr) return false;
  while (done < bytes.size()) {
    if (!links_.has_room(*c) || !links_.may_signal()) return false;
    const std::size_t part = piece_at(done, bytes.size());
    ibv_sge here{reinterpret_cast<std::uintptr_t>(bytes.data()) + done, static_cast<std::uint32_t>(part),
                 lkey};
    ibv_send_wr request{};
    request.sg_list = &here;
    request.num_sge = 1;
    request.opcode = IBV_WR_SEND;
    request.send_flags = IBV_SEND_SIGNALED;
    links_.post(*c, request);
    ++peers_.get(to).sent;
    done += part;
  }
  return true;
}

void serial_channel::look() {
  links_.reap();
  post_pieces();
}

void serial_channel::on_closed(connection& c) noexcept {
  if (links_.common_lane().receives.shared() != nullptr || c.peer != from_) return;
  // The receives were destroyed with their queue: those without data are posted again.
  posted_ = arrived_;
  waiting_ = 0;
}

void serial_channel::on_notice(connection& from, std::uint32_t) {
  links_.break_off(from, "it sent a notice where there are none");
}

void serial_channel::on_message(connection& from, std::uint64_t index, const ibv_wc& wc) {
  --waiting_;
  ++peers_.get(from.peer).received;
  const bool expected = from.peer == from_ && index == arrived_ / largest_piece && arrived_ < into_.size() &&
                        wc.byte_len == piece_at(arrived_, into_.size());
  if (!expected) return links_.break_off(from, "it sent something that it was not cleared to send");
  arrived_ += wc.byte_len;
  // A sender sends only if it knows that this side's queue pair receives.
  links_.note_heard(from);
}

void serial_channel::count(int peer, ledger& l) const noexcept {
  const counts* c = peers_.find(peer);
  if (c == nullptr) return;
  l.sent = c->sent;
  l.received = l.released = c->received;
}

}  // namespace chorale::transport
