// SPDX-License-Identifier: Apache-2.0
// The ranks of an MPI communicator, for programs that also use MPI, and for launchers that only MPI knows.
#pragma once

// Without MPI (Debian: libopenmpi-dev, libmpich-dev), including this header is no error, but using it is.
#if __has_include(<mpi.h>)
#include <mpi.h>
#endif

#ifdef MPI_VERSION

#include <chrono>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <chorale/bootstrap/concept.hpp>
#include <chorale/core/attention.hpp>
#include <chorale/core/background.hpp>
#include <chorale/core/clock.hpp>
#include <chorale/core/error.hpp>

namespace chorale::bootstrap {

/// The group of all ranks of an MPI intracommunicator, in its order: `communicator<> comm{mpi{there}}`.
/// Compiled against the program's own MPI; Chorale's libraries contain nothing of MPI. It duplicates the
/// communicator, collectively, and uses the duplicate only while Chorale's communicator is made: from then on
/// neither library needs the other, and they may be finalized in either order. One thread at a time, which
/// MPI must permit to call it.
class mpi {
 public:
  /// Collective over `there`. @throws error errc::misuse if MPI is not initialized, has been finalized, or
  /// does not permit calls from this thread; errc::invalid_argument for MPI_COMM_NULL and intercommunicators;
  /// errc::bootstrap_failed if an MPI call fails.
  explicit mpi(MPI_Comm there) {
    require_usable(there);
    check(MPI_Comm_dup(there, &comm_), "MPI_Comm_dup");
    try {
      check(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
      check(MPI_Comm_rank(comm_, &rank_), "MPI_Comm_rank");
      check(MPI_Comm_size(comm_, &size_), "MPI_Comm_size");
      MPI_Comm near = MPI_COMM_NULL;
      check(MPI_Comm_split_type(comm_, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &near), "MPI_Comm_split_type");
      const int asked = MPI_Comm_rank(near, &local_rank_);
      MPI_Comm_free(&near);
      check(asked, "MPI_Comm_rank");
      std::random_device random;
      std::uint32_t drawn[2] = {random(), random()};
      check(MPI_Bcast(drawn, sizeof drawn, MPI_BYTE, 0, comm_), "MPI_Bcast");
      job_ = "mpi-" + std::to_string(std::uint64_t{drawn[0]} << 32 | drawn[1]);
    } catch (...) {
      end();
      throw;
    }
  }
  mpi(const mpi&) = delete;
  mpi& operator=(const mpi&) = delete;
  ~mpi() { end(); }

  [[nodiscard]] int rank() const noexcept { return rank_; }
  [[nodiscard]] int size() const noexcept { return size_; }
  /// This rank's number among the ranks of the communicator on its host, from 0.
  [[nodiscard]] int local_rank() const noexcept { return local_rank_; }
  [[nodiscard]] std::string job() const { return job_; }
  [[nodiscard]] std::string describe() const {
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int bytes = 0;
    MPI_Get_library_version(text, &bytes);
    std::string version{text, std::strcspn(text, ",\n")};
    for (char& letter : version)
      if (letter == '\t') letter = ' ';
    return "an MPI communicator of " + std::to_string(size_) + " ranks, of " + version;
  }

  /// The messages of all ranks. Waits by MPI_Test, and yields in between. @throws error
  /// errc::bootstrap_failed if an MPI call fails, or `deadline`, unless zero, passes first: then the
  /// duplicate is not freed, since MPI may still use it.
  cards exchange(std::span<const std::byte> mine, std::chrono::milliseconds deadline) {
    if (mine.size() > INT_MAX)
      throw error(errc::invalid_argument, "bootstrap::mpi: a message of more than 2 GiB");
    const auto end = deadline.count() == 0 ? clock::time_point::max() : clock::now() + deadline;
    auto held = std::make_unique<buffers>();
    held->mine.assign(mine.begin(), mine.end());
    held->bytes = static_cast<int>(mine.size());
    held->sizes.resize(static_cast<std::size_t>(size_));
    check(MPI_Iallgather(&held->bytes, 1, MPI_INT, held->sizes.data(), 1, MPI_INT, comm_, &held->request),
          "MPI_Iallgather");
    await(held, end, "MPI_Iallgather");
    std::int64_t all = 0;
    for (const int bytes : held->sizes) {
      held->offsets.push_back(static_cast<int>(all));
      all += bytes;
      if (bytes < 0 || all > INT_MAX)
        throw error(errc::bootstrap_failed, "bootstrap::mpi: the ranks' messages have more than 2 GiB");
    }
    held->all.resize(static_cast<std::size_t>(all));
    check(MPI_Iallgatherv(held->mine.data(), held->bytes, MPI_BYTE, held->all.data(), held->sizes.data(),
                          held->offsets.data(), MPI_BYTE, comm_, &held->request),
          "MPI_Iallgatherv");
    await(held, end, "MPI_Iallgatherv");
    cards received;
    received.reserve(held->sizes.size());
    for (std::size_t i = 0; i < held->sizes.size(); ++i) {
      const auto begin = held->all.begin() + held->offsets[i];
      received.emplace_back(begin, begin + held->sizes[i]);
    }
    return received;
  }

 private:
  /// What MPI uses until an exchange is complete.
  struct buffers {
    std::vector<std::byte> mine{};
    std::vector<std::byte> all{};
    std::vector<int> sizes{};
    std::vector<int> offsets{};
    int bytes = 0;
    MPI_Request request = MPI_REQUEST_NULL;
  };

  static void require_usable(MPI_Comm there) {
    int is = 0;
    MPI_Initialized(&is);
    if (is == 0) throw error(errc::misuse, "bootstrap::mpi: MPI is not initialized; call MPI_Init before");
    MPI_Finalized(&is);
    if (is != 0)
      throw error(errc::misuse,
                  "bootstrap::mpi: MPI has been finalized; make the communicator before MPI_Finalize");
    int level = MPI_THREAD_SINGLE;
    MPI_Query_thread(&level);
    MPI_Is_thread_main(&is);
    if (is == 0 && level < MPI_THREAD_SERIALIZED)
      throw error(errc::misuse,
                  "bootstrap::mpi: MPI permits only calls of the thread that initialized it; make the "
                  "communicator there, or call MPI_Init_thread with MPI_THREAD_SERIALIZED");
    if (there == MPI_COMM_NULL)
      throw error(errc::invalid_argument,
                  "bootstrap::mpi: MPI_COMM_NULL has no ranks; only ranks of the communicator make a group");
    check(MPI_Comm_test_inter(there, &is), "MPI_Comm_test_inter");
    if (is != 0)
      throw error(errc::invalid_argument,
                  "bootstrap::mpi: an intercommunicator is two groups; merge them by MPI_Intercomm_merge");
  }
  static void check(int status, const char* call) {
    if (status == MPI_SUCCESS) return;
    char text[MPI_MAX_ERROR_STRING] = "unknown error";
    int bytes = 0;
    MPI_Error_string(status, text, &bytes);
    throw error(errc::bootstrap_failed, std::string{"bootstrap::mpi: "} + call + ": " + text);
  }
  void await(std::unique_ptr<buffers>& held, clock::time_point end, const char* call) {
    for (;;) {
      int is_complete = 0;
      const int status = MPI_Test(&held->request, &is_complete, MPI_STATUS_IGNORE);
      if (status == MPI_SUCCESS && is_complete != 0) return;
      if (status == MPI_SUCCESS && clock::now() < end) {
        background::advance_all(attention::passes);
        clock::give_way();
        continue;
      }
      // MPI cannot cancel a collective call: it keeps its buffers and its communicator.
      static_cast<void>(held.release());
      is_abandoned_ = true;
      check(status, call);
      throw error(errc::bootstrap_failed,
                  std::string{"bootstrap::mpi: "} + call + " on rank " + std::to_string(rank_) +
                      ": not all ranks have come before the deadline (config::deadline)");
    }
  }
  void end() noexcept {
    int is_finalized = 0;
    if (comm_ == MPI_COMM_NULL || is_abandoned_ || MPI_Finalized(&is_finalized) != MPI_SUCCESS ||
        is_finalized != 0)
      return;
    MPI_Comm_free(&comm_);
  }

  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0;
  int size_ = 1;
  int local_rank_ = 0;
  bool is_abandoned_ = false;
  std::string job_;
};
static_assert(group<mpi>);

}  // namespace chorale::bootstrap

#else

namespace chorale::bootstrap {

class mpi {
 public:
  template <class Communicator>
  explicit mpi(Communicator) {
    static_assert(
        sizeof(Communicator) == 0,
        "chorale: bootstrap::mpi needs <mpi.h>, which was not found: compile with mpicxx, or include "
        "<mpi.h> before");
  }
};

}  // namespace chorale::bootstrap

#endif
