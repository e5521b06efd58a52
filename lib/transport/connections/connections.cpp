// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <arpa/inet.h>
#include <bit>
#include <cstring>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include <chorale/core/uncancellable.hpp>
#include <chorale/transport/connections/connections.hpp>
#include <chorale/transport/observers/observed_calls.hpp>

#include "../../core/entropy.hpp"
#include "../messages.hpp"
#include "queue_pair_numbers.hpp"

namespace chorale::transport {
namespace {

/// Each set of connections of a transport has two kinds of datagrams of its own.
std::uint16_t kinds_of(std::uint16_t number) {
  const auto kind = static_cast<unsigned>(datagram_kind::first_of_transport) + 2U * number;
  if (kind + 1 >= static_cast<unsigned>(datagram_kind::first_served))
    throw error(
        errc::invalid_argument,
        fmt::format("connections number {} of a transport: there are no datagrams for so many", number));
  return static_cast<std::uint16_t>(kind);
}

void tell(endpoint& owner, observed_event::kind what, int peer) noexcept {
  if (owner.calls().is_observed()) owner.calls().observed().tell({.what = what, .peer = peer});
}

/// Bytes for a word or a header, on a device without inline data.
constexpr std::size_t short_bytes = 16;
/// Outstanding reads and atomics per connection: more gain nothing measurable, and each costs the adapter
/// resources.
constexpr int most_reads = 16;
constexpr std::uint32_t queue_depth = 128;
/// Hardware devices pay for inline data with work queue memory; the software device does not.
constexpr std::uint32_t inline_on_hardware = 512;
/// Signalled requests besides puts, gets and atomics: one for each half of each queue, and a probe.
constexpr long long entries_for_each_peer = 8;
constexpr long long spare_entries = 192;
constexpr std::size_t words_for_each_peer = 4;
constexpr int most_signalled = static_cast<int>(spare_entries / 2);

/// Peers that are in no call of this communicator do not answer: a temporary extra connection costs less than
/// a long wait.
constexpr auto eviction_patience = std::chrono::milliseconds{1};
/// For peers that may have to wait for a core before they can agree.
constexpr auto oversubscribed_patience = std::chrono::milliseconds{4};

/// A power of two, so that signalling one request in each half of the queue needs no division.
std::uint32_t send_depth(const device_port& port) {
  return std::bit_floor(static_cast<std::uint32_t>(
      std::clamp(port.device().attributes().max_qp_wr, 1, static_cast<int>(queue_depth))));
}

/// Memory that is registered at once: for eight inboxes, or for those of all peers if they are large.
std::size_t slab_bytes(std::size_t inbox, int ranks) {
  return inbox * (8 * inbox <= 2U << 20 ? 8U : static_cast<unsigned>(std::clamp(ranks - 1, 1, 8)));
}

/// The number of the last request in each half of the queue has none of these bits set.
std::uint32_t bits_within_half(std::uint32_t depth) {
  return std::max(depth / 2, 1U) - 1;
}

/// Settings are the same on all ranks, so that this rank alone cannot make its messages shorter.
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

std::uint32_t random_psn() {
  return static_cast<std::uint32_t>(unguessable_word() & 0xffffffU);
}

/// Whether peers' writes to this rank's memory are known to become visible in the order of posting.
bool keeps_order(const endpoint& owner, const device_port& over) {
  const placement_policy told = owner.settings().placement;
  return told == placement_policy::automatic ? over.device().keeps_order()
                                             : told == placement_policy::ordered;
}

/// If completions announce data, each message in the inbox occupies a receive until its completion is polled,
/// and words arrive as messages. Receives that a mechanism posts itself have no space for words.
connections::options with_words(connections::options o, const endpoint& owner, const device_port& over) {
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
  return static_cast<int>(std::min<long long>(spare_entries + received + entries_for_each_peer * ranks,
                                              port.device().attributes().max_cqe));
}

}  // namespace

joining_plan connections::plan(std::string transport, int ranks, const config& settings) {
  return {.transport = std::move(transport),
          .settings = settings,
          .port = {.payload_bytes = 1024,
                   .receives = static_cast<std::uint32_t>(std::clamp(8 * ranks, 256, 8192)),
                   .sends = 64}};
}

connections::connections(endpoint& owner, const device_port& over, connection_user& user, const options& o,
                         std::uint16_t number)
    : owner_(&owner),
      over_(&require_messages(over, o.message_bytes)),
      user_(&user),
      options_(with_words(o, owner, over)),
      connect_kind_(kinds_of(number)),
      pool_(over.domain(), slab_bytes(o.inbox_bytes, owner.size()),
            IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ),
      receives_(over.device(), over.domain(),
                {owner.size(), options_.receives, options_.receive_bytes, o.posts_receives}),
      cq_(over.device(), entries_for(owner.size(), over, receives_)),
      table_(*this, owner.size(),
             {.limit = o.limit,
              .patience = owner.oversubscribed() ? oversubscribed_patience : eviction_patience}),
      peers_(owner.size()),
      by_number_(std::make_unique<numbers>()),
      datagrams_(
          owner.channel().subscribe(connect_kind_, connect_kind_ + 1, control_channel::reader::own,
                                    {[this](int from, std::uint16_t kind, std::span<const std::byte> body) {
                                      on_datagram(from, kind, body);
                                    }})) {
  if (!over.device().copies_by_core()) options_.inline_bytes = inline_on_hardware;
}

connections::~connections() = default;

connection& connections::get(int peer) {
  connection& c = peers_.get(peer);
  c.peer = peer;
  return c;
}

void connections::require_peer(int peer) const {
  if (peer < 0 || peer >= owner_->size() || peer == owner_->rank())
    throw error(errc::invalid_argument,
                fmt::format("rank {} cannot send to rank {} of {}", owner_->rank(), peer, owner_->size()));
}

bool connections::connect(int peer) {
  require_peer(peer);
  owner_->failures().require_sound();
  table_.request(peer);
  owner_->engine().progress();
  return table_.advance(peer, clock::now());
}

verbs::queue_pair connections::make_queue_pair() {
  verbs::queue_pair_options o;
  o.type = IBV_QPT_RC;
  o.send = &cq_;
  o.recv = &cq_;
  o.send_depth = send_depth(*over_);
  o.srq = receives_.shared();
  o.recv_depth = receives_.count();
  o.send_sges = gathers() ? 2 : 1;
  // The only way to find out how much inline data a device supports is to try.
  for (;; options_.inline_bytes = options_.inline_bytes > short_bytes ? options_.inline_bytes / 2 : 0) {
    o.inline_bytes = options_.inline_bytes;
    try {
      return verbs::queue_pair(over_->domain(), o);
    } catch (const error&) {
      if (options_.inline_bytes == 0) throw;
    }
  }
}

void connections::make_room_for(std::size_t queue_pairs) {
  const auto most = static_cast<std::size_t>(over_->device().attributes().max_cqe);
  const std::size_t wanted = std::min(
      most, std::size_t{spare_entries} + receives_.count(queue_pairs) + queue_pairs * send_depth(*over_));
  const auto entries = static_cast<std::size_t>(cq_.entries());
  if (wanted <= entries) return;
  try {
    cq_.resize(static_cast<int>(std::min(most, std::max(wanted, 2 * entries))));
  } catch (const error&) {
    // A device that cannot resize keeps a queue for the signalled requests, which is enough until many peers
    // die.
  }
}

void connections::open(int peer) {
  const detail::uncancellable ends_first;
  make_room_for(table_.open_peers().size() + 1);
  connection& c = get(peer);
  auto made = make_queue_pair();
  made.to_init({.port = over_->local().number,
                .pkey_index = over_->local().pkey_index,
                .access = over_->device().remote_access()});
  by_number_->all.reserve(by_number_->all.size() + 1);
  c.inbox = pool_.take(options_.inbox_bytes);
  by_number_->all.insert_or_assign(made.number(), &c);
  c.depth = send_depth(*over_);
  c.prepare_mask = bits_within_half(c.depth);
  if (made.inline_bytes() < short_bytes) {
    c.shorts = pool_.take(c.depth * short_bytes);
    c.prepare_mask = 0;
  }
  c.qp = std::move(made);
  receives_.open(peer, *c.qp);
  c.psn = random_psn();
  std::memcpy(c.inbox.data, c.kept_words, sizeof c.kept_words);
  c.words = c.inbox.data;
}

void connections::accept(int peer) {
  connection& c = get(peer);
  const connect_message& m = heard_;
  verbs::connection other;
  other.remote_qp = m.qp_number;
  other.remote_psn = m.psn;
  other.local_psn = c.psn;
  other.path_mtu = verbs::mtu_from_bytes(over_->mtu_bytes());
  other.path = over_->path_to(peer);
  other.timeout = owner_->settings().qp_timeout;
  other.retry = owner_->settings().qp_retry;
  const ibv_device_attr& limits = over_->device().attributes();
  other.max_rd_atomic = static_cast<std::uint8_t>(
      std::clamp(std::min<int>(limits.max_qp_init_rd_atom, m.reads), 0, most_reads));
  other.max_dest_rd_atomic = reads_here();
  c.qp->to_ready_to_receive(other);
  c.qp->to_ready_to_send(other);
  c.there.inbox = m.inbox;
  c.there.key = m.inbox_key;
  c.there.has_atomics = m.atomics != 0;
  c.there.in_order = m.order == placement::ordered;
  // A message ends where a cache line ends.
  c.there.polled_bytes = m.order == placement::within_request ? largest_request()
                         : m.order == placement::aligned_128  ? std::size_t{cache_line_bytes}
                                                              : 0;
  c.there.unannounced = false;
  if (!c.there.in_order) c.prepare_mask = 0;
  user_->on_accepted(c);
  ++statistics_.opened;
  statistics_.most_connected = std::max(statistics_.most_connected, ++statistics_.connected);
  tell(*owner_, observed_event::kind::connected, peer);
}

void connections::close(int peer) noexcept {
  connection& c = *peers_.find(peer);
  c.ready = false;
  by_number_->all.erase(c.qp->number());
  receives_.close(peer);
  // The queue pair first: while it exists, the peer may write into the inbox.
  c.qp.reset();
  std::memcpy(c.kept_words, c.inbox.data, sizeof c.kept_words);
  c.words = c.kept_words;
  c.probe.ticket = 0;
  user_->on_closed(c);
  pool_.give_back(std::exchange(c.inbox, {}));
  pool_.give_back(std::exchange(c.shorts, {}));
  ++statistics_.closed;
  if (std::exchange(c.there.inbox, 0) == 0) return;
  --statistics_.connected;
  tell(*owner_, observed_event::kind::disconnected, peer);
}

std::uint8_t connections::reads_here() const noexcept {
  return static_cast<std::uint8_t>(std::clamp(over_->device().attributes().max_qp_rd_atom, 0, most_reads));
}

void connections::announce(connection& c, ibv_send_wr& request, std::uint32_t count) noexcept {
  request.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
  request.imm_data = htonl(written_mark | count);
  c.there.unannounced = false;
}

void connections::prepare_request(connection& c, ibv_send_wr& request) {
  if ((c.posted & bits_within_half(c.depth)) == 0) request.send_flags |= IBV_SEND_SIGNALED;
  const std::uint64_t offset = request.wr.rdma.remote_addr - c.there.inbox;
  if (!c.there.in_order && request.opcode == IBV_WR_RDMA_WRITE && request.num_sge != 0 &&
      offset < mailbox_layout::blocks_offset) {
    request.opcode = IBV_WR_SEND_WITH_IMM;
    request.imm_data = htonl(static_cast<std::uint32_t>(offset));
    c.there.unannounced = false;
  }
  if (c.shorts.data == nullptr || (request.send_flags & IBV_SEND_INLINE) == 0 ||
      request.sg_list->length <= c.qp->inline_bytes())
    return;
  // The previous request with this place is complete: otherwise the send queue would have no room.
  std::byte* const place = c.shorts.data + (c.posted & (c.depth - 1)) * short_bytes;
  std::memcpy(place, reinterpret_cast<const void*>(request.sg_list->addr), request.sg_list->length);
  request.sg_list->addr = reinterpret_cast<std::uintptr_t>(place);
  request.sg_list->lkey = c.shorts.lkey;
  request.send_flags &= ~static_cast<unsigned>(IBV_SEND_INLINE);
}

void connections::send(int peer, const connect_request& request) {
  const connection& c = *peers_.find(peer);
  const connect_message m{c.qp->number(),    c.psn,         reinterpret_cast<std::uintptr_t>(c.inbox.data),
                          c.inbox.rkey,      request,       reads_here(),
                          placement_here(c), atomics_here()};
  owner_->channel().send(peer, connect_kind_, wire(m));
}

void connections::send(int peer, const close_message& m) {
  owner_->channel().send(peer, static_cast<std::uint16_t>(connect_kind_ + 1), wire(m));
}

void connections::on_datagram(int from, std::uint16_t kind, std::span<const std::byte> body) {
  if (from == owner_->rank()) return owner_->channel().refuse();
  if (kind == connect_kind_) {
    if (const auto opening = parse<connect_message>(body)) {
      heard_ = *opening;
      return table_.on_connect(from, opening->request, clock::now());
    }
  } else if (const auto closing = parse<close_message>(body)) {
    return table_.on_close(from, *closing, clock::now());
  }
  owner_->channel().refuse();
}

bool connections::is_drained(int peer) {
  connection& c = *peers_.find(peer);
  if (c.completed != c.posted) reap();
  if (c.completed == c.posted) return true;
  post_probe(c);
  return false;
}

ledger connections::counts(int peer) {
  reap();
  ledger l{};
  l.signal_seen = load_acquire(get(peer).words + mailbox_layout::signal_offset);
  user_->count(peer, l);
  return l;
}

std::uint64_t connections::used(int peer) const noexcept {
  const connection* c = peers_.find(peer);
  return c == nullptr ? 0 : c->posted - c->probe.sent;
}

bool connections::may_signal() {
  if (counts_.signalled < most_signalled) return true;
  reap();
  return counts_.signalled < most_signalled;
}

connections::placement connections::placement_here(const connection& c) const {
  if (!options_.announced_writes) return placement::ordered;
  const std::size_t bytes = c.qp->bytes_in_order();
  return bytes > 2 * cache_line_bytes    ? placement::within_request
         : bytes == 2 * cache_line_bytes ? placement::aligned_128
                                         : placement::unordered;
}

std::string connections::announcements() const {
  if (!options_.announced_writes)
    return owner_->settings().placement == placement_policy::ordered
               ? "by order, as CHORALE_PLACEMENT=ordered says"
               : "by order, which " + over_->chosen().device.name + " keeps";
  return owner_->settings().placement == placement_policy::unordered
             ? "by completions, as CHORALE_PLACEMENT=unordered says"
             : "by completions, since nobody knows whether " + over_->chosen().device.name +
                   " and its fabric keep the order of writes; where they do, CHORALE_PLACEMENT=ordered is "
                   "faster";
}

void connections::describe(memory_report& m) const {
  m.connections += statistics_.connected;
  m.peak_connections += statistics_.most_connected;
  m.opened += statistics_.opened;
  m.closed += statistics_.closed;
  std::size_t mailboxes = 0;
  peers_.each([&](const connection& c) {
    mailboxes += in_cache_lines(c.inbox.bytes) + in_cache_lines(c.shorts.bytes);
    if (c.qp) m.queue_bytes += queue_pair_bytes(c.depth, c.qp->inline_bytes());
  });
  m.mailbox_bytes += mailboxes;
  m.spare_bytes += pool_.registered_bytes() - mailboxes;
  m.receive_bytes += receives_.registered_bytes();
  m.queue_bytes += completion_queue_bytes(static_cast<std::size_t>(cq_.entries())) +
                   receive_queue_bytes(receives_.depth());
  m.bytes_per_peer +=
      in_cache_lines(options_.inbox_bytes) + queue_pair_bytes(queue_depth, options_.inline_bytes);
}

}  // namespace chorale::transport
