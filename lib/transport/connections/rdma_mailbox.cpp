// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include <chorale/core/copy_bytes.hpp>
#include <chorale/transport/connections/rdma_mailbox.hpp>

#include "shared_staging.hpp"

namespace chorale::transport {

rdma_mailbox::rdma_mailbox(connections& links, const config& settings)
    : links_(&links),
      layout_{settings.block_bytes,
              settings.mailbox_blocks(links.owner().copies_to_some(), links.owner().size())},
      credits_(links, layout_.blocks()),
      shared_(std::make_unique<shared_staging>(links, links.common_lane(), layout_.message_bytes(),
                                               settings.least_blocks())),
      senders_(links.owner().size()) {
  if (lane* const near = links.near_lane())
    shared_near_ =
        std::make_unique<shared_staging>(links, *near, layout_.message_bytes(), settings.least_blocks());
}

rdma_mailbox::~rdma_mailbox() = default;

void rdma_mailbox::shared_payload::end() const noexcept {
  staged_->close();
}

connection_options rdma_mailbox::needs(bool copies, const config& settings, int ranks) noexcept {
  const mailbox_layout layout{settings.block_bytes, settings.mailbox_blocks(copies, ranks)};
  return {.limit = settings.connections,
          .inbox_bytes = layout.total_bytes(),
          .inbox_messages = layout.blocks(),
          .message_bytes = layout.message_bytes(),
          .receives = static_cast<std::uint32_t>(std::clamp(4 * ranks, 64, 4096)),
          .inline_bytes = static_cast<std::uint32_t>(layout.message_bytes())};
}

bool rdma_mailbox::send(int to, call_id now, std::span<const std::byte> bytes, shared_payload* shared) {
  if (bytes.size() > layout_.payload_bytes()) {
    throw error(errc::invalid_argument, fmt::format("send of {} bytes to rank {}: a block takes {}",
                                                    bytes.size(), to, layout_.payload_bytes()));
  }
  sender* s = ready(to);
  if (s == nullptr) return false;
  connection& c = *s->account.link;
  if (!credits_.has_credit(s->account) || !links_->has_room(c)) return false;

  mailbox_trailer trailer{.bytes = static_cast<std::uint32_t>(bytes.size()),
                          .signature = now.signature,
                          .call = static_cast<std::uint32_t>(now.number),
                          .count = static_cast<std::uint32_t>(s->account.sent + 1)};
  const std::size_t total = padded(bytes.size()) + sizeof trailer;
  const bool is_polled = connections::is_polled(c, total);
  if (!is_polled) [[unlikely]]
    trailer.count = unseen(trailer.count, layout_.blocks());
  if (total <= short_message_bytes && total <= c.qp->inline_bytes()) [[likely]] {
    // Assembled before it is sent inline: one gather entry costs a device less than two.
    alignas(16) std::array<std::byte, short_message_bytes> once;
    auto& together = shared != nullptr ? shared->short_ : once;
    std::byte* const tail = together.data() + together.size() - sizeof trailer;
    std::byte* const head = tail - padded(bytes.size());
    if (!bytes.empty() && (shared == nullptr || !std::exchange(shared->is_in_short_, true))) {
      // Padding between payload and trailer.
      std::memset(tail - sizeof trailer, 0, sizeof trailer);
      copy_bytes(head, bytes.data(), bytes.size());
    }
    std::memcpy(tail, &trailer, sizeof trailer);
    ibv_sge source{reinterpret_cast<std::uintptr_t>(head), static_cast<std::uint32_t>(total), 0};
    ibv_send_wr request;
    request.next = nullptr;
    request.sg_list = &source;
    request.num_sge = 1;
    request.opcode = IBV_WR_RDMA_WRITE;
    request.send_flags = IBV_SEND_INLINE;
    request.wr.rdma.remote_addr = c.there.inbox + s->send_end - total;
    request.wr.rdma.rkey = c.there.key;
    if (!is_polled) [[unlikely]]
      connections::announce(c, request, static_cast<std::uint32_t>(s->account.sent + 1));
    links_->post(c, request);
  } else {
    post_long(*s, trailer, bytes, shared, is_polled);
  }
  ++s->account.sent;
  s->send_end = layout_.end_after(s->send_end);
  return true;
}

void rdma_mailbox::post_long(sender& s, const mailbox_trailer& trailer, std::span<const std::byte> bytes,
                             shared_payload* shared, bool is_polled) {
  connection& c = *s.account.link;
  struct alignas(16) {
    std::byte padding[cache_line_bytes]{};
    mailbox_trailer trailer{};
  } tail;
  tail.trailer = trailer;
  const std::size_t gap = padded(bytes.size()) - bytes.size();
  const std::byte* rest = reinterpret_cast<const std::byte*>(&tail.trailer) - gap;
  const std::size_t rest_bytes = gap + sizeof(mailbox_trailer);
  const std::size_t total = bytes.size() + rest_bytes;
  const std::uint64_t place_number = s.account.sent % layout_.blocks();

  std::array<ibv_sge, 2> source{};
  ibv_send_wr request{};
  request.sg_list = source.data();
  request.opcode = IBV_WR_RDMA_WRITE;
  request.wr.rdma.remote_addr = c.there.inbox + s.send_end - total;
  request.wr.rdma.rkey = c.there.key;
  shared_place* staged = nullptr;
  if (total <= c.qp->inline_bytes() && c.by->gathers()) {
    source[0] = {reinterpret_cast<std::uintptr_t>(bytes.data()), static_cast<std::uint32_t>(bytes.size()), 0};
    source[1] = {reinterpret_cast<std::uintptr_t>(rest), static_cast<std::uint32_t>(rest_bytes), 0};
    request.num_sge = 2;
    request.send_flags = IBV_SEND_INLINE;
  } else if (shared != nullptr && c.by->gathers() && links_->may_signal() &&
             (staged = stage(*shared, *c.by)) != nullptr) {
    // The trailer differs from peer to peer; its place is free again once the receiver's block is released.
    if (s.endings.data == nullptr) s.endings = c.by->pool.take(layout_.blocks() * sizeof tail);
    std::byte* place = s.endings.data + place_number * sizeof tail;
    std::memcpy(place, rest, rest_bytes);
    source[0] = {reinterpret_cast<std::uintptr_t>(staged->data()), static_cast<std::uint32_t>(bytes.size()),
                 staged->lkey()};
    source[1] = {reinterpret_cast<std::uintptr_t>(place), static_cast<std::uint32_t>(rest_bytes),
                 s.endings.lkey};
    request.num_sge = 2;
    request.send_flags = IBV_SEND_SIGNALED;
  } else {
    // A staging block is free again once the receiver's block of the same number has been released.
    if (s.staging.data == nullptr) s.staging = c.by->pool.take(layout_.blocks() * layout_.message_bytes());
    std::byte* place = s.staging.data + place_number * layout_.message_bytes();
    copy_bytes(place, bytes.data(), bytes.size());
    std::memcpy(place + bytes.size(), rest, rest_bytes);
    ++statistics_.staged_copies;
    statistics_.staged_bytes += bytes.size();
    source[0] = {reinterpret_cast<std::uintptr_t>(place), static_cast<std::uint32_t>(total), s.staging.lkey};
    request.num_sge = 1;
  }
  if (!is_polled) connections::announce(c, request, static_cast<std::uint32_t>(s.account.sent + 1));
  links_->post(c, request);
  if (staged != nullptr) [[unlikely]]
    staged->note_posted(c, c.posted);
}

shared_place* rdma_mailbox::stage(shared_payload& payload, const lane& by) {
  shared_staging& of_lane = &by == links_->near_lane() ? *shared_near_ : *shared_;
  if (shared_place* const there = of_lane.find(payload.staged_)) return there;
  shared_place* const place = of_lane.take(payload.staged_);
  if (place == nullptr) return nullptr;
  payload.staged_ = place;
  copy_bytes(place->data(), payload.bytes_.data(), payload.bytes_.size());
  ++statistics_.staged_copies;
  statistics_.staged_bytes += payload.bytes_.size();
  return place;
}

void rdma_mailbox::report_overrun(int from) const {
  throw error(
      errc::misuse,
      fmt::format("rank {} has sent more messages than it has blocks on rank {}: its algorithm called "
                  "answered_by({}) for messages that had not been released",
                  from, links_->owner().rank(), links_->owner().rank()),
      {from});
}

void rdma_mailbox::on_written(connection& from, std::uint32_t count) {
  const sender& s = known(from.peer);
  const std::uint64_t ahead =
      (count - static_cast<std::uint32_t>(s.account.received + 1)) & ~connections::written_mark;
  // A peer within these bounds may have overwritten unread messages; the receiver detects that by their
  // counters.
  if (ahead >= std::uint64_t{2} * layout_.blocks())
    return links_->break_off(from, "it announced a message that it may not have sent");
  show(from.inbox.data + layout_.block_end(s.account.received + ahead),
       static_cast<std::uint32_t>(s.account.received + ahead + 1));
}

void rdma_mailbox::on_closed(connection& c) noexcept {
  sender* s = senders_.find(c.peer);
  if (s == nullptr) return;
  credits_.on_closed(s->account);
  c.by->pool.give_back(std::exchange(s->staging, {}));
  c.by->pool.give_back(std::exchange(s->endings, {}));
}

void rdma_mailbox::count(int peer, ledger& l) const noexcept {
  const sender* s = senders_.find(peer);
  if (s == nullptr) return;
  credits::count(s->account, l);
  l.signal_sent = s->signal_sent;
}

void rdma_mailbox::describe(memory_report& m) const {
  std::size_t staging = shared_->registered_bytes() + (shared_near_ ? shared_near_->registered_bytes() : 0);
  senders_.each(
      [&](const sender& s) { staging += in_cache_lines(s.staging.bytes) + in_cache_lines(s.endings.bytes); });
  m.staging_bytes += staging;
  m.spare_bytes -= staging;
  m.bytes_per_peer += layout_.blocks() * layout_.message_bytes();
}

}  // namespace chorale::transport
