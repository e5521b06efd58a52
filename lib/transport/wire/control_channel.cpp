// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cassert>
#include <chrono>
#include <cstring>
#include <mutex>
#include <new>
#include <system_error>

#include <fmt/format.h>

#include <chorale/core/error.hpp>
#include <chorale/transport/group/group_view.hpp>
#include <chorale/transport/wire/control_channel.hpp>

#include "../../core/shortage.hpp"
#include "device_watch.hpp"
#include "messages.hpp"

namespace chorale::transport {
namespace {

constexpr auto patience_of_one = std::chrono::milliseconds{100};
/// A full queue takes a while to drain: a rank that polled for each completion would take a core from others.
constexpr auto pause_of_full_queue = std::chrono::microseconds{20};
constexpr auto patience_of_all = std::chrono::seconds{1};

}  // namespace

struct control_channel::subscription::entry {
  std::uint16_t first;
  std::uint16_t last;
  reader who;
  handler part;
};

control_channel::subscription::subscription() noexcept = default;

control_channel::subscription::subscription(control_channel& channel, std::unique_ptr<entry> made) noexcept
    : channel_(&channel), entry_(std::move(made)) {}

control_channel::subscription::subscription(subscription&& other) noexcept = default;

control_channel::subscription& control_channel::subscription::operator=(subscription&& other) noexcept {
  std::swap(channel_, other.channel_);
  std::swap(entry_, other.entry_);
  return *this;
}

control_channel::subscription::~subscription() {
  if (entry_) channel_->unsubscribe(*entry_);
}

control_channel::control_channel(const identity& self, std::unique_ptr<verbs::completion_channel> events,
                                 std::unique_ptr<datagram_port> port, service_policy policy)
    : self_(self), policy_(policy), events_(std::move(events)), port_(std::move(port)) {}

control_channel::~control_channel() = default;

std::size_t control_channel::room() const noexcept {
  return port_->payload_bytes() - sizeof(datagram_header);
}

bool control_channel::send(int to, std::uint16_t kind, std::span<const std::byte> body,
                           std::span<const std::byte> more, bool solicited) {
  const datagram_header head{datagram_header::expected_magic,
                             kind,
                             0,
                             self_.secret,
                             self_.rank,
                             static_cast<std::uint32_t>(body.size() + more.size())};
  const auto write = [&](std::byte* place) {
    std::memcpy(place, &head, sizeof head);
    place += sizeof head;
    if (!body.empty()) std::memcpy(place, body.data(), body.size());
    if (!more.empty()) std::memcpy(place + body.size(), more.data(), more.size());
  };
  const std::lock_guard hold{lock_};
  return port_->send(to, sizeof head + head.bytes, write, solicited);
}

void control_channel::send_patiently(int to, std::uint16_t kind, std::span<const std::byte> body,
                                     std::span<const std::byte> more) {
  const auto give_up = clock::now() + patience_of_one;
  while (!send(to, kind, body, more) && clock::now() < give_up) clock::sleep_for(pause_of_full_queue);
}

void control_channel::broadcast(std::uint16_t kind,
                                const std::function<std::span<const std::byte>(int to)>& body,
                                const std::function<bool(int to)>& is_there) {
  const auto patient_until = clock::now() + patience_of_all;
  for (int i = 0; i < unacknowledged_repetitions; ++i) {
    if (i > 0) clock::sleep_for(std::chrono::milliseconds{1});
    for (int to = 0; to < self_.size; ++to) {
      if (to == self_.rank || !is_there(to)) continue;
      send_best_effort(*this, to, kind, body(to), {}, patient_until);
    }
  }
}

void control_channel::drain(clock::duration patience) {
  const auto give_up = clock::now() + patience;
  const auto is_drained = [this] {
    const std::lock_guard hold{lock_};
    return port_->is_drained();
  };
  while (!is_drained() && clock::now() < give_up) clock::give_way();
}

control_channel::subscription control_channel::subscribe(std::uint16_t first, std::uint16_t last, reader who,
                                                         handler h) {
  auto made = std::make_unique<entry>(entry{first, last, who, std::move(h)});
  const std::lock_guard hold{lock_};
  if (made->part.tend) tended_.push_back(made.get());
  for (std::size_t kind = first; kind <= last; ++kind) {
    assert(subscribed_[kind] == nullptr);
    subscribed_[kind] = made.get();
  }
  return {*this, std::move(made)};
}

void control_channel::unsubscribe(const entry& gone) noexcept {
  const std::lock_guard hold{lock_};
  std::replace(subscribed_.begin() + gone.first, subscribed_.begin() + gone.last + 1,
               const_cast<entry*>(&gone), static_cast<entry*>(nullptr));
  std::erase(tended_, &gone);
}

void control_channel::on_sign_of_life(std::function<void(int from)> heard) {
  const std::lock_guard hold{lock_};
  heard_ = std::move(heard);
}

void control_channel::take(std::span<const std::byte> datagram, const ibv_wc& completion, reader by) {
  const auto read = read_datagram(datagram, self_.secret, self_.size);
  // Ignores datagrams from outside the group, and those of one rank in the name of another.
  if (!read || read->kind >= kinds || !port_->is_from(read->source, datagram, completion)) return refuse();
  heard_(read->source);
  const entry* to = subscribed_[read->kind];
  if (to == nullptr) return refuse();
  if (by == reader::own || to->who == reader::any) return to->part.take(read->source, read->kind, read->body);
  try {
    kept_.insert_or_assign({read->source, read->kind},
                           std::vector<std::byte>(read->body.begin(), read->body.end()));
    has_left_something_ = true;
  } catch (const std::bad_alloc&) {
    // Treated as lost in the network.
  }
}

bool control_channel::has_kept(int from, std::uint16_t kind) const {
  return kept_.contains({from, kind});
}

void control_channel::take_what_was_left() {
  if (service_failure_) std::rethrow_exception(service_failure_);
  has_left_something_ = false;
  for (const auto& [key, body] : std::exchange(kept_, {})) {
    const auto [source, kind] = key;
    if (const entry* to = subscribed_[kind]) to->part.take(source, kind, body);
  }
}

// Inlined into both callers, since most polls find nothing and a call would cost more than they do.
template <control_channel::reader by>
[[gnu::always_inline]] inline bool control_channel::poll() {
  return port_->poll([this](std::span<const std::byte> datagram, const ibv_wc& completion) {
    take(datagram, completion, by);
  });
}

bool control_channel::read() {
  if (attended_) [[unlikely]]
    attended_->take_over();
  const std::lock_guard hold{lock_};
  try {
    const bool was_left = has_left_something_;
    if (was_left) [[unlikely]]
      take_what_was_left();
    return poll<reader::own>() || was_left;
  } catch (const error& e) {
    // A port that failed with its device says only that its requests were flushed.
    const std::string trouble = device_trouble();
    const bool is_report = e.code() == std::errc::no_such_device;  // of the device, by the service thread
    if (trouble.empty() || is_report) throw;
    throw error(e.code(), fmt::format("{}; rank {}'s own device: {}", e.reason(), self_.rank, trouble),
                e.ranks());
  }
}

std::string control_channel::device_trouble() const noexcept {
  return port_->over().opened()->watch->trouble();
}

void control_channel::poll_sends() {
  const std::lock_guard hold{lock_};
  port_->reap();
}

void control_channel::start_service() {
  if (service_ || attended_) return;
  lock_.share();
  if (policy_ == service_policy::off) {
    attended_.emplace([this] {
      const std::unique_lock hold{lock_, std::try_to_lock};
      if (hold.owns_lock()) serve();
    });
    return attended_->take_over();
  }
  try {
    device_watch& watch = *port_->over().opened()->watch;
    service_.emplace(*events_, lock_, policy_,
                     service::work{.arm = [this] { port_->arm(); },
                                   .serve = [this] { serve(); },
                                   .fail = [this](std::exception_ptr why) { fail(std::move(why)); },
                                   .look =
                                       [this, &watch] {
                                         try {
                                           watch.look();
                                         } catch (const error& e) {
                                           throw error(e.code(),
                                                       fmt::format("rank {}: {}", self_.rank, e.reason()),
                                                       {self_.rank});
                                         }
                                       },
                                   .reports = watch.fd()});
  } catch (const std::system_error& e) {
    throw set_up_failure(self_.rank, self_.size, e.code(),
                         fmt::format("no thread for its service: {}; {}", reason_of(e), why_no_thread()));
  }
}

void control_channel::serve() noexcept {
  try {
    port_->reap();
    poll<reader::any>();
    for (const entry* one : tended_) one->part.tend();
  } catch (...) {
    fail(std::current_exception());
  }
}

void control_channel::fail(std::exception_ptr why) noexcept {
  service_failure_ = std::move(why);
  has_left_something_ = true;
}

}  // namespace chorale::transport
