// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <arpa/inet.h>
#include <cstring>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include <chorale/core/system_services.hpp>
#include <chorale/core/uncancellable.hpp>
#include <chorale/transport/connections/connections.hpp>
#include <chorale/transport/observers/observed_calls.hpp>

#include "../wire/messages.hpp"
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

constexpr int most_signalled = static_cast<int>(lane::spare_entries / 2);

/// Peers that are in no call of this communicator do not answer: a temporary extra connection costs less than
/// a long wait.
constexpr auto eviction_patience = std::chrono::milliseconds{1};
/// For peers that may have to wait for a core before they can agree.
constexpr auto oversubscribed_patience = std::chrono::milliseconds{4};

/// The number of the last request in each half of the queue has none of these bits set.
std::uint32_t bits_within_half(std::uint32_t depth) {
  return std::max(depth / 2, 1U) - 1;
}

std::uint32_t random_psn() {
  return static_cast<std::uint32_t>(unguessable_word() & 0xffffffU);
}

}  // namespace

joining_plan connections::plan(std::string transport, int ranks, const config& settings) {
  return {.transport = std::move(transport),
          .settings = settings,
          .port = {.payload_bytes = 1024,
                   .receives = static_cast<std::uint32_t>(std::clamp(8 * ranks, 256, 1024)),
                   .sends = 64}};
}

connections::connections(endpoint& owner, const device_port& over, connection_user& user, const options& o,
                         std::uint16_t number, const device_port* near)
    : owner_(&owner),
      user_(&user),
      connect_kind_(kinds_of(number)),
      lane_(owner, over, o),
      announced_writes_(lane_.options.announced_writes),
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
  if (near == nullptr) return;
  near_.emplace(owner, *near, o);
  announced_writes_ = announced_writes_ || near_->options.announced_writes;
}

connections::~connections() = default;

connection& connections::get(int peer) {
  connection& c = peers_.get(peer);
  if (c.by == nullptr) {
    c.peer = peer;
    c.by = is_near(peer) ? &*near_ : &lane_;
  }
  return c;
}

