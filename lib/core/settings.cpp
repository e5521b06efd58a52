// SPDX-License-Identifier: Apache-2.0
#include "settings.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "immortal.hpp"
#include "virtual_places.hpp"

namespace chorale {
namespace {

constexpr long long most_bytes = 1LL << 40;
// 24 days in milliseconds: small enough that adding it to the current time cannot overflow.
constexpr long long longest_wait = std::numeric_limits<std::int32_t>::max();

/// The range of an integer setting: `lowest` to `highest`, and values that `also` accepts, which `words`
/// describes.
struct numbers {
  long long lowest = 0;
  long long highest = 0;
  bool (*also)(long long) = nullptr;
  const char* words = nullptr;
  bool or_hexadecimal = false;  ///< also with the prefix 0x

  [[nodiscard]] bool take(long long value) const {
    return value >= lowest && value <= highest && (also == nullptr || also(value));
  }
};

template <class Field>
long long to_number(const Field& field) {
  if constexpr (requires { field.count(); })
    return field.count();
  else
    return static_cast<long long>(field);
}
template <class Field>
Field from_number(long long value) {
  if constexpr (requires(Field field) { field.count(); })
    return Field{value};
  else
    return static_cast<Field>(value);
}

std::optional<long long> read_number(std::string_view text, const numbers& range) {
  long long value = 0;
  const bool is_hexadecimal = range.or_hexadecimal && text.starts_with("0x");
  if (is_hexadecimal) text.remove_prefix(2);
  const char* end = text.data() + text.size();
  const auto [stop, status] = std::from_chars(text.data(), end, value, is_hexadecimal ? 16 : 10);
  if (status != std::errc{} || stop != end) return std::nullopt;
  return value;
}

std::string in_words(const numbers& range) {
  return range.words != nullptr ? range.words : fmt::format("{} to {}", range.lowest, range.highest);
}

template <class Field>
setting number(const char* variable, const char* name, Field config::*field, numbers range,
               const char* meaning) {
  const auto show = [field](const config& c) { return fmt::to_string(to_number(c.*field)); };
  return {.variable = variable,
          .field = name,
          .accepts = in_words(range),
          .initially = show(config{}),
          .meaning = meaning,
          .set =
              [field, range](config& c, std::string_view text) {
                const auto value = read_number(text, range);
                if (!value || !range.take(*value)) return false;
                c.*field = from_number<Field>(*value);
                return true;
              },
          .good = [field, range](const config& c) { return range.take(to_number(c.*field)); },
          .show = show};
}

/// A number that the library chooses by default, as `initially` describes.
template <class Value>
setting optional_number(const char* variable, const char* name, std::optional<Value> config::*field,
                        numbers range, const char* initially, const char* meaning) {
  return {
      .variable = variable,
      .field = name,
      .accepts = in_words(range),
      .initially = initially,
      .meaning = meaning,
      .set =
          [field, range](config& c, std::string_view text) {
            const auto value = read_number(text, range);
            if (!value || !range.take(*value)) return false;
            c.*field = static_cast<Value>(*value);
            return true;
          },
      .good = [field, range](const config& c) { return !(c.*field) || range.take(to_number(*(c.*field))); },
      .show = [field,
               initially](const config& c) { return c.*field ? fmt::to_string(*(c.*field)) : initially; }};
}

/// A choice among a few words.
template <class Choice>
setting choice(const char* variable, const char* name, Choice config::*field,
               std::vector<std::pair<std::string_view, Choice>> words, const char* meaning) {
  std::string accepts;
  for (std::size_t i = 0; i < words.size(); ++i)
    accepts += fmt::format("{}{}", i == 0 ? "" : i + 1 < words.size() ? ", " : " or ", words[i].first);
  const auto show = [field, words](const config& c) {
    for (const auto& [word, value] : words)
      if (value == c.*field) return std::string{word};
    return fmt::to_string(static_cast<int>(c.*field));
  };
  return {.variable = variable,
          .field = name,
          .accepts = std::move(accepts),
          .initially = show(config{}),
          .meaning = meaning,
          .set =
              [field, words](config& c, std::string_view text) {
                const auto chosen = std::find_if(words.begin(), words.end(),
                                                 [&](const auto& word) { return word.first == text; });
                if (chosen == words.end()) return false;
                c.*field = chosen->second;
                return true;
              },
          .good =
              [field, words](const config& c) {
                return std::any_of(words.begin(), words.end(),
                                   [&](const auto& word) { return word.second == c.*field; });
              },
          .show = show};
}

setting text(const char* variable, const char* name, std::string config::*field, const char* accepts,
             const char* initially, const char* meaning, bool (*is_good)(std::string_view) = nullptr) {
  return {.variable = variable,
          .field = name,
          .accepts = accepts,
          .initially = initially,
          .meaning = meaning,
          .set =
              [field, is_good](config& c, std::string_view value) {
                if (is_good != nullptr && !is_good(value)) return false;
                c.*field = value;
                return true;
              },
          .good = [field, is_good](const config& c) { return is_good == nullptr || is_good(c.*field); },
          .show = [field](const config& c) { return c.*field; }};
}

setting counting() {
  return {
      .variable = "CHORALE_STATISTICS",
      .field = "statistics",
      .accepts = "0, 1 or a file",
      .initially = "0",
      .meaning =
          "calls, bytes and times of each operation and algorithm, written when a communicator ends: 1: "
          "those of rank 0, to standard error; a file: those of all ranks, appended to the file as "
          "comma-separated values",
      .set =
          [](config& c, std::string_view value) {
            c.statistics = value.empty() || value == "0" ? statistics_policy::off()
                           : value == "1"                ? statistics_policy::table()
                                                         : statistics_policy::to_file(std::string{value});
            return true;
          },
      .good = [](const config& c) { return c.statistics.file() != ""; },
      .show = [](const config& c) { return c.statistics.file().value_or(c.statistics.is_on() ? "1" : "0"); }};
}

/// A setting that is read directly where it is used, independently of any communicator.
setting elsewhere(const char* variable, const char* accepts, const char* initially, const char* meaning) {
  return {.variable = variable,
          .field = {},
          .accepts = accepts,
          .initially = initially,
          .meaning = meaning,
          .set = {},
          .good = {},
          .show = {}};
}

bool is_mtu(long long value) {
  return value == 0 || (value >= 256 && (value & (value - 1)) == 0);
}

bool is_layout(std::string_view text) {
  return text.empty() || detail::virtual_places::read(text).has_value();
}

std::vector<setting> make_settings() {
  return {
      text("CHORALE_DEVICE", "device", &config::device,
           "device names as in ibv_devinfo, separated by commas, or soft0",
           "the RDMA device that suits best, else soft0",
           "the device; if several are given, the ranks of a host are assigned to them in turn"),
      number("CHORALE_PORT", "port", &config::port, {1, 255}, "port of the device"),
      optional_number("CHORALE_GID_INDEX", "gid_index", &config::gid_index, {0, 255},
                      "on RoCE the first IPv4 RoCE v2 row, else a routed IPv6 one, else any; 0 on InfiniBand",
                      "row of the port's GID table"),
      optional_number("CHORALE_PKEY_INDEX", "pkey_index", &config::pkey_index, {0, 65535},
                      "determined by CHORALE_PKEY", "row of the port's partition key table"),
      optional_number("CHORALE_PKEY", "pkey", &config::pkey,
                      {1, 65535, [](long long value) { return (value & 0x7fff) != 0; },
                       "1 to 65535, or 0x1 to 0xffff in base 16, but not 0x8000", true},
                      "the first full membership, else the first row",
                      "partition key, whose row may differ from host to host; the top bit is ignored"),
      number("CHORALE_SERVICE_LEVEL", "service_level", &config::service_level, {0, 15}, "service level"),
      optional_number("CHORALE_UD_SERVICE_LEVEL", "ud_service_level", &config::ud_service_level, {0, 15},
                      "CHORALE_SERVICE_LEVEL", "service level of datagrams and multicasts"),
      number("CHORALE_TRAFFIC_CLASS", "traffic_class", &config::traffic_class, {0, 255},
             "traffic class of packets with a global route header, as on RoCE"),
      number("CHORALE_MTU", "mtu", &config::mtu, {0, 4096, is_mtu, "256, 512, 1024, 2048, 4096, or 0"},
             "largest path MTU in bytes; 0: the port's active MTU; the smallest of all ranks is used"),
      number("CHORALE_QP_TIMEOUT", "qp_timeout", &config::qp_timeout, {1, 31},
             "acknowledgement timeout of a connection, 4.096 us * 2^value: 18 is 1.07 s"),
      number("CHORALE_QP_RETRY", "qp_retry", &config::qp_retry, {0, 7},
             "retries of a connection before its peer counts as lost"),
      number("CHORALE_SILENCE_MS", "silence", &config::silence, {100, longest_wait},
             "milliseconds without a sign of life after which a rank counts as lost"),
      number("CHORALE_STALL_MS", "stall", &config::stall, {1, longest_wait},
             "milliseconds after which a wait for ranks that are alive is reported, and again at doubling "
             "intervals"),
      number("CHORALE_DEADLINE_MS", "deadline", &config::deadline, {0, longest_wait},
             "hard limit of a wait in milliseconds; 0: none"),
      number("CHORALE_BLOCK_BYTES", "block_bytes", &config::block_bytes, {256, 1 << 20},
             "bytes of one mailbox block, including its trailer of 16 bytes"),
      optional_number("CHORALE_BLOCKS", "blocks", &config::blocks, {2, 1024},
                      "16; on soft0 as many as fit into 4 MiB per rank, up to 256",
                      "blocks of a mailbox in each direction of a connection; the same on all ranks"),
      optional_number(
          "CHORALE_ZERO_COPY_BYTES", "zero_copy_bytes", &config::zero_copy_bytes, {0, most_bytes},
          "65536; on soft0, if each rank has a core, a size measured at start-up",
          "bytes from which a message goes directly from one user's buffer to the other, also in an "
          "exchange; if unset, senders of an exchange within a soft0 host choose for messages of medium "
          "size; "
          "the same on all ranks"),
      optional_number("CHORALE_ALLTOALL_ZERO_COPY_BYTES", "alltoall_zero_copy_bytes",
                      &config::alltoall_zero_copy_bytes, {0, most_bytes}, "CHORALE_ZERO_COPY_BYTES",
                      "bytes from which a block of an alltoall goes directly from one user's buffer to the "
                      "other; the same on all ranks"),
      number("CHORALE_SEND_RECEIVE_EAGER_BYTES", "send_receive_eager_bytes",
             &config::send_receive_eager_bytes, {64, most_bytes},
             "rc_send_receive: bytes up to which a message is sent eagerly, copied through blocks; the same "
             "on all ranks"),
      choice("CHORALE_SEND_RECEIVE_EAGER", "send_receive_eager", &config::send_receive_eager,
             {{"receive_queue", eager_policy::receive_queue}, {"rdma_write", eager_policy::rdma_write}},
             "rc_send_receive: how eager messages arrive: by send, through a shared receive queue; or by "
             "RDMA write, into a ring for each sender; the same on all ranks"),
      number("CHORALE_SEND_RECEIVE_BLOCK_BYTES", "send_receive_block_bytes",
             &config::send_receive_block_bytes, {256, 1 << 20},
             "rc_send_receive: bytes of one block, including its header of 16 bytes; the same on all ranks"),
      choice("CHORALE_SEND_RECEIVE_LONG", "send_receive_long", &config::send_receive_long,
             {{"rendezvous", long_send_policy::rendezvous},
              {"serial", long_send_policy::serial},
              {"copy", long_send_policy::copy}},
             "rc_send_receive: how longer messages are sent: by one RDMA write to the address that the "
             "receiver gives; by send without copies, from one sender at a time; or copied through blocks "
             "like short ones; the same on all ranks"),
      choice("CHORALE_REGISTRATION", "registration", &config::registration,
             {{"auto", registration_policy::automatic},
              {"watched", registration_policy::watched},
              {"operation", registration_policy::per_operation}},
             "how long user memory stays registered: auto caches registrations where that is safe"),
      number("CHORALE_REGISTRATION_ENTRIES", "registration_entries", &config::registration_entries,
             {1, 16384}, "registrations of user memory that are kept"),
      number("CHORALE_REGISTRATION_BYTES", "registration_bytes", &config::registration_bytes, {0, most_bytes},
             "bytes of user memory that stay registered"),
      number("CHORALE_CONNECTIONS", "connections", &config::connections,
             {0, 65536, [](long long value) { return value != 1; }, "0, or 2 to 65536"},
             "connections that a rank keeps open, temporarily more if all are in use; the least recently "
             "used is closed first; 0: no limit; the same on all ranks"),
      text("CHORALE_TUNING", "tuning", &config::tuning, "a file written by chorale-bench --table",
           "the built-in table", "measurements by which algorithms are chosen; the same on all ranks"),
      choice("CHORALE_TRIALS", "trials", &config::trials,
             {{"auto", trial_policy::automatic}, {"all", trial_policy::all}, {"off", trial_policy::off}},
             "whether the first calls of a size try algorithms in turn: auto tries those that give the same "
             "bits as the table's choice, unless CHORALE_TUNING is set; all tries every algorithm; off also "
             "keeps senders of an exchange from choosing; the same on all ranks"),
      choice("CHORALE_CHECK", "check", &config::check,
             {{"off", check_policy::off}, {"buffers", check_policy::buffers}},
             "whether each call first checks that this process can read and write its operands"),
      number("CHORALE_EXPLAIN", "explain", &config::explain, {0, 1, nullptr, "0 or 1"},
             "1: rank 0 says on standard error which algorithms it chooses, and why"),
      elsewhere("CHORALE_RANKS", "1 and up", "any number",
                "required number of ranks; any other number is an error"),
      elsewhere("CHORALE_BOOTSTRAP", "auto or tcp", "auto",
                "how the ranks of a communicator without a group find each other: auto: by PMIx, or without "
                "a launcher as a single rank; tcp: at the address given by RANK, WORLD_SIZE, MASTER_ADDR and "
                "MASTER_PORT"),
      elsewhere("CHORALE_TCP_PORT", "1 to 65535", "that of MASTER_PORT",
                "bootstrap::tcp: the port at which rank 0 listens; the same for all ranks"),
      elsewhere("CHORALE_TCP_SECRET", "any text", "none",
                "bootstrap::tcp: a secret that only ranks of this job know; the same for all ranks"),
      choice("CHORALE_SERVICE", "service", &config::service,
             {{"event", service_policy::event},
              {"polling", service_policy::polling},
              {"off", service_policy::off}},
             "what answers datagrams while a rank computes: a thread that sleeps, a thread that polls, or "
             "nothing"),
      number("CHORALE_MULTICAST_PATIENCE_US", "multicast_patience", &config::multicast_patience,
             {1, 10'000'000},
             "shortest time in microseconds after which a rank asks for a multicast to be repeated"),
      choice("CHORALE_PLACEMENT", "placement", &config::placement,
             {{"auto", placement_policy::automatic},
              {"ordered", placement_policy::ordered},
              {"unordered", placement_policy::unordered}},
             "whether RDMA writes become visible in this rank's memory in the order of posting: auto assumes "
             "it only for soft0; ordered, which is faster, is for fabrics whose operator guarantees it; "
             "otherwise completions announce all data"),
      choice("CHORALE_NEAR", "near", &config::near,
             {{"auto", near_policy::automatic}, {"off", near_policy::off}},
             "whether the ranks of a place communicate through soft0 where an adapter connects them with all "
             "other ranks; the same on all ranks"),
      text("CHORALE_PLACES", "places", &config::places,
           "PLACESxRANKS, followed by c if the ranks are assigned to the places in turn; or the number of "
           "ranks of each place, separated by commas",
           "one place for each host",
           "the places to assume, such as 4x4, 4x4c or 3,1,5, to try several places on one host; the same on "
           "all ranks",
           is_layout),
      choice("CHORALE_MULTICAST_JOIN", "multicast_join", &config::multicast_join,
             {{"auto", join_policy::automatic},
              {"attach", join_policy::attach},
              {"rdma_cm", join_policy::connection_manager}},
             "how a port joins a multicast group: auto is rdma_cm on InfiniBand, else attach"),
      choice("CHORALE_WAIT", "wait", &config::wait,
             {{"auto", wait_policy::automatic}, {"spin", wait_policy::spin}, {"yield", wait_policy::yield}},
             "how to wait: auto spins if every rank of the host has a core, else it yields"),
      choice("CHORALE_LOG", "log", &config::log,
             {{"off", log_level::off}, {"info", log_level::info}, {"debug", log_level::debug}},
             "lines on standard error, with time and rank: info: devices, choices by trial, retransmissions "
             "and failures; debug: also each call and connection"),
      counting(),
      text("CHORALE_TRACE", "trace", &config::trace, "a file", "no trace",
           "records what each rank does; `chorale-trace FILE` puts the records of all ranks together for "
           "ui.perfetto.dev; the same on all ranks"),
      number("CHORALE_TRACE_RECORDS", "trace_records", &config::trace_records, {1, 1'000'000'000},
             "maximum number of calls, waits and events of a communicator in a rank's trace, 80 to 160 bytes "
             "each"),
      number("CHORALE_SAMPLING", "sampling", &config::sampling, {0, 1'000'000'000},
             "nanoseconds: of similar calls that are shorter than this, statistics and traces time about one "
             "in each such interval, and only count the others; 0: every call is timed"),
      elsewhere("CHORALE_SOFT_FABRIC", "1 to 40 letters, digits, '.', '-', '_'",
                "the launcher's job, else 'default'",
                "soft0: name of the fabric; only processes in the same fabric see each other"),
      elsewhere("CHORALE_SOFT_COPY", "auto, vm, vm-halves or bounce", "auto",
                "soft0: how data reaches memory that is not shared: vm: by process_vm_writev; vm-halves: the "
                "same, as on kernels that copy words in halves; bounce: through a shared buffer"),
      elsewhere("CHORALE_SOFT_ENGINE", "immediate or deferred", "immediate",
                "soft0: whether requests are executed at once, or delayed and reordered at random"),
      elsewhere("CHORALE_SOFT_PROFILE",
                "the name of a profile, key=value, or both, separated by commas (docs/soft0.md)",
                "no profile",
                "soft0: limits and behaviour of an adapter that soft0 imitates; several profiles, separated "
                "by semicolons, are assigned to the ranks in turn"),
      elsewhere("CHORALE_SOFT_SEED", "0 to 18446744073709551615", "1",
                "soft0, deferred: seed of its random decisions"),
      elsewhere("CHORALE_SOFT_LOSS", "0 to 100", "0",
                "soft0, deferred: percentage of datagrams that are lost"),
      elsewhere("CHORALE_SOFT_DUPLICATION", "0 to 100", "0",
                "soft0, deferred: percentage of datagrams that arrive twice"),
      elsewhere("CHORALE_SOFT_CONTEXTS", "1 to 65536", "256",
                "soft0: QP contexts that the adapter's cache is assumed to hold; misses are counted if the "
                "engine is deferred, or if a miss takes time"),
      elsewhere(
          "CHORALE_SOFT_CONTEXT_MISS_NS", "0 to 1000000", "0",
          "soft0: nanoseconds that the adapter takes to fetch a QP context that its cache does not hold"),
      elsewhere("CHORALE_SOFT_SHARE", "0 or 1", "1",
                "programs under chorale-soft: whether peers can map their page-aligned allocations"),
  };
}

}  // namespace

const std::vector<setting>& settings() {
  static detail::immortal<std::vector<setting>> all{make_settings()};
  return *all;
}

}  // namespace chorale
