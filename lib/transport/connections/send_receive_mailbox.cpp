// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include <chorale/core/copy_bytes.hpp>
#include <chorale/transport/connections/send_receive_mailbox.hpp>

#include "eager_ring.hpp"
#include "posted_messages.hpp"
#include "serial_channel.hpp"

namespace chorale::transport {
namespace {

constexpr std::uint32_t fewest_receives = 64;
constexpr std::uint32_t most_receives = 512;
/// Receives in addition to the messages that a peer may have in flight: signals, notifications of puts, an
/// answer and an end.
constexpr std::uint32_t other_receives = 6;
/// A cache line or two, as in message passing libraries.
constexpr std::uint32_t inline_wanted = 128;

/// Payload of a block: enough for every message that is not long, if blocks are large enough; otherwise such
/// a message takes several blocks.
std::size_t payload_bytes(const config& settings) noexcept {
  const std::size_t room = settings.send_receive_block_bytes - sizeof(send_receive_mailbox::message_header);
  return settings.send_receive_long == long_send_policy::copy
             ? room
             : std::min(room, settings.send_receive_eager_bytes);
}
eager_ring ring_of(const config& settings) noexcept {
  return {payload_bytes(settings) + sizeof(send_receive_mailbox::message_header), settings.least_blocks()};
}
/// Distance of staging blocks: payloads begin on a 16-byte boundary, and blocks have separate cache lines.
std::size_t stride(const config& settings) noexcept {
  return in_cache_lines(settings.send_receive_eager == eager_policy::rdma_write
                            ? ring_of(settings).message_bytes()
                            : settings.send_receive_block_bytes);
}

}  // namespace

send_receive_mailbox::send_receive_mailbox(connections& links, rma_queue& memory, const config& settings)
    : links_(&links),
      payload_bytes_(transport::payload_bytes(settings)),
      stride_(stride(settings)),
      blocks_(settings.least_blocks()),
      credits_(links, settings.least_blocks()),
      senders_(links.owner().size()),
      posted_(std::make_unique<posted_messages>(*this, links, memory, settings)) {
  if (settings.send_receive_eager == eager_policy::rdma_write)
    ring_ = std::make_unique<eager_ring>(ring_of(settings));
}

send_receive_mailbox::~send_receive_mailbox() = default;

connection_options send_receive_mailbox::needs(bool, const config& settings, int ranks) noexcept {
  const bool by_write = settings.send_receive_eager == eager_policy::rdma_write;
  const auto receives =
      static_cast<std::uint64_t>(ranks - 1) * ((by_write ? 0 : settings.least_blocks()) + other_receives);
  return {.limit = settings.connections,
          .inbox_bytes = by_write ? ring_of(settings).inbox_bytes() : mailbox_layout::blocks_offset,
          .inbox_messages = settings.least_blocks(),
          .message_bytes = stride(settings),
          .receive_bytes =
              by_write ? in_cache_lines(sizeof(message_header) + sizeof(clear_to_send)) : stride(settings),
          .receives =
              static_cast<std::uint32_t>(std::clamp<std::uint64_t>(receives, fewest_receives, most_receives)),
          .inline_bytes = inline_wanted};
}

send_receive_mailbox::sender* send_receive_mailbox::ready(int peer) {
  sender* s = senders_.find(peer);
  if (s != nullptr && s->account.link->ready) return s;
  return links_->connect(peer) ? &known(peer) : nullptr;
}

bool send_receive_mailbox::try_signal(int to, call_id now) {
  sender* s = ready(to);
  if (s == nullptr || !links_->has_room(*s->account.link)) return false;
  const message_header header{kind::signal, static_cast<std::uint32_t>(now.number), signal_word(now)};
  s->signal_sent = header.word;
  if (ring_)
    links_->post_word(*s->account.link, mailbox_layout::signal_offset, header.word);
  else
    post_header(*links_, *s->account.link, header);
  return true;
}

void send_receive_mailbox::post_header(connections& links, connection& c, const message_header& header) {
  ibv_sge source{reinterpret_cast<std::uintptr_t>(&header), sizeof header, 0};
  ibv_send_wr request{};
  request.sg_list = &source;
  request.num_sge = 1;
  request.opcode = IBV_WR_SEND;
  request.send_flags = IBV_SEND_INLINE;
  links.post(c, request);
}

bool send_receive_mailbox::try_signalled(int from, call_id now) {
  const std::uint64_t wanted = signal_word(now);
  std::uint64_t seen = 0;
  const auto has_come = [&] {
    const sender* s = senders_.find(from);
    if (s != nullptr) seen = load_acquire(s->account.link->words + mailbox_layout::signal_offset);
    return reached(seen, wanted);
  };
  if (!has_come()) {
    links_->reap();
    if (!has_come()) return false;
  }
  if (contradicts(seen, wanted)) {
    links_->owner().inquiry().mismatch(from, now);
    return false;
  }
  clock::worked(host_work::match);
  // A message that arrived before the signal and that no call has received.
  const unexpected* next = oldest(from);
  if (next == nullptr || !is_left_over(next->header.call, now)) return true;
  links_->owner().inquiry().mismatch(from, now, next->header.call);
  return false;
}

void send_receive_mailbox::reject(int to, std::size_t bytes) const {
  throw error(errc::invalid_argument,
              fmt::format("send of {} bytes to rank {}: a block takes {}", bytes, to, payload_bytes_));
}

bool send_receive_mailbox::has_posted_sends(int to) {
  if (!posted_->has_sends(to)) return false;
  advance();
  return posted_->has_sends(to);
}

bool send_receive_mailbox::send_request(int to, call_id now, const request_body& request) {
  return send_in_block(to,
                       {kind::request, static_cast<std::uint32_t>(now.number),
                        std::uint64_t{now.signature} << 32 | sizeof request},
                       detail::bytes_of(request));
}

bool send_receive_mailbox::send_in_block(int to, message_header header, std::span<const std::byte> bytes) {
  sender* s = ready(to);
  if (s == nullptr) return false;
  connection& c = *s->account.link;
  if (!credits_.has_credit(s->account) || !links_->has_room(c)) return false;

  // A staging block is free again once the receiver has released its message, which has therefore arrived.
  if (s->staging.data == nullptr) s->staging = links_->common_lane().pool.take(blocks_ * stride_);
  std::byte* place = s->staging.data + s->account.sent % blocks_ * stride_;
  std::memcpy(place, &header, sizeof header);
  if (!bytes.empty()) copy_bytes(place + sizeof header, bytes.data(), bytes.size());
  if (ring_) {
    ring_->write(*links_, c, s->account.sent, place, sizeof header + bytes.size(), s->staging.lkey);
    ++s->account.sent;
    return true;
  }
  ibv_sge source{reinterpret_cast<std::uintptr_t>(place),
                 static_cast<std::uint32_t>(sizeof header + bytes.size()), s->staging.lkey};
  ibv_send_wr request{};
  request.sg_list = &source;
  request.num_sge = 1;
  request.opcode = IBV_WR_SEND;
  if (source.length <= c.qp->inline_bytes()) request.send_flags = IBV_SEND_INLINE;
  links_->post(c, request);
  ++s->account.sent;
  return true;
}

send_receive_mailbox::sender* send_receive_mailbox::look_for_message(int from, call_id now) {
  if (oldest(from) == nullptr) links_->reap();
  if (posts_) {
    advance();
    // The oldest message belongs to a receive posted earlier.
    if (posted_->has_receives(from)) return posted_->judge(from, now), nullptr;
  }
  return oldest(from) == nullptr ? nullptr : senders_.find(from);
}

void send_receive_mailbox::check_mismatch(int from, call_id now, const unexpected& next) const {
  if (!is_of(next.header, now)) return links_->owner().inquiry().mismatch(from, now, next.header.call);
  throw_unequal_sizes(now.what, links_->owner().rank(), payload_bytes_, from, request_in(next).bytes);
}

const send_receive_mailbox::unexpected* send_receive_mailbox::oldest(int from) {
  sender* s = senders_.find(from);
  if (ring_ && s != nullptr) look_into_ring(*s);
  return s == nullptr || s->arrived == s->account.received ? nullptr
                                                           : &s->places[s->account.received % blocks_];
}

send_receive_mailbox::request_body send_receive_mailbox::request_in(const unexpected& message) noexcept {
  request_body body;
  std::memcpy(&body, message.payload, sizeof body);
  return body;
}

posted_message send_receive_mailbox::post_send(int to, call_id now, std::span<const std::byte> bytes) {
  const auto posted = posted_->send(to, now, bytes);
  posts_ = posted_->is_active();
  return posted;
}

posted_message send_receive_mailbox::post_receive(int from, call_id now, std::span<std::byte> into) {
  const auto posted = posted_->receive(from, now, into);
  posts_ = posted_->is_active();
  return posted;
}

void send_receive_mailbox::advance() {
  posted_->advance();
  posts_ = posted_->is_active();
}

bool send_receive_mailbox::try_sent(int to, call_id) {
  if (!posted_->has_sends(to)) return true;
  links_->reap();
  advance();
  return !posted_->has_sends(to);
}

bool send_receive_mailbox::try_received(int from, call_id now) {
  if (!posted_->has_receives(from)) return true;
  links_->reap();
  advance();
  if (!posted_->has_receives(from)) return true;
  posted_->judge(from, now);
  return false;
}

bool send_receive_mailbox::is_over(const posted_message& message) const noexcept {
  return posted_->is_over(message);
}

send_receive_mailbox::message_statistics send_receive_mailbox::statistics() const noexcept {
  auto all = posted_->statistics();
  senders_.each([&](const sender& s) { all.blocks += s.account.sent; });
  all.blocks -= all.requests;
  return all;
}

void send_receive_mailbox::on_message(connection& from, std::uint64_t index, const ibv_wc& wc) {
  message_header header{};
  const std::byte* text = links_->common_lane().receives.block(index);
  const std::size_t body = wc.byte_len - sizeof header;
  if (wc.byte_len >= sizeof header) std::memcpy(&header, text, sizeof header);
  if (!ring_ && is_kept(header, body)) [[likely]]
    return keep(known(from.peer), index, header, body);
  if (const char* wrong = take(from, header, {text + sizeof header, body})) links_->break_off(from, wrong);
  links_->common_lane().receives.post(index);
}

const char* send_receive_mailbox::take(connection& from, const message_header& header,
                                       std::span<const std::byte> body) {
  if (!ring_ && header.what == kind::signal) {
    std::byte* place = from.words + mailbox_layout::signal_offset;
    if (reached(header.word, load_acquire(place))) std::memcpy(place, &header.word, sizeof header.word);
    known(from.peer);
    return nullptr;
  }
  if (header.what == kind::clear && body.size() == sizeof(clear_to_send)) {
    clear_to_send answer;
    std::memcpy(&answer, body.data(), sizeof answer);
    return posted_->on_clear(from.peer, answer);
  }
  if (header.what == kind::placed && body.empty())
    return posted_->on_placed(from.peer, static_cast<std::uint32_t>(header.word));
  if (header.what == kind::copies && body.empty())
    return posted_->on_copies(from.peer, static_cast<std::uint32_t>(header.word));
  return "it sent something that is not a message";
}

bool send_receive_mailbox::is_kept(const message_header& header, std::size_t body) noexcept {
  if (body != bytes_of(header)) return false;
  return header.what == kind::message || (header.what == kind::request && body == sizeof(request_body));
}

void send_receive_mailbox::look_into_ring(sender& from) {
  while (from.arrived - from.account.released < blocks_) {
    const std::byte* inbox = from.account.link->inbox.data;
    if (inbox == nullptr) return;
    const auto found = ring_->find(inbox, from.arrived);
    if (!found.is_there) return;
    message_header header{};
    if (found.bytes.size() >= sizeof header) std::memcpy(&header, found.bytes.data(), sizeof header);
    if (found.bytes.size() < sizeof header || !is_kept(header, found.bytes.size() - sizeof header))
      return links_->break_off(*from.account.link, "it wrote something that is not a message");
    if (from.places.empty()) from.places.resize(blocks_);
    unexpected& place = from.places[from.arrived++ % blocks_];
    place.header = header;
    place.payload = found.bytes.data() + sizeof header;
  }
}

void send_receive_mailbox::keep(sender& from, std::uint64_t index, const message_header& header,
                                std::size_t bytes) {
  auto& receives = links_->common_lane().receives;
  if (from.arrived - from.account.released >= blocks_) {
    links_->break_off(*from.account.link, "it sent more messages than it may before they are given back");
    return receives.post(index);
  }
  if (from.places.empty()) from.places.resize(blocks_);
  unexpected& place = from.places[from.arrived++ % blocks_];
  place.header = header;
  const std::byte* payload = receives.block(index) + sizeof header;
  if (held_ < receives.posted() / 2) {
    ++held_;
    place.receive = index;
    place.payload = payload;
    return;
  }
  place.copy = std::make_unique<std::byte[]>(bytes + std::size_t{1});
  copy_bytes(place.copy.get(), payload, bytes);
  place.payload = place.copy.get();
  ++copied_out_;
  receives.post(index);
}

void send_receive_mailbox::release(sender* from) noexcept {
  if (ring_) return credits_.release(from->account);
  unexpected& done = from->places[from->account.released % blocks_];
  if (done.copy) {
    done.copy.reset();
  } else {
    --held_;
    try {
      links_->common_lane().receives.post(done.receive);
    } catch (...) {
      // A receive queue that rejects a block despite room has failed; then every wait fails.
    }
  }
  credits_.release(from->account);
}

void send_receive_mailbox::on_written(connection& from, std::uint32_t count) {
  const sender& s = known(from.peer);
  const std::uint64_t ahead =
      (count - static_cast<std::uint32_t>(s.arrived + 1)) & ~connections::written_mark;
  if (!ring_ || ahead >= std::uint64_t{2} * blocks_)
    return links_->break_off(from, "it announced a message that it may not have sent");
  ring_->show(from.inbox.data, s.arrived + ahead);
}

void send_receive_mailbox::on_progress() {
  credits_.on_progress();
  if (serial_channel* serial = posted_->serial()) serial->on_progress();
  if (posts_) advance();
}

void send_receive_mailbox::withdraw() noexcept {
  posted_->withdraw();
  posts_ = false;
}

void send_receive_mailbox::settle() noexcept {
  if (serial_channel* serial = posted_->serial()) serial->settle();
}

void send_receive_mailbox::close() noexcept {
  if (serial_channel* serial = posted_->serial()) serial->close();
}

void send_receive_mailbox::on_closed(connection& c) noexcept {
  posted_->on_closed(c.peer);
  sender* s = senders_.find(c.peer);
  if (s == nullptr) return;
  credits_.on_closed(s->account);
  links_->common_lane().pool.give_back(std::exchange(s->staging, {}));
}

void send_receive_mailbox::count(int peer, ledger& l) const noexcept {
  const sender* s = senders_.find(peer);
  if (s == nullptr) return;
  credits::count(s->account, l);
  l.signal_sent = s->signal_sent;
}

void send_receive_mailbox::describe(memory_report& m) const {
  std::size_t staging = 0;
  senders_.each([&](const sender& s) { staging += in_cache_lines(s.staging.bytes); });
  m.staging_bytes += staging;
  m.spare_bytes -= staging;
  m.bytes_per_peer += blocks_ * stride_;
  posted_->describe(m);
}

std::size_t send_receive_mailbox::registered_bytes() const noexcept {
  const serial_channel* serial = posted_->serial();
  return serial == nullptr ? 0 : serial->registered_bytes();
}

}  // namespace chorale::transport
