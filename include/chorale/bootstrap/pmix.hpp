// SPDX-License-Identifier: Apache-2.0
// The ranks of a job that a PMIx launcher started (mpirun, prterun, srun --mpi=pmix).
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include <chorale/bootstrap/concept.hpp>

namespace chorale::bootstrap {

/// How this process was started, judged by its environment alone.
struct launch {
  bool pmix = false;  ///< a PMIx server is available
  /// Number of processes according to the launcher's own variables; 1 if they do not say
  int ranks = 1;
  std::string launcher;     ///< name of the launcher, or "none"
  std::string explanation;  ///< one sentence; for a launcher without PMIx, with the remedy
};
/// Reads this process's environment, without contacting any other process.
launch inspect_launch();

/// The group of all ranks of this job.
///
/// Without any launcher it is a *singleton*: one rank; `singleton()` and `describe()` say so. N processes
/// never silently become N singletons: a launcher without PMIx (MPICH's hydra, `srun` without --mpi=pmix), or
/// a job size that differs from the launcher's variables or `CHORALE_RANKS`, is an error.
///
/// All objects of a process share one PMIx session, which lasts until the process ends. `exchange` is
/// collective over the job; use it from one thread at a time.
class pmix {
 public:
  /// @throws error errc::no_launcher, errc::bootstrap_failed, errc::unsupported (a build without PMIx).
  pmix();

  [[nodiscard]] int rank() const noexcept;
  [[nodiscard]] int size() const noexcept;
  /// This rank's number among the ranks of the job on its host, from 0.
  [[nodiscard]] int local_rank() const noexcept;
  [[nodiscard]] bool singleton() const noexcept;  ///< Whether it was started without a launcher.
  [[nodiscard]] std::string job() const;
  [[nodiscard]] std::string describe() const;
  /// Put, commit, fence with data collection, get. `mine` is at most 64 KiB.
  cards exchange(std::span<const std::byte> mine, std::chrono::milliseconds deadline);

 private:
  struct session;
  std::shared_ptr<session> session_;
};

}  // namespace chorale::bootstrap
