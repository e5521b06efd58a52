// SPDX-License-Identifier: Apache-2.0
// How a rank joins its group: the messages that it sends, its checks of received messages, and its refusal if
// it cannot join.
#include <algorithm>
#include <sched.h>
#include <utility>

#include <fmt/format.h>

#include <chorale/core/fnv.hpp>
#include <chorale/core/uncancellable.hpp>
#include <chorale/model/tuning.hpp>
#include <chorale/transport/joining/joining.hpp>
#include <chorale/transport/joining/no_start_guard.hpp>

#include "../../core/virtual_places.hpp"
#include "../group/farewell_audience.hpp"
#include "../group/host.hpp"
#include "../group/membership.hpp"
#include "../group/rank_card.hpp"
#include "../group/terms.hpp"
#include "../memory/zero_copy_size.hpp"
#include "../observers/standard_observers.hpp"
#include "near_access.hpp"

namespace chorale::transport {
namespace {

/// Precedes the host name in the last round.
constexpr char open_now = '\1';

const group_view& checked(const group_view& group) {
  if (group.size < 1 || group.rank < 0 || group.rank >= group.size)
    throw error(
        errc::bootstrap_failed,
        fmt::format("the bootstrap says that this is rank {} of {}: ranks are 0 to size - 1, of at least "
                    "one; correct its rank() and size()",
                    group.rank, group.size));
  return group;
}

config validated(config settings) {
  settings.validate();
  return settings;
}

port_terms terms_of(const device_port& port, bool reaches_all) {
  port_terms terms;
  terms.is_soft = port.device().is_soft() ? 1 : 0;
  terms.is_for_all = terms.is_soft != 0 && reaches_all ? 1 : 0;
  if (terms.is_for_all != 0) terms.fabric = port.device().attributes().node_guid;
  port.chosen().device.name.copy(terms.device, sizeof terms.device - 1);
  return terms;
}

}  // namespace

/// This rank's card and terms, and its knowledge of the others so far.
struct joining::presentation {
  rank_card card;
  std::optional<near_access> near;
  group_terms terms;
};

error set_up_failure(int rank, int size, std::error_code code, const std::string& why) {
  return error{code,
               fmt::format("rank {} of {} on host {} cannot make its communicator: {}", rank, size,
                           this_host_name(), why),
               {rank}};
}

joined_group::joined_group(const joining_plan& plan, int local_rank) : settings(validated(plan.settings)) {
  const std::size_t count = 1 + plan.more_ports.size();
  if (count > group_terms::most_ports)
    throw error(errc::invalid_argument,
                fmt::format("the transport asks for {} device ports: a rank has at most {}", count,
                            group_terms::most_ports));
  ports.all.reserve(count);
  ports.all.emplace_back(settings, local_rank);
  for (const port_selection& wanted : plan.more_ports) {
    try {
      ports.all.emplace_back(wanted.within(settings), local_rank);
    } catch (const error& e) {
      throw error(e.code(), fmt::format("device port {} of {}, which the transport asks for: {}",
                                        ports.all.size() + 1, count, e.reason()));
    }
  }
}

joined_group::joined_group(joined_group&&) noexcept = default;

joined_group::~joined_group() {
  if (expected && port && members && made.is_here()) announce_no_start(*port, *members);
}

int joined_group::rank() const noexcept {
  return members->rank();
}

int joined_group::size() const noexcept {
  return members->size();
}

namespace {

/// The exception that is being handled, as an error that names this rank; if there is no memory for that,
/// unchanged.
std::exception_ptr naming(int rank, int size) noexcept {
  try {
    try {
      throw;
    } catch (const error&) {
      return std::current_exception();
    } catch (const std::system_error& e) {
      throw set_up_failure(rank, size, e.code(), reason_of(e));
    } catch (const std::exception& e) {
      throw set_up_failure(rank, size, std::make_error_code(std::errc::not_enough_memory), e.what());
    }
  } catch (...) {
    return std::current_exception();
  }
}

}  // namespace

// On any failure this rank still takes part in the rounds, in which the others wait for it, and reports the
// failure.
template <class Step>
void joining::attempt(const Step& step) noexcept {
  if (obstacle_) return;
  try {
    step();
  } catch (...) {
    obstacle_ = naming(rank_, size_);
  }
}

/// The same for steps that concern only this rank, whose errors do not name it.
template <class Step>
void joining::attempt_alone(const Step& step) noexcept {
  attempt([&] {
    try {
      step();
    } catch (const error& e) {
      throw set_up_failure(rank_, size_, e.code(), e.reason());
    }
  });
}

void joining::say(std::vector<std::byte> words) noexcept {
  words_ = std::move(words);
  message_ = words_;
}

void joining::refuse() noexcept {
  message_ = refusal_without_words();
  try {
    try {
      std::rethrow_exception(obstacle_);
    } catch (const error& e) {
      say(refusal_card(e));
    }
  } catch (...) {
    // There is no memory for an error, or for its text.
  }
}

joining::joining(const group_view& group, joining_plan plan) : rank_(checked(group).rank), size_(group.size) {
  attempt_alone([&] { open(group, plan); });
  if (obstacle_) refuse();
}

joining::joining(joining&&) noexcept = default;

joining::~joining() = default;

void joining::open(const group_view& group, const joining_plan& plan) {
  mine_ = std::make_unique<presentation>();
  group_.emplace(plan, group.where.local_rank);
  const device_port& first = group_->ports.all.front();
  const config& settings = group_->settings;
  require_places(settings);
  group_->channel = std::make_unique<verbs::completion_channel>(first.device());
  auto sizes = plan.port;
  sizes.channel = group_->channel.get();
  // Spread over the cores, so that one core does not serve the interrupts of all ranks of the host.
  sizes.completion_vector = group.where.local_rank;
  sizes.payload_bytes = std::min(sizes.payload_bytes, static_cast<std::size_t>(first.chosen().mtu_bytes));
  group_->port = std::make_unique<datagram_port>(first, size_, sizes);
  location where = group.where;
  if (near_access::is_wanted(plan, *group_, size_))
    mine_->near.emplace(*group_, rank_, size_, where.local_rank, sizes);
  if (where.place == 0) {
    where.place = detail::virtual_places::number(settings.places, rank_, size_);
    if (mine_->near) where.place = mine_->near->place(where.place);
  }
  group_->members = std::make_unique<membership>(rank_, size_, where, group.launched(),
                                                 static_cast<std::uint32_t>(detail::fnv1a(group.job())));

  group_terms& terms = mine_->terms;
  terms.messages.block_bytes = settings.block_bytes;
  terms.messages.blocks = settings.blocks ? *settings.blocks : message_terms::unset;
  terms.messages.zero_copy_bytes = settings.zero_copy_bytes.value_or(message_terms::unset);
  // Whether it is set decides as well: a candidate that copies ignores only the other threshold.
  terms.messages.alltoall_zero_copy_bytes = settings.alltoall_zero_copy_bytes.value_or(message_terms::unset);
  terms.messages.eager_bytes = settings.send_receive_eager_bytes;
  terms.messages.eager_way = static_cast<std::uint64_t>(settings.send_receive_eager);
  terms.messages.send_block_bytes = settings.send_receive_block_bytes;
  terms.messages.long_sends = static_cast<std::uint64_t>(settings.send_receive_long);
  // With a file, even one with the rows of the built-in table, a rank makes no trials.
  terms.tuning = model::tuning_table::of(settings)->fingerprint() ^ (settings.tuning.empty() ? 0U : 1U);
  terms.trials = static_cast<std::uint64_t>(settings.trials);
  terms.connections = settings.connections;
  terms.places = detail::fnv1a(settings.places);
  terms.messages.near = static_cast<std::uint64_t>(settings.near);
  terms.set_transport(plan.transport);
  terms.set_composition(group.composition());
  terms.port_count = static_cast<std::uint32_t>(group_->ports.all.size());
  for (std::size_t i = 0; i < group_->ports.all.size(); ++i)
    terms.ports[i] = terms_of(group_->ports.all[i], i == 0 || plan.more_ports[i - 1].reaches_all);
  terms.host = this_host();
  terms.user = this_user();
  const process_identity process = this_process();
  terms.pid_namespace = process.pid_namespace;

  rank_card& card = mine_->card;
  card.qp_number = group_->port->number();
  card.address = first.local().address;
  card.numbers = group_numbers::drawn();
  card.terms = terms.fingerprint();
  card.host = fingerprint(terms.host);
  card.place = where.place;
  card.process = process;
  card.has_service = settings.service == service_policy::off ? 0 : 1;
  card.zero_copy_kib = zero_copy_kib(first, settings);
  std::vector<verbs::endpoint_address> more;
  for (std::size_t i = 1; i < group_->ports.all.size(); ++i)
    more.push_back(group_->ports.all[i].local().address);
  std::optional<near_card> near;
  if (mine_->near && mine_->near->is_open())
    near = mine_->near->card(zero_copy_kib(mine_->near->port(), settings));
  say(write_card(card, this_process_cpus(), more, near ? &*near : nullptr));
}

void joining::take(bootstrap::cards all) {
  switch (due_) {
    case round::cards:
      // All ranks see the same cards: either all stop here or none.
      if (std::any_of(all.begin(), all.end(), [](const auto& c) { return is_refusal(c); })) {
        if (obstacle_) std::rethrow_exception(obstacle_);
        check_refusals(all);
      }
      due_ = round::opening;
      attempt([&] {
        check_count(all);
        take_cards(all);
      });
      // Freed here: the cards of a large group are long, and opening may take a while.
      bootstrap::cards{}.swap(all);
      if (due_ == round::opening) open_port();
      return;
    case round::terms:
      if (obstacle_) std::rethrow_exception(obstacle_);
      compare_terms(all);
    case round::opening:
      if (obstacle_) std::rethrow_exception(obstacle_);
      check_count(all);
      // All ranks see a refusal; then no rank is expected any more.
      group_->expected = std::none_of(all.begin(), all.end(), [](const auto& c) { return is_refusal(c); });
      check_refusals(all);
      for (int r = 0; r < size_; ++r) {
        const auto& text = all[static_cast<std::size_t>(r)];
        if (text.size() > 1 && group_->members->names_its_host(r))
          group_->members->name_host_of(r, {reinterpret_cast<const char*>(text.data()) + 1, text.size() - 1});
      }
      due_ = round::none;
      return;
    case round::none:
      return;
  }
}

void joining::take_cards(const bootstrap::cards& all) {
  bool is_alike = true;
  std::vector<device_port>& ports = group_->ports.all;
  for (int r = 0; r < size_; ++r) {
    const auto& raw = all[static_cast<std::size_t>(r)];
    const auto theirs = read_card(raw);
    if (!theirs) refuse_card(r, raw);
    is_alike = is_alike && theirs->card.terms == mine_->card.terms && theirs->card.ports == ports.size();
    group_->members->add(*theirs, mine_->card);
    for (std::size_t i = 0; i < std::min(ports.size(), std::size_t{theirs->card.ports}); ++i) {
      ports[i].add_peer(theirs->address(i));
    }
    group_->port->add_peer(theirs->card.qp_number);
    if (mine_->near && mine_->near->is_open()) mine_->near->add_peer(theirs->near);
  }
  group_->members->complete();
  if (mine_->near) mine_->near->settle(*group_);
  mine_->near.reset();
  group_->port->limit_payload(static_cast<std::size_t>(ports.front().mtu_bytes()));
  if (is_alike) return require_reach();
  const auto bytes = mine_->terms.bytes();
  say({bytes.begin(), bytes.end()});
  due_ = round::terms;
}

/// Checks the ports that are left once the layout is known. @throws error errc::unsupported
void joining::require_reach() const {
  for (const device_port& here : group_->ports.all) {
    for (int peer = 0; peer < size_; ++peer) {
      if (peer == rank_) continue;
      const std::string why = verbs::why_apart(here.local().address, here.address_of(peer));
      if (why.empty()) continue;
      throw error(errc::unsupported,
                  fmt::format("rank {} (port {} of {} on host {}) cannot reach rank {}: {}", rank_,
                              here.local().number, here.device().name(), this_host_name(), peer, why),
                  {rank_, peer});
    }
  }
}

void joining::refuse_card(int peer, std::span<const std::byte> card) const {
  if (const std::uint32_t version = version_of_card(card); version != rank_card::binary_interface)
    throw error(
        errc::mismatch,
        fmt::format("the binary interface differs between ranks: {} on rank {}, {} on rank {}; rebuild "
                    "all with one version of Chorale",
                    rank_card::binary_interface, rank_, version, peer),
        {rank_, peer});
  throw error(
      errc::bootstrap_failed,
      fmt::format("rank {} sent a card of {} bytes, which rank {} cannot read: did the bootstrap bring "
                  "it whole?",
                  peer, card.size(), rank_),
      {peer});
}

/// The port needs its key, which is derived from the cards. Datagrams to a port that is not open are lost, so
/// no rank sends before all ports are open.
void joining::open_port() {
  attempt_alone([&] {
    group_->port->open(group_->members->numbers().qkey);
    // Prepared, so that a rank without memory can still notify its keepers. In most algorithms most keepers
    // wait for this rank; all other ranks ask the keepers.
    for (const int peer : farewell_audience{rank_, size_}.keepers()) group_->port->prepare(peer);
    std::string text(1, open_now);
    if (group_->members->names_its_host(rank_)) text += mine_->terms.host.text();
    const auto bytes = std::as_bytes(std::span{text});
    say({bytes.begin(), bytes.end()});
  });
  if (obstacle_)
    refuse();
  else
    group_->expected = true;
}

void joining::compare_terms(const bootstrap::cards& all) const {
  check_count(all);
  for (int r = 0; r < size_; ++r) {
    const auto& raw = all[static_cast<std::size_t>(r)];
    group_terms theirs;
    if (read_terms(raw, theirs)) require_same_terms(rank_, mine_->terms, r, theirs);
  }
  check_refusals(all);
  throw error(
      errc::mismatch,
      fmt::format("rank {}: the ranks' settings have different fingerprints, but nothing of what they "
                  "then told differs: does the bootstrap mix up its exchanges?",
                  rank_),
      {rank_});
}

void joining::give_up() noexcept {
  if (!obstacle_) obstacle_ = naming(rank_, size_);
  refuse();
}

void joining::check_count(const bootstrap::cards& all) const {
  if (all.size() != static_cast<std::size_t>(size_))
    throw error(
        errc::bootstrap_failed,
        fmt::format("the bootstrap's exchange() gave rank {} {} cards of {} ranks: it must give one of "
                    "each rank, in their order",
                    rank_, all.size(), size_));
}

void joining::check_refusals(const bootstrap::cards& all) const {
  for (int r = 0; r < static_cast<int>(all.size()); ++r) {
    if (auto refusal = read_refusal(all[static_cast<std::size_t>(r)])) {
      if (refusal->empty())
        refusal = fmt::format("rank {} cannot make its communicator, and has no memory to say why", r);
      throw error(errc::bootstrap_failed, *refusal, {r});
    }
  }
}

}  // namespace chorale::transport
