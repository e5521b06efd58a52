// How a rank joins a group, in steps of which none waits.
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
#include <chorale/transport/datagram_port.hpp>
#include <chorale/transport/device_port.hpp>
#include <chorale/transport/group_view.hpp>
#include <chorale/verbs/completion_channel.hpp>

namespace chorale::transport {

class membership;

/// What a transport asks for when it joins a group.
struct joining_plan {
  std::string transport;        ///< its name, which is the same on all ranks
  config settings;              ///< as the transport means to use them
  datagram_port::options port;  ///< sizes of the datagram port
  /// Device ports behind the first, which the settings choose and which datagrams use; as many and of the
  /// same kinds on all ranks.
  std::vector<port_selection> more_ports{};
};

/// A group that this rank has joined: what an endpoint is made of. Move-only. Where the other ranks count on
/// this one already, and it ends without having become an endpoint, they are told.
struct joined_group {
  /// Opens the device ports. @throws error as device_port, naming which.
  joined_group(config with, std::span<const port_selection> more_ports, int local_rank);
  joined_group(joined_group&& other) noexcept;
  joined_group& operator=(joined_group&&) = delete;
  ~joined_group();

  [[nodiscard]] int rank() const noexcept;
  [[nodiscard]] int size() const noexcept;

  config settings;
  std::vector<device_port> ports;  ///< one or more; they stay in place when the vector is moved
  std::unique_ptr<verbs::completion_channel> channel;
  std::unique_ptr<datagram_port> port;  ///< raises its events in the channel
  std::unique_ptr<membership> members;
  bool expected = false;  ///< other ranks may count on this one
};

/// One rank's part in the making of a group. Messages of all ranks are exchanged in rounds, by whatever means
/// the owner has: each rank gives `message()`, and `take()`s those of all in the order of the ranks, until
/// `is_over()`. Nothing in here waits.
///
/// * First each rank gives its card: where it is, and fingerprints of what the ranks compare.
/// * If the fingerprints differ, each gives what they stand for, and all fail, naming the difference.
/// * Then each opens its port, and says that datagrams reach it now.
///
/// A rank that cannot join gives a refusal with its reason in whichever round the others are, so that none
/// waits for it: all fail then. Cost: two rounds, the work of one pass over the cards (`docs/joining.md`).
class joining {
 public:
  /// Opens device and port. A failure of this rank is not thrown: it is what the next message says.
  /// @throws error errc::bootstrap_failed if there is no such rank.
  joining(const group_view& group, joining_plan plan);
  joining(joining&&) noexcept;
  joining& operator=(joining&&) = delete;
  ~joining();

  /// What this rank gives to the round that is due. Precondition: it is not over.
  [[nodiscard]] std::span<const std::byte> message() const noexcept { return message_; }
  /// Takes the messages of that round. @throws error if this rank or another cannot join, or if they do not
  /// fit together: no further round is due then, on any rank.
  void take(const bootstrap::cards& all);
  /// True if all ranks have joined.
  [[nodiscard]] bool is_over() const noexcept { return due_ == round::none; }
  /// From now on the messages say that this rank cannot join because of `why`, as `reason_of` has it.
  void give_up(std::error_code code, const std::string& why);
  /// True if others may have begun to count on this rank.
  [[nodiscard]] bool is_expected() const noexcept { return group_ && group_->expected; }
  /// Precondition: it is over.
  [[nodiscard]] joined_group finish() noexcept { return std::move(*group_); }

 private:
  enum class round { cards, terms, opening, none };
  struct presentation;

  template <class Step>
  void attempt(const Step& step);
  template <class Step>
  void attempt_alone(const Step& step);
  void open(const group_view& group, const joining_plan& plan);
  void take_cards(const bootstrap::cards& all);
  void open_port();
  [[noreturn]] void refuse_card(int peer, std::span<const std::byte> card) const;
  [[noreturn]] void compare_terms(const bootstrap::cards& all) const;
  void check_count(const bootstrap::cards& all) const;
  void check_refusals(const bootstrap::cards& all) const;

  int rank_;
  int size_;
  round due_ = round::cards;
  std::vector<std::byte> message_;
  std::optional<error> obstacle_;  ///< why this rank cannot join
  std::unique_ptr<presentation> mine_;
  std::optional<joined_group> group_;
};

/// Joins by the group's own exchange, which waits for all ranks. Collective.
/// @throws error as `joining`, and what the exchange throws.
[[nodiscard]] joined_group join(const group_view& group, joining_plan plan);

}  // namespace chorale::transport
