// SPDX-License-Identifier: Apache-2.0
#include "posted_messages.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include <chorale/core/copy_bytes.hpp>

#include "serial_channel.hpp"

namespace chorale::transport {
namespace {

std::size_t eager_limit(const config& settings) noexcept {
  return settings.send_receive_long == long_send_policy::copy ? std::numeric_limits<std::size_t>::max()
                                                              : settings.send_receive_eager_bytes;
}

/// The registration that `make` returns; nothing if the device does not accept that memory, such as a mapped
/// file, or no further memory.
template <class Make>
std::optional<exposure> registered_if_taken(const Make& make) {
  try {
    return make();
  } catch (const error& e) {
    const bool is_refused = e.code() == std::errc::bad_address || e.code() == std::errc::not_enough_memory ||
                            e.code() == std::errc::operation_not_permitted ||
                            e.code() == std::errc::operation_not_supported;
    if (!is_refused) throw;
    return std::nullopt;
  }
}

/// Sets a flag during its lifetime.
class flag_guard {
 public:
  explicit flag_guard(bool& flag) noexcept : flag_(flag) { flag_ = true; }
  flag_guard(const flag_guard&) = delete;
  flag_guard& operator=(const flag_guard&) = delete;
  ~flag_guard() { flag_ = false; }

 private:
  bool& flag_;
};

}  // namespace

posted_messages::posted_messages(send_receive_mailbox& boxes, connections& links, rma_queue& memory,
                                 const config& settings)
    : boxes_(&boxes),
      links_(&links),
      memory_(&memory),
      eager_bytes_(eager_limit(settings)),
      by_peer_(links.owner().size()) {
  if (settings.send_receive_long == long_send_policy::serial)
    serial_ = std::make_unique<serial_channel>(links, settings);
}

posted_messages::~posted_messages() = default;

posted_messages::peer_messages& posted_messages::messages_with(int peer, std::size_t bytes) {
  links_->require_peer(peer);
  peer_messages& all = by_peer_.get(peer);
  if (bytes != 0 && !std::exchange(all.is_active, true)) active_.push_back(peer);
  return all;
}

posted_message posted_messages::send(int to, call_id now, std::span<const std::byte> bytes) {
  return {to, posted_message::side::send, messages_with(to, bytes.size()).sends.post(now, bytes)};
}

posted_message posted_messages::receive(int from, call_id now, std::span<std::byte> into) {
  return {from, posted_message::side::receive, messages_with(from, into.size()).receives.post(now, into)};
}

bool posted_messages::is_over(const posted_message& m) const noexcept {
  const peer_messages* all = by_peer_.find(m.peer);
  return all == nullptr ||
         m.number < (m.own_side == posted_message::side::send ? all->sends.over : all->receives.over);
}

bool posted_messages::has_sends(int to) const noexcept {
  const peer_messages* all = by_peer_.find(to);
  return all != nullptr && !all->sends.waiting.empty();
}

bool posted_messages::has_receives(int from) const noexcept {
  const peer_messages* all = by_peer_.find(from);
  return all != nullptr && !all->receives.waiting.empty();
}

void posted_messages::advance() {
  // Connecting drives progress, which calls this function again.
  if (advancing_) return;
  const flag_guard now{advancing_};
  if (serial_) serial_->look();
  for (std::size_t i = 0; i < active_.size();) {
    const int peer = active_[i];
    peer_messages& all = *by_peer_.find(peer);
    advance_sends(peer, all);
    advance_receives(peer, all);
    if (!all.sends.waiting.empty() || !all.receives.waiting.empty()) {
      ++i;
      continue;
    }
    all.is_active = false;
    active_[i] = active_.back();
    active_.pop_back();
  }
}

void posted_messages::advance_sends(int to, peer_messages& all) {
  while (!all.sends.waiting.empty()) {
    auto& m = all.sends.waiting.front();
    if (!(is_long(m.bytes.size()) ? send_long(to, all, m) : send_blocks(to, m))) return;
    all.sends.end_first();
  }
}

bool posted_messages::send_blocks(int to, message<const std::byte>& m) {
  while (m.done < m.bytes.size()) {
    const auto block = m.bytes.subspan(m.done, std::min(boxes_->block_bytes(), m.bytes.size() - m.done));
    if (!boxes_->send_block(to, m.now, block)) return false;
    m.done += block.size();
  }
  return true;
}

bool posted_messages::send_long(int to, peer_messages& all, message<const std::byte>& m) {
  using state = rendezvous_sender::state;
  if (all.asking.now() == state::idle) {
    if (!boxes_->send_request(to, m.now, {m.bytes.size(), all.asking.number()})) return false;
    ++statistics_.requests;
    all.asking.ask(m.bytes.size());
    // Registers the source while the request is in flight.
    if (serial_)
      m.registered.emplace(memory_->lend(m.bytes));
    else
      m.registered = registered_if_taken([&] { return memory_->lend(m.bytes); });
  }
  const bool is_copied = !serial_ && (!m.registered || all.asking.place().address == 0);
  if (all.asking.now() == state::copying || (all.asking.now() == state::cleared && is_copied))
    return copy_long(to, all, m);
  if (all.asking.now() == state::cleared) {
    const bool is_sent =
        serial_ ? serial_->send(to, m.bytes, m.done, m.registered->lkey()) : write_long(to, all, m);
    if (!is_sent) return false;
    all.asking.send();
  }
  if (all.asking.now() != state::sending) return false;
  if (serial_ ? !serial_->has_sent(to) : links_->find(to)->completed < all.ticket) return false;
  all.asking.end();
  return true;
}

bool posted_messages::copy_long(int to, peer_messages& all, message<const std::byte>& m) {
  if (all.asking.now() == rendezvous_sender::state::cleared) {
    connection* c = links_->ready(to);
    if (c == nullptr || !links_->has_room(*c)) return false;
    send_receive_mailbox::post_header(*links_, *c,
                                      {send_receive_mailbox::kind::copies, 0, all.asking.number()});
    all.asking.copy();
  }
  if (!send_blocks(to, m)) return false;
  all.asking.end();
  return true;
}

bool posted_messages::write_long(int to, peer_messages& all, message<const std::byte>& m) {
  connection* c = links_->ready(to);
  if (c == nullptr) return false;
  for (;;) {
    if (!links_->has_room(*c) || !links_->may_signal()) return false;
    if (m.done == m.bytes.size()) break;
    const std::size_t part = std::min(links_->common_lane().largest_request(), m.bytes.size() - m.done);
    const bool is_last = m.done + part == m.bytes.size();
    ibv_sge here{reinterpret_cast<std::uintptr_t>(m.bytes.data()) + m.done, static_cast<std::uint32_t>(part),
                 m.registered->lkey()};
    ibv_send_wr request{};
    request.sg_list = &here;
    request.num_sge = 1;
    request.opcode = IBV_WR_RDMA_WRITE;
    request.send_flags = is_last ? IBV_SEND_SIGNALED : 0;
    request.wr.rdma.remote_addr = all.asking.place().address + m.done;
    request.wr.rdma.rkey = all.asking.place().key;
    links_->post(*c, request);
    m.done += part;
    all.ticket = c->posted;
  }
  send_receive_mailbox::post_header(*links_, *c,
                                    {send_receive_mailbox::kind::placed, 0, all.asking.number()});
  return true;
}

void posted_messages::advance_receives(int from, peer_messages& all) {
  while (!all.receives.waiting.empty()) {
    auto& m = all.receives.waiting.front();
    if (all.answering.now() != rendezvous_receiver::state::idle) {
      if (!take_placed(from, all, m)) return;
    } else if (!m.bytes.empty()) {
      const send_receive_mailbox::unexpected* next = boxes_->oldest(from);
      if (next == nullptr || !send_receive_mailbox::is_of(next->header, m.now)) return;
      if (next->header.what == send_receive_mailbox::kind::message
              ? is_long(m.bytes.size()) || !take_block(from, *next, m)
              : !answer(from, all, *next, m))
        return;
      if (m.done < m.bytes.size()) continue;
    }
    all.receives.end_first();
  }
}

bool posted_messages::take_block(int from, const send_receive_mailbox::unexpected& next,
                                 message<std::byte>& m) {
  const std::size_t bytes = send_receive_mailbox::bytes_of(next.header);
  if (bytes != std::min(boxes_->block_bytes(), m.bytes.size() - m.done)) return false;
  // Matching was charged with the first block.
  if (m.done == 0) clock::worked(host_work::match);
  copy_bytes(m.bytes.data() + m.done, next.payload, bytes);
  m.done += bytes;
  boxes_->hand_out(from);
  boxes_->release(boxes_->sender_of(from));
  return true;
}

bool posted_messages::answer(int from, peer_messages& all, const send_receive_mailbox::unexpected& next,
                             message<std::byte>& m) {
  const send_receive_mailbox::request_body request = send_receive_mailbox::request_in(next);
  if (request.bytes != m.bytes.size() || !is_long(m.bytes.size())) return false;
  connection* c = links_->ready(from);
  if (c == nullptr || !links_->has_room(*c)) return false;
  if (const char* wrong = all.answering.check(static_cast<std::uint32_t>(request.number))) {
    links_->break_off(*c, wrong);
    return false;
  }
  if (serial_ && !serial_->is_free()) return false;
  clock::worked(host_work::match);
  clear_to_send place{.bytes = m.bytes.size(), .number = static_cast<std::uint32_t>(request.number)};
  if (serial_) {
    m.registered.emplace(memory_->expose(m.bytes));
    serial_->take(from, m.bytes, m.registered->lkey());
  } else {
    m.registered = registered_if_taken([&] { return memory_->expose(m.bytes); });
    if (m.registered) {
      place.address = m.registered->region().address;
      place.key = m.registered->region().key;
    }
  }
  send_clear(*c, all, place);
  ++statistics_.answers;
  // Its block is released when the message is complete: until then it counts as outstanding.
  boxes_->hand_out(from);
  all.answering.clear();
  return true;
}

void posted_messages::send_clear(connection& c, peer_messages& all, const clear_to_send& answer) {
  std::byte text[sizeof(send_receive_mailbox::message_header) + sizeof answer];
  const send_receive_mailbox::message_header header{send_receive_mailbox::kind::clear, 0, 0};
  std::memcpy(text, &header, sizeof header);
  std::memcpy(text + sizeof header, &answer, sizeof answer);
  ibv_sge source{reinterpret_cast<std::uintptr_t>(text), sizeof text, 0};
  ibv_send_wr request{};
  request.sg_list = &source;
  request.num_sge = 1;
  request.opcode = IBV_WR_SEND;
  if (sizeof text <= c.qp->inline_bytes()) {
    request.send_flags = IBV_SEND_INLINE;
  } else {
    // The previous answer has arrived, since its message is complete.
    if (all.control.data == nullptr) all.control = links_->common_lane().pool.take(sizeof text);
    std::memcpy(all.control.data, text, sizeof text);
    source = {reinterpret_cast<std::uintptr_t>(all.control.data), sizeof text, all.control.lkey};
  }
  links_->post(c, request);
}

void posted_messages::take_copies(int from, peer_messages& all, message<std::byte>& m) {
  while (m.done < m.bytes.size()) {
    const send_receive_mailbox::unexpected* next = boxes_->oldest(from);
    if (next == nullptr) return;
    if (next->header.what != send_receive_mailbox::kind::message ||
        !send_receive_mailbox::is_of(next->header, m.now) || !take_block(from, *next, m))
      return links_->break_off(links_->get(from), "it sent something else than the blocks of a message");
  }
  all.answering.place();
}

bool posted_messages::take_placed(int from, peer_messages& all, message<std::byte>& m) {
  if (serial_ && serial_->is_filled(from)) {
    serial_->free();
    all.answering.place();
  }
  if (all.answering.now() == rendezvous_receiver::state::copying) take_copies(from, all, m);
  if (all.answering.now() != rendezvous_receiver::state::placed) return false;
  all.answering.end();
  m.registered.reset();
  m.done = m.bytes.size();
  boxes_->release(boxes_->sender_of(from));
  return true;
}

void posted_messages::judge(int from, call_id now) {
  const peer_messages* all = by_peer_.find(from);
  if (all == nullptr || all->receives.waiting.empty() ||
      all->answering.now() != rendezvous_receiver::state::idle)
    return;
  const send_receive_mailbox::unexpected* next = boxes_->oldest(from);
  if (next == nullptr) return;
  const auto& m = all->receives.waiting.front();
  if (!send_receive_mailbox::is_of(next->header, m.now))
    return links_->owner().inquiry().mismatch(from, now, next->header.call);
  const int rank = links_->owner().rank();
  if (next->header.what == send_receive_mailbox::kind::request) {
    const std::size_t bytes = send_receive_mailbox::request_in(*next).bytes;
    if (bytes != m.bytes.size() || !is_long(m.bytes.size()))
      throw_unequal_sizes(now.what, rank, m.bytes.size(), from, bytes);
    return;
  }
  const std::size_t bytes = send_receive_mailbox::bytes_of(next->header);
  if (is_long(m.bytes.size()) || bytes != std::min(boxes_->block_bytes(), m.bytes.size() - m.done))
    throw_unequal_sizes(now.what, rank, m.bytes.size(), from, m.done + bytes);
}

const char* posted_messages::on_clear(int from, const clear_to_send& answer) {
  peer_messages* all = by_peer_.find(from);
  return all == nullptr ? "it clears a message to be sent that was never posted"
                        : all->asking.on_clear(answer);
}

const char* posted_messages::on_placed(int from, std::uint32_t number) {
  peer_messages* all = by_peer_.find(from);
  return all == nullptr || serial_ ? "it ends a message that it was not cleared to send"
                                   : all->answering.on_placed(number);
}

const char* posted_messages::on_copies(int from, std::uint32_t number) {
  peer_messages* all = by_peer_.find(from);
  return all == nullptr || serial_ ? "it sends the blocks of a message that it was not cleared to send"
                                   : all->answering.on_copies(number);
}

void posted_messages::on_closed(int peer) noexcept {
  if (peer_messages* all = by_peer_.find(peer))
    links_->common_lane().pool.give_back(std::exchange(all->control, {}));
}

void posted_messages::withdraw() noexcept {
  if (serial_) serial_->withdraw();
  active_.clear();
  by_peer_.each([](peer_messages& all) {
    all.sends.end_all();
    all.receives.end_all();
    all.is_active = false;
  });
}

void posted_messages::describe(memory_report& m) const {
  std::size_t controls = 0;
  by_peer_.each([&](const peer_messages& all) { controls += in_cache_lines(all.control.bytes); });
  m.staging_bytes += controls;
  m.spare_bytes -= controls;
  if (serial_) serial_->describe(m);
}

}  // namespace chorale::transport
