// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <optional>
#include <semaphore>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>

#include <chorale/chorale.hpp>

#include "../support/expect.hpp"
#include "modes.hpp"

namespace robustness {
namespace {

using chorale::communicator;

bool ended = false;

enum class way { returns, throws, exits, exits_at_once };
struct child_ends {};

template <class Call>
void must_be_refused(const char* what, Call&& call) {
  try {
    support::refused(chorale::errc::misuse, {"fork()"}, call);
  } catch (const std::runtime_error& e) {
    std::fprintf(stderr, "%s in a child: %s\n", what, e.what());
    _exit(2);
  }
}

/// Holds the lock of the service thread, as that thread does occasionally.
template <class Comm>
class held_lock {
 public:
  explicit held_lock(Comm& comm) {
    holder_ = std::thread{[this, &comm] {
      auto& lock = comm.transport().core().channel().lock();
      lock.lock();
      held_.release();
      enough_.acquire();
      lock.unlock();
    }};
    held_.acquire();
  }
  held_lock(const held_lock&) = delete;
  held_lock& operator=(const held_lock&) = delete;
  void let_go() {
    enough_.release();
    holder_.join();
  }
  /// Call it in a child, which has no such thread.
  void forget() { holder_.detach(); }

 private:
  std::binary_semaphore held_{0};
  std::binary_semaphore enough_{0};
  std::thread holder_;
};

/// False in a child, which then returns.
template <class Transport>
bool end_copies(way how, const std::string& which) {
  using comm_type = communicator<Transport>;
  comm_type comm;
  auto part = comm.split(comm.rank() % 2);
  auto copy = comm.duplicate();
  std::vector<int> data(1000, 1);
  std::vector<int> sums(1000);
  auto array = comm.template allocate<int>(5000);
  std::fill(array.begin(), array.end(), 7);
  auto plan = copy.plan_allreduce(array, array, chorale::sum);
  chorale::window<int, comm_type> window{comm, 100};
  window.put(comm.rank(), 0, 5);
  window.fence();
  // All ranks begin the call after all have forked, so that it cannot complete before.
  auto request = comm.rank() == 0 ? part->iallreduce(data, sums, chorale::sum) : chorale::request{};
  std::optional<held_lock<comm_type>> service{comm};
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    ended = true;
    service->forget();
    alarm(60);
    window.local()[0] = 99;
    array[0] = 99;
    must_be_refused("barrier", [&] { comm.barrier(); });
    must_be_refused("split", [&] { static_cast<void>(comm.split(0)); });
    if (comm.rank() == 0 && comm.size() > 2) must_be_refused("wait", [&] { request.wait(); });
    must_be_refused("plan", [&] { plan.run(); });
    must_be_refused("put", [&] { window.put(0, 1, 3); });
    chorale::progress();
    if (how == way::throws) throw child_ends{};
    if (how == way::exits) std::exit(0);
    if (how == way::exits_at_once) _exit(0);
    return false;
  }
  if (child < 0) throw std::runtime_error("fork");
  std::exception_ptr failure;
  try {
    join(child, which);
  } catch (...) {
    failure = std::current_exception();
  }
  service->let_go();
  if (failure) std::rethrow_exception(failure);
  comm.barrier();
  if (comm.rank() != 0) request = part->iallreduce(data, sums, chorale::sum);
  request.wait();
  plan.run();
  window.fence();
  if (sums[999] != part->size() || array[0] != 7 * comm.size() || window.local()[0] != 5 ||
      window.get(0, 1) != 0)
    throw std::runtime_error(fmt::format("{}: the child has changed something: {} {} {} {}", which, sums[999],
                                         array[0], window.local()[0], window.get(0, 1)));
  return true;
}

/// A fork() in an operator: the child leaves by an exception, through the frames of the call.
template <class Transport>
void end_in_operator(const std::string& which) {
  communicator<Transport> comm;
  chorale::bootstrap::pmix group;
  const Transport net{group, comm.transport().settings()};
  pid_t child = -1;
  const auto add = [&](int a, int b) {
    if (child == -1) {
      std::fflush(nullptr);
      child = fork();
      if (child == 0) {
        ended = true;
        alarm(60);
        throw child_ends{};
      }
    }
    return a + b;
  };
  std::vector<int> data(10, 1);
  comm.allreduce(chorale::in_place, data, add);
  if (child > 0) join(child, which);
  if (data[9] != comm.size() || comm.allreduce(1, chorale::sum) != comm.size())
    throw std::runtime_error(which + ": a wrong sum");
}

template <class Transport>
void end_copies_in_all_ways(int rounds) {
  for (int round = 0; round < rounds && !ended; ++round) {
    for (const way how : {way::returns, way::throws, way::exits, way::exits_at_once}) {
      if (ended) return;
      end_copies<Transport>(
          how, fmt::format("{}, way {}, round {}", Transport::name, static_cast<int>(how), round));
    }
    if (!ended)
      end_in_operator<Transport>(fmt::format("{}, in an operator, round {}", Transport::name, round));
  }
}

void end_all_copies(int rounds) {
  try {
    end_copies_in_all_ways<chorale::transport::rc>(rounds);
    end_copies_in_all_ways<chorale::transport::ud_rdma>(rounds);
    end_copies_in_all_ways<chorale::transport::hybrid<2>>(rounds);
  } catch (const child_ends&) {
  }
}

/// Constructed before main(), so that its destructor runs late.
struct application {
  std::optional<communicator<>> comm;
  std::string_view mode;

