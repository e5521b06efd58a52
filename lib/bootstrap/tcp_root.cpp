// SPDX-License-Identifier: Apache-2.0
#include "tcp_root.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "../core/printable.hpp"

namespace chorale::bootstrap {
namespace {

/// Limit of connections that have not joined, beyond the number of missing ranks: each takes a descriptor.
constexpr std::size_t most_strangers = 64;

}  // namespace

tcp_root::tcp_root(const tcp_claim& mine, std::uint64_t job, std::span<const std::byte> secret)
    : mine_(mine), secret_(secret.begin(), secret.end()), seats_(static_cast<std::size_t>(mine.size)) {
  welcome_.job = job;
  welcome_.root = mine.rank;
  seat& own = seats_[static_cast<std::size_t>(mine.rank)];
  own.claim = mine;
  own.has_joined = true;
  if (missing().empty()) complete();
}

void tcp_root::connected(int connection, std::string from, const tcp_nonce& drawn) {
  links_.emplace(connection,
                 link{{tcp_channel::side::root, secret_, drawn, longest_tcp_word}, std::move(from)});
  if (is_complete_)
    links_.at(connection).is_over = true;
  else
    crowd_out();
}

void tcp_root::crowd_out() {
  std::size_t strangers = 0;
  link* oldest = nullptr;
  for (auto& [number, one] : links_) {
    if (one.rank >= 0 || one.is_over) continue;
    // Prefers a connection that has not even greeted.
    if (oldest == nullptr || (oldest->channel.has_greeted() && !one.channel.has_greeted())) oldest = &one;
    ++strangers;
  }
  // If this closes the connection of a rank, that rank tries again.
  if (strangers > most_strangers + missing().size()) oldest->is_over = true;
}

void tcp_root::received(int connection, std::span<const std::byte> bytes) {
  link& from = links_.at(connection);
  if (from.is_over) return;
  from.channel.receive(bytes);
  while (!from.is_over) {
    const auto message = from.channel.next();
    if (!message) break;
    read(from, connection, *message);
  }
  if (from.channel.fault() != tcp_fault::none && !from.is_over) distrust(from);
}

void tcp_root::distrust(link& whom) {
  const tcp_fault why = whom.channel.fault();
  if (whom.rank >= 0) {
    const int rank = whom.rank;
    fail(fmt::format("{} cannot be understood: {}", whereabouts(rank), words_of(why)), {rank});
    return;
  }
  ++distrusted_;
  last_distrusted_ = fmt::format("from {}: {}", whom.from, words_of(why));
  // A rank with another secret cannot read this message, and thereby learns that the secrets differ.
  if (why == tcp_fault::wrong_secret) whom.channel.send(tcp_kind::failure, {});
  whom.is_over = true;
}

void tcp_root::read(link& from, int connection, const tcp_message& message) {
  if (from.rank < 0) {
    const auto claim = read_first<tcp_claim>(message.payload);
    if (failure_) {
      from.channel.send(tcp_kind::failure, failure_->bytes());
      from.is_over = true;
    } else if (message.kind == tcp_kind::join && claim && message.payload.size() == sizeof *claim) {
      seat_rank(from, connection, *claim);
    } else {
      from.is_over = true;
      fail(fmt::format("a process at {} knows the secret, and does not say which rank it is", from.from), {});
    }
    return;
  }
  const auto waited = read_first<std::uint64_t>(message.payload);
  if (message.kind == tcp_kind::late && waited)
    give_up(from.rank, std::chrono::milliseconds{std::min<std::uint64_t>(*waited, 1'000'000'000'000)});
  else if (message.kind == tcp_kind::card && is_complete_)
    take_card(seats_[static_cast<std::size_t>(from.rank)], message.payload);
  else
    fail(fmt::format("{} sent a message that has no place here", whereabouts(from.rank)), {from.rank});
}

void tcp_root::seat_rank(link& from, int connection, const tcp_claim& claim) {
  if (std::string_view{claim.version, sizeof claim.version} !=
      std::string_view{mine_.version, sizeof mine_.version}) {
    const std::string_view theirs{claim.version, sizeof claim.version};
    fail(fmt::format(
             "rank {} ({}) runs version {} of Chorale, rank {} ({}) version {}: install the same for all "
             "ranks",
             claim.rank, claim.where(), printable(theirs.substr(0, theirs.find('\0'))), mine_.rank,
             mine_.where(), mine_.version),
         {claim.rank});
  } else if (claim.size != mine_.size) {
    fail(fmt::format(
             "rank {} ({}) says that there are {} ranks, rank {} ({}) that there are {}: start all with the "
             "same number (WORLD_SIZE)",
             claim.rank, claim.where(), claim.size, mine_.rank, mine_.where(), mine_.size),
         {claim.rank});
  } else if (claim.rank < 0 || claim.rank >= mine_.size) {
    fail(fmt::format("{} says that it is rank {} of {}: ranks begin with 0", claim.where(), claim.rank,
                     mine_.size),
         {});
  } else if (const seat& held = seats_[static_cast<std::size_t>(claim.rank)]; held.has_joined) {
    fail(fmt::format(
             "two processes say that they are rank {}: {}, and {} ({}): give each process a number of its "
             "own (RANK)",
             claim.rank, whereabouts(claim.rank), claim.where(), from.from),
         {claim.rank});
  } else {
    from.rank = claim.rank;
    from.channel.send(tcp_kind::seated, {});
    from.channel.allow(sizeof(std::uint64_t) + longest_tcp_card);
    seats_[static_cast<std::size_t>(claim.rank)] = {claim, connection, {}, true};
    if (missing().empty()) complete();
    return;
  }
  from.channel.send(tcp_kind::failure, failure_->bytes());
  from.is_over = true;
}

void tcp_root::complete() {
  is_complete_ = true;
  std::map<std::uint64_t, std::int32_t> on_host;
  for (seat& one : seats_) {
    tcp_welcome to_it = welcome_;
    to_it.local_rank = on_host[one.claim.host]++;
    if (one.connection < 0)
      welcome_ = to_it;
    else
      links_.at(one.connection).channel.send(tcp_kind::welcome, detail::bytes_of(to_it));
  }
  for (auto& [number, one] : links_)
    if (one.rank < 0) one.is_over = true;
}

void tcp_root::contribute(std::span<const std::byte> mine) {
  seats_[static_cast<std::size_t>(mine_.rank)].card.emplace(mine.begin(), mine.end());
  for (const int rank : missing())
    if (seats_[static_cast<std::size_t>(rank)].connection < 0) lose(rank);
}

void tcp_root::take_card(seat& of, std::span<const std::byte> payload) {
  if (of.card || read_first<std::uint64_t>(payload) != round_) {
    fail(fmt::format("{} sent the message of another exchange", whereabouts(of.claim.rank)), {of.claim.rank});
    return;
  }
  payload = payload.subspan(sizeof round_);
  of.card.emplace(payload.begin(), payload.end());
}

std::optional<cards> tcp_root::finished_round() {
  if (failure_ || !is_complete_ || !missing().empty()) return std::nullopt;
  cards all;
  all.reserve(seats_.size());
  for (seat& one : seats_) all.push_back(std::move(*one.card));
  for (seat& one : seats_) one.card.reset();
  const auto payload = std::make_shared<const tcp_bytes>(write_cards_of_round(round_, all));
  const digest hash = hash_of(*payload);
  for (auto& [number, one] : links_)
    if (one.rank >= 0) one.channel.send(tcp_kind::all_cards, payload, hash);
  ++round_;
  return all;
}

std::vector<int> tcp_root::missing() const {
  std::vector<int> ranks;
  for (std::size_t i = 0; i < seats_.size(); ++i)
    if (is_complete_ ? !seats_[i].card : !seats_[i].has_joined) ranks.push_back(static_cast<int>(i));
  return ranks;
}

void tcp_root::closed(int connection) {
  const int rank = links_.at(connection).rank;
  links_.erase(connection);
  if (rank < 0) return;
  seat& its = seats_[static_cast<std::size_t>(rank)];
  if (its.connection != connection) return;
  its.connection = -1;
  const bool is_needed = !is_complete_ || (seats_[static_cast<std::size_t>(mine_.rank)].card && !its.card);
  if (is_needed) lose(rank);
}

void tcp_root::lose(int rank) {
  fail(is_complete_
           ? fmt::format("{} has ended, or was killed, before it made this exchange: not all ranks make the "
                         "same communicators",
                         whereabouts(rank))
           : fmt::format("{} has ended, or was killed, before all ranks had come", whereabouts(rank)),
       {rank});
}

void tcp_root::give_up(int rank, std::chrono::milliseconds waited) {
  std::vector<int> late = missing();
  if (late.empty()) return;
  const std::string doubt = distrusted_ == 0 || is_complete_
                                ? std::string{}
                                : fmt::format("; connections that were not believed: {}, the last {}",
                                              distrusted_, last_distrusted_);
  const std::string why =
      is_complete_ ? "made this exchange: not all ranks make the same communicators"
                   : fmt::format("come: look whether each was started, and reaches this address; {}",
                                 words_for_further_programs);
  fail(fmt::format("rank {} has waited {} ms, and {} of {} {} not {}{}", rank, waited.count(),
                   ranks_in_words(late), mine_.size, late.size() == 1 ? "has" : "have", why, doubt),
       late);
}

void tcp_root::fail(std::string text, std::vector<int> ranks) {
  if (failure_) return;
  failure_ = tcp_failure{std::move(text), std::move(ranks)};
  const tcp_bytes told = failure_->bytes();
  for (auto& [number, one] : links_) {
    if (one.rank < 0) continue;  // told once it has said which rank it is
    one.channel.send(tcp_kind::failure, told);
    one.is_over = true;
  }
}

std::span<const std::byte> tcp_root::outgoing(int connection) const {
  return links_.at(connection).channel.outgoing();
}

void tcp_root::sent(int connection, std::size_t bytes) {
  links_.at(connection).channel.sent(bytes);
}

bool tcp_root::is_over(int connection) const {
  return links_.at(connection).is_over;
}

std::string tcp_root::whereabouts(int rank) const {
  const seat& its = seats_[static_cast<std::size_t>(rank)];
  const auto found = links_.find(its.connection);
  return fmt::format("rank {} ({}{}{})", rank, its.claim.where(), found == links_.end() ? "" : ", ",
                     found == links_.end() ? "" : found->second.from);
}

}  // namespace chorale::bootstrap
