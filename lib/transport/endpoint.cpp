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
#include "no_start.hpp"
#include "stall_survey.hpp"

namespace chorale::transport {
namespace {

constexpr std::uint16_t raw(datagram_kind kind) noexcept {
  return static_cast<std::uint16_t>(kind);
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

endpoint::endpoint(endpoint_user& user, joined_group&& group)
    : user_(&user),
      rank_(group.rank()),
      size_(group.size()),
      settings_(group.settings),
      spin_(settings_.wait == wait_policy::spin ||
            (settings_.wait == wait_policy::automatic && !group.members->is_oversubscribed())),
      ports_(std::move(group.ports)),
      members_(std::move(group.members)),
      channel_({rank_, size_, members_->secret()}, std::move(group.channel), std::move(group.port),
               settings_.service),
      lives_(*members_, channel_, {settings_.silence, settings_.stall, settings_.deadline}),
      answers_(static_cast<std::size_t>(size_)),
      multicasts_(*this) {
  use_.set_rank(rank_);
  if (rank_ == 0) name_unknown_variables();
  subscribe();
}

endpoint::~endpoint() {
  channel_.stop_service();
  // The transport could not be made whole: the others have met this rank, and would wait for it.
  if (!has_left_ && !failure_) tell_of_no_start(channel_.port(), *members_);
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

void endpoint::subscribe() {
  using reader = control_channel::reader;
  const auto to = [this](auto method) {
    return control_channel::handler{[this, method](int from, std::uint16_t, std::span<const std::byte> body) {
      (this->*method)(from, body);
    }};
  };
  const auto add = [this](std::uint16_t first, std::uint16_t last, reader who, control_channel::handler h) {
    subscriptions_.push_back(channel_.subscribe(first, last, who, std::move(h)));
  };
  add(raw(datagram_kind::question), raw(datagram_kind::question), reader::any, to(&endpoint::answer));
  add(raw(datagram_kind::answer), raw(datagram_kind::answer), reader::own, to(&endpoint::take_answer));
  add(raw(datagram_kind::notice), raw(datagram_kind::notice), reader::own, to(&endpoint::take_notice));
  add(raw(datagram_kind::goodbye), raw(datagram_kind::goodbye), reader::own, to(&endpoint::take_goodbye));
  add(raw(datagram_kind::first_of_transport), raw(datagram_kind::first_served) - 1, reader::own,
      {[this](int from, std::uint16_t kind, std::span<const std::byte> body) {
        user_->on_datagram(from, kind, body);
      }});
}

void endpoint::serve_streams(reliable::streams& streams) {
  subscriptions_.push_back(channel_.subscribe(
      static_cast<std::uint16_t>(reliable::stream_kind::packet),
      static_cast<std::uint16_t>(reliable::stream_kind::question), control_channel::reader::any,
      {[&streams](int from, std::uint16_t kind, std::span<const std::byte> body) {
         streams.on_datagram(from, kind, body);
       },
       [&streams] { streams.progress(); }}));
}

void endpoint::take_answer(int from, std::span<const std::byte> body) {
  const auto theirs = read_answer(body);
  if (!theirs) return refuse_datagram();
  answers_[static_cast<std::size_t>(from)] = *theirs;
  if (survey_) survey_->take(from, *theirs);
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

void endpoint::start_service() {
  try {
    channel_.start_service();
  } catch (const std::system_error& e) {
    throw set_up_failure(e.code(), fmt::format("no thread for its service (ulimit -u): {}", reason_of(e)));
  }
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
