#include "floor.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <random>
#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "loop.hpp"

namespace bench {
namespace {

/// Where rank 0's memory is, and what is written there: another host may have a file of that name too.
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
  int fd = -1;
  invitation call;
  int failure = 0;
  const auto map = [&] {
    void* address = mmap(nullptr, sizeof(page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (address == MAP_FAILED)
      failure = errno;
    else
      shared_ = static_cast<page*>(address);
  };
  if (rank_ == 0) {
    std::random_device entropy;
    call = {getpid(), -1, std::uint64_t{entropy()} << 32 | entropy()};
    fd = memfd_create("chorale-bench-floor", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, sizeof(page)) != 0)
      failure = errno;
    else
      map();
    if (shared_ != nullptr) shared_->token = call.token;
    call.fd = fd;
  }
  comm.broadcast(call, 0);
  if (rank_ == 1 && call.fd >= 0) {
    // On another host this leads to any process: looked at first, and opened only if it is such a page.
    const int held = open(fmt::format("/proc/{}/fd/{}", call.pid, call.fd).c_str(), O_PATH | O_CLOEXEC);
    struct stat s {};
    if (held < 0 || fstat(held, &s) != 0)
      failure = errno;
    else if (!S_ISREG(s.st_mode) || s.st_uid != geteuid() || s.st_size != static_cast<off_t>(sizeof(page)))
      failure = EXDEV;  // one that ends before the page would raise SIGBUS
    else if ((fd = open(fmt::format("/proc/self/fd/{}", held).c_str(), O_RDWR | O_CLOEXEC)) < 0)
      failure = errno;
    else
      map();
    if (held >= 0) close(held);
    if (shared_ != nullptr && shared_->token != call.token) failure = EXDEV;
  }
  failure = comm.allreduce(failure, chorale::max);
  if (fd >= 0) close(fd);
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
