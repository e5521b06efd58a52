// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <chorale/core/config.hpp>
#include <chorale/core/error.hpp>

using Catch::Contains;
using chorale::config;
using chorale::errc;
using chorale::wait_policy;

extern char** environ;

namespace {

/// An environment whose only CHORALE_* variables are those set through this object; restores the previous one
/// at the end.
class environment {
 public:
  environment() {
    for (char** entry = environ; *entry != nullptr; ++entry) {
      const std::string text{*entry};
      if (text.starts_with("CHORALE_"))
        saved_[text.substr(0, text.find('='))] = text.substr(text.find('=') + 1);
    }
    for (const auto& [name, value] : saved_) unsetenv(name.c_str());
  }
  environment(const environment&) = delete;
  environment& operator=(const environment&) = delete;
  ~environment() {
    for (const auto& name : set_) unsetenv(name.c_str());
    for (const auto& [name, value] : saved_) setenv(name.c_str(), value.c_str(), 1);
  }
  void set(const std::string& name, const std::string& value) {
    setenv(name.c_str(), value.c_str(), 1);
    set_.insert(name);
  }

 private:
  std::map<std::string, std::string> saved_;
  std::set<std::string> set_;
};

config with(const std::string& name, const std::string& value) {
  environment env;
  env.set(name, value);
  return config::from_environment();
}

void check_refused(const std::string& name, const std::string& value) {
  INFO(name << "='" << value << "'");
  try {
    with(name, value);
    FAIL_CHECK("was accepted");
  } catch (const chorale::error& e) {
    CHECK(e.code() == errc::invalid_environment);
    CHECK_THAT(e.what(), Contains(name + "='" + value + "'"));
    CHECK(e.ranks().empty());
    for (const auto& variable : chorale::environment_variables())
      if (variable.name == name) CHECK_THAT(e.what(), Contains(std::string{variable.accepts}));
  }
}

template <class Change>
void check_invalid(const std::string& field, Change change) {
  config c;
  change(c);
  INFO("field " << field);
  try {
    c.validate();
    FAIL_CHECK("was accepted");
  } catch (const chorale::error& e) {
    CHECK(e.code() == errc::invalid_argument);
    CHECK_THAT(e.what(), Contains("config::" + field + " "));
  }
}

}  // namespace

TEST_CASE("statistics are off, a table, or a file", "[config]") {
  const auto of = [](const char* text) { return with("CHORALE_STATISTICS", text).statistics; };
  CHECK_FALSE(config{}.statistics.is_on());
  CHECK_FALSE(of("").is_on());
  CHECK_FALSE(of("0").is_on());
  CHECK(of("1").is_on());
  CHECK_FALSE(of("1").file());
  CHECK(of("calls.csv").is_on());
  CHECK(of("calls.csv").file() == "calls.csv");
  config c;
  c.statistics = chorale::statistics_policy::to_file("1");
  CHECK(c.statistics.file() == "1");
  c.validate();
  c.statistics = chorale::statistics_policy::to_file("");
  CHECK_THROWS_WITH(c.validate(), Contains("statistics"));
}

