// SPDX-License-Identifier: Apache-2.0
// A program that uses MPI and Chorale: groups of several MPI communicators, alternating calls of both,
// errors, and ranks that wait for each other in different libraries.
// The argument selects the case; rank 0 of MPI_COMM_WORLD prints one line if it succeeds.
#include <chrono>
#include <cstdio>
#include <functional>
#include <mpi.h>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <chorale/bootstrap/mpi.hpp>
#include <chorale/chorale.hpp>

namespace {

using chorale::bootstrap::mpi;

void expect(bool is_right, const std::string& what) {
  if (!is_right) throw std::runtime_error(what);
}

template <class Action>
void refuses(chorale::errc code, const std::string& words, Action&& action) {
  try {
    action();
  } catch (const chorale::error& e) {
    expect(e.code() == code && std::string{e.what()}.find(words) != std::string::npos, e.what());
    return;
  }
  throw std::runtime_error("it is not refused: " + words);
}

/// Compares the sums that both libraries compute of the same numbers, in alternating calls.
template <class Communicator>
void compare(MPI_Comm there, Communicator& comm) {
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(there, &rank);
  MPI_Comm_size(there, &size);
  expect(comm.rank() == rank && comm.size() == size, "another rank or size than MPI's");
  expect(comm.launcher().find("an MPI communicator of " + std::to_string(size)) == 0, comm.launcher());
  for (int round = 0; round < 20; ++round) {
    std::vector<long> mine(static_cast<std::size_t>(1 + 997 * round));
    for (std::size_t i = 0; i < mine.size(); ++i) mine[i] = rank * 7919 + static_cast<long>(i) + round;
    std::vector<long> by_mpi(mine.size());
    std::vector<long> by_chorale(mine.size());
    MPI_Allreduce(mine.data(), by_mpi.data(), static_cast<int>(mine.size()), MPI_LONG, MPI_SUM, there);
    comm.allreduce(mine, by_chorale, chorale::sum);
    expect(by_mpi == by_chorale, "round " + std::to_string(round) + ": other sums than MPI's");
  }
}

void in_turn() {
  chorale::communicator<> all{mpi{MPI_COMM_WORLD}};
  compare(MPI_COMM_WORLD, all);
  // Reversed order, and separate groups of even and odd ranks.
  MPI_Comm turned = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -all.rank(), &turned);
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, all.rank() % 2, all.rank(), &half);
  {
    chorale::communicator<chorale::transport::ud> reversed{mpi{turned}};
    compare(turned, reversed);
    mpi group{half};
    chorale::communicator<> first{group};
    chorale::communicator<> second{group};
    compare(half, first);
    compare(half, second);
  }
  MPI_Comm_free(&turned);
  MPI_Comm_free(&half);
  compare(MPI_COMM_WORLD, all);
}

void refusals() {
  refuses(chorale::errc::invalid_argument, "MPI_COMM_NULL", [] { const mpi none{MPI_COMM_NULL}; });
  std::thread{[] {
    refuses(chorale::errc::misuse, "MPI_THREAD_SERIALIZED", [] { const mpi other{MPI_COMM_WORLD}; });
  }}.join();
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size < 2) return;
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm both = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 0, &both);
  refuses(chorale::errc::invalid_argument, "MPI_Intercomm_merge", [&] { const mpi two{both}; });
  MPI_Comm_free(&both);
  MPI_Comm_free(&half);
}

