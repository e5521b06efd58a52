// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include <chorale/transport/connections/lane.hpp>

namespace chorale::transport {
namespace {

/// Hardware devices pay for inline data with work queue memory; the software device does not.
constexpr std::uint32_t inline_on_hardware = 512;
/// Signalled requests besides puts, gets and atomics: one for each half of each queue, and a probe.
constexpr long long entries_for_each_peer = 8;
constexpr std::size_t words_for_each_peer = 4;

/// Memory that is registered at once: for eight inboxes, or for those of all peers if they are large.
std::size_t slab_bytes(std::size_t inbox, int ranks) {
  return inbox * (8 * inbox <= 2U << 20 ? 8U : static_cast<unsigned>(std::clamp(ranks - 1, 1, 8)));
}

/// Settings are the same on all ranks, so that this rank cannot shorten its messages on its own.
const device_port& require_messages(const device_port& port, std::size_t bytes) {
  if (port.largest_message() < bytes)
    throw error(
        errc::unsupported,
        fmt::format("{} takes messages of at most {} bytes (max_msg_sz), and connections would send up "
                    "to {}: set CHORALE_BLOCK_BYTES (of rc_send_receive "
                    "CHORALE_SEND_RECEIVE_BLOCK_BYTES, or CHORALE_SEND_RECEIVE_LONG=copy) on all ranks",
                    port.device().name(), port.largest_message(), bytes));
  return port;
}

/// Whether peers' writes to this rank's memory are known to become visible in the order of posting.
bool keeps_order(const endpoint& owner, const device_port& over) {
  const placement_policy told = owner.settings().placement;
  return told == placement_policy::automatic ? over.device().keeps_order()
                                             : told == placement_policy::ordered;
}

/// If completions announce data, each message in the inbox occupies a receive until its completion is polled,
/// and words arrive as messages. Receives that a mechanism posts itself have no space for words.
connection_options on_device(connection_options o, const endpoint& owner, const device_port& over) {
  if (!over.device().copies_by_core()) o.inline_bytes = inline_on_hardware;
  o.announced_writes = o.posts_receives && !keeps_order(owner, over);
  if (!o.announced_writes || o.receive_bytes > cache_line_bytes) return o;
  o.receive_bytes = std::max(o.receive_bytes, sizeof(std::uint64_t));
  const auto ranks = static_cast<std::size_t>(owner.size());
  const std::size_t wanted = ranks * (o.inbox_messages + words_for_each_peer);
  o.receives = static_cast<std::uint32_t>(std::clamp<std::size_t>(wanted, 64, 4096));
  return o;
}

int entries_for(int ranks, const device_port& port, const receive_queue& receives) {
  const auto received = static_cast<long long>(receives.count(static_cast<std::size_t>(ranks - 1)));
  return static_cast<int>(std::min<long long>(lane::spare_entries + received + entries_for_each_peer * ranks,
                                              port.device().attributes().max_cqe));
}

}  // namespace

lane::lane(const endpoint& owner, const device_port& port, const connection_options& o)
    : over(&require_messages(port, o.message_bytes)),
      options(on_device(o, owner, port)),
      pool(port.domain(), slab_bytes(o.inbox_bytes, owner.size()),
           IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ),
      receives(port.device(), port.domain(),
               {owner.size(), options.receives, options.receive_bytes, o.posts_receives}),
      completions(port.device(), entries_for(owner.size(), port, receives)) {}

std::uint32_t lane::send_depth() const noexcept {
  return std::bit_floor(static_cast<std::uint32_t>(
      std::clamp(over->device().attributes().max_qp_wr, 1, static_cast<int>(lane::queue_depth))));
}

std::uint8_t lane::reads() const noexcept {
  return static_cast<std::uint8_t>(std::clamp(over->device().attributes().max_qp_rd_atom, 0, most_reads));
}

verbs::queue_pair lane::make_queue_pair() {
  verbs::queue_pair_options o;
  o.type = IBV_QPT_RC;
  o.send = &completions;
  o.recv = &completions;
  o.send_depth = send_depth();
  o.srq = receives.shared();
  o.recv_depth = receives.count();
  o.send_sges = gathers() ? 2 : 1;
  // The only way to find out how much inline data a device supports is to try.
  for (;; options.inline_bytes = options.inline_bytes > short_bytes ? options.inline_bytes / 2 : 0) {
    o.inline_bytes = options.inline_bytes;
    try {
      return verbs::queue_pair(over->domain(), o);
    } catch (const error&) {
      if (options.inline_bytes == 0) throw;
    }
  }
}

void lane::make_room_for(std::size_t queue_pairs) {
  const auto most = static_cast<std::size_t>(over->device().attributes().max_cqe);
  const std::size_t wanted =
      std::min(most, std::size_t{spare_entries} + receives.count(queue_pairs) + queue_pairs * send_depth());
  const auto entries = static_cast<std::size_t>(completions.entries());
  if (wanted <= entries) return;
  try {
    completions.resize(static_cast<int>(std::min(most, std::max(wanted, 2 * entries))));
  } catch (const error&) {
    // A device that cannot resize keeps a queue for the signalled requests, which is enough until many peers
    // die.
  }
}

}  // namespace chorale::transport
