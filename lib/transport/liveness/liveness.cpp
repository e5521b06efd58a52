// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <mutex>

#include <fmt/format.h>

#include <chorale/transport/liveness/liveness.hpp>
#include <chorale/transport/wire/device_port.hpp>

#include "../group/farewell_audience.hpp"
#include "../group/membership.hpp"
#include "witness_round.hpp"

namespace chorale::transport {
namespace {

/// Number of processes of this host that are checked each time.
constexpr int processes_at_once = 8;

failure_detector::limits strictly(failure_detector::limits l, int size) noexcept {
  l.strangers_say_farewell = farewell_audience::is_everyone(size);
  return l;
}

}  // namespace

liveness::liveness(const membership& group, control_channel& channel, const failure_detector::limits& l)
    : group_(&group),
      channel_(&channel),
      detector_(group.size(), strictly(l, group.size())),
      closed_(static_cast<std::size_t>(group.size())) {
  channel.on_sign_of_life([this](int from) { detector_.hear(from); });
}

liveness::~liveness() {
  channel_->on_sign_of_life([](int) {});
}

void liveness::hear(int peer) noexcept {
  const std::lock_guard hold{channel_->lock()};
  detector_.hear(peer);
}

void liveness::expect_answer(int peer) {
  // Without a service thread it answers only while it waits in a call.
  if (!group_->is_served(peer)) return;
  const std::lock_guard hold{channel_->lock()};
  detector_.ask(peer);
}

void liveness::leave(int peer) noexcept {
  const std::lock_guard hold{channel_->lock()};
  detector_.leave(peer);
}

void liveness::note_reported(int from, int peer, bool has_left) noexcept {
  const std::lock_guard hold{channel_->lock()};
  if (has_left && (detector_.is_dead(peer) || detector_.may_have_left(peer))) return detector_.leave(peer);
  for (witness_round& asked : witness_rounds_)
    if (asked.peer() == peer) asked.deny(from);
}

std::vector<int> liveness::dead() {
  const std::lock_guard hold{channel_->lock()};
  return detector_.dead();
}

void liveness::take_farewell(int peer) noexcept {
  closed_[static_cast<std::size_t>(peer)] = true;
  leave(peer);
}

bool liveness::is_told(int peer) const noexcept {
  if (peer == group_->rank()) return false;
  const std::lock_guard hold{channel_->lock()};
  if (detector_.is_dead(peer)) return false;
  return farewell_audience{group_->rank(), group_->size()}.includes(peer) || group_->is_on_this_host(peer) ||
         detector_.was_heard(peer) || channel_->port().is_prepared(peer);
}

bool liveness::is_lost(int peer) noexcept {
  const std::lock_guard hold{channel_->lock()};
  return detector_.is_gone(peer) || detector_.is_silent(peer);
}

clock::duration liveness::attended_now() {
  const std::lock_guard hold{channel_->lock()};
  detector_.advance_to(clock::now());
  return detector_.attended();
}

std::string liveness::route_hint(int peer) {
  if (peer < 0 || is_gone(peer) || is_stopped(peer)) return {};
  {
    const std::lock_guard hold{channel_->lock()};
    if (detector_.was_heard(peer) || detector_.silence_of(peer) == clock::duration{}) return {};
  }
  const device_port& here = channel_->port().over();
  const auto place = [](const verbs::endpoint_address& port) {
    return port.lid == 0 ? verbs::to_string(port.gid)
                         : fmt::format("{} with LID {}", verbs::to_string(port.gid), port.lid);
  };
  // Calls may have completed nevertheless, by way of other ranks.
  return fmt::format(
      "; no datagram has arrived from rank {} in this communicator: is there a path from its port, {}, to "
      "port {} of {} here, {}? "
      "Rails that are not connected may have equal subnet prefixes: set CHORALE_DEVICE, on each host to "
      "devices of one fabric",
      peer, place(here.address_of(peer)), here.local().number, here.device().name(),
      place(here.local().address));
}

std::string liveness::describe_silence(int peer) {
  const std::string hint = route_hint(peer);
  const std::lock_guard hold{channel_->lock()};
  const auto silent = std::chrono::duration_cast<std::chrono::milliseconds>(detector_.silence_of(peer));
  std::string text = fmt::format("it has given no sign of life for {} ms", silent.count());
  // If no rank at all is heard, the cause may be on this rank's side.
  int others = 0;
  int also_silent = 0;
  for (int r = 0; r < group_->size(); ++r) {
    if (r == group_->rank() || r == peer || detector_.is_gone(r)) continue;
    ++others;
    if (detector_.is_silent(r)) ++also_silent;
  }
  text +=
      ": neither its service thread nor its adapter answers; config::silence or CHORALE_SILENCE_MS sets the "
      "limit";
  if (detector_.may_have_left(peer))
    text += fmt::format(
        "; it may also have left: in a group of more than {} ranks it tells only those of its "
        "host, some others, and those with which it has exchanged anything",
        farewell_audience::small_group);
  text += hint;
  if (also_silent > 0) text += fmt::format("; so do {} of {} other ranks", also_silent, others);
  if (const auto refused = channel_->refused(); refused != 0)
    text += fmt::format("; {} datagrams were refused", refused);
  return text;
}

bool liveness::is_stopped(int peer) const {
  const process_identity* process = group_->process_of(peer);
  return process != nullptr && state_of(*process) == process_state::stopped;
}

void liveness::look_at_process(int peer) {
  const process_identity* process = group_->process_of(peer);
  if (process == nullptr || is_gone(peer)) return;
  const process_state state = state_of(*process);
  const std::lock_guard hold{channel_->lock()};
  if (state == process_state::gone) detector_.die(peer);
  if (state == process_state::running) detector_.see_running(peer);
  // A stopped process cannot answer but is not dead: it may be debugged or continued later.
  if (state == process_state::stopped) detector_.hear(peer);
}

failure_detector::wait liveness::begin(int peer) {
  const std::lock_guard hold{channel_->lock()};
  detector_.advance_to(clock::now());
  return detector_.begin(peer);
}

failure_detector::verdict liveness::judge(failure_detector::wait& w) {
  const std::lock_guard hold{channel_->lock()};
  return detector_.judge(w);
}

void liveness::check_some(int awaited) {
  if (awaited >= 0) look_at_process(awaited);
  for (const int peer : silent_suspects()) look_at_process(peer);
  const std::vector<int>& neighbours = group_->neighbours();
  for (int i = 0; i < std::min(processes_at_once, static_cast<int>(neighbours.size())); ++i)
    look_at_process(neighbours[next_neighbour_++ % neighbours.size()]);
}

std::vector<int> liveness::silent_suspects() {
  const std::lock_guard hold{channel_->lock()};
  std::vector<int> silent = detector_.suspects();
  std::erase_if(silent, [this](int peer) { return !detector_.is_silent(peer); });
  return silent;
}

std::vector<int> liveness::whom_to_ask(int awaited, bool asks_others) {
  std::vector<int> asked = [this] {
    const std::lock_guard hold{channel_->lock()};
    std::vector<int> owing = detector_.suspects();
    // Hundreds may have left: those are asked again only in their turn.
    std::erase_if(owing, [this](int peer) { return detector_.may_have_left(peer); });
    return owing;
  }();
  if (asks_others && group_->size() > 1) {
    const int next = static_cast<int>(next_asked_++ % static_cast<unsigned>(group_->size()));
    if (next != group_->rank() && !is_gone(next)) asked.push_back(next);
  }
  std::erase(asked, awaited);
  return asked;
}

std::vector<int> liveness::witnesses(int dead, int awaited) {
  const std::lock_guard hold{channel_->lock()};
  auto asked = std::find_if(witness_rounds_.begin(), witness_rounds_.end(),
                            [dead](const witness_round& r) { return r.peer() == dead; });
  if (asked == witness_rounds_.end())
    asked = witness_rounds_.emplace(asked, dead, group_->rank(), group_->size());
  std::vector<int> ranks = asked->next([this](int peer) { return detector_.is_gone(peer); });
  if (ranks.empty())
    detector_.deny_farewell(dead);
  else if (awaited >= 0 && !detector_.is_gone(awaited) &&
           std::find(ranks.begin(), ranks.end(), awaited) == ranks.end())
    ranks.push_back(awaited);
  return ranks;
}

int liveness::absent_stranger(int awaited) {
  const std::lock_guard hold{channel_->lock()};
  if (awaited >= 0 && detector_.may_have_left(awaited)) return awaited;
  const std::vector<int>& suspects = detector_.suspects();
  for (std::size_t i = 0; i < suspects.size(); ++i) {
    const int peer = suspects[next_absent_++ % suspects.size()];
    if (detector_.may_have_left(peer)) return peer;
  }
  return -1;
}

std::vector<int> liveness::keepers_of(int peer) {
  std::vector<int> keepers = farewell_audience{peer, group_->size()}.keepers();
  const std::lock_guard hold{channel_->lock()};
  std::erase_if(keepers, [this](int rank) { return rank == group_->rank() || detector_.is_gone(rank); });
  return keepers;
}

}  // namespace chorale::transport
