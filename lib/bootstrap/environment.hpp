// SPDX-License-Identifier: Apache-2.0
// The variables that launchers, scripts, torchrun and Kubernetes jobs set for each rank of a job.
#pragma once

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <system_error>

#include <chorale/core/error.hpp>

namespace chorale::bootstrap {

/// The variable as an integer; `otherwise` if it is not set or not an integer.
[[nodiscard]] inline int integer_of(const char* variable, int otherwise) {
  const char* text = std::getenv(variable);
  if (text == nullptr) return otherwise;
  int value = 0;
  const char* end = text + std::strlen(text);
  const auto [stop, status] = std::from_chars(text, end, value);
  return status == std::errc{} && stop == end ? value : otherwise;
}

/// Compares CHORALE_RANKS, if it is set, with the number of ranks; `how` says how they were started. @throws
/// error `otherwise` if they differ; errc::invalid_environment if it is not a valid number of ranks.
void require_expected_ranks(int size, errc otherwise, std::string_view how);

struct tcp_environment {
  int rank = 0;
  int size = 1;
  std::string address;  ///< of rank 0, as `tcp` takes it

  /// RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT and CHORALE_TCP_PORT.
  /// @throws error errc::invalid_environment, which names the variable.
  [[nodiscard]] static tcp_environment read();
};

}  // namespace chorale::bootstrap
