// SPDX-License-Identifier: Apache-2.0
// Compiled with libstdc++'s debug mode, whose containers differ from the library's: the first use of the
// library, whatever it is, throws an error that says so.
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include <chorale/bootstrap/in_process.hpp>
#include <chorale/chorale.hpp>

namespace {

/// One rank, without any part of the library.
struct alone {
  [[nodiscard]] int rank() const { return 0; }
  [[nodiscard]] int size() const { return 1; }
  [[nodiscard]] std::string job() const { return "alone"; }
  [[nodiscard]] std::string describe() const { return "alone"; }
  chorale::bootstrap::cards exchange(std::span<const std::byte> mine, std::chrono::milliseconds) {
    return {{mine.begin(), mine.end()}};
  }
};

int wrong = 0;

void refused(std::string_view what, const std::function<void()>& act) {
  std::string said = "nothing";
  try {
    act();
  } catch (const std::system_error& e) {
    said = e.what();
    if (said.find("-D_GLIBCXX_DEBUG") != std::string::npos) return;
  }
  ++wrong;
  fmt::print(stderr, "{}: {}\n", what, said);
}

}  // namespace

int main() {
  refused("a communicator", [] { chorale::communicator<> comm; });
  refused("settings", [] { static_cast<void>(chorale::config::from_environment()); });
  refused("a launcher's group", [] { chorale::bootstrap::pmix group; });
  refused("the group of a job", [] { chorale::bootstrap::launched group; });
  refused("a group that meets", [] { chorale::bootstrap::tcp group; });
  refused("an id", [] { static_cast<void>(chorale::bootstrap::tcp_id::make()); });
  refused("a hub", [] { chorale::bootstrap::in_process_hub hub{1}; });
  refused("threads", [] { chorale::bootstrap::run_in_process(1, [](auto&) {}); });
  refused("a group of the program's own", [] {
    alone group;
    chorale::communicator<> comm{group, chorale::config{}};
  });
  refused("a transport alone", [] {
    alone group;
    const chorale::transport::rc net{group, chorale::config{}};
  });
  return wrong;
}