  ~application() {
    if (mode.empty()) return;
    const int failed = uses();
    std::fflush(nullptr);
    if (failed != 0) _exit(failed);
  }
  int uses() noexcept {
    try {
      if (mode == "global-split") {
        chorale::window<int, communicator<>> window{*comm, 10};
        comm->duplicate().barrier();
      } else {
        communicator<> late;
        if (late.allreduce(1, chorale::sum) != late.size()) return 4;
      }
      try {
        communicator<> wrong{[] {
          auto settings = chorale::config::from_environment();
          settings.device = "nowhere";
          return settings;
        }()};
        return 5;
      } catch (const chorale::error& e) {
        return e.code().message().empty() ? 6 : 0;
      }
    } catch (const std::exception& e) {
      fmt::print("{}\n", e.what());
      return 7;
    }
  }
} global;

/// Continuously checks the descriptors of the closed standard streams: a descriptor there must be neither
/// readable nor writable.
class stream_guard {
 public:
  stream_guard() {
    for (int stream = 0; stream < 3; ++stream)
      if (fcntl(stream, F_GETFD) < 0) closed_.push_back(stream);
    watch_ = std::thread{[this] {
      while (!stop_.load())
        for (const int stream : closed_) {
          const int flags = fcntl(stream, F_GETFL);
          if (flags >= 0 && (flags & O_PATH) == 0) seen_.store(stream);
        }
    }};
  }
  ~stream_guard() { finish(); }
  void finish() {
    stop_.store(true);
    if (watch_.joinable()) watch_.join();
  }
  /// @throws std::runtime_error if any was readable or writable.
  void check() {
    finish();
    if (seen_.load() >= 0)
      throw std::runtime_error(fmt::format("descriptor {} was the library's", seen_.load()));
    for (const int stream : closed_)
      if (fcntl(stream, F_GETFD) >= 0) throw std::runtime_error(fmt::format("descriptor {} is open", stream));
  }

