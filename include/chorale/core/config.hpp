// SPDX-License-Identifier: Apache-2.0
// The settings of a communicator. lib/core/settings.cpp defines their variables and ranges, docs/settings.md
// lists them.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <chorale/core/stall_report.hpp>

namespace chorale {

/// How a rank waits for memory that another rank writes.
enum class wait_policy {
  automatic,  ///< `spin` if every rank of this host has its own core, otherwise `yield`
  spin,       ///< poll with pauses, then yield, then sleep in short naps
  yield,      ///< yield the core after each poll, then sleep in short naps
};

/// Which calls of `automatic` algorithms measure candidates to find the fastest on this machine.
enum class trial_policy {
  /// All calls, but only with candidates that give the same bits as the table's choice; none if
  /// config::tuning names a file.
  automatic,
  all,  ///< all calls; a floating-point sum may then differ in its bits from run to run
  off,  ///< none: the tuning table decides
};

/// How long registrations of user memory are kept.
enum class registration_policy {
  /// Cached if that is safe: on devices that translate addresses at each access, else `watched`
  automatic,
  watched,        ///< cached if the kernel reports unmapped memory (userfaultfd), else `per_operation`
  per_operation,  ///< for one operation only
};

/// How datagrams of peers are answered while a rank computes, on transports that need answers.
enum class service_policy {
  event,    ///< a thread that sleeps until a datagram arrives
  polling,  ///< a thread that polls: lower latency, but occupies a core
  off,      ///< no answers: peers wait until the rank's next call; it must make one to end properly
};

/// How a port joins a multicast group.
enum class join_policy {
  automatic,           ///< `connection_manager` on InfiniBand, else `attach`
  attach,              ///< attaches the queue pair; on RoCE a socket joins the group (IGMP, MLD)
  connection_manager,  ///< librdmacm asks the fabric; `soft0` has no such manager and attaches
};

/// Whether RDMA writes into this rank's memory become visible, to a processor that polls the memory, in the
/// order in which they were posted.
enum class placement_policy {
  automatic,  ///< assumes order if the device is known to keep it, such as `soft0`
  ordered,    ///< as the fabric's operator guarantees; makes short messages faster
  unordered,  ///< completions announce all data
};

/// Whether the ranks of a place use `soft0` among themselves where an adapter leads to all others.
enum class near_policy {
  automatic,  ///< they do, over transports that can use two devices
  off,        ///< the adapter carries everything
};

/// How `transport::rc_send_receive` moves messages of up to `config::send_receive_eager_bytes`.
enum class eager_policy {
  receive_queue,  ///< by send, into a receive queue that all senders share
  /// By RDMA write, into a ring of blocks per sender, polled in memory. A rank then needs `config::blocks`
  /// blocks for each connected peer instead of receives.
  rdma_write,
};

/// How `transport::rc_send_receive` moves messages longer than `config::send_receive_eager_bytes`.
enum class long_send_policy {
  rendezvous,  ///< request, reply with the destination, RDMA write, end: registered for each message
  serial,      ///< request, reply, send into the destination: zero copy, one sender at a time
  copy,        ///< through blocks, for any length
};

/// What is checked of the operands of calls besides their sizes.
enum class check_policy {
  off,      ///< nothing: access to invalid memory ends the process
  buffers,  ///< that this process can read what a call reads and write what it writes
};

/// Verbosity of a communicator's log on standard error.
enum class log_level {
  off,    ///< nothing
  info,   ///< device and transport, algorithms chosen by trial, retransmissions, failed calls, the end
  debug,  ///< also each call, each wait of a millisecond or more, each connection opened or closed
};

/// Whether the calls of a communicator are counted for its `statistics()`, and what is written when it ends.
class statistics_policy {
 public:
  statistics_policy() = default;                 ///< off
  static statistics_policy off() { return {}; }  ///< calls are not counted
  /// They are counted, and rank 0 writes a table to standard error.
  static statistics_policy table() { return statistics_policy{true, {}}; }
  /// They are counted, and each rank appends lines of comma-separated values to the file of that name.
  static statistics_policy to_file(std::string name) { return statistics_policy{true, std::move(name)}; }

  [[nodiscard]] bool is_on() const noexcept { return is_on_; }  ///< whether calls are counted
  /// The file; none without one.
  [[nodiscard]] const std::optional<std::string>& file() const noexcept { return file_; }

 private:
  statistics_policy(bool is_on, std::optional<std::string> file) : is_on_(is_on), file_(std::move(file)) {}

