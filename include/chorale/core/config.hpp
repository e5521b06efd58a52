// Every setting of the library, its environment variable, default and range: this is the one place.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <chorale/core/stall_report.hpp>

namespace chorale {

/// How a rank waits for memory that another rank writes.
enum class wait_policy {
  automatic,  ///< `spin` where every rank of this host has a core of its own, `yield` where not
  spin,       ///< poll with pauses, then yield, then sleep in short naps
  yield,      ///< give the core away after each look, then sleep in short naps
};

/// How long registrations of user memory are kept.
enum class registration_policy {
  automatic,      ///< cached where that is safe: on devices that find pages by address, or else `watched`
  watched,        ///< cached if the kernel tells of unmapped memory (userfaultfd), else `per_operation`
  per_operation,  ///< for the operation only
};

/// Who answers the datagrams of peers while a rank computes, on transports that need an answer.
enum class service_policy {
  event,    ///< a thread that sleeps until it is asked
  polling,  ///< a thread that looks all the time: quicker, and takes a core
  off,      ///< nobody: peers wait until the rank makes its next call, which it must make to end well
};

/// How a port becomes a member of a multicast group.
enum class join_policy {
  automatic,           ///< `connection_manager` on InfiniBand, else `attach`
  attach,              ///< the queue pair is attached, and on RoCE a socket joins the group (IGMP, MLD)
  connection_manager,  ///< librdmacm asks the fabric; `soft0` has none, and attaches
};

/// Settings of a communicator. A field that the program does not set can be set by the environment:
/// `config::from_environment()` starts from the defaults below and reads the variables.
struct config {
  /// `CHORALE_DEVICE`: device name as `ibv_devinfo` shows it, or `soft0`; or several, with commas between:
  /// the ranks of a host take them in turns. Empty: the first RDMA device with an active port, else `soft0`.
  std::string device;
  /// `CHORALE_PORT`: port number, from 1.
  std::uint8_t port = 1;
  /// `CHORALE_GID_INDEX`: row of the port's GID table, 0 to 255 (verbs address it by 8 bits). Unset: on RoCE
  /// the first IPv4 RoCE v2 row, else 0.
  std::optional<int> gid_index;
  /// `CHORALE_PKEY_INDEX`: row of the port's partition key table.
  std::uint16_t pkey_index = 0;
  /// `CHORALE_SERVICE_LEVEL`: 0 to 15.
  std::uint8_t service_level = 0;
  /// `CHORALE_MTU`: path MTU in bytes, 256 to 4096, a power of two. 0: the port's active MTU.
  int mtu = 0;
  /// `CHORALE_QP_TIMEOUT`: local acknowledgement timeout, 4.096 us * 2^value, 1 to 31.
  std::uint8_t qp_timeout = 14;
  /// `CHORALE_QP_RETRY`: transport retries before a peer counts as lost, 0 to 7.
  std::uint8_t qp_retry = 7;
  /// `CHORALE_SILENCE_MS`: a wait fails when a peer has given no sign of life for so long, 100 to 2147483647
  /// ms. docs/liveness.md says what a sign of life is. The default outlasts machines that stall for seconds.
  std::chrono::milliseconds silence{20'000};
  /// `CHORALE_STALL_MS`: a wait for a rank that is alive and elsewhere goes on, and is reported after so
  /// long, and again in doubled intervals; 1 to 2147483647 ms.
  std::chrono::milliseconds stall{60'000};
  /// What is called with such a report on each rank that waits. None: the lowest rank that waits writes one
  /// line to standard error.
  stall_handler on_stall;
  /// `CHORALE_DEADLINE_MS`: a wait that takes longer fails, whatever the reason, and names the ranks that did
  /// not come; 1 to 2147483647 ms, or 0: no limit. Time in which this rank did not run is not counted.
  std::chrono::milliseconds deadline{0};
  /// `CHORALE_BLOCK_BYTES`: size of one block of a mailbox, trailer of 16 bytes included; 256 to 1 MiB,
  /// multiple of
  /// 64. The default takes a message of 8 KiB.
  std::size_t block_bytes = 8256;
  /// `CHORALE_BLOCKS`: blocks of a mailbox in each direction of a connection; 2 to 1024.
  std::uint32_t blocks = 16;
  /// `CHORALE_ZERO_COPY_BYTES`: messages of at least so many bytes go straight between the users' buffers,
  /// shorter ones through the mailbox; 0 to 2^40. The same on all ranks. Messages that
  /// none comes back for go straight from twice that on, broadcasts from four times that.
  std::size_t zero_copy_bytes = 65536;
  /// `CHORALE_REGISTRATION`: `auto`, `watched` or `operation`.
  registration_policy registration = registration_policy::automatic;
  /// `CHORALE_REGISTRATION_ENTRIES`: registrations of user memory that are kept; 1 to 16384.
  std::size_t registration_entries = 256;
  /// `CHORALE_REGISTRATION_BYTES`: bytes of user memory that stay registered; 0 to 2^40.
  std::size_t registration_bytes = std::size_t{1} << 32;
  /// `CHORALE_CONNECTIONS`: reliable connections that a rank keeps open, the one used longest ago is closed
  /// for a new one; 0: as many as are used; else 2 to 65536. The same on all ranks.
  std::uint32_t connections = 0;
  /// `CHORALE_TUNING`: file of `chorale-bench --table` by which algorithms are chosen; empty: the built-in
  /// table. The same on all ranks.
  std::string tuning;
  /// `CHORALE_EXPLAIN`: 0 or 1; with 1 rank 0 says on standard error which algorithms it chooses and why.
  bool explain = false;
  /// `CHORALE_SERVICE`: `event`, `polling` or `off`.
  service_policy service = service_policy::event;
  /// `CHORALE_MULTICAST_PATIENCE_US`: shortest time that a rank waits for a multicast until it asks its
  /// sender to repeat it, 1 to 10^7 microseconds; where waits are usually longer it is more patient.
  std::chrono::microseconds multicast_patience{1000};
  /// `CHORALE_MULTICAST_JOIN`: `auto`, `attach` or `rdma_cm`.
  join_policy multicast_join = join_policy::automatic;
  /// `CHORALE_WAIT`: `auto`, `spin` or `yield`.
  wait_policy wait = wait_policy::automatic;

  /// Defaults overridden by the environment.
  /// @throws error errc::invalid_environment naming the variable, its value and what it accepts.
  static config from_environment();
  /// @throws error errc::invalid_argument naming the field if one is out of range.
  void validate() const;
};

/// One environment variable the library reads.
struct environment_variable {
  std::string_view name;
  std::string_view accepts;
  std::string_view meaning;
};

/// All variables the library reads (those of `soft0` included), in the order of the documentation.
const std::vector<environment_variable>& environment_variables();

/// Names of variables in this process's environment that begin with CHORALE_ and that nothing reads:
/// usually misspelt. (`CHORALE_TEST_*` is left to test programs.)
std::vector<std::string> unknown_environment_variables();

/// The variable of `environment_variables()` whose name is nearest to `name`, a few letters away at most;
/// empty if none is.
std::string_view nearest_environment_variable(std::string_view name);

}  // namespace chorale
