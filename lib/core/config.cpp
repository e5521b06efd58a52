#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <numeric>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <chorale/core/config.hpp>
#include <chorale/core/error.hpp>

#include "printable.hpp"

extern char** environ;

namespace chorale {

using namespace std::chrono_literals;

namespace {

// 24 days: far from where adding it to a clock's now could overflow.
constexpr std::chrono::milliseconds longest_deadline{std::numeric_limits<std::int32_t>::max()};
// Shorter, an alive rank's answers would come too late on a loaded machine.
constexpr auto least_silence = 100ms;

constexpr std::chrono::microseconds longest_patience = 10s;

constexpr long long most_bytes = 1LL << 40;

[[noreturn]] void reject(std::string_view variable, std::string_view value) {
  const auto& known = environment_variables();
  const auto it = std::find_if(known.begin(), known.end(),
                               [&](const environment_variable& v) { return v.name == variable; });
  throw error(
      errc::invalid_environment,
      fmt::format("{}='{}' cannot be used: it accepts {}; mend or unset it", variable, printable(value),
                  it == known.end() ? std::string_view{"another value"} : it->accepts));
}

template <class Integer>
void read(const char* variable, Integer& field, long long lowest, long long highest) {
  const char* text = std::getenv(variable);
  if (text == nullptr) return;
  long long value = 0;
  const char* end = text + std::strlen(text);
  const auto [stop, status] = std::from_chars(text, end, value);
  if (status != std::errc{} || stop != end || value < lowest || value > highest) reject(variable, text);
  field = static_cast<Integer>(value);
}

/// One of a few words.
template <class Choice>
void read(const char* variable, Choice& field,
          std::initializer_list<std::pair<std::string_view, Choice>> choices) {
  const char* text = std::getenv(variable);
  if (text == nullptr) return;
  const auto* chosen =
      std::find_if(choices.begin(), choices.end(), [&](const auto& choice) { return choice.first == text; });
  if (chosen == choices.end()) reject(variable, text);
  field = chosen->second;
}

void read(const char* variable, std::chrono::milliseconds& field, std::chrono::milliseconds least) {
  long long value = field.count();
  read(variable, value, least.count(), longest_deadline.count());
  field = std::chrono::milliseconds{value};
}

/// Letters to insert, remove or replace until one text is the other (Levenshtein).
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

bool usable_mtu(int mtu) {
  return mtu == 0 || mtu == 256 || mtu == 512 || mtu == 1024 || mtu == 2048 || mtu == 4096;
}

}  // namespace

config config::from_environment() {
  config c;
  if (const char* text = std::getenv("CHORALE_DEVICE")) c.device = text;
  read("CHORALE_PORT", c.port, 1, 255);
  if (std::getenv("CHORALE_GID_INDEX") != nullptr) {
    int index = 0;
    read("CHORALE_GID_INDEX", index, 0, 255);
    c.gid_index = index;
  }
  read("CHORALE_PKEY_INDEX", c.pkey_index, 0, 65535);
  read("CHORALE_SERVICE_LEVEL", c.service_level, 0, 15);
  read("CHORALE_MTU", c.mtu, 0, 4096);
  if (!usable_mtu(c.mtu)) reject("CHORALE_MTU", std::getenv("CHORALE_MTU"));
  read("CHORALE_QP_TIMEOUT", c.qp_timeout, 1, 31);
  read("CHORALE_QP_RETRY", c.qp_retry, 0, 7);
  read("CHORALE_SILENCE_MS", c.silence, least_silence);
  read("CHORALE_STALL_MS", c.stall, 1ms);
  read("CHORALE_DEADLINE_MS", c.deadline, 0ms);
  read("CHORALE_BLOCK_BYTES", c.block_bytes, 256, 1 << 20);
  if (c.block_bytes % 64 != 0) reject("CHORALE_BLOCK_BYTES", std::getenv("CHORALE_BLOCK_BYTES"));
  read("CHORALE_BLOCKS", c.blocks, 2, 1024);
  read("CHORALE_ZERO_COPY_BYTES", c.zero_copy_bytes, 0, most_bytes);
  read("CHORALE_REGISTRATION", c.registration,
       {{"auto", registration_policy::automatic},
        {"watched", registration_policy::watched},
        {"operation", registration_policy::per_operation}});
  read("CHORALE_REGISTRATION_ENTRIES", c.registration_entries, 1, 16384);
  read("CHORALE_REGISTRATION_BYTES", c.registration_bytes, 0, most_bytes);
  read("CHORALE_CONNECTIONS", c.connections, 0, 65536);
  if (c.connections == 1) reject("CHORALE_CONNECTIONS", "1");
  if (const char* text = std::getenv("CHORALE_TUNING")) c.tuning = text;
  read("CHORALE_EXPLAIN", c.explain, 0, 1);
  read(
      "CHORALE_SERVICE", c.service,
      {{"event", service_policy::event}, {"polling", service_policy::polling}, {"off", service_policy::off}});
  long long patience = c.multicast_patience.count();
  read("CHORALE_MULTICAST_PATIENCE_US", patience, 1, longest_patience.count());
  c.multicast_patience = std::chrono::microseconds{patience};
  read("CHORALE_MULTICAST_JOIN", c.multicast_join,
       {{"auto", join_policy::automatic},
        {"attach", join_policy::attach},
        {"rdma_cm", join_policy::connection_manager}});
  read("CHORALE_WAIT", c.wait,
       {{"auto", wait_policy::automatic}, {"spin", wait_policy::spin}, {"yield", wait_policy::yield}});
  return c;
}

void config::validate() const {
  const auto require = [](bool good, const char* field, auto value, const char* accepts) {
    if (!good)
      throw error(
          errc::invalid_argument,
          fmt::format("config::{} is {}, which is out of range: it accepts {}", field, value, accepts));
  };
  require(port >= 1, "port", port, "1 to 255");
  const int gid = gid_index.value_or(0);
  require(gid >= 0 && gid <= 255, "gid_index", gid, "0 to 255");
  require(service_level <= 15, "service_level", service_level, "0 to 15");
  require(usable_mtu(mtu), "mtu", mtu, "0, 256, 512, 1024, 2048 or 4096");
  require(qp_timeout >= 1 && qp_timeout <= 31, "qp_timeout", qp_timeout, "1 to 31");
  require(qp_retry <= 7, "qp_retry", qp_retry, "0 to 7");
  require(silence >= least_silence && silence <= longest_deadline, "silence", silence.count(),
          "100 to 2147483647 ms");
  require(stall >= 1ms && stall <= longest_deadline, "stall", stall.count(), "1 to 2147483647 ms");
  require(deadline >= 0ms && deadline <= longest_deadline, "deadline", deadline.count(),
          "1 to 2147483647 ms, or 0 for none");
  require(block_bytes >= 256 && block_bytes <= (1U << 20) && block_bytes % 64 == 0, "block_bytes",
          block_bytes, "256 to 1048576, a multiple of 64");
  require(blocks >= 2 && blocks <= 1024, "blocks", blocks, "2 to 1024");
  require(zero_copy_bytes <= static_cast<std::size_t>(most_bytes), "zero_copy_bytes", zero_copy_bytes,
          "0 to 2^40");
  require(
      registration >= registration_policy::automatic && registration <= registration_policy::per_operation,
      "registration", static_cast<int>(registration),
      "registration_policy::automatic, watched or per_operation");
  require(registration_entries >= 1 && registration_entries <= 16384, "registration_entries",
          registration_entries, "1 to 16384");
  require(registration_bytes <= static_cast<std::size_t>(most_bytes), "registration_bytes",
          registration_bytes, "0 to 2^40");
  require(connections != 1 && connections <= 65536, "connections", connections, "0, or 2 to 65536");
  require(service >= service_policy::event && service <= service_policy::off, "service",
          static_cast<int>(service), "service_policy::event, polling or off");
  require(multicast_patience >= 1us && multicast_patience <= longest_patience, "multicast_patience",
          multicast_patience.count(), "1 to 10000000 us");
  require(multicast_join >= join_policy::automatic && multicast_join <= join_policy::connection_manager,
          "multicast_join", static_cast<int>(multicast_join),
          "join_policy::automatic, attach or connection_manager");
  require(wait == wait_policy::automatic || wait == wait_policy::spin || wait == wait_policy::yield, "wait",
          static_cast<int>(wait), "wait_policy::automatic, spin or yield");
}

const std::vector<environment_variable>& environment_variables() {
  static const std::vector<environment_variable> variables{
      {"CHORALE_DEVICE", "device names (ibv_devinfo shows them) with commas between, or soft0",
       "RDMA device; of several, the ranks of a host take turns; unset: the first active one, else soft0"},
      {"CHORALE_PORT", "1 to 255", "port of the device, default 1"},
      {"CHORALE_GID_INDEX", "0 to 255",
       "row of the GID table; unset: on RoCE the first IPv4 RoCE v2 row, else 0"},
      {"CHORALE_PKEY_INDEX", "0 to 65535", "row of the partition key table, default 0"},
      {"CHORALE_SERVICE_LEVEL", "0 to 15", "service level, default 0"},
      {"CHORALE_MTU", "256, 512, 1024, 2048, 4096, or 0 for the port's active MTU",
       "path MTU in bytes, default 0"},
      {"CHORALE_QP_TIMEOUT", "1 to 31", "acknowledgement timeout 4.096 us * 2^value, default 14 (67 ms)"},
      {"CHORALE_QP_RETRY", "0 to 7", "transport retries before a peer counts as lost, default 7"},
      {"CHORALE_SILENCE_MS", "100 to 2147483647",
       "milliseconds without a sign of life until a rank counts as lost, default 20000"},
      {"CHORALE_STALL_MS", "1 to 2147483647",
       "milliseconds until a wait for ranks that are alive is reported, default 60000"},
      {"CHORALE_DEADLINE_MS", "1 to 2147483647, or 0 for none",
       "longest wait in milliseconds, default 0: none"},
      {"CHORALE_BLOCK_BYTES", "256 to 1048576, a multiple of 64",
       "block of a mailbox in bytes, 16 of them for the trailer, default 8256"},
      {"CHORALE_BLOCKS", "2 to 1024", "blocks of a mailbox in each direction, default 16"},
      {"CHORALE_ZERO_COPY_BYTES", "0 to 1099511627776",
       "messages from this size on go straight between the users' buffers, default 65536"},
      {"CHORALE_REGISTRATION", "auto, watched or operation",
       "how long user memory stays registered, default auto: cached where that is safe"},
      {"CHORALE_REGISTRATION_ENTRIES", "1 to 16384", "registrations that are kept, default 256"},
      {"CHORALE_REGISTRATION_BYTES", "0 to 1099511627776", "bytes that stay registered, default 2^32"},
      {"CHORALE_CONNECTIONS", "0, or 2 to 65536",
       "connections that a rank keeps open, default 0: as many as are used"},
      {"CHORALE_TUNING", "a file of chorale-bench --table",
       "measurements by which algorithms are chosen; unset: the built-in ones"},
      {"CHORALE_EXPLAIN", "0 or 1", "1: rank 0 says which algorithms it chooses and why, default 0"},
      {"CHORALE_RANKS", "1 and up",
       "number of ranks that must be there; another number is an error; unset: any"},
      {"CHORALE_SERVICE", "event, polling or off",
       "who answers datagrams while the rank computes: a thread that sleeps or one that polls; default "
       "event"},
      {"CHORALE_MULTICAST_PATIENCE_US", "1 to 10000000",
       "shortest time in microseconds until a rank asks for a multicast again, default 1000"},
      {"CHORALE_MULTICAST_JOIN", "auto, attach or rdma_cm",
       "how a port joins a multicast group, default auto: by the connection manager on InfiniBand, else by "
       "attaching"},
      {"CHORALE_WAIT", "auto, spin or yield",
       "how to wait, default auto: spin if each local rank has a core, else yield"},
      {"CHORALE_SOFT_FABRIC", "1 to 40 letters, digits, '.', '-', '_'",
       "soft0: name of the fabric; unset: the launcher's job, else 'default'"},
      {"CHORALE_SOFT_COPY", "auto, vm or bounce",
       "soft0: how data reaches memory that is not shared; default auto"},
      {"CHORALE_SOFT_ENGINE", "immediate or deferred",
       "soft0: requests are executed at once, or held and reordered as a seed says; default immediate"},
      {"CHORALE_SOFT_SEED", "0 to 18446744073709551615", "soft0, deferred: the seed, default 1"},
      {"CHORALE_SOFT_LOSS", "0 to 100", "soft0, deferred: percentage of datagrams that get lost, default 0"},
      {"CHORALE_SOFT_DUPLICATION", "0 to 100",
       "soft0, deferred: percentage of datagrams that come twice, default 0"},
      {"CHORALE_SOFT_CONTEXTS", "1 to 65536",
       "soft0, deferred: QP contexts that the adapter's cache is taken to hold, default 256"},
      {"CHORALE_SOFT_SHARE", "0 or 1",
       "programs under chorale-soft: whether peers can map their page-aligned allocations; default 1"},
  };
  return variables;
}

std::vector<std::string> unknown_environment_variables() {
  std::vector<std::string> unknown;
  const auto& known = environment_variables();
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text{*entry};
    const auto name = text.substr(0, text.find('='));
    if (!name.starts_with("CHORALE_") || name.starts_with("CHORALE_TEST_")) continue;
    if (std::none_of(known.begin(), known.end(),
                     [&](const environment_variable& v) { return v.name == name; }))
      unknown.emplace_back(name);
  }
  return unknown;
}

std::string_view nearest_environment_variable(std::string_view name) {
  std::string_view nearest;
  // As many slips as a name of this length may have and still be meant.
  std::size_t least = name.size() / 4 + 1;
  for (const environment_variable& known : environment_variables()) {
    if (const std::size_t d = distance(name, known.name); d < least) {
      least = d;
      nearest = known.name;
    }
  }
  return nearest;
}

}  // namespace chorale
