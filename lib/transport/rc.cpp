// The data path of the RC transport: messages, notifications, one-sided operations, completions.
#include <algorithm>
#include <array>
#include <cstring>

#include <fmt/format.h>

#include <chorale/transport/rc.hpp>
#include <chorale/verbs/work_completion.hpp>

namespace chorale::transport {

exposure::exposure(const verbs::protection_domain& domain, std::span<std::byte> memory, int owner)
    : region_(domain, memory.data(), memory.size(),
              IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ),
      owner_(owner) {}

remote_region exposure::region() const noexcept {
  return {reinterpret_cast<std::uintptr_t>(region_.address()), region_.bytes(), region_.rkey(), owner_};
}

bool exposure::contains(const void* first, std::size_t bytes) const noexcept {
  const auto begin = reinterpret_cast<std::uintptr_t>(region_.address());
  const auto at = reinterpret_cast<std::uintptr_t>(first);
  return at >= begin && bytes <= region_.bytes() && at - begin <= region_.bytes() - bytes;
}

bool rc::try_send(int to, epoch now, std::span<const std::byte> bytes) {
  if (bytes.size() > layout_.payload_bytes()) {
    throw error(errc::invalid_argument, fmt::format("send of {} bytes to rank {}: a block takes {}",
                                                    bytes.size(), to, layout_.payload_bytes()));
  }
  link* l = link_of(to);
  if (l == nullptr || !l->ready) {
    if (!connect(to)) return false;
    l = link_of(to);
  }
  if (l->sent - load_acquire(l->inbox.data + mailbox_layout::notification_offset) >= layout_.blocks)
    return false;
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
  if (total <= l->qp->inline_bytes()) {
    if (!bytes.empty())
      source[static_cast<std::size_t>(request.num_sge++)] = {reinterpret_cast<std::uintptr_t>(bytes.data()),
                                                             static_cast<std::uint32_t>(bytes.size()), 0};
    source[static_cast<std::size_t>(request.num_sge++)] = {reinterpret_cast<std::uintptr_t>(rest),
                                                           static_cast<std::uint32_t>(rest_bytes), 0};
    request.send_flags = IBV_SEND_INLINE;
  } else {
    // A staging block is free again when the receiver's block of the same number is: it has been read.
    if (l->staging.data == nullptr) l->staging = pool_.take(layout_.blocks * layout_.block_size);
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

void rc::notify(link& l) noexcept {
  // What is given back has come by this connection, so the peer has heard that ours takes messages, though
  // its word that its own does may have been lost.
  l.ready = true;
  try {
    if (has_room(l)) {
      std::uint64_t count = l.released;
      ibv_sge source{reinterpret_cast<std::uintptr_t>(&count), sizeof count, 0};
      ibv_send_wr request{};
      request.sg_list = &source;
      request.num_sge = 1;
      request.opcode = IBV_WR_RDMA_WRITE;
      request.send_flags = IBV_SEND_INLINE;
      request.wr.rdma.remote_addr = l.remote_inbox + mailbox_layout::notification_offset;
      request.wr.rdma.rkey = l.remote_inbox_key;
      post(l, request);
      l.notified = count;
      l.notification_due = false;
      return;
    }
  } catch (...) {
    // A connection that refuses work has failed or will: the next wait finds out and says so.
  }
  l.notification_due = true;
  notifications_due_ = true;
}

std::span<const std::byte> rc::checked(const remote_region& remote, std::size_t offset, const exposure& local,
                                       std::span<const std::byte> memory) const {
  if (remote.owner < 0 || remote.owner >= size())
    throw error(errc::invalid_argument,
                fmt::format("one-sided operation: rank {} is not in 0..{}", remote.owner, size() - 1));
  if (offset > remote.bytes || memory.size() > remote.bytes - offset) {
    throw error(
        errc::invalid_argument,
        fmt::format(
            "one-sided operation: {} bytes at offset {} leave the region of {} bytes that rank {} exposes",
            memory.size(), offset, remote.bytes, remote.owner));
  }
  if (!memory.empty() && !local.contains(memory.data(), memory.size()))
    throw error(errc::invalid_argument,
                "one-sided operation: the local memory does not lie in the given exposure");
  return memory;
}

bool rc::one_sided::operator()() {
  // Devices take at most 2 GiB a request.
  constexpr std::size_t largest = std::size_t{1} << 30;
  if (remote.owner == net->rank()) {
    auto* theirs = reinterpret_cast<std::byte*>(remote.address + offset);
    auto* ours = const_cast<std::byte*>(memory.data());
    if (!memory.empty()) {
      if (opcode == IBV_WR_RDMA_READ)
        std::memmove(ours, theirs, memory.size());
      else
        std::memmove(theirs, ours, memory.size());
    }
    return true;
  }
  link* l = net->link_of(remote.owner);
  if (l == nullptr || !l->ready) {
    if (!net->connect(remote.owner)) return false;
    l = net->link_of(remote.owner);
  }
  for (;;) {
    if (ticket != 0) {
      net->reap();
      if (l->completed < ticket) return false;
      ticket = 0;
    }
    if (posted_bytes == memory.size()) return true;
    if (!net->has_room(*l)) return false;
    const std::size_t part = std::min(largest, memory.size() - posted_bytes);
    ibv_sge here{reinterpret_cast<std::uintptr_t>(memory.data()) + posted_bytes,
                 static_cast<std::uint32_t>(part), lkey};
    ibv_send_wr request{};
    request.sg_list = &here;
    request.num_sge = 1;
    request.opcode = opcode;
    request.send_flags = IBV_SEND_SIGNALED;
    request.wr.rdma.remote_addr = remote.address + offset + posted_bytes;
    request.wr.rdma.rkey = remote.key;
    net->post(*l, request);
    posted_bytes += part;
    ticket = l->posted;
  }
}

void rc::reap() {
  for (;;) {
    const auto done = cq_->poll(completions_);
    for (const ibv_wc& wc : done) {
      link* l = link_of(static_cast<int>(wc.wr_id >> 32));
      if (l == nullptr) continue;
      if (wc.status != IBV_WC_SUCCESS) {
        on_failed_completion(wc);
        continue;
      }
      l->completed += static_cast<std::uint32_t>(wc.wr_id) - static_cast<std::uint32_t>(l->completed);
      if (l->completed >= l->probe_ticket) l->probe_ticket = 0;
    }
    if (done.size() < completions_.size()) return;
  }
}

void rc::on_failed_completion(const ibv_wc& wc) {
  link& l = *link_of(static_cast<int>(wc.wr_id >> 32));
  if (!l.broken.empty()) return;
  l.broken = verbs::describe(wc, "RDMA operation");
  ++broken_links_;
}

void rc::heed_farewells() noexcept {
  for (const link* l : open_links_) {
    if (load_acquire(l->inbox.data + mailbox_layout::farewell_offset) != 0) note_departure(l->peer);
  }
}

void rc::on_progress() {
  reap();
  heed_farewells();
  if (notifications_due_) {
    notifications_due_ = false;
    for (link* l : open_links_) {
      if (l->notification_due && l->broken.empty()) notify(*l);
    }
  }
  if (broken_links_ > 0) {
    for (const link* l : open_links_) {
      if (!l->broken.empty() && !departed(l->peer)) lost(l->peer, l->broken);
    }
  }
}

void rc::probe(int peer, epoch now) {
  ask(peer, now);
  // Whether the peer's adapter answers shows without its CPU: an RDMA write of nothing. (A read would do as
  // well, but Soft-RoCE trips over reads among writes.)
  link* l = link_of(peer);
  if (l == nullptr || !l->ready || l->probe_ticket != 0 || !has_room(*l)) return;
  ibv_send_wr request{};
  request.opcode = IBV_WR_RDMA_WRITE;
  request.send_flags = IBV_SEND_SIGNALED;
  request.wr.rdma.remote_addr = l->remote_inbox;
  request.wr.rdma.rkey = l->remote_inbox_key;
  post(*l, request);
  l->probe_ticket = l->posted;
}

std::size_t rc::registered_bytes() const noexcept {
  return pool_.registered_bytes() + datagram_bytes();
}

}  // namespace chorale::transport
