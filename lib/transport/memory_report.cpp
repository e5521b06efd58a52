#include <algorithm>

#include <chorale/transport/connected.hpp>
#include <chorale/transport/memory_report.hpp>
#include <chorale/transport/ud.hpp>

namespace chorale::transport {
namespace {

constexpr std::size_t unit = 64;
constexpr std::size_t queue_pair_context = 512;
constexpr std::size_t completion_entry = 64;
constexpr std::size_t receive_entry = 32;
constexpr std::size_t most_inline = 512;

std::size_t in_units(std::size_t bytes) noexcept {
  return (bytes + unit - 1) / unit * unit;
}

/// Control and address segments, then two gather entries or the length of inline data and the data.
std::size_t send_queue_bytes(std::size_t depth, std::size_t inline_bytes) noexcept {
  return depth * in_units(32 + std::max<std::size_t>(32, 4 + std::min(inline_bytes, most_inline)));
}

}  // namespace

memory_report connected::memory() const noexcept {
  memory_report m;
  m.connections = connections_;
  m.peak_connections = peak_connections_;
  m.opened = opened_;
  m.closed = closed_;
  std::size_t words = 0;
  for (const auto& l : links_) {
    if (!l) continue;
    m.mailbox_bytes += in_units(l->inbox.bytes);
    m.staging_bytes += in_units(l->staging.bytes);
    words += in_units(l->word.bytes);
    if (l->qp) m.queue_bytes += queue_pair_context + send_queue_bytes(l->depth, l->qp->inline_bytes());
  }
  m.spare_bytes = pool_.registered_bytes() - m.mailbox_bytes - m.staging_bytes - words;
  m.staging_bytes += words;
  m.receive_bytes = receives_ ? receives_->bytes() : 0;
  m.datagram_bytes = datagram_bytes();
  m.queue_bytes +=
      static_cast<std::size_t>(cq_->entries()) * completion_entry + srq_->depth() * receive_entry;
  m.user_bytes = cache_.statistics().bytes;
  m.bytes_per_peer = in_units(options_.inbox_bytes) + settings().blocks * settings().block_bytes +
                     queue_pair_context + send_queue_bytes(queue_depth, inline_wanted_);
  return m;
}

memory_report datagrams::memory() const noexcept {
  memory_report m;
  m.mailbox_bytes = streams_.memory_bytes();
  m.datagram_bytes = datagram_bytes();
  m.user_bytes = streams_.exposed_bytes();
  return m;
}

}  // namespace chorale::transport