TEST_CASE("config: an empty environment gives the documented defaults, and they are valid", "[config]") {
  const environment env;
  const config c = config::from_environment();
  CHECK(c.device.empty());
  CHECK(c.port == 1);
  CHECK_FALSE(c.gid_index.has_value());
  CHECK(!c.pkey_index);
  CHECK(!c.pkey);
  CHECK(c.traffic_class == 0);
  CHECK(c.service_level == 0);
  CHECK_FALSE(c.ud_service_level.has_value());
  CHECK(c.mtu == 0);
  CHECK(c.qp_timeout == 18);
  CHECK(c.qp_retry == 7);
  CHECK(c.silence == std::chrono::seconds{20});
  CHECK(c.stall == std::chrono::seconds{60});
  CHECK_FALSE(c.on_stall);
  CHECK(c.deadline == std::chrono::seconds{0});
  CHECK(c.block_bytes == 8256);
  CHECK_FALSE(c.blocks.has_value());
  CHECK(c.least_blocks() == 16);
  CHECK_FALSE(c.zero_copy_bytes.has_value());
  CHECK(c.zero_copy_from(0) == 65536);
  CHECK(c.zero_copy_from(20480) == 20480);
  CHECK_FALSE(c.alltoall_zero_copy_bytes.has_value());
  CHECK(c.send_receive_eager_bytes == 8192);
  CHECK(c.send_receive_eager == chorale::eager_policy::receive_queue);
  CHECK(c.send_receive_block_bytes == 8208);
  CHECK(c.send_receive_long == chorale::long_send_policy::rendezvous);
  CHECK(c.registration == chorale::registration_policy::automatic);
  CHECK(c.registration_entries == 256);
  CHECK(c.registration_bytes == std::size_t{1} << 32);
  CHECK(c.connections == 0);
  CHECK(c.tuning.empty());
  CHECK(c.trials == chorale::trial_policy::automatic);
  CHECK_FALSE(c.explain);
  CHECK(c.multicast_patience == std::chrono::milliseconds{1});
  CHECK(c.wait == wait_policy::automatic);
  CHECK_NOTHROW(c.validate());
}

TEST_CASE("config: every variable sets its field, from the lowest to the highest value", "[config]") {
  CHECK(with("CHORALE_DEVICE", "mlx5_0").device == "mlx5_0");
  CHECK(with("CHORALE_PORT", "1").port == 1);
  CHECK(with("CHORALE_PORT", "255").port == 255);
  CHECK(with("CHORALE_GID_INDEX", "0").gid_index == 0);
  CHECK(with("CHORALE_GID_INDEX", "255").gid_index == 255);
  CHECK(with("CHORALE_PKEY_INDEX", "65535").pkey_index == 65535);
  CHECK(with("CHORALE_PKEY", "0x8006").pkey == 0x8006);
  CHECK(with("CHORALE_PKEY", "6").pkey == 6);
  CHECK(with("CHORALE_TRAFFIC_CLASS", "106").traffic_class == 106);
  CHECK(with("CHORALE_SERVICE_LEVEL", "15").service_level == 15);
  CHECK(with("CHORALE_UD_SERVICE_LEVEL", "0").ud_service_level == 0);
  CHECK(with("CHORALE_UD_SERVICE_LEVEL", "15").ud_service_level == 15);
  for (const int mtu : {0, 256, 512, 1024, 2048, 4096})
    CHECK(with("CHORALE_MTU", std::to_string(mtu)).mtu == mtu);
  CHECK(with("CHORALE_QP_TIMEOUT", "1").qp_timeout == 1);
  CHECK(with("CHORALE_QP_TIMEOUT", "31").qp_timeout == 31);
  CHECK(with("CHORALE_QP_RETRY", "0").qp_retry == 0);
  CHECK(with("CHORALE_SILENCE_MS", "100").silence == std::chrono::milliseconds{100});
  CHECK(with("CHORALE_SILENCE_MS", "2147483647").silence.count() == 2147483647);
  CHECK(with("CHORALE_STALL_MS", "1").stall == std::chrono::milliseconds{1});
  CHECK(with("CHORALE_STALL_MS", "2147483647").stall.count() == 2147483647);
  CHECK(with("CHORALE_DEADLINE_MS", "0").deadline.count() == 0);
  CHECK(with("CHORALE_DEADLINE_MS", "1").deadline == std::chrono::milliseconds{1});
  CHECK(with("CHORALE_DEADLINE_MS", "2147483647").deadline.count() == 2147483647);
  CHECK(with("CHORALE_BLOCK_BYTES", "256").block_bytes == 256);
  CHECK(with("CHORALE_BLOCK_BYTES", "3073").block_bytes == 3073);
  CHECK(with("CHORALE_BLOCK_BYTES", "1048576").block_bytes == 1048576);
  CHECK(with("CHORALE_BLOCKS", "2").blocks == 2);
  CHECK(with("CHORALE_BLOCKS", "1024").blocks == 1024);
  CHECK(with("CHORALE_SEND_RECEIVE_EAGER_BYTES", "64").send_receive_eager_bytes == 64);
  CHECK(with("CHORALE_SEND_RECEIVE_EAGER", "rdma_write").send_receive_eager ==
        chorale::eager_policy::rdma_write);
  CHECK(with("CHORALE_SEND_RECEIVE_BLOCK_BYTES", "1048576").send_receive_block_bytes == 1048576);
  CHECK(with("CHORALE_SEND_RECEIVE_LONG", "serial").send_receive_long == chorale::long_send_policy::serial);
  CHECK(with("CHORALE_SEND_RECEIVE_LONG", "copy").send_receive_long == chorale::long_send_policy::copy);
  CHECK(with("CHORALE_MULTICAST_JOIN", "auto").multicast_join == chorale::join_policy::automatic);
  CHECK(with("CHORALE_MULTICAST_JOIN", "attach").multicast_join == chorale::join_policy::attach);
  CHECK(with("CHORALE_MULTICAST_JOIN", "rdma_cm").multicast_join == chorale::join_policy::connection_manager);
  CHECK(with("CHORALE_MULTICAST_PATIENCE_US", "1").multicast_patience.count() == 1);
  CHECK(with("CHORALE_MULTICAST_PATIENCE_US", "10000000").multicast_patience == std::chrono::seconds{10});
  CHECK(with("CHORALE_WAIT", "auto").wait == wait_policy::automatic);
  CHECK(with("CHORALE_WAIT", "spin").wait == wait_policy::spin);
  CHECK(with("CHORALE_WAIT", "yield").wait == wait_policy::yield);
}

