// An endpoint's life: cards, datagrams of the control kinds, progress.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <utility>

#include <fmt/format.h>

#include <chorale/transport/endpoint.hpp>
#include <chorale/transport/reliable/streams.hpp>

#include "membership.hpp"
#include "messages.hpp"
#include "multicast/multicast_messages.hpp"
#include "no_start.hpp"
#include "stall_survey.hpp"

namespace chorale::transport {
namespace {

/// How often is said what nobody answers: where a datagram in ten is lost, one rank in 100,000 does not hear
/// it.
constexpr int repetitions = 5;

bool is_served(std::uint16_t kind) noexcept {
  return kind >= static_cast<std::uint16_t>(datagram_kind::first_served);
}

/// A misspelt variable would be without effect, and nobody would know.
void name_unknown_variables() noexcept {
  static std::once_flag once;
  try {
    std::call_once(once, [] {
      for (const std::string& name : unknown_environment_variables()) {
        const auto nearest = nearest_environment_variable(name);
        fmt::print(stderr, "chorale: the environment has {}, which nothing reads{}\n", name,
                   nearest.empty() ? std::string{} : fmt::format(": is {} meant?", nearest));
      }
    });
  } catch (...) {
    // A hint is not worth a communicator: the next one gives it.
  }
}

}  // namespace

group_view endpoint::checked(group_view group) {
  if (group.headers != binary_interface()) {
    throw error(errc::unsupported,
                "this program was compiled with headers that do not belong to the libchorale it runs with; "
                "rebuild it, or look which library the loader finds (ldd)");
  }
  return group;
}

// What may fail comes first: until the group is taken its owner tells the others.
endpoint::endpoint(endpoint_user& user, joined_group&& group)
    : user_(&user),
      rank_(group.rank()),
      size_(group.size()),
      settings_(group.settings),
      spin_(settings_.wait == wait_policy::spin ||
            (settings_.wait == wait_policy::automatic && !group.members->is_oversubscribed())),
      detector_(size_, {settings_.silence, settings_.stall, settings_.deadline}),
      answers_(static_cast<std::size_t>(size_)),
      multicasts_(*this) {
  use_.set_rank(rank_);
  if (rank_ == 0) name_unknown_variables();
  ports_ = std::move(group.ports);
  channel_ = std::move(group.channel);
  port_ = std::move(group.port);
  members_ = std::move(group.members);
}

endpoint::~endpoint() {
  // The transport could not be made whole: the others have met this rank, and would wait for it.
  if (has_left_ || failure_) return;
  const std::lock_guard hold{lock_};
  tell_of_no_start(*port_, *members_);
}

bool endpoint::oversubscribed() const noexcept {
  return members_->is_oversubscribed();
}

const std::string& endpoint::launched() const noexcept {
  return members_->launched();
}

std::uint64_t endpoint::job() const noexcept {
  return members_->secret();
}

std::size_t endpoint::next_state_index() noexcept {
  static std::atomic<std::size_t> next{0};
  return next.fetch_add(1);
}

bool endpoint::send_datagram(int to, std::uint16_t kind, std::span<const std::byte> body,
                             std::span<const std::byte> more, bool solicited) {
  const datagram_header head{datagram_header::expected_magic,
                             kind,
                             0,
                             members_->secret(),
                             rank_,
                             static_cast<std::uint32_t>(body.size() + more.size())};
  const std::lock_guard hold{lock_};
  return port_->send(to, {std::as_bytes(std::span{&head, 1}), body, more}, solicited);
}

void endpoint::insist_on_datagram(int to, std::uint16_t kind, std::span<const std::byte> body) {
  const auto give_up = steady::now() + std::chrono::milliseconds{100};
  while (!send_datagram(to, kind, body) && steady::now() < give_up) clock::give_way();
}

void endpoint::broadcast_datagram(std::uint16_t kind,
                                  const std::function<std::span<const std::byte>(int to)>& body) {
  const auto patient_until = steady::now() + std::chrono::seconds{1};
  for (int i = 0; i < repetitions; ++i) {
    if (i > 0) clock::sleep_for(std::chrono::milliseconds{1});
    for (int r = 0; r < size_; ++r) {
      // Who has left by the word of its connection alone may still listen for farewells.
      if (r == rank_ || detector_.is_dead(r) || farewells_.contains(r)) continue;
      try {
        if (steady::now() < patient_until)
          insist_on_datagram(r, kind, body(r));
        else
          send_datagram(r, kind, body(r));
      } catch (const error&) {
        // One that cannot be reached must not keep the others from hearing it.
      }
    }
  }
}

void endpoint::take_datagram(std::span<const std::byte> datagram) {
  // Anything that is not from this job is none of our business.
  const auto read = read_datagram(datagram, members_->secret(), size_);
  if (!read) return refuse_datagram();
  const auto [from, kind, body] = *read;
  detector_.hear(from);
  switch (static_cast<datagram_kind>(kind)) {
    case datagram_kind::question:
      return answer(from, body);
    case datagram_kind::answer: {
      const auto theirs = read_answer(body);
      if (!theirs) return refuse_datagram();
      answers_[static_cast<std::size_t>(from)] = *theirs;
      if (survey_) survey_->take(from, *theirs);
      return;
    }
    case datagram_kind::notice:
      take_notice(from, body);
      return;
    case datagram_kind::goodbye:
      return take_goodbye(from, body);
    default:
      if (is_served(kind))
        take_served(from, kind, body);
      else
        user_->on_datagram(from, kind, body);
      return;
  }
}

void endpoint::answer(int from, std::span<const std::byte> question) {
  std::uint64_t number = 0;
  if (question.size() != sizeof number) return refuse_datagram();
  std::memcpy(&number, question.data(), sizeof number);
  // Who asks has missed the notice, or would not wait any more.
  if (!failure_told_.empty()) {
    send_datagram(from, static_cast<std::uint16_t>(datagram_kind::notice), failure_told_);
    return;
  }
  const status_answer mine{status_, number};
  send_datagram(from, static_cast<std::uint16_t>(datagram_kind::answer), std::as_bytes(std::span{&mine, 1}));
}

void endpoint::take_served(int from, std::uint16_t kind, std::span<const std::byte> body) {
  if (is_multicast_kind(kind)) {
    multicasts_.take(from, kind, body);
  } else if (streams_ != nullptr) {
    streams_->on_datagram(from, kind, body);
  } else {
    refuse_datagram();
  }
}

std::size_t endpoint::datagram_room() const noexcept {
  return port_->payload_bytes() - sizeof(datagram_header);
}

void endpoint::read_datagrams() {
  const std::lock_guard hold{lock_};
  if (service_failure_) std::rethrow_exception(service_failure_);
  if (!kept_datagrams_.empty()) [[unlikely]]
    for (const auto& [key, d] : std::exchange(kept_datagrams_, {})) take_datagram(d);
  port_->poll([this](std::span<const std::byte> d) { take_datagram(d); });
}

void endpoint::start_service() {
  if (service_ || settings_.service == service_policy::off) return;
  lock_.share();
  try {
    service_.emplace(*channel_, lock_, settings_.service,
                     service::work{[this] { port_->arm(); }, [this] { serve(); },
                                   [this](std::exception_ptr why) { service_failure_ = std::move(why); }});
  } catch (const std::system_error& e) {
    throw set_up_failure(e.code(), fmt::format("no thread for its service (ulimit -u): {}", reason_of(e)));
  }
}

void endpoint::serve() noexcept {
  try {
    port_->poll([this](std::span<const std::byte> d) { keep_datagram(d); });
    if (streams_ != nullptr) streams_->progress();
  } catch (...) {
    service_failure_ = std::current_exception();
  }
}

void endpoint::keep_datagram(std::span<const std::byte> datagram) {
  const auto read = read_datagram(datagram, members_->secret(), size_);
  if (!read) return refuse_datagram();
  detector_.hear(read->source);
  if (is_served(read->kind))
    take_served(read->source, read->kind, read->body);
  else if (read->kind == static_cast<std::uint16_t>(datagram_kind::question))
    answer(read->source, read->body);
  else
    kept_datagrams_.insert_or_assign({read->source, read->kind},
                                     std::vector<std::byte>(datagram.begin(), datagram.end()));
}

void endpoint::progress() {
  read_datagrams();
  multicasts_.progress();
  user_->on_progress();
}

epoch endpoint::current() const noexcept {
  const auto c = status_.find(number_);
  return {number_, c ? c->signature() : 0, c ? c->what : operation::none};
}

void endpoint::note_departure(int peer) noexcept {
  const std::lock_guard hold{lock_};
  detector_.leave(peer);
}

void endpoint::note_life(int peer) noexcept {
  const std::lock_guard hold{lock_};
  detector_.hear(peer);
}

bool endpoint::is_lost(int peer) noexcept {
  const std::lock_guard hold{lock_};
  return detector_.is_gone(peer) || detector_.is_silent(peer);
}

void endpoint::advance(attention how) {
  const auto frame = parked_.frame;
  if (!frame) return;
  try {
    const auto ready = [this] { return parked_.ready(parked_.awaiter); };
    if (how == attention::waits) {
      wait(parked_.watch->peer(), parked_.watch->now(), ready);
    } else if (!ready()) {
      parked_.watch->look(how);
      return;
    }
  } catch (...) {
    parked_.failure = std::current_exception();
    let_go(parked_.failure);
  }
  parked_.watch->end();
  parked_.frame = {};
  frame.resume();
}

}  // namespace chorale::transport
