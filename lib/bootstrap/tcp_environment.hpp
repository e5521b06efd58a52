// SPDX-License-Identifier: Apache-2.0
// The variables that scripts, torchrun and Kubernetes jobs set for each rank of a job.
#pragma once

#include <string>

namespace chorale::bootstrap {

struct tcp_environment {
  int rank = 0;
  int size = 1;
  std::string address;  ///< of rank 0, as `tcp` takes it

  /// RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT and CHORALE_TCP_PORT.
  /// @throws error errc::invalid_environment, which names the variable.
  [[nodiscard]] static tcp_environment read();
};

}  // namespace chorale::bootstrap
