// SPDX-License-Identifier: Apache-2.0
// The events of a rank, line by line in its own file.
#pragma once

#include <chrono>
#include <cstdlib>
#include <fcntl.h>
#include <string>
#include <unistd.h>

#include <fmt/format.h>

#include <chorale/core/clock.hpp>
#include <chorale/core/error.hpp>

namespace multirank {

inline std::string name(const std::error_code& code) {
  if (code.category() != chorale::category()) return fmt::format("errno-{}", code.value());
  constexpr const char* names[] = {"",
                                   "invalid_argument",
                                   "invalid_environment",
                                   "no_device",
                                   "no_launcher",
                                   "bootstrap_failed",
                                   "verbs_failed",
                                   "completion_failed",
                                   "mismatch",
                                   "peer_lost",
                                   "deadline",
                                   "poisoned",
                                   "unsupported",
                                   "misuse"};
  return names[code.value()];
}

/// Writes `FOLDER/PID`: lines of tab-separated fields. Each line is in the file when `note` returns, so that
/// a kill loses none.
class journal {
 public:
  explicit journal(const std::string& folder)
      : file_(open(fmt::format("{}/{}", folder, getpid()).c_str(), O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC,
                   0600)) {
    const char* rank = std::getenv("OMPI_COMM_WORLD_RANK");
    if (rank == nullptr) rank = std::getenv("RANK");
    note(fmt::format("rank {}", rank != nullptr ? rank : "0"));
  }
  journal(const journal&) = delete;
  journal& operator=(const journal&) = delete;
  ~journal() { close(file_); }

  void note(const std::string& line) {
    const std::string whole = line + "\n";
    if (write(file_, whole.data(), whole.size()) < 0) std::abort();
  }
  /// "failure", code, ranks, milliseconds since the program began, text.
  void failure(const chorale::error& e) {
    std::string ranks;
    for (const int r : e.ranks()) ranks += fmt::format("{}{}", ranks.empty() ? "" : " ", r);
    const auto age = std::chrono::duration_cast<std::chrono::milliseconds>(chorale::clock::now() - began_);
    note(fmt::format("failure\t{}\t{}\t{}\t{}", name(e.code()), ranks, age.count(), e.what()));
  }

 private:
  int file_;
  chorale::clock::time_point began_ = chorale::clock::now();
};

}  // namespace multirank
