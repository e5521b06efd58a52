// SPDX-License-Identifier: Apache-2.0
// The ranks of the job of this process, however it was started.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <variant>

#include <chorale/bootstrap/concept.hpp>
#include <chorale/bootstrap/pmix.hpp>
#include <chorale/bootstrap/tcp.hpp>

namespace chorale::bootstrap {

/// The group of a communicator that is made without one. With CHORALE_BOOTSTRAP=tcp: the ranks that meet as
/// RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT say (`tcp`); otherwise the job of a PMIx launcher, or one
/// rank (`pmix`).
///
/// All objects of a process share one such group, which lasts until the process ends. One thread at a time.
class launched {
 public:
  /// @throws error errc::invalid_environment, and as `tcp` and `pmix`. With `tcp`, the first construction in
  /// a process is collective.
  launched();

  [[nodiscard]] int rank() const noexcept;
  [[nodiscard]] int size() const noexcept;
  /// This rank's number among the ranks of the job on its host, from 0.
  [[nodiscard]] int local_rank() const noexcept;
  [[nodiscard]] bool singleton() const noexcept;  ///< Whether it is one rank that no launcher started.
  [[nodiscard]] std::string job() const;
  [[nodiscard]] std::string describe() const;
  /// `mine` is at most 64 KiB.
  cards exchange(std::span<const std::byte> mine, std::chrono::milliseconds deadline);

 private:
  std::variant<std::shared_ptr<pmix>, std::shared_ptr<tcp>> by_;
};
static_assert(group<launched>);

}  // namespace chorale::bootstrap