TEST_CASE("config: every value that the environment may set is valid", "[config]") {
  for (const auto& [name, value] : std::map<std::string, std::string>{{"CHORALE_PORT", "255"},
                                                                      {"CHORALE_GID_INDEX", "255"},
                                                                      {"CHORALE_SERVICE_LEVEL", "15"},
                                                                      {"CHORALE_MTU", "4096"},
                                                                      {"CHORALE_QP_TIMEOUT", "31"},
                                                                      {"CHORALE_QP_RETRY", "7"},
                                                                      {"CHORALE_DEADLINE_MS", "2147483647"},
                                                                      {"CHORALE_BLOCK_BYTES", "1048576"},
                                                                      {"CHORALE_BLOCKS", "1024"}}) {
    INFO(name);
    CHECK_NOTHROW(with(name, value).validate());
  }
}

TEST_CASE("config: an unusable value is refused with the variable's name and accepted values", "[config]") {
  const std::map<std::string, std::vector<std::string>> out_of_range{
      {"CHORALE_PORT", {"0", "256"}},
      {"CHORALE_GID_INDEX", {"256", "65536"}},
      {"CHORALE_PKEY_INDEX", {"65536"}},
      {"CHORALE_SERVICE_LEVEL", {"16"}},
      {"CHORALE_UD_SERVICE_LEVEL", {"16"}},
      {"CHORALE_MTU", {"1", "255", "257", "1500", "8192"}},
      {"CHORALE_QP_TIMEOUT", {"0", "32"}},
      {"CHORALE_QP_RETRY", {"8"}},
      {"CHORALE_SILENCE_MS", {"99", "2147483648"}},
      {"CHORALE_STALL_MS", {"0", "2147483648"}},
      {"CHORALE_DEADLINE_MS", {"-1", "2147483648"}},
      {"CHORALE_BLOCK_BYTES", {"0", "17", "255", "1048577"}},
      {"CHORALE_BLOCKS", {"0", "1", "1025"}},
      {"CHORALE_ZERO_COPY_BYTES", {"1099511627777"}},
      {"CHORALE_ALLTOALL_ZERO_COPY_BYTES", {"1099511627777"}},
      {"CHORALE_SEND_RECEIVE_EAGER_BYTES", {"63", "1099511627777"}},
      {"CHORALE_SEND_RECEIVE_BLOCK_BYTES", {"255", "1048577"}},
      {"CHORALE_SEND_RECEIVE_LONG", {"", "Copy", "eager"}},
      {"CHORALE_REGISTRATION_ENTRIES", {"0", "16385"}},
      {"CHORALE_REGISTRATION_BYTES", {"1099511627777"}},
      {"CHORALE_CONNECTIONS", {"1", "65537"}},
      {"CHORALE_EXPLAIN", {"2"}},
      {"CHORALE_MULTICAST_PATIENCE_US", {"0", "10000001"}},
  };
  for (const auto& [name, values] : out_of_range) {
    for (const auto& value : values) check_refused(name, value);
    for (const char* value :
         {"", " ", "-1", "+1", "1 ", " 1", "0x10", "1e3", "1.0", "one", "8K", "99999999999999999999"})
      check_refused(name, value);
  }
  for (const char* value : {"", "AUTO", "sleep", "spin ", "1"}) check_refused("CHORALE_WAIT", value);
  for (const char* value : {"", "AUTO", "watch", "operation ", "1"})
    check_refused("CHORALE_REGISTRATION", value);
  for (const char* value : {"", "AUTO", "ibv", "rdma_cm ", "1"})
    check_refused("CHORALE_MULTICAST_JOIN", value);
}

