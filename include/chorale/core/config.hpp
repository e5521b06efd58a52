// The settings of a communicator. Their variables and ranges: lib/core/settings.cpp, from which
// docs/settings.md comes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <chorale/core/lean_chrono.hpp>
#include <chorale/core/stall_report.hpp>

namespace chorale {

/// How a rank waits for memory that another rank writes.
enum class wait_policy {
  automatic,  ///< `spin` where every rank of this host has a core of its own, `yield` where not
  spin,       ///< poll with pauses, then yield, then sleep in short naps
  yield,      ///< yield the core after each poll, then sleep in short naps
};

/// Which calls of `automatic` algorithms find out by trial what is the fastest here.
enum class trial_policy {
  /// All, but never at the price of other bits than the table's choice gives; none if config::tuning names
  /// a file.
  automatic,
  all,  ///< a sum of floating-point numbers may then have other bits in another run
  off,  ///< none: the tuning table decides
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
  polling,  ///< a thread that polls: quicker, and takes a core
  off,      ///< nobody: peers wait until the rank makes its next call, which it must make to end well
};

/// How a port becomes a member of a multicast group.
enum class join_policy {
  automatic,           ///< `connection_manager` on InfiniBand, else `attach`
  attach,              ///< the queue pair is attached, and on RoCE a socket joins the group (IGMP, MLD)
  connection_manager,  ///< librdmacm asks the fabric; `soft0` has none, and attaches
};

/// How `transport::rc_send_receive` moves messages of up to `config::send_receive_eager_bytes`.
enum class eager_policy {
  receive_queue,  ///< by send, into a receive that all senders share
  /// By RDMA write, into a ring of blocks for each sender, polled in memory. A rank then needs
  /// `config::blocks` blocks for each peer that it is connected to, in place of the shared receive queue.
  rdma_write,
};

/// How `transport::rc_send_receive` moves messages longer than `config::send_receive_eager_bytes`.
enum class long_send_policy {
  rendezvous,  ///< request, answer with the place, RDMA write, end: registered and told for each message
  serial,      ///< request, answer, send into the place: zero copy, one sender after the other
  copy,        ///< through blocks as well, whatever the length
};

/// What a communicator writes to standard error about itself.
enum class log_level {
  off,
  info,   ///< device and transport, choices by trial, messages sent again, calls that fail, the end
  debug,  ///< as well each call, each wait of a millisecond, each connection that is made or closed
};

/// Settings of a communicator. A field that the program does not set can be set by the environment:
/// `config::from_environment()` starts from the defaults below and reads the variables. A field's variable is
/// `CHORALE_` and its name in capitals, for times with `_MS` or `_US` behind. docs/settings.md lists all with
/// their ranges.
struct config {
  /// Device name as `ibv_devinfo` shows it, or `soft0`; or several, with commas between: the ranks of a host
  /// take them in turns. Empty: the first RDMA device with an active port, else `soft0`.
  std::string device;
  /// Port number, from 1.
  std::uint8_t port = 1;
  /// Row of the port's GID table (verbs address it by 8 bits). Unset: on RoCE the first IPv4 RoCE v2 row,
  /// else 0.
  std::optional<int> gid_index;
  /// Row of the port's partition key table.
  std::uint16_t pkey_index = 0;
  /// Service level, 0 to 15.
  std::uint8_t service_level = 0;
  /// Service level of datagrams and multicasts, 0 to 15, where it is to be another: with one of high priority
  /// they are not lost behind long messages (P1 section 5.4). Unset: `service_level`. A managed multicast
  /// group on InfiniBand has the one that the subnet manager gives it.
  std::optional<int> ud_service_level;
  /// Path MTU in bytes, a power of two from 256 to 4096; 0: the port's active MTU.
  int mtu = 0;
  /// Local acknowledgement timeout of connections: 4.096 us * 2^value.
  std::uint8_t qp_timeout = 14;
  /// Retries of a connection before its peer counts as lost.
  std::uint8_t qp_retry = 7;
  /// A wait fails when a peer has given no sign of life for so long; docs/liveness.md says what a sign of
  /// life is. The default outlasts machines that stall for seconds.
  std::chrono::milliseconds silence{20'000};
  /// A wait for a rank that is alive and elsewhere goes on, and is reported after so long, and again in
  /// doubled intervals.
  std::chrono::milliseconds stall{60'000};
  /// What is called with such a report on each rank that waits. None: the lowest rank that waits writes one
  /// line to standard error. It has no variable.
  stall_handler on_stall;
  /// A wait that takes longer fails, whatever the reason, and names the ranks that did not come; 0: no limit.
  /// Time in which this rank did not run is not counted.
  std::chrono::milliseconds deadline{0};
  /// Size of one block of a mailbox in bytes, its trailer of 16 bytes included. Where it is no multiple of
  /// 64, blocks lie that far apart all the same. The default takes a message of 8 KiB.
  std::size_t block_bytes = 8256;
  /// Blocks of a mailbox in each direction of a connection.
  std::uint32_t blocks = 16;
  /// Messages of at least so many bytes go straight between the users' buffers, shorter ones through the
  /// mailbox. The same on all ranks. Messages in one direction only go straight from twice that on, as do
  /// operands of trees, and broadcasts from four times that; from once that on where both ranks copy a half.
  std::size_t zero_copy_bytes = 65536;
  /// The same of the blocks of an alltoall, where that is to be another: P5 section 4.1 puts short ones
  /// straight as well. Unset: `zero_copy_bytes`. The same on all ranks.
  std::optional<std::size_t> alltoall_zero_copy_bytes;
  /// Longest message that `transport::rc_send_receive` copies through blocks at once, in bytes; longer ones
  /// go as `send_receive_long` says. The same on all ranks, as are the three below.
  std::size_t send_receive_eager_bytes = 8192;
  /// How those messages move.
  eager_policy send_receive_eager = eager_policy::receive_queue;
  /// Size of a block of that transport in bytes, its header of 16 bytes included: of a receive of its shared
  /// receive queue, or of a ring. `block_bytes` and `zero_copy_bytes` do not concern it.
  std::size_t send_receive_block_bytes = 8208;
  /// How longer messages move.
  long_send_policy send_receive_long = long_send_policy::rendezvous;
  /// How long user memory stays registered.
  registration_policy registration = registration_policy::automatic;
  /// Registrations of user memory that are kept.
  std::size_t registration_entries = 256;
  /// Bytes of user memory that stay registered.
  std::size_t registration_bytes = std::size_t{1} << 32;
  /// Reliable connections that a rank keeps open, 2 at least, and more for a while when all are in use: the
  /// least recently used one is evicted for a new one. 0: as many as are used. The same on all ranks.
  std::uint32_t connections = 0;
  /// File of `chorale-bench --table` by which algorithms are chosen; empty: the built-in table. The same on
  /// all ranks.
  std::string tuning;
  /// Whether algorithms are tried in turn during the first calls of a size (`algorithm/automatic.hpp`). The
  /// same on all ranks.
  trial_policy trials = trial_policy::automatic;
  /// Rank 0 says on standard error which algorithms it chooses, and why.
  bool explain = false;
  service_policy service = service_policy::event;  ///< Who answers datagrams while a rank computes.
  /// Shortest time that a rank waits for a multicast before it asks its sender to repeat it; where waits are
  /// usually longer, so is its patience.
  std::chrono::microseconds multicast_patience{1000};
  join_policy multicast_join = join_policy::automatic;  ///< How a port joins a multicast group.
  wait_policy wait = wait_policy::automatic;  ///< How to wait: spinning, or giving way to other threads.
  /// Lines of a log on standard error, with the time and the rank (docs/guide/seeing.md).
  log_level log = log_level::off;
  /// Calls, bytes and times are counted for `communicator::statistics()`; and when the communicator ends,
  /// they are written: "1": by rank 0 to standard error; anything else: by each rank, at the end of the file
  /// of that name, as lines of comma-separated values. Empty or "0": nothing is counted.
  std::string statistics;
  /// File into which what each rank has done is written as a trace for ui.perfetto.dev, when the communicator
  /// ends; empty: none.
  std::string trace;
  /// Most calls, waits and events of a rank's trace, for each communicator; of later ones only the number is
  /// kept. Each takes 48 bytes until the trace is written.
  std::size_t trace_records = 1'000'000;

  /// Defaults overridden by the environment.
  /// @throws error errc::invalid_environment naming the variable, its value and what it accepts.
  static config from_environment();
  /// @throws error errc::invalid_argument naming the field if one is out of range.
  void validate() const;
};

/// One environment variable that the library reads, in words.
struct environment_variable {
  std::string_view name;       ///< such as "CHORALE_DEVICE"
  std::string_view accepts;    ///< what values can be used
  std::string_view initially;  ///< what holds where it is not set
  std::string_view meaning;    ///< what it sets
};

/// All variables that the library reads (those of `soft0` included), in the order of docs/settings.md.
const std::vector<environment_variable>& environment_variables();

/// Names of variables in this process's environment that begin with CHORALE_ and that nothing reads:
/// usually misspelt. (`CHORALE_TEST_*` is left to test programs.)
std::vector<std::string> unknown_environment_variables();

/// The variable of `environment_variables()` that `name` was meant to be: it differs in at most a third of
/// what stands behind "CHORALE_", or has that as its beginning or end; empty if there is none.
std::string_view nearest_environment_variable(std::string_view name);

}  // namespace chorale
