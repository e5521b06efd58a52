// SPDX-License-Identifier: Apache-2.0
// Ranks that meet at a network address, without a launcher: for scripts, ssh, torchrun, Kubernetes.
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
  /// A text that only the ranks of the job know; it is never sent. Without it, any process that reaches the
  /// address can pass for a rank.
  std::string secret{};
  /// Time limit for all ranks to connect; zero: none.
  std::chrono::milliseconds deadline{300'000};

  /// `secret` from CHORALE_TCP_SECRET; `deadline` from CHORALE_DEADLINE_MS, unless it is unset or 0.
  /// @throws error errc::invalid_environment
  [[nodiscard]] static tcp_options from_environment();
};

/// The meeting point and the secret of a group, in 128 bytes for any channel that carries bytes: a file, a
/// message, a queue. The process that makes it must be a rank of the group; it listens from then on, until it
/// has made that group or ends. Whoever has the bytes can join, so keep them secret. An id serves one group.
class tcp_id {
 public:
  /// Not an id yet: to be overwritten with the bytes of one.
  tcp_id() = default;
  /// `host`: the name or address by which the other ranks reach this host, and thus the interface. Without
  /// it, up to six addresses of this host, all of which they try at once. @throws error
  /// errc::invalid_argument if `host` has no address; the errno of a failed system call.
  [[nodiscard]] static tcp_id make(const std::string& host = {});

  std::array<std::byte, 128> bytes{};  ///< Opaque.
};
static_assert(std::is_trivially_copyable_v<tcp_id> && sizeof(tcp_id) == 128);

/// A group of ranks that meet at an address: `communicator<> comm{tcp{rank, size, "node1:29500"}}`.
///
/// Rank 0, or the maker of an id, listens until all ranks have connected; the others connect, and retry until
/// their deadline. Connections last as long as this object: for a communicator, while it is made. Messages
/// are not encrypted, but a process without the secret can neither send nor change any. One thread at a time.
/// Cost: one descriptor per rank at rank 0, which sends the cards of all ranks to each.
class tcp {
 public:
  /// From the environment, as torchrun, Kubernetes jobs and scripts set it: RANK, WORLD_SIZE, MASTER_ADDR and
  /// MASTER_PORT. CHORALE_TCP_PORT replaces MASTER_PORT; without it, if a torchrun agent listens at
  /// MASTER_PORT (TORCHELASTIC_USE_AGENT_STORE), the next port is used. @throws error
  /// errc::invalid_environment if a variable is missing or is not a number in its range, or if there is no
  /// next port; as the next constructor.
  explicit tcp(const tcp_options& options = tcp_options::from_environment());
  /// Rank `rank` of `size`, where rank 0 listens at `address`: "node1:29500", "10.0.0.1:29500",
  /// "[fd00::1]:29500". Rank 0 listens at that address if it is "localhost" or, written in numbers, one of
  /// its host; otherwise at all addresses of its host. Collective. @throws error errc::invalid_argument;
  /// errc::bootstrap_failed, which names the ranks, if some are late, end, exist twice, or differ in size,
  /// secret or version; the errno of a failed system call.
  tcp(int rank, int size, std::string_view address,
      const tcp_options& options = tcp_options::from_environment());
  /// The same, meeting at the maker of `id`, with its secret instead of that in `options`. @throws error
  /// errc::misuse if this process has made the id and already used it.
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