/// Rank 0 does not take part in the exchange. MPI cannot be finalized after that.
void late() {
  mpi group{MPI_COMM_WORLD};
  if (group.rank() != 0)
    refuses(chorale::errc::bootstrap_failed, "before the deadline",
            [&] { group.exchange({}, std::chrono::milliseconds{50}); });
  MPI_Barrier(MPI_COMM_WORLD);
  if (group.rank() == 0) {
    std::puts("all right: late");
    std::fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

/// Rank 1 waits in Chorale for rank 0, which waits in `receive` until rank 1 makes progress in MPI, which
/// only `drive` does. Without `drive`, the deadline of rank 1 ends the deadlock, if there is one: some MPIs
/// make progress by themselves.
void in_both(bool drives, const std::function<void()>& receive, const std::function<bool()>& drive) {
  chorale::config c;
  c.deadline = std::chrono::seconds{drives ? 60 : 2};
  chorale::communicator<> comm{mpi{MPI_COMM_WORLD}, c};
  comm.barrier();
  try {
    if (comm.rank() == 0) receive();
    std::optional<chorale::while_waiting> driving;
    if (comm.rank() == 1 && drives) driving.emplace(drive);
    comm.barrier();
    expect(comm.allreduce(1, chorale::sum) == comm.size(), "a wrong sum");
    if (comm.rank() == 1 && !drives) std::puts("without while_waiting: this MPI progressed by itself");
  } catch (const chorale::error& e) {
    expect(!drives, e.what());
    if (comm.rank() != 1) return;
    expect(e.code() == chorale::errc::deadline, e.what());
    std::puts("without while_waiting: a deadlock");
  }
}

/// A message that needs its sender to make progress in MPI.
void pending_message(bool drives) {
  std::vector<double> data(1 << 20);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 1) data.assign(data.size(), 7);
  const int count = static_cast<int>(data.size());
  MPI_Request sent = MPI_REQUEST_NULL;
  if (rank == 1) MPI_Isend(data.data(), count, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, &sent);
  in_both(
      drives, [&] { MPI_Recv(data.data(), count, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); },
      [&] {
        int is_over = 0;
        MPI_Test(&sent, &is_over, MPI_STATUS_IGNORE);
        return is_over == 0;
      });
  MPI_Wait(&sent, MPI_STATUS_IGNORE);
  if (rank < 2) expect(data.front() == 7 && data.back() == 7, "another message");
}

/// One-sided access to memory whose owner must make progress in MPI.
void passive_target(bool drives) {
  std::vector<double> memory(1 << 18);
  const std::vector<double> data(memory.size(), 7);
  const int count = static_cast<int>(data.size());
  MPI_Win window = MPI_WIN_NULL;
  MPI_Win_create(memory.data(), static_cast<MPI_Aint>(memory.size() * sizeof(double)), sizeof(double),
                 MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  in_both(
      drives,
      [&] {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, window);
        MPI_Accumulate(data.data(), count, MPI_DOUBLE, 1, 0, count, MPI_DOUBLE, MPI_SUM, window);
        MPI_Win_unlock(1, window);
      },
      [&] {
        int is_there = 0;
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &is_there, MPI_STATUS_IGNORE);
        return true;
      });
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Win_free(&window);
  if (rank == 1) expect(memory.front() == 7 && memory.back() == 7, "the sum has not arrived");
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  try {
    if (what == "uninitialized") {
      refuses(chorale::errc::misuse, "call MPI_Init", [] { const mpi early{MPI_COMM_WORLD}; });
      std::puts("all right: uninitialized");
      return 0;
    }
    std::optional<chorale::communicator<>> kept;
    MPI_Init(&argc, &argv);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (what == "turns") in_turn();
    if (what == "refusals") refusals();
    if (what == "late") late();
    if (what == "message" || what == "message alone") pending_message(what == "message");
    if (what == "passive" || what == "passive alone") passive_target(what == "passive");
    if (what == "outlives") kept.emplace(mpi{MPI_COMM_WORLD});
    MPI_Finalize();
    if (kept) expect(kept->allreduce(1, chorale::sum) == kept->size(), "a wrong sum after MPI_Finalize");
    refuses(chorale::errc::misuse, "has been finalized", [] { const mpi over{MPI_COMM_WORLD}; });
    if (rank == 0) std::printf("all right: %s\n", what.c_str());
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s: %s\n", what.c_str(), e.what());
    return 1;
  }
}
