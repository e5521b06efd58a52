// SPDX-License-Identifier: Apache-2.0
// Ranks that meet at an address, without a launcher: of scripts, ssh, torchrun, Kubernetes.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include <chorale/bootstrap/concept.hpp>

namespace chorale::bootstrap {

/// How ranks meet.
struct tcp_options {
  /// Text that all ranks of the job have and nobody else; it is never sent. Without it, every process that
  /// reaches the address can be taken for a rank.
  std::string secret{};
  /// For all ranks to come; zero: as long as it takes.
  std::chrono::milliseconds deadline{300'000};

  /// `secret` from CHORALE_TCP_SECRET; `deadline` from CHORALE_DEADLINE_MS, unless it is unset or 0.
  /// @throws error errc::invalid_environment
  [[nodiscard]] static tcp_options from_environment();
};

/// Where a group meets, and its secret, in 128 bytes for any channel that carries bytes: a file, a message, a
/// queue. One process makes it, and must be a rank of the group; it listens from then on, until it has made
/// that group or ends. Whoever has the bytes can join, so they are to be kept from others. One id, one group.
class tcp_id {
 public:
  /// No id yet: to be overwritten with the bytes of one.
  tcp_id() = default;
  /// `host`: this host's name or address for the others, and with it the interface; without it, up to six
  /// addresses of this host, which are tried at once. @throws error as the system says
  [[nodiscard]] static tcp_id make(const std::string& host = {});

  std::array<std::byte, 128> bytes{};  ///< What it contains is a detail.
};
static_assert(std::is_trivially_copyable_v<tcp_id> && sizeof(tcp_id) == 128);

/// A group of ranks that meet at an address: `communicator<> comm{tcp{rank, size, "node1:29500"}}`.
///
/// Rank 0, or the maker of an id, listens until all are there; the others connect, and try again until their
/// deadline. Each connection stays as long as this object: for a communicator, while that is made. Messages
/// are not encrypted, but who lacks the secret cannot send or change any. One thread at a time. Cost: one
/// descriptor for each rank at rank 0, which sends the cards of all ranks to each.
class tcp {
 public:
  /// From the environment, as torchrun, Kubernetes jobs and scripts set it: RANK, WORLD_SIZE, MASTER_ADDR and
  /// MASTER_PORT. CHORALE_TCP_PORT replaces MASTER_PORT; without it, under a torchrun whose agent listens
  /// there (TORCHELASTIC_USE_AGENT_STORE), it is the next port.
  /// @throws error errc::invalid_environment for a variable that is missing or no number of its kind, and as
  /// the next one.
  explicit tcp(const tcp_options& options = tcp_options::from_environment());
  /// Rank `rank` of `size`, where rank 0 listens at `address`: "node1:29500", "10.0.0.1:29500",
  /// "[fd00::1]:29500". Rank 0 listens at that address if it is one of its own, or "localhost"; else at all.
  /// Collective. @throws error errc::invalid_argument; errc::bootstrap_failed, which names the ranks, if some
  /// are late, end, are there twice, or differ in size, secret or version; the errno of a failed system call.
  tcp(int rank, int size, std::string_view address,
      const tcp_options& options = tcp_options::from_environment());
  /// The same at the maker of `id`, with its secret instead of that in `options`. @throws error
  /// errc::misuse if this process made it and has used it.
  tcp(int rank, int size, const tcp_id& id, const tcp_options& options = tcp_options::from_environment());

  [[nodiscard]] int rank() const noexcept;
  [[nodiscard]] int size() const noexcept;
  /// This rank's number among the ranks of the group on its host, from 0.
  [[nodiscard]] int local_rank() const noexcept;
  [[nodiscard]] std::string job() const;
  [[nodiscard]] std::string describe() const;
  /// `mine` is at most 64 KiB. After a failure all later exchanges fail, on all ranks. @throws error
  /// errc::bootstrap_failed, which names the ranks, if some are late or have ended; errc::misuse in a child
  /// of fork().
  cards exchange(std::span<const std::byte> mine, std::chrono::milliseconds deadline);

 private:
  class meeting;
  std::shared_ptr<meeting> meeting_;
};
static_assert(group<tcp>);

}  // namespace chorale::bootstrap