  bool is_on_ = false;
  std::optional<std::string> file_;
};

/// Settings of a communicator. Fields that the program does not set can come from the environment:
/// `config::from_environment()` starts from the defaults below and reads the variables. The variable of a
/// field is `CHORALE_` and the field's name in capitals, with the suffix `_MS` or `_US` for times.
/// docs/settings.md lists all of them with their ranges.
struct config {
  /// Device name as `ibv_devinfo` shows it, or `soft0`; or several, separated by commas, assigned round-robin
  /// to the ranks of a host. Empty: the RDMA device that suits best, see `verbs::choose`, else `soft0`.
  std::string device;
  /// Port number, from 1.
  std::uint8_t port = 1;
  /// Index into the port's GID table (verbs use 8 bits). Unset: on RoCE the first RoCE v2 entry with an IPv4
  /// address, else one with a routable IPv6 address, else any; on InfiniBand 0.
  std::optional<int> gid_index;
  /// Index into the port's partition key table. Unset: determined by `pkey`.
  std::optional<std::uint16_t> pkey_index;
  /// Partition key, whose index may differ between hosts; its top bit, which distinguishes full from limited
  /// members, is ignored. Unset: the first key of which the port is a full member, else the first in the
  /// table.
  std::optional<std::uint16_t> pkey;
  /// Service level, 0 to 15.
  std::uint8_t service_level = 0;
  /// Service level of datagrams and multicasts, 0 to 15, if it should differ: at high priority they are not
  /// lost behind long messages (P1 section 5.4). Unset: `service_level`. A managed multicast group on
  /// InfiniBand uses the level that the subnet manager assigns.
  std::optional<int> ud_service_level;
  /// Traffic class of packets with a global route header, as all of RoCE have: 0 to 255, six bits of
  /// differentiated services and two of congestion notification.
  std::uint8_t traffic_class = 0;
  /// Largest path MTU in bytes, a power of two from 256 to 4096; 0: the port's active MTU. The smallest of
  /// all ranks is used.
  int mtu = 0;
  /// Local acknowledgement timeout of connections: 4.096 us * 2^value. With the default number of retries the
  /// default tolerates a flapping link or a route change for 8.6 s, on many adapters up to four times as
  /// long, about as long as `silence`.
  std::uint8_t qp_timeout = 18;
  /// Retries of a connection before its peer is considered lost.
  std::uint8_t qp_retry = 7;
  /// A wait fails if a peer shows no sign of life for this long; docs/liveness.md says what counts as one.
  /// The default tolerates machines that stall for seconds.
  std::chrono::milliseconds silence{20'000};
  /// A wait for a live rank that is elsewhere continues, but is reported after this time, and again at
  /// doubling intervals.
  std::chrono::milliseconds stall{60'000};
  /// Called with each such report on every rank that waits. Unset: the lowest waiting rank writes one line to
  /// standard error. It has no environment variable.
  stall_handler on_stall;
  /// A wait that takes longer than this fails for any reason, and names the missing ranks; 0: no limit. Time
  /// in which this rank was not scheduled does not count.
  std::chrono::milliseconds deadline{0};
  /// Size of one mailbox block in bytes, including its trailer of 16 bytes. Blocks are spaced at the next
  /// multiple of 64. The default holds a message of 8 KiB.
  std::size_t block_bytes = 8256;
  /// Mailbox blocks in each direction of a connection. The same on all ranks. Unset: `usual_blocks`, and more
  /// between ranks on `soft0`, as `mailbox_blocks` says.
  std::optional<std::uint32_t> blocks;
  /// The default number of mailbox blocks.
  static constexpr std::uint32_t usual_blocks = 16;
  /// The number of blocks that every connection has at least.
  [[nodiscard]] std::uint32_t least_blocks() const noexcept { return blocks.value_or(usual_blocks); }
  /// Blocks in each direction of a connection in a group of `ranks`: `blocks`, if set. Otherwise, if soft0
  /// copies to some of the ranks (`copies`), as many as fit into 4 MiB per rank for all its peers, at most
  /// 256 for each: a core takes two to three times as long to write into blocks whose cache lines the peer's
  /// core has just read and still holds as into blocks that are reused only after more data than its caches
  /// hold; and where ranks share cores, a sender gets further each time it is scheduled. Adapters get fewer:
  /// they write into the host's cache, and more blocks occupy more of it.
  [[nodiscard]] std::uint32_t mailbox_blocks(bool copies, int ranks) const noexcept;
  /// Messages of at least this many bytes move directly between user buffers (zero copy), shorter ones
  /// through the mailbox. The same on all ranks. One-way messages and operands of trees use zero copy from
  /// twice this size on, broadcasts from four times; from this size itself if each of the two ranks copies
  /// one half. Unset: see `zero_copy_from`; senders of an exchange within a `soft0` host then choose for
  /// messages of medium size (`exchange::straight_sizes`).
  std::optional<std::size_t> zero_copy_bytes;
  /// The default zero-copy threshold in bytes.
  static constexpr std::size_t usual_zero_copy_bytes = 65536;
  /// The threshold in effect: `zero_copy_bytes` if set, else `measured` if not 0, else the default.
  /// `measured`: the threshold in bytes if the ranks' cores copy (soft0) and each rank has a core; otherwise
  /// 0.
  [[nodiscard]] std::size_t zero_copy_from(std::size_t measured) const noexcept {
    return zero_copy_bytes.value_or(measured != 0 ? measured : usual_zero_copy_bytes);
  }
  /// The same threshold for the blocks of an alltoall, if different: P5 section 4.1 uses direct puts for
  /// short ones too. Unset: `zero_copy_bytes`. The same on all ranks.
  std::optional<std::size_t> alltoall_zero_copy_bytes;
  /// Longest message in bytes that `transport::rc_send_receive` copies through blocks at once;
  /// `send_receive_long` applies to longer ones. The same on all ranks, as are the next three.
  std::size_t send_receive_eager_bytes = 8192;
  /// How messages up to that length move.
  eager_policy send_receive_eager = eager_policy::receive_queue;
  /// Size of a block of that transport in bytes, including its header of 16 bytes: of a receive, or of
  /// a ring. `block_bytes` and `zero_copy_bytes` do not apply to it.
  std::size_t send_receive_block_bytes = 8208;
  /// How longer messages move.
  long_send_policy send_receive_long = long_send_policy::rendezvous;
  /// Whether RDMA writes become visible in order, or completions have to announce data.
  placement_policy placement = placement_policy::automatic;
  /// Whether ranks of one place use `soft0` among themselves beside an adapter. The same on all ranks.
  near_policy near = near_policy::automatic;
  /// How long user memory stays registered.
  registration_policy registration = registration_policy::automatic;
  /// Maximum number of cached registrations of user memory, for all communicators of the process that share a
  /// device.
  std::size_t registration_entries = 256;
  /// Maximum bytes of user memory that stay registered, for the same communicators together.
  std::size_t registration_bytes = std::size_t{1} << 32;
  /// Limit of open reliable connections of a rank, at least 2; exceeded temporarily while all are in use. The
  /// least recently used one is evicted for a new one. 0: no limit. The same on all ranks.
  std::uint32_t connections = 0;
  /// Tuning table, a file written by `chorale-bench --table`; empty: the built-in table. The same on all
  /// ranks.
  std::string tuning;
  /// Whether algorithms are measured in turn during the first calls of each size (`algorithm/automatic.hpp`).
  /// `off` also keeps senders of an exchange from choosing. The same on all ranks.
  trial_policy trials = trial_policy::automatic;
  /// Whether each call first checks that its operands are host memory that this process can access, for
  /// programs that also have pointers to GPU memory. Cost: a system call for each page, at most 512 for each
  /// operand.
  check_policy check = check_policy::off;
  /// Rank 0 reports on standard error which algorithms it chooses, and why.
  bool explain = false;
  /// Layout assumed for the ranks of a job, instead of a place for each host: `4x4` means four places of four
  /// consecutive ranks, `4x4c` the same with ranks assigned cyclically, `3,1,5` places of 3, 1 and 5 ranks.
  /// Splits keep the place of each rank. The same on all ranks.
  std::string places;
  service_policy service = service_policy::event;  ///< How datagrams are answered while a rank computes.
  /// Shortest time that a rank waits for a multicast before it asks the sender to repeat it; longer if waits
  /// are usually longer.
  std::chrono::microseconds multicast_patience{1000};
  join_policy multicast_join = join_policy::automatic;  ///< How a port joins a multicast group.
  wait_policy wait = wait_policy::automatic;  ///< How to wait: spinning, or yielding to other threads.
  /// Verbosity of the log on standard error; each line has the time and the rank (docs/guide/seeing.md).
  log_level log = log_level::off;
  /// Whether calls, bytes and times are counted for `communicator::statistics()`, and where they are written
  /// when the communicator ends. (CHORALE_STATISTICS: 0, 1 for a table, or the name of a file.)
  statistics_policy statistics;
  /// File for a trace of all ranks for ui.perfetto.dev, which `chorale-trace` merges; empty: none.
  std::string trace;
  /// Maximum number of records (calls, waits and events) in a rank's trace, per communicator; later ones are
  /// only counted. Each takes 80 to 160 bytes.
  std::size_t trace_records = 1'000'000;
  /// Statistics and traces time every call that lasts at least this long. Of shorter calls of one kind they
  /// time about one in each such interval, and only count the others. Zero: every call is timed.
  std::chrono::nanoseconds sampling{16'000};

  /// Defaults overridden by the environment.
  /// @throws error errc::invalid_environment naming the variable, its value and what it accepts.
  static config from_environment();
  /// @throws error errc::invalid_argument naming the field if one is out of range.
  void validate() const;
};

/// Describes one environment variable that the library reads.
struct environment_variable {
  std::string_view name;       ///< such as "CHORALE_DEVICE"
  std::string_view accepts;    ///< the values that it accepts
  std::string_view initially;  ///< the default
  std::string_view meaning;    ///< what it sets
};

/// All variables that the library reads, including those of `soft0`, in the order of docs/settings.md.
const std::vector<environment_variable>& environment_variables();

/// Variables in this process's environment that begin with CHORALE_ but are not read, usually because of a
/// typo. (`CHORALE_TEST_*` is left to test programs.)
std::vector<std::string> unknown_environment_variables();

/// The variable of `environment_variables()` that `name` probably means: after "CHORALE_" it differs by an
/// edit distance of at most a third of the length, or one is a prefix or suffix of the other; empty if there
/// is none.
std::string_view nearest_environment_variable(std::string_view name);

}  // namespace chorale
