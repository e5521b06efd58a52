// One-sided and atomic operations on memory that peers expose.
#include <algorithm>
#include <arpa/inet.h>
#include <cstring>

#include <fmt/format.h>

#include <chorale/transport/connected.hpp>

namespace chorale::transport {
namespace {

/// Devices take at most 2 GiB a request.
constexpr std::size_t largest_request = std::size_t{1} << 30;

/// What a notice of a call carries, so that one of another call is seen.
std::uint32_t notice_word(epoch now) noexcept {
  return now.signature ^ static_cast<std::uint32_t>(now.number) * 0x9e3779b1U;
}

}  // namespace

exposure connected::expose_alone(std::span<std::byte> memory) {
  std::unique_ptr<verbs::memory_region> region;
  if (!memory.empty())
    region = std::make_unique<verbs::memory_region>(
        domain(), memory.data(), memory.size(),
        IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC);
  return {std::move(region), memory, rank()};
}

std::span<const std::byte> connected::checked(const remote_region& remote, std::size_t offset,
                                              std::size_t bytes) const {
  if (remote.owner < 0 || remote.owner >= size())
    throw error(errc::invalid_argument,
                fmt::format("one-sided operation: rank {} is not in 0..{}", remote.owner, size() - 1));
  if (offset > remote.bytes || bytes > remote.bytes - offset) {
    throw error(
        errc::invalid_argument,
        fmt::format(
            "one-sided operation: {} bytes at offset {} leave the region of {} bytes that rank {} exposes",
            bytes, offset, remote.bytes, remote.owner));
  }
  return {};
}

std::span<const std::byte> connected::checked(const remote_region& remote, std::size_t offset,
                                              const exposure& local,
                                              std::span<const std::byte> memory) const {
  checked(remote, offset, memory.size());
  if (!local.contains(memory))
    throw error(errc::invalid_argument,
                "one-sided operation: the local memory does not lie in the given exposure");
  return memory;
}

bool connected::one_sided::operator()() {
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
  link* l = net->ready_link(remote.owner);
  if (l == nullptr) return false;
  while (!last_posted) {
    if (!net->has_room(*l) || !net->may_signal()) return false;
    const std::size_t part = std::min(largest_request, memory.size() - posted_bytes);
    const bool last = posted_bytes + part == memory.size();
    if (part == 0 && opcode != IBV_WR_RDMA_WRITE_WITH_IMM) return true;
    ibv_sge here{reinterpret_cast<std::uintptr_t>(memory.data()) + posted_bytes,
                 static_cast<std::uint32_t>(part), lkey};
    ibv_send_wr request{};
    request.sg_list = &here;
    request.num_sge = part == 0 ? 0 : 1;
    request.opcode = !last && opcode == IBV_WR_RDMA_WRITE_WITH_IMM ? IBV_WR_RDMA_WRITE : opcode;
    request.send_flags = IBV_SEND_SIGNALED;
    request.imm_data = htonl(notice_word(now));
    request.wr.rdma.remote_addr = remote.address + offset + posted_bytes;
    request.wr.rdma.rkey = remote.key;
    net->post(*l, request);
    posted_bytes += part;
    last_posted = last;
    if (request.opcode == IBV_WR_RDMA_WRITE_WITH_IMM) ++l->notices_sent;
    ticket = l->posted;
    if (opcode != IBV_WR_RDMA_READ) l->last_put = ticket;
  }
  if (opcode != IBV_WR_RDMA_READ) return true;
  net->reap();
  return l->completed >= ticket;
}

bool connected::atomic::operator()() {
  if (remote.owner == net->rank()) {
    // Through the device as well: its atomics and the processor's need not be atomic to each other.
    throw error(errc::unsupported, "atomic operation on this rank's own memory");
  }
  link* l = net->ready_link(remote.owner);
  if (l == nullptr) return false;
  if (l->word.data == nullptr) l->word = net->pool().take(sizeof old);
  if (ticket == 0) {
    if (!net->has_room(*l) || !net->may_signal()) return false;
    ibv_sge here{reinterpret_cast<std::uintptr_t>(l->word.data), sizeof old, l->word.lkey};
    ibv_send_wr request{};
    request.sg_list = &here;
    request.num_sge = 1;
    request.opcode = opcode;
    request.send_flags = IBV_SEND_SIGNALED;
    request.wr.atomic.remote_addr = remote.address + offset;
    request.wr.atomic.rkey = remote.key;
    request.wr.atomic.compare_add = first;
    request.wr.atomic.swap = second;
    net->post(*l, request);
    ticket = l->posted;
  }
  net->reap();
  if (l->completed < ticket) return false;
  std::memcpy(&old, l->word.data, sizeof old);
  return true;
}

bool connected::try_flush(int peer) {
  link* l = link_of(peer);
  if (l == nullptr || l->completed >= l->last_put) return true;
  reap();
  return l->completed >= l->last_put;
}

bool connected::try_notified(int from, epoch now) {
  link* l = link_of(from);
  if (l == nullptr) return false;
  if (l->notices.empty()) {
    reap();
    if (l->notices.empty()) return false;
  }
  if (l->notices.front() != notice_word(now)) [[unlikely]] {
    mismatch(from, now);
    return false;
  }
  l->notices.pop_front();
  return true;
}

bool connected::may_signal() {
  if (signalled_ < most_signalled_) return true;
  reap();
  return signalled_ < most_signalled_;
}

}  // namespace chorale::transport
