// SPDX-License-Identifier: Apache-2.0
// A simulated rank: the steps of its program, and the checks after them.
#include "contents.hpp"
#include "simulated_job.hpp"

namespace protocols {
namespace {

using kind = step::kind;

chorale::call_id id_of(std::uint32_t call) noexcept {
  return {call + 1, 0x9d2c5680U + call, chorale::operation::none};
}

}  // namespace

bool stream_node::attempt(const step& s) {
  auto& net = job_->net;
  stream_table& t = *table_;
  const auto now = net.now();
  const auto call = id_of(s.call);
  const auto peer = static_cast<std::size_t>(s.peer);
  const auto there = [&]() -> exposed& { return *job_->nodes[peer]->memory_; };
  const auto key_of = [&](std::span<const std::byte> memory, bool writable) {
    return reliable::exposures{job_->options.secret}.add(memory, writable);
  };
  if (!t.broken(s.peer).empty())
    violated(fmt::format("the stream to {} is broken: {}", s.peer, t.broken(s.peer)));
  const auto found = [&](auto&& find) {
    auto f = find();
    if (f.what == chorale::transport::presence::absent && read()) f = find();
    if (f.what == chorale::transport::presence::of_another_call)
      violated(fmt::format("{}: what comes is of call {} and not of {}", describe(), f.seen, call.number));
    if (f.what == chorale::transport::presence::here) return true;
    static_cast<void>(t.await(s.peer, now));  // the next attempt reports a stream that breaks
    return false;
  };
  const auto has_room = [&](auto&& room) {
    if (room()) return true;
    read();
    if (room()) return true;
    t.request_report(s.peer, now);
    return false;
  };
  switch (s.what) {
    case kind::send: {
      if (!has_room([&] { return t.may_send(s.peer); })) return false;
      const std::uint64_t name = name_of(rank_, s.peer, sent_[peer]++);
      buffer_.resize(size_of(name, job_->options.block_bytes));
      fill(buffer_, name);
      t.send(s.peer, call, buffer_, now);
      return true;
    }
    case kind::receive: {
      std::span<const std::byte> message;
      if (!found([&] { return t.receive(s.peer, call, message); })) return false;
      check_message(s.peer, message);
      ++held_[peer];
      return true;
    }
    case kind::give_back:
      for (; held_[peer] > 0; --held_[peer])
        if (t.release(s.peer)) t.deliver_kept(s.peer, now);
      return true;
    case kind::signal:
      return t.signal(s.peer, call, now);
    case kind::signalled:
      return found([&] { return t.signalled(s.peer, call); });
    case kind::put: {
      if (!write_) {
        buffer_.resize(s.amount);
        fill(buffer_, name_of(rank_, s.peer, s.call));
        auto& puts = there().puts;
        const std::size_t place = (static_cast<std::size_t>(rank_) * job_->calls + s.call) * job_->put_bytes;
        write_ = reliable::write_request{s.peer, reinterpret_cast<std::uintptr_t>(puts.data()) + place,
                                         key_of(puts, true), buffer_, true};
      }
      while (!t.put(*write_, call, now))
        if (!has_room([&] { return t.has_room(s.peer); })) return false;
      t.end_report_requests(s.peer);
      write_.reset();
      return true;
    }
    case kind::notified:
      if (!found([&] { return t.notified(s.peer, call); })) return false;
      check_put(s);
      return true;
    case kind::flush:
      if (!t.is_flushed(s.peer)) read();
      if (!t.is_flushed(s.peer)) {
        t.request_report_soon(s.peer, now);
        return false;
      }
      t.end_report_requests(s.peer);
      return true;
    case kind::get:
    case kind::add:
      if (ticket_ == 0) {
        if (!has_room([&] { return t.has_room(s.peer); })) return false;
        t.end_report_requests(s.peer);
        const auto address = [](const auto& o) { return reinterpret_cast<std::uintptr_t>(&o); };
        if (s.what == kind::get) {
          buffer_.assign(s.amount, std::byte{0});
          ticket_ = t.get(s.peer, address(there().readable), key_of(there().readable, false), buffer_, now);
        } else {
          auto& counter = there().counter;
          ticket_ = t.operate(s.peer, address(counter), key_of(std::as_bytes(std::span{&counter, 1}), true),
                              reliable::atomic_operation::fetch_add, 1, 0, old_, now);
        }
      }
      {
        auto how = t.finish(ticket_);
        if (!how.over) {
          read();
          how = t.finish(ticket_);
        }
        if (how.refused) violated(*how.refused);
        if (!how.over) {
          t.await_answer(s.peer, now);
          return false;
        }
      }
      ticket_ = 0;
      t.end_await(s.peer);
      t.end_report_requests(s.peer);
      if (s.what == kind::add) {
        if (!olds_.insert(old_).second)
          violated(fmt::format("{}: an atomic operation was done twice", describe()));
      } else if (!is_filled(buffer_, name_of(s.peer, s.peer, 0))) {
        violated(fmt::format("{}: what was read is not what is there", describe()));
      }
      return true;
    case kind::compute:
    case kind::stop:
      break;
  }
  return true;
}

void stream_node::check_message(int from, std::span<const std::byte> message) {
  const std::uint64_t name = name_of(from, rank_, received_[static_cast<std::size_t>(from)]++);
  if (message.size() != size_of(name, job_->options.block_bytes) || !is_filled(message, name))
    violated(fmt::format("{}: message {} of {} is not as it was sent, once and in order", describe(),
                         static_cast<std::uint32_t>(name), from));
}

void stream_node::check_put(const step& s) {
  const std::size_t place = (static_cast<std::size_t>(s.peer) * job_->calls + s.call) * job_->put_bytes;
  if (!is_filled(std::span{memory_->puts}.subspan(place, s.amount), name_of(s.peer, rank_, s.call)))
    violated(fmt::format("{}: what was put is not there when it is announced", describe()));
}

}  // namespace protocols
