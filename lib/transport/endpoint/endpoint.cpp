// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <cstdio>
#include <utility>

#include <fmt/format.h>

#include <chorale/core/clock.hpp>
#include <chorale/core/system_services.hpp>
#include <chorale/transport/endpoint/endpoint.hpp>
#include <chorale/transport/observers/observed_calls.hpp>
#include <chorale/transport/observers/observer.hpp>

#include "../../core/printable.hpp"
#include "../group/membership.hpp"
#include "../liveness/watchdog.hpp"
#include "../observers/standard_observers.hpp"

namespace chorale::transport {
namespace {

/// Warns of misspelt variables, which would otherwise silently have no effect.
void name_unknown_variables() noexcept {
  static std::atomic<bool> are_named{false};
  if (are_named.exchange(true)) return;
  try {
    for (const std::string& name : unknown_environment_variables()) {
      const auto nearest = nearest_environment_variable(name);
      chorale::say(stderr, "chorale: the environment has {}, which nothing reads{}\n", name,
                   nearest.empty() ? std::string{} : fmt::format(": is {} meant?", nearest));
    }
  } catch (...) {
    // A failed warning is no reason to fail the communicator; the next communicator repeats it. (Not by
    // std::call_once: an exception through its C part would end the process if memory is exhausted.)
    are_named = false;
  }
}

bool spins(const config& settings, const membership& group) {
  return settings.wait == wait_policy::spin ||
         (settings.wait == wait_policy::automatic && !group.is_oversubscribed());
}

}  // namespace

void endpoint::require_headers(std::uint64_t of_program) {
  detail::require_same_layouts();
  constexpr std::uint64_t own =
      binary_interface();  // now, before a program's function of this name can replace it
  if (of_program != own) detail::throw_foreign_headers();
}

endpoint::endpoint(endpoint_user& user, joined_group&& group)
    : settings_(group.settings),
      user_(&user),
      ports_(std::move(group.ports)),
      use_(group.members->rank()),
      members_(std::move(group.members)),
      channel_({members_->rank(), members_->size(), members_->numbers().secret}, std::move(group.channel),
               std::move(group.port), settings_.service),
      start_(channel_, *members_),
      liveness_(*members_, channel_, {settings_.silence, settings_.stall, settings_.deadline}),
      calls_(*members_),
      failures_({*members_, dependents_, calls_, store_.frames(), channel_, liveness_, user}),
      inquiry_(*members_, calls_, channel_, liveness_, failures_, user),
      multicasts_(*this),
      engine_({channel_, multicasts_, user, failures_, calls_, use_},
              std::make_unique<watchdog>(*members_, settings_, user, calls_, liveness_, failures_, inquiry_),
              spins(settings_, *members_)) {
  if (rank() == 0) name_unknown_variables();
}

endpoint::~endpoint() {
  channel_.stop_service();
  // Otherwise the endpoint is destroyed because its transport could not be constructed, and `start_` tells
  // the others.
  if (inquiry_.has_left() || failures_.is_poisoned()) start_.dismiss();
}

std::uint32_t endpoint::public_name() const noexcept {
  return members_->numbers().name;
}

bool endpoint::oversubscribed() const noexcept {
  return members_->is_oversubscribed();
}

std::size_t endpoint::zero_copy_from() const noexcept {
  return members_->zero_copy_from();
}

const places& endpoint::layout() const noexcept {
  return members_->layout();
}

const location& endpoint::where() const noexcept {
  return members_->where();
}

bool endpoint::maps_memory() const noexcept {
  return members_->hosts() == 1 && !ports_.some_have_near && port().device().provider().map != nullptr;
}

bool endpoint::maps_within_place() const noexcept {
  if (near_port() != nullptr) return near_port()->device().provider().map != nullptr;
  // A rank alone in its place answers as the others do: only the soft0 of a simulation maps nothing.
  return maps_memory() || (uses_lanes() && !clock::is_replaced());
}

const std::string& endpoint::launched() const noexcept {
  return members_->launched();
}

std::string endpoint::announcements() const {
  return user_->announcements();
}

std::uint64_t endpoint::resent() const noexcept {
  return user_->resent() + multicasts_.resent();
}

void endpoint::introduce(const char* transport, std::string (*algorithms)(operation)) {
  static std::atomic<std::uint64_t> made{0};
  calls_.name_algorithms(algorithms);
  observed_communicator who;
  who.number = made.fetch_add(1, std::memory_order_relaxed) + 1;
  who.group = public_name();
  who.job = members_->job();
  who.rank = rank();
  who.size = size();
  who.transport = transport;
  who.device = port().chosen().device.name;
  if (near_port() != nullptr) who.device += " and " + near_port()->device().name();
  who.host = members_->host_of(rank());
  who.place = layout().of(rank());
  who.places = layout().count();
  who.launched = launched();
  calls_.give(new observed_calls{calls_, std::move(who), settings_.sampling, [this] { return resent(); }});
  auto own = standard_observers(settings_, calls_.observed().who());
  for (auto& one : own) calls_.observed().add(std::move(one));
  for (auto& one : process_observers()) calls_.observed().add(std::move(one));
}

void endpoint::leave() noexcept {
  multicasts_.settle();
  try {
    inquiry_.leave();
  } catch (...) {
    // If the farewell cannot be sent, peers notice the silence.
  }
  channel_.stop_service();
  // The names of the algorithms that it reports are in the states.
  if (calls_.is_observed()) calls_.observed().report_passed();
  store_.end_states();
}

}  // namespace chorale::transport
