// The ranks of a job that a PMIx launcher started (mpirun, prterun, srun --mpi=pmix).
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include <chorale/bootstrap/concept.hpp>
#include <chorale/core/lean_chrono.hpp>

namespace chorale::bootstrap {

/// How this process was started, read from its environment alone.
struct launch {
  bool pmix = false;     ///< a PMIx server is there
  int ranks = 1;         ///< number of processes that the launcher's own variables tell; 1 if they tell none
  std::string launcher;  ///< name of the launcher or "none"
  std::string explanation;  ///< one sentence; for a launcher without PMIx with the remedy
};
/// Reads it. @returns what the environment of this process says; nothing is contacted.
launch inspect_launch();

/// The group of all ranks of this job.
///
/// Started without any launcher it is a *singleton*: one rank, and `singleton()` and `describe()` say so.
/// N processes never become N singletons in silence: a launcher that offers no PMIx (MPICH's hydra, `srun`
/// without --mpi=pmix), or a job whose size differs from what the launcher's variables or `CHORALE_RANKS`
/// say, is an error.
///
/// All objects of a process share one PMIx session, which ends with the process. `exchange` is collective
/// over the job; use it from one thread at a time.
class pmix {
 public:
  /// @throws error errc::no_launcher, errc::bootstrap_failed, errc::unsupported (a build without PMIx).
  pmix();

  [[nodiscard]] int rank() const noexcept;
  [[nodiscard]] int size() const noexcept;
  /// Number of this rank among those of this job on its host, from 0.
  [[nodiscard]] int local_rank() const noexcept;
  [[nodiscard]] bool singleton() const noexcept;  ///< Whether there was no launcher.
  [[nodiscard]] std::string job() const;
  [[nodiscard]] std::string describe() const;
  /// Put, commit, fence with data, get. `mine` at most 64 KiB.
  cards exchange(std::span<const std::byte> mine, std::chrono::milliseconds deadline);

 private:
  struct session;
  std::shared_ptr<session> session_;
};

}  // namespace chorale::bootstrap