TEST_CASE("config: validate() names the field that is out of range", "[config]") {
  check_invalid("port", [](config& c) { c.port = 0; });
  check_invalid("gid_index", [](config& c) { c.gid_index = -1; });
  check_invalid("gid_index", [](config& c) { c.gid_index = 256; });
  check_invalid("ud_service_level", [](config& c) { c.ud_service_level = 16; });
  check_invalid("service_level", [](config& c) { c.service_level = 16; });
  check_invalid("mtu", [](config& c) { c.mtu = 1500; });
  check_invalid("mtu", [](config& c) { c.mtu = -256; });
  check_invalid("qp_timeout", [](config& c) { c.qp_timeout = 0; });
  check_invalid("qp_timeout", [](config& c) { c.qp_timeout = 32; });
  check_invalid("qp_retry", [](config& c) { c.qp_retry = 8; });
  check_invalid("silence", [](config& c) { c.silence = std::chrono::milliseconds{99}; });
  check_invalid("silence", [](config& c) { c.silence = std::chrono::milliseconds::max(); });
  check_invalid("stall", [](config& c) { c.stall = std::chrono::milliseconds{0}; });
  check_invalid("stall", [](config& c) { c.stall = std::chrono::milliseconds::max(); });
  check_invalid("deadline", [](config& c) { c.deadline = std::chrono::milliseconds{-5}; });
  check_invalid("deadline", [](config& c) { c.deadline = std::chrono::milliseconds::max(); });
  check_invalid("block_bytes", [](config& c) { c.block_bytes = 0; });
  check_invalid("block_bytes", [](config& c) { c.block_bytes = 255; });
  check_invalid("block_bytes",
                [](config& c) { c.block_bytes = std::numeric_limits<std::size_t>::max() / 64 * 64; });
  check_invalid("blocks", [](config& c) { c.blocks = 1; });
  check_invalid("blocks", [](config& c) { c.blocks = 1025; });
  check_invalid("zero_copy_bytes", [](config& c) { c.zero_copy_bytes = (std::size_t{1} << 40) + 1; });
  check_invalid("alltoall_zero_copy_bytes",
                [](config& c) { c.alltoall_zero_copy_bytes = (std::size_t{1} << 40) + 1; });
  check_invalid("registration",
                [](config& c) { c.registration = static_cast<chorale::registration_policy>(3); });
  check_invalid("trials", [](config& c) { c.trials = static_cast<chorale::trial_policy>(3); });
  check_invalid("registration_entries", [](config& c) { c.registration_entries = 0; });
  check_invalid("registration_bytes", [](config& c) { c.registration_bytes = (std::size_t{1} << 40) + 1; });
  check_invalid("connections", [](config& c) { c.connections = 1; });
  check_invalid("multicast_patience", [](config& c) { c.multicast_patience = std::chrono::microseconds{0}; });
  check_invalid("multicast_patience", [](config& c) { c.multicast_patience = std::chrono::seconds{11}; });
  check_invalid("wait", [](config& c) { c.wait = static_cast<wait_policy>(3); });
  check_invalid("multicast_join", [](config& c) { c.multicast_join = static_cast<chorale::join_policy>(3); });
}