bool connections::shares_place(int peer) const noexcept {
  const places& all = owner_->layout();
  return all.of(peer) == all.of(owner_->rank());
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

void connections::open(int peer) {
  const detail::uncancellable ends_first;
  connection& c = get(peer);
  lane& by = *c.by;
  by.make_room_for(table_.open_peers().size() + 1);
  auto made = by.make_queue_pair();
  made.to_init({.port = by.over->local().number,
                .pkey_index = by.over->local().pkey_index,
                .access = by.over->device().remote_access()});
  auto& numbered = by_number_->of(by, *this);
  numbered.reserve(numbered.size() + 1);
  c.inbox = by.pool.take(by.options.inbox_bytes);
  numbered.insert_or_assign(made.number(), &c);
  c.queue.depth = by.send_depth();
  c.queue.prepare_mask = bits_within_half(c.queue.depth);
  if (made.inline_bytes() < lane::short_bytes) {
    c.shorts = by.pool.take(c.queue.depth * lane::short_bytes);
    c.queue.prepare_mask = 0;
  }
  c.qp = std::move(made);
  by.receives.open(peer, *c.qp);
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
  other.path_mtu = verbs::mtu_from_bytes(c.by->over->mtu_bytes());
  other.path = c.by->over->path_to(peer);
  other.timeout = owner_->settings().qp_timeout;
  other.retry = owner_->settings().qp_retry;
  const ibv_device_attr& limits = c.by->over->device().attributes();
  other.max_rd_atomic = static_cast<std::uint8_t>(
      std::clamp(std::min<int>(limits.max_qp_init_rd_atom, m.reads), 0, lane::most_reads));
  other.max_dest_rd_atomic = c.by->reads();
  c.qp->to_ready_to_receive(other);
  c.qp->to_ready_to_send(other);
  c.there.inbox = m.inbox;
  c.there.key = m.inbox_key;
  c.there.has_atomics = m.atomics != 0;
  c.there.in_order = m.order == placement::ordered;
  // A message ends where a cache line ends.
  c.there.polled_bytes = m.order == placement::within_request ? c.by->largest_request()
                         : m.order == placement::aligned_128  ? std::size_t{cache_line_bytes}
                                                              : 0;
  c.there.unannounced = false;
  if (!c.there.in_order) c.queue.prepare_mask = 0;
  user_->on_accepted(c);
  ++statistics_.opened;
  statistics_.most_connected = std::max(statistics_.most_connected, ++statistics_.connected);
  tell(*owner_, observed_event::kind::connected, peer);
}

void connections::close(int peer) noexcept {
  connection& c = *peers_.find(peer);
  c.ready = false;
  try {
    // A shared receive whose completion is polled only after this would not be posted again.
    reap(*c.by);
  } catch (...) {
    // The device refuses a receive, and will refuse the next one, too.
  }
  by_number_->of(*c.by, *this).erase(c.qp->number());
  c.by->receives.close(peer);
  // The queue pair first: while it exists, the peer may write into the inbox.
  c.qp.reset();
  std::memcpy(c.kept_words, c.inbox.data, sizeof c.kept_words);
  c.words = c.kept_words;
  c.probe.ticket = 0;
  user_->on_closed(c);
  c.by->pool.give_back(std::exchange(c.inbox, {}));
  c.by->pool.give_back(std::exchange(c.shorts, {}));
  ++statistics_.closed;
  if (std::exchange(c.there.inbox, 0) == 0) return;
  --statistics_.connected;
  tell(*owner_, observed_event::kind::disconnected, peer);
}

void connections::announce(connection& c, ibv_send_wr& request, std::uint32_t count) noexcept {
  request.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
  request.imm_data = htonl(written_mark | count);
  c.there.unannounced = false;
}

void connections::prepare_request(connection& c, ibv_send_wr& request) {
  if ((c.posted & bits_within_half(c.queue.depth)) == 0) request.send_flags |= IBV_SEND_SIGNALED;
  const std::uint64_t offset = request.wr.rdma.remote_addr - c.there.inbox;
  if (!c.there.in_order && request.opcode == IBV_WR_RDMA_WRITE && request.num_sge != 0 &&
      offset < mailbox_layout::blocks_offset) {
    request.opcode = IBV_WR_SEND_WITH_IMM;
    request.imm_data = htonl(static_cast<std::uint32_t>(offset));
  }
  if (c.shorts.data == nullptr || (request.send_flags & IBV_SEND_INLINE) == 0 ||
      request.sg_list->length <= c.qp->inline_bytes())
    return;
  // The previous request with this place is complete: otherwise the send queue would have no room.
  std::byte* const place = c.shorts.data + (c.posted & (c.queue.depth - 1)) * lane::short_bytes;
  std::memcpy(place, reinterpret_cast<const void*>(request.sg_list->addr), request.sg_list->length);
  request.sg_list->addr = reinterpret_cast<std::uintptr_t>(place);
  request.sg_list->lkey = c.shorts.lkey;
  request.send_flags &= ~static_cast<unsigned>(IBV_SEND_INLINE);
}

void connections::send(int peer, const connect_request& request) {
  const connection& c = *peers_.find(peer);
  const connect_message m{c.qp->number(),
                          c.psn,
                          reinterpret_cast<std::uintptr_t>(c.inbox.data),
                          c.inbox.rkey,
                          request,
                          c.by->reads(),
                          placement_here(c),
                          static_cast<std::uint8_t>(c.by->has_atomics() ? 1 : 0)};
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
  if (!c.by->options.announced_writes) return placement::ordered;
  const std::size_t bytes = c.qp->bytes_in_order();
  return bytes > 2 * cache_line_bytes    ? placement::within_request
         : bytes == 2 * cache_line_bytes ? placement::aligned_128
                                         : placement::unordered;
}

std::string connections::announcements() const {
  const placement_policy told = owner_->settings().placement;
  const auto by_lane = [&](const lane& one) -> std::string {
    const std::string& name = one.over->device().name();
    if (!one.options.announced_writes)
      return told == placement_policy::ordered ? "by order, as CHORALE_PLACEMENT=ordered says"
                                               : "by order, which " + name + " keeps";
    return told == placement_policy::unordered
               ? "by completions, as CHORALE_PLACEMENT=unordered says"
               : "by completions, since it is not known whether " + name +
                     " and its fabric keep the order of writes; where they do, CHORALE_PLACEMENT=ordered is "
                     "faster";
  };
  return near_ ? "within the place " + by_lane(*near_) + "; between places " + by_lane(lane_)
               : by_lane(lane_);
}

void connections::describe(memory_report& m) const {
  m.connections += statistics_.connected;
  m.peak_connections += statistics_.most_connected;
  m.opened += statistics_.opened;
  m.closed += statistics_.closed;
  std::size_t mailboxes = 0;
  peers_.each([&](const connection& c) {
    mailboxes += in_cache_lines(c.inbox.bytes) + in_cache_lines(c.shorts.bytes);
    if (c.qp) m.queue_bytes += queue_pair_bytes(c.queue.depth, c.qp->inline_bytes());
  });
  m.mailbox_bytes += mailboxes;
  m.spare_bytes -= mailboxes;
  const auto add = [&](const lane& one) {
    m.spare_bytes += one.pool.registered_bytes();
    m.receive_bytes += one.receives.registered_bytes();
    m.queue_bytes += completion_queue_bytes(static_cast<std::size_t>(one.completions.entries())) +
                     receive_queue_bytes(one.receives.depth());
  };
  add(lane_);
  if (near_) add(*near_);
  m.bytes_per_peer += in_cache_lines(lane_.options.inbox_bytes) +
                      queue_pair_bytes(lane::queue_depth, lane_.options.inline_bytes);
}

}  // namespace chorale::transport
