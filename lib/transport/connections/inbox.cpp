#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include <chorale/transport/connections/inbox.hpp>

namespace chorale::transport {
namespace {

constexpr std::size_t short_message = 256;

}  // namespace

connections::options inbox::needs(const config& settings, int ranks) noexcept {
  return {.limit = settings.connections,
          .inbox_bytes = mailbox_layout{settings.block_bytes, settings.blocks}.total_bytes(),
          .receives = static_cast<std::uint32_t>(std::clamp(4 * ranks, 64, 4096)),
          .inline_bytes = static_cast<std::uint32_t>(settings.block_bytes)};
}

bool inbox::try_send(int to, epoch now, std::span<const std::byte> bytes) {
  if (bytes.size() > layout_.payload_bytes()) {
    throw error(errc::invalid_argument, fmt::format("send of {} bytes to rank {}: a block takes {}",
                                                    bytes.size(), to, layout_.payload_bytes()));
  }
  sender* s = ready(to);
  if (s == nullptr) return false;
  connection& c = *s->account.link;
  const std::uint64_t sent = s->account.sent;
  if (!credits_.has_credit(s->account) || !links_->has_room(c)) return false;

  struct alignas(16) {
    std::byte padding[16]{};
    mailbox_trailer trailer{};
  } tail;
  tail.trailer = {.bytes = static_cast<std::uint32_t>(bytes.size()),
                  .signature = now.signature,
                  .call = static_cast<std::uint32_t>(now.number),
                  .count = static_cast<std::uint32_t>(sent + 1)};
  const std::size_t gap = padded(bytes.size()) - bytes.size();
  const std::size_t counter = s->separate_counter ? sizeof(std::uint64_t) : 0;
  const std::byte* rest = reinterpret_cast<const std::byte*>(&tail.trailer) - gap;
  const std::size_t rest_bytes = gap + sizeof(mailbox_trailer) - counter;
  const std::size_t total = bytes.size() + rest_bytes;
  const std::size_t end = layout_.block_end(sent);

  std::array<ibv_sge, 2> source{};
  ibv_send_wr request{};
  request.sg_list = source.data();
  request.opcode = IBV_WR_RDMA_WRITE;
  request.wr.rdma.remote_addr = c.remote_inbox + end - counter - total;
  request.wr.rdma.rkey = c.remote_inbox_key;
  std::array<std::byte, short_message> together;
  if (total <= short_message && total <= c.qp->inline_bytes()) {
    // One piece costs a device less than two.
    if (!bytes.empty()) std::memcpy(together.data(), bytes.data(), bytes.size());
    std::memcpy(together.data() + bytes.size(), rest, rest_bytes);
    source[0] = {reinterpret_cast<std::uintptr_t>(together.data()), static_cast<std::uint32_t>(total), 0};
    request.num_sge = 1;
    request.send_flags = IBV_SEND_INLINE;
  } else if (total <= c.qp->inline_bytes()) {
    if (!bytes.empty())
      source[static_cast<std::size_t>(request.num_sge++)] = {reinterpret_cast<std::uintptr_t>(bytes.data()),
                                                             static_cast<std::uint32_t>(bytes.size()), 0};
    source[static_cast<std::size_t>(request.num_sge++)] = {reinterpret_cast<std::uintptr_t>(rest),
                                                           static_cast<std::uint32_t>(rest_bytes), 0};
    request.send_flags = IBV_SEND_INLINE;
  } else {
    // A staging block is free again when the receiver's block of the same number is: it has been read.
    if (s->staging.data == nullptr) s->staging = links_->pool().take(layout_.blocks * layout_.block_size);
    std::byte* place = s->staging.data + (sent % layout_.blocks) * layout_.block_size;
    std::memcpy(place, bytes.data(), bytes.size());
    std::memcpy(place + bytes.size(), rest, rest_bytes);
    source[0] = {reinterpret_cast<std::uintptr_t>(place), static_cast<std::uint32_t>(total), s->staging.lkey};
    request.num_sge = 1;
  }
  links_->post(c, request);
  if (counter != 0) {
    std::uint64_t word = 0;
    std::memcpy(&word, reinterpret_cast<const std::byte*>(&tail.trailer) + sizeof tail.trailer - sizeof word,
                sizeof word);
    links_->post_word(c, end - sizeof word, word);
  }
  ++s->account.sent;
  return true;
}

void inbox::on_accepted(connection& c) {
  known(c.peer).separate_counter = !c.qp->data_in_order(IBV_WR_RDMA_WRITE);
}

void inbox::on_closed(connection& c) noexcept {
  sender* s = senders_.find(c.peer);
  if (s == nullptr) return;
  credits_.on_closed(s->account);
  links_->pool().give_back(std::exchange(s->staging, {}));
}

void inbox::count(int peer, ledger& l) const noexcept {
  const sender* s = senders_.find(peer);
  if (s == nullptr) return;
  credits::count(s->account, l);
  l.signal_sent = s->signal_sent;
}

void inbox::describe(memory_report& m) const {
  std::size_t staging = 0;
  senders_.each([&](const sender& s) { staging += in_cache_lines(s.staging.bytes); });
  m.staging_bytes += staging;
  m.spare_bytes -= staging;
  m.bytes_per_peer += layout_.blocks * layout_.block_size;
}

}  // namespace chorale::transport
