// Messages of the RC transport: RDMA writes into the receiver's mailbox, and its notifications.
#include <algorithm>
#include <array>
#include <cstring>

#include <fmt/format.h>

#include <chorale/transport/rc.hpp>

namespace chorale::transport {
namespace {

constexpr std::size_t short_message = 256;

}  // namespace

connected::options rc_mailbox::options_for(int ranks, const config& settings) {
  return {.inbox_bytes = mailbox_layout{settings.block_bytes, settings.blocks}.total_bytes(),
          .receives = static_cast<std::uint32_t>(std::clamp(4 * ranks, 64, 4096)),
          .inline_bytes = static_cast<std::uint32_t>(settings.block_bytes)};
}

rc_mailbox::rc_mailbox(joined_group&& group)
    : connected(std::move(group), options_for(group.size(), group.settings)),
      layout_{settings().block_bytes, settings().blocks} {}

rc::~rc() {
  close();
}

bool rc_mailbox::try_send(int to, epoch now, std::span<const std::byte> bytes) {
  if (bytes.size() > layout_.payload_bytes()) {
    throw error(errc::invalid_argument, fmt::format("send of {} bytes to rank {}: a block takes {}",
                                                    bytes.size(), to, layout_.payload_bytes()));
  }
  link* l = ready_link(to);
  if (l == nullptr) return false;
  if (l->sent - load_acquire(l->words + mailbox_layout::notification_offset) >= layout_.blocks) return false;
  if (!has_room(*l)) return false;

  struct alignas(16) {
    std::byte padding[16]{};
    mailbox_trailer trailer{};
  } tail;
  tail.trailer = {.bytes = static_cast<std::uint32_t>(bytes.size()),
                  .signature = now.signature,
                  .call = static_cast<std::uint32_t>(now.number),
                  .count = static_cast<std::uint32_t>(l->sent + 1)};
  const std::size_t gap = padded(bytes.size()) - bytes.size();
  const std::size_t counter = l->separate_counter ? sizeof(std::uint64_t) : 0;
  const std::byte* rest = reinterpret_cast<const std::byte*>(&tail.trailer) - gap;
  const std::size_t rest_bytes = gap + sizeof(mailbox_trailer) - counter;
  const std::size_t total = bytes.size() + rest_bytes;
  const std::uint64_t end = l->remote_inbox + layout_.block_end(l->sent);

  std::array<ibv_sge, 2> source{};
  ibv_send_wr request{};
  request.sg_list = source.data();
  request.opcode = IBV_WR_RDMA_WRITE;
  request.wr.rdma.remote_addr = end - counter - total;
  request.wr.rdma.rkey = l->remote_inbox_key;
  std::array<std::byte, short_message> together;
  if (total <= short_message && total <= l->qp->inline_bytes()) {
    // One piece costs a device less than two.
    if (!bytes.empty()) std::memcpy(together.data(), bytes.data(), bytes.size());
    std::memcpy(together.data() + bytes.size(), rest, rest_bytes);
    source[0] = {reinterpret_cast<std::uintptr_t>(together.data()), static_cast<std::uint32_t>(total), 0};
    request.num_sge = 1;
    request.send_flags = IBV_SEND_INLINE;
  } else if (total <= l->qp->inline_bytes()) {
    if (!bytes.empty())
      source[static_cast<std::size_t>(request.num_sge++)] = {reinterpret_cast<std::uintptr_t>(bytes.data()),
                                                             static_cast<std::uint32_t>(bytes.size()), 0};
    source[static_cast<std::size_t>(request.num_sge++)] = {reinterpret_cast<std::uintptr_t>(rest),
                                                           static_cast<std::uint32_t>(rest_bytes), 0};
    request.send_flags = IBV_SEND_INLINE;
  } else {
    // A staging block is free again when the receiver's block of the same number is: it has been read.
    if (l->staging.data == nullptr) l->staging = pool().take(layout_.blocks * layout_.block_size);
    std::byte* place = l->staging.data + (l->sent % layout_.blocks) * layout_.block_size;
    std::memcpy(place, bytes.data(), bytes.size());
    std::memcpy(place + bytes.size(), rest, rest_bytes);
    source[0] = {reinterpret_cast<std::uintptr_t>(place), static_cast<std::uint32_t>(total), l->staging.lkey};
    request.num_sge = 1;
  }
  post(*l, request);
  if (counter != 0) {
    source[0] = {reinterpret_cast<std::uintptr_t>(&tail.trailer) + sizeof(mailbox_trailer) - counter,
                 static_cast<std::uint32_t>(counter), 0};
    request.num_sge = 1;
    request.send_flags = IBV_SEND_INLINE;
    request.wr.rdma.remote_addr = end - counter;
    post(*l, request);
  }
  ++l->sent;
  return true;
}

}  // namespace chorale::transport
