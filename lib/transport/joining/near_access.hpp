// SPDX-License-Identifier: Apache-2.0
// How a rank that joins a group reaches the other ranks of its place.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <chorale/transport/joining/joining.hpp>

#include "../group/rank_card.hpp"

namespace chorale::transport {

/// `soft0`, which a rank opens in addition to its first device port until the layout, which is the same on
/// all ranks, determines which device carries what.
class near_access {
 public:
  /// Whether ranks of this group of `size` open it. The same on all ranks, unless their terms differ.
  [[nodiscard]] static bool is_wanted(const joining_plan& plan, const joined_group& group, int size);
  /// Opens it. If that fails, the first port gets a remark with the reason. `sizes`: of datagrams.
  near_access(joined_group& group, int rank, int size, int local_rank, datagram_port::options sizes);

  [[nodiscard]] bool is_open() const noexcept { return port_ != nullptr; }
  /// Precondition of this and the next two: it is open.
  [[nodiscard]] const device_port& port() const noexcept { return ports_.front(); }
  [[nodiscard]] near_card card(std::uint8_t zero_copy_kib) const;
  void add_peer(const near_card& theirs);
  /// The value of `rank_card::place` for the place with that number on this host. A rank that cannot open
  /// `soft0` is alone in its place.
  [[nodiscard]] std::uint64_t place(std::uint64_t number) const;
  /// Gives the group the ports that its layout needs. @throws error errc::no_device if this rank shares its
  /// place with others, as decided when it joined the group of which this is a part, but cannot open `soft0`
  /// again.
  void settle(joined_group& group);

 private:
  std::vector<device_port> ports_;  ///< one, or none
  std::unique_ptr<verbs::completion_channel> channel_;
  std::unique_ptr<datagram_port> port_;  ///< used if all ranks are in one place
};

}  // namespace chorale::transport