 private:
  std::vector<int> closed_;
  std::atomic<bool> stop_{false};
  std::atomic<int> seen_{-1};
  std::thread watch_;
};

void check_streams() {
  stream_guard guard;
  // The library is not responsible for libpmix's descriptors, except for their numbers.
  const chorale::bootstrap::pmix launched;
  std::vector<bool> before(1000);
  for (int fd = 0; fd < 1000; ++fd) before[static_cast<std::size_t>(fd)] = fcntl(fd, F_GETFD) >= 0;
  {
    communicator<> comm;
    communicator<chorale::transport::ud_rdma> datagrams;
    auto copy = comm.duplicate();
    auto array = comm.allocate<int>(5000);
    for (int round = 0; round < 3; ++round) {
      comm.allreduce(chorale::in_place, array, chorale::sum);
      copy.barrier();
      datagrams.barrier();
    }
    for (int fd = 3; fd < 1000; ++fd) {
      const int flags = before[static_cast<std::size_t>(fd)] ? -1 : fcntl(fd, F_GETFD);
      if (flags < 0 || (flags & FD_CLOEXEC) != 0) continue;
      std::error_code none;
      const auto what = std::filesystem::read_symlink(fmt::format("/proc/self/fd/{}", fd), none).string();
      throw std::runtime_error(fmt::format("descriptor {}, {}, is inherited by programs", fd, what));
    }
    guard.check();
  }
}

/// Bit n - 1 is signal n.
std::uint64_t blocked_by(const std::filesystem::path& task) {
  std::ifstream file{task / "status"};
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("SigBlk:")) return std::stoull(line.substr(7), nullptr, 16);
  return ~std::uint64_t{0};  // the task has ended
}

void check_signals() {
  sigset_t wanted;
  sigemptyset(&wanted);
  sigaddset(&wanted, SIGUSR1);
  sigaddset(&wanted, SIGTERM);
  communicator<> comm;
  communicator<chorale::transport::ud_rdma> datagrams;
  comm.barrier();
  datagrams.barrier();
  int others = 0;
  for (const auto& task : std::filesystem::directory_iterator{"/proc/self/task"}) {
    if (task.path().filename() == std::to_string(gettid())) continue;
    ++others;
    std::uint64_t all = ~std::uint64_t{0};
    for (const int open :
         {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS, SIGKILL, SIGSTOP, 32, 33})
      all &= ~(std::uint64_t{1} << (open - 1));
    if (const auto blocked = blocked_by(task.path()); (blocked & all) != all) {
      std::string name;
      std::getline(std::ifstream{task.path() / "comm"}, name);
      throw std::runtime_error(fmt::format("the thread {} blocks {:x} of {:x}", name, blocked & all, all));
    }
  }
  if (others < 2) throw std::runtime_error("there are no other threads");
  // Blocked after they have started.
  pthread_sigmask(SIG_BLOCK, &wanted, nullptr);
  for (const int signal : {SIGUSR1, SIGTERM}) {
    kill(getpid(), signal);
    timespec patience{10, 0};
    if (const int got = sigtimedwait(&wanted, nullptr, &patience); got != signal)
      throw std::runtime_error(fmt::format("sigtimedwait gives {}", got));
  }
  comm.barrier();
}

}  // namespace

void join(pid_t child, const std::string& which) {
  int status = 0;
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds{80};
  while (waitpid(child, &status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() > until) {
      kill(child, SIGKILL);
      waitpid(child, &status, 0);
      throw std::runtime_error(which + ": the child does not end");
    }
    usleep(500);
  }
  if (status != 0) throw std::runtime_error(fmt::format("{}: the child's status is {:#x}", which, status));
}

bool is_ended_child() {
  return ended;
}

bool run_lifetime(std::string_view mode, int number) {
  if (mode == "ended-copies") {
    end_all_copies(number);
  } else if (mode == "global-split" || mode == "global-first" || mode == "global-second") {
    if (mode != "global-first") global.comm.emplace().barrier();
    if (mode == "global-second") global.comm.reset();
    global.mode = mode;
  } else if (mode == "streams") {
    check_streams();
  } else if (mode == "signals") {
    check_signals();
  } else {
    return false;
  }
  return true;
}

}  // namespace robustness