TEST_CASE("config: misspelt variables are reported, known ones and those of tests are not", "[config]") {
  environment env;
  CHECK(chorale::unknown_environment_variables().empty());
  for (const auto& variable : chorale::environment_variables()) env.set(std::string{variable.name}, "1");
  env.set("CHORALE_TEST_SEED", "7");
  env.set("CHORAL_DEVICE", "near miss without our prefix");
  CHECK(chorale::unknown_environment_variables().empty());
  env.set("CHORALE_DEVISE", "soft0");
  env.set("CHORALE_", "");
  const auto unknown = chorale::unknown_environment_variables();
  CHECK(std::set<std::string>(unknown.begin(), unknown.end()) ==
        std::set<std::string>{"CHORALE_", "CHORALE_DEVISE"});
  unsetenv("CHORAL_DEVICE");
}

TEST_CASE("config: the variable that a misspelt one probably means is named", "[config]") {
  CHECK(chorale::nearest_environment_variable("CHORALE_DEVISE") == "CHORALE_DEVICE");
  CHECK(chorale::nearest_environment_variable("CHORALE_DEADLINE") == "CHORALE_DEADLINE_MS");
  CHECK(chorale::nearest_environment_variable("CHORALE_STAL_MS") == "CHORALE_STALL_MS");
  CHECK(chorale::nearest_environment_variable("CHORALE_DEVCIE") == "CHORALE_DEVICE");
  CHECK(chorale::nearest_environment_variable("CHORALE_BLOCK") == "CHORALE_BLOCKS");
  CHECK(chorale::nearest_environment_variable("CHORALE_MTUS") == "CHORALE_MTU");
  CHECK(chorale::nearest_environment_variable("CHORALE_FAVOURITE_COLOUR").empty());
  CHECK(chorale::nearest_environment_variable("CHORALE_COLOUR_OF_PAPER").empty());
  CHECK(chorale::nearest_environment_variable("CHORALE_").empty());
  CHECK(chorale::nearest_environment_variable("").empty());
}

TEST_CASE("config: the table has each variable that the sources name, once, with a description", "[config]") {
  std::set<std::string> table;
  for (const auto& variable : chorale::environment_variables()) {
    INFO(variable.name);
    CHECK(table.insert(std::string{variable.name}).second);
    CHECK_FALSE(variable.accepts.empty());
    CHECK_FALSE(variable.meaning.empty());
  }
  const std::filesystem::path root{CHORALE_SOURCE_ROOT};
  const std::regex quoted{"\"(CHORALE_[A-Z0-9_]*[A-Z0-9])\""};
  int files = 0;
  for (const char* folder : {"include", "lib"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator{root / folder}) {
      const auto extension = entry.path().extension();
      if (extension != ".cpp" && extension != ".hpp") continue;
      ++files;
      std::ostringstream text;
      text << std::ifstream{entry.path()}.rdbuf();
      const std::string source = text.str();
      for (std::sregex_iterator match{source.begin(), source.end(), quoted}, end; match != end; ++match) {
        const std::string name = (*match)[1];
        if (name.starts_with("CHORALE_TEST_")) continue;
        INFO(entry.path() << " names " << name
                          << ": add it to environment_variables() in lib/core/config.cpp");
        CHECK(table.contains(name));
      }
    }
  }
  CHECK(files > 10);
}

TEST_CASE("config: docs/settings.md has a row for each variable, and no other", "[config]") {
  std::ifstream file{std::filesystem::path{CHORALE_SOURCE_ROOT} / "docs" / "settings.md"};
  std::vector<std::string> found;
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("| `CHORALE_")) found.push_back(line);
  std::vector<std::string> wanted;
  for (const auto& v : chorale::environment_variables())
    wanted.push_back("| `" + std::string{v.name} + "` | " + std::string{v.accepts} + " | " +
                     std::string{v.initially} + " | " + std::string{v.meaning} + " |");
  CHECK(found == wanted);
}
