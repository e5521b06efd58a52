// SPDX-License-Identifier: Apache-2.0
// How a rank joins a group, in nonblocking steps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <chorale/bootstrap/concept.hpp>
#include <chorale/core/config.hpp>
#include <chorale/core/error.hpp>
#include <chorale/core/origin.hpp>
#include <chorale/transport/group/group_view.hpp>
#include <chorale/transport/wire/datagram_port.hpp>
#include <chorale/transport/wire/device_port.hpp>
#include <chorale/verbs/completion_channel.hpp>

namespace chorale::transport {

/// The device ports that a rank uses in a group. Moving it does not move them.
struct rank_ports {
  std::vector<device_port> all;  ///< one or more, each to all ranks; the first carries datagrams
  /// One to the other ranks of this rank's place if they do not use the first of `all`; otherwise none.
  std::vector<device_port> near;
  /// Whether some ranks of the group have one. The same on all ranks.
  bool some_have_near = false;

  /// The port in `near`, or null.
  [[nodiscard]] const device_port* to_place() const noexcept { return near.empty() ? nullptr : near.data(); }
};

class membership;

/// A transport's requirements for joining a group.
struct joining_plan {
  std::string transport;        ///< its name, the same on all ranks
  config settings;              ///< the settings as the transport uses them
  datagram_port::options port;  ///< sizes for the datagram port
  /// Device ports in addition to the first, which the settings select and datagrams use; the same number and
  /// kinds on all ranks.
  std::vector<port_selection> more_ports{};
  /// Whether the transport can use `soft0` among the ranks of a place, and the first device port for all
  /// others.
  bool has_lanes = false;
};

/// A group that this rank has joined: the input of an endpoint. Move-only. If it is destroyed without having
/// become an endpoint, ranks that already expect this one are told.
struct joined_group {
  /// Opens the device ports. @throws error as device_port, naming the one that failed.
  joined_group(const joining_plan& plan, int local_rank);
  joined_group(joined_group&& other) noexcept;
  joined_group& operator=(joined_group&&) = delete;
  ~joined_group();

  [[nodiscard]] int rank() const noexcept;
  [[nodiscard]] int size() const noexcept;

  config settings;
  rank_ports ports;
  std::unique_ptr<verbs::completion_channel> channel;
  std::unique_ptr<datagram_port> port;  ///< raises its events in the channel
  std::unique_ptr<membership> members;
  bool expected = false;  ///< other ranks may count on this one
  detail::origin made{};
};

/// One rank's part in forming a group. The ranks exchange messages in rounds, by whatever means the owner
/// has: each rank contributes `message()` and `take()`s the messages of all in rank order, until `is_over()`.
/// None of its functions waits.
///
/// * First each rank sends its card: its address, and fingerprints of everything that ranks compare.
/// * If fingerprints differ, each sends the underlying values, and all fail, naming the difference.
/// * Then each opens its port, and reports that datagrams can reach it.
///
/// A rank that cannot join sends a refusal with its reason in the current round, so that all ranks fail
/// instead of waiting for it. Cost: two rounds, and one pass over the cards (`docs/joining.md`).
class joining {
 public:
  /// Opens device and port. A failure of this rank is not thrown but reported in the next message. @throws
  /// error errc::bootstrap_failed if the rank is out of range.
  joining(const group_view& group, joining_plan plan);
  joining(joining&&) noexcept;
  joining& operator=(joining&&) = delete;
  ~joining();

  /// This rank's message for the current round. Precondition: joining is not over.
  [[nodiscard]] std::span<const std::byte> message() const noexcept { return message_; }
  /// Takes the messages of that round. @throws error if this rank or another cannot join, or if ranks do not
  /// match: there is no further round then, on any rank.
  void take(bootstrap::cards all);
  /// True if all ranks have joined.
  [[nodiscard]] bool is_over() const noexcept { return due_ == round::none; }
  /// Makes later messages say that this rank cannot join because of the exception that is being handled.
  void give_up() noexcept;
  /// True if other ranks may already expect this rank.
  [[nodiscard]] bool is_expected() const noexcept { return group_ && group_->expected; }
  /// Precondition: joining is over.
  [[nodiscard]] joined_group finish() noexcept { return std::move(*group_); }

 private:
  enum class round { cards, terms, opening, none };
  struct presentation;

  template <class Step>
  void attempt(const Step& step) noexcept;
  template <class Step>
  void attempt_alone(const Step& step) noexcept;
  void open(const group_view& group, const joining_plan& plan);
  void say(std::vector<std::byte> words) noexcept;
  void refuse() noexcept;
  void take_cards(const bootstrap::cards& all);
  void require_reach() const;
  void open_port();
  [[noreturn]] void refuse_card(int peer, std::span<const std::byte> card) const;
  [[noreturn]] void compare_terms(const bootstrap::cards& all) const;
  void check_count(const bootstrap::cards& all) const;
  void check_refusals(const bootstrap::cards& all) const;

  int rank_;
  int size_;
  round due_ = round::cards;
  std::vector<std::byte> words_;
  std::span<const std::byte> message_;  ///< `words_`, or a static refusal if allocation failed
  std::exception_ptr obstacle_;         ///< why this rank cannot join
  std::unique_ptr<presentation> mine_;
  std::optional<joined_group> group_;
};

/// Joins by the group's own exchange, which waits for all ranks. Collective.
/// @throws error as `joining`, and what the exchange throws.
[[nodiscard]] joined_group join(const group_view& group, joining_plan plan);

}  // namespace chorale::transport
