// SPDX-License-Identifier: Apache-2.0
#include "floor.hpp"

#include <cerrno>
#include <cstring>
#include <random>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <fmt/format.h>

#include "../../lib/core/peer_descriptors.hpp"
#include "loop.hpp"

namespace bench {
namespace {

/// Location of rank 0's memory, and a value stored there to recognize it: another host may have a file of the
/// same name.
struct invitation {
  std::int64_t pid = -1;
  std::int64_t fd = -1;
  std::uint64_t token = 0;
};

}  // namespace

flag_floor::flag_floor(chorale::communicator<>& comm)
    : rank_(comm.rank()), yield_(comm.transport().oversubscribed()) {
  if (comm.size() < 2) {
    reason_ = "there is one rank, and the floor needs two";
    return;
  }
  chorale::detail::unique_fd fd;
  invitation call;
  int failure = 0;
  const auto map = [&] {
    void* address = mmap(nullptr, sizeof(page), PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
    if (address == MAP_FAILED)
      failure = errno;
    else
      shared_ = static_cast<page*>(address);
  };
  if (rank_ == 0) {
    std::random_device entropy;
    call = {getpid(), -1, std::uint64_t{entropy()} << 32 | entropy()};
    std::uint64_t inode = 0;
    fd.reset(chorale::detail::create_memory("chorale-bench-floor", sizeof(page), inode));
    if (fd.get() < 0)
      failure = errno;
    else
      map();
    if (shared_ != nullptr) shared_->token = call.token;
    call.fd = fd.get();
  }
  comm.broadcast(call, chorale::root{0});
  if (rank_ == 1 && call.fd >= 0) {
    // On another host this may open another process's file.
    fd.reset(chorale::detail::open_memory(static_cast<pid_t>(call.pid), static_cast<int>(call.fd), 0,
                                          sizeof(page)));
    if (fd.get() < 0)
      failure = errno == ENOENT ? EXDEV : errno;
    else
      map();
    if (shared_ != nullptr && shared_->token != call.token) failure = EXDEV;
  }
  failure = comm.allreduce(failure, chorale::max);
  if (failure != 0)
    reason_ = fmt::format("ranks 0 and 1 cannot share memory: {}",
                          failure == EXDEV ? "they run on different hosts" : std::strerror(failure));
}

flag_floor::~flag_floor() {
  if (shared_ != nullptr) munmap(shared_, sizeof(page));
}

void flag_floor::await(const std::atomic<std::uint64_t>& flag, std::uint64_t value) const {
  constexpr int looks_before_clock = 1 << 14;
  std::optional<timer::time_point> begin;
  for (int look = 1; flag.load(std::memory_order_acquire) != value; ++look) {
    if (yield_) sched_yield();
    if (look % looks_before_clock != 0) continue;
    sched_yield();  // on a busy host the other rank may wait for this core
    if (!begin) begin = timer::now();
    if (seconds_since(*begin) > 10)
      throw chorale::error(
          chorale::errc::deadline,
          fmt::format("flag floor: rank {} did not answer rank {} for 10 s", 1 - rank_, rank_), {1 - rank_});
  }
}

double flag_floor::run(int rounds) {
  if (!available() || rank_ > 1) return 0;
  auto& mine = shared_->lines[rank_].flag;
  const auto& theirs = shared_->lines[1 - rank_].flag;
  const auto begin = timer::now();
  for (int i = 0; i < rounds; ++i) {
    ++round_;
    if (rank_ == 0) {
      mine.store(round_, std::memory_order_release);
      await(theirs, round_);
    } else {
      await(theirs, round_);
      mine.store(round_, std::memory_order_release);
    }
  }
  return seconds_since(begin) / (2.0 * rounds);
}

}  // namespace bench
