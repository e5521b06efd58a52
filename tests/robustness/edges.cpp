// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fcntl.h>
#include <optional>
#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <stdexcept>
#include <string>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <chorale/chorale.hpp>

#include "modes.hpp"

extern char** environ;

namespace robustness {
namespace {

using communicator = chorale::communicator<>;

void require(bool is_so, const char* what) {
  if (!is_so) throw std::runtime_error(what);
}

/// Needs root's rights; the driver skips the test if it reads this line.
void require_right(bool has, const char* to) {
  if (!has) throw std::runtime_error(fmt::format("skipped: no right to {}", to));
}

/// Long and short messages, and new connections.
void check(communicator& comm) {
  std::vector<double> sums(100'000, 1.0);
  comm.allreduce(chorale::in_place, sums, chorale::sum);
  require(sums.back() == comm.size(), "the long sum");
  const auto n = static_cast<std::size_t>(comm.size());
  std::vector<int> mine(n * 3000, comm.rank());
  std::vector<int> all(mine.size());
  comm.alltoall(mine, all);
  for (std::size_t r = 0; r < n; ++r) require(all[r * 3000 + 7] == static_cast<int>(r), "the blocks");
  require(comm.allreduce(1, chorale::sum) == comm.size(), "the sum");
}

int status_of(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

void start_further_program(const char* program) {
  require(std::system(fmt::format("'{}' edge further", program).c_str()) != -1, "system()");
}

void start_children() {
  const char* const words[] = {"true", nullptr};
  const auto arguments = const_cast<char* const*>(words);
  for (int i = 0; i < 5; ++i) {
    pid_t child = 0;
    require(posix_spawnp(&child, "true", nullptr, nullptr, arguments, environ) == 0, "posix_spawn");
    require(status_of(child) == 0, "the child of posix_spawn");
    // Only exec and _exit are allowed between vfork() and the end of the child.
    child = vfork();
    if (child == 0) {
      if (i % 2 == 0) execvp("true", arguments);
      _exit(0);
    }
    require(status_of(child) == 0, "the child of vfork");
  }
}

/// A child of fork() reports the error of making a communicator.
void make_one_in_child() {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child != 0) return require(status_of(child) == 0, "the child of fork");
  try {
    communicator comm;
    std::printf("child: right\n");
  } catch (const std::exception& e) {
    std::printf("child: %s\n", e.what());
  }
  std::fflush(stdout);
  _exit(0);
}

/// A child of clone(), which runs no handlers of fork(), ends its copies of all objects, and exits.
void end_copies_in_clone(communicator& comm) {
  std::optional twin{comm.duplicate()};
  std::optional<chorale::window<int, communicator>> window{std::in_place, comm, std::size_t{10}};
  window->local()[0] = comm.rank();
  window->fence();
  if (comm.rank() == 0) {
    std::fflush(nullptr);
    const auto child = static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr));
    if (child == 0) {
      alarm(60);
      window.reset();
      twin.reset();
      { const communicator ended{std::move(comm)}; }
      std::exit(0);
    }
    require(child > 0 && status_of(child) == 0, "the child of clone()");
  }
  window->fence();
  require(window->get((comm.rank() + 1) % comm.size(), 0) == (comm.rank() + 1) % comm.size(), "the window");
  window->fence();
  check(*twin);
}

/// Must not return: the thread cannot end without the call.
void end_thread_in_operator(communicator& comm) {
  const rlimit no_core{};
  require(setrlimit(RLIMIT_CORE, &no_core) == 0, "setrlimit");
  std::vector<int> data(10, 1);
  const auto sum = [](int a, int b) {
    if (a == 1) pthread_exit(nullptr);
    return a + b;
  };
  // On a single rank this is the only call that uses its operator.
  comm.exscan(chorale::in_place, data, chorale::initial{1}, sum);
}

/// The data and progress of a thread that will be cancelled.
struct cancelled_call {
  communicator* comm;
  bool ended = false;
};

/// In a barrier, or while it makes a communicator.
void cancel_in_call(communicator& comm) {
  if (comm.rank() != 0) {
    usleep(200'000);  // so that the thread waits
    return comm.duplicate().barrier();
  }
  cancelled_call call{&comm};
  pthread_t thread{};
  const auto run = [](void* argument) -> void* {
    auto& mine = *static_cast<cancelled_call*>(argument);
    auto twin = mine.comm->duplicate();
    twin.barrier();
    mine.ended = true;
    for (;;) pause();
  };
  require(pthread_create(&thread, nullptr, run, &call) == 0, "pthread_create");
  usleep(100'000);
  pthread_cancel(thread);
  void* result = nullptr;
  pthread_join(thread, &result);
  require(result == PTHREAD_CANCELED, "the thread was cancelled");
  require(call.ended, "its call had ended before");
}

std::jmp_buf before_call;

/// The next call must be rejected: the abandoned call is still in progress.
void jump_out_of_operator(communicator& comm) {
  std::vector<int> data(10, 1);
  std::vector<int> result(10);
  static bool jumps = false;
  jumps = comm.rank() == 0;
  const auto sum = [](int a, int b) {
    if (jumps) std::longjmp(before_call, 1);
    return a + b;
  };
  if (setjmp(before_call) == 0) comm.reduce(data, result, sum, chorale::root{0});
}

sigjmp_buf before_wait;

/// Rank 0 leaves a barrier by a signal handler while it waits for the others.
void jump_out_of_wait(communicator& comm) {
  if (comm.rank() != 0) {
    usleep(1'500'000);
    return comm.barrier();
  }
  std::signal(SIGALRM, [](int) { siglongjmp(before_wait, 1); });
  if (sigsetjmp(before_wait, 1) != 0) return;
  const itimerval soon{{}, {0, 300'000}};
  require(setitimer(ITIMER_REAL, &soon, nullptr) == 0, "setitimer");
  comm.barrier();
  throw std::runtime_error("the wait ended before the jump");
}

bool has_all_rights = true;

/// All ranks on one core, on which rank 0 and its service thread have a higher priority: rank 0 must sleep.
void take_precedence(bool is_first) {
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof set, &set);
  std::size_t core = 0;
  while (!CPU_ISSET(core, &set)) ++core;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  sched_param precedence{};
  precedence.sched_priority = 1;
  has_all_rights = sched_setaffinity(0, sizeof set, &set) == 0 &&
                   (!is_first || sched_setscheduler(0, SCHED_FIFO, &precedence) == 0);
}

void use_precedence(communicator& comm) {
  require_right(comm.allreduce(has_all_rights ? 1 : 0, chorale::min) == 1, "use SCHED_FIFO");
  for (int i = 0; i < 20; ++i) comm.barrier();
}

/// A hundred thousand descriptors, as far as the limit permits or can be raised: later ones have greater
/// numbers than select(2) can name.
void open_descriptors() {
  constexpr rlim_t wanted = 110'000;
  rlimit most{};
  getrlimit(RLIMIT_NOFILE, &most);
  const rlimit raised{wanted, std::max(wanted, most.rlim_max)};
  if (setrlimit(RLIMIT_NOFILE, &raised) == 0) most = raised;
  most.rlim_cur = std::min(most.rlim_max, wanted);
  require(setrlimit(RLIMIT_NOFILE, &most) == 0, "setrlimit");
  int last = -1;
  for (rlim_t i = 0; i + 1'000 < most.rlim_cur; ++i) {
    last = open("/dev/null", O_RDONLY | O_CLOEXEC);
    require(last >= 0, "open");
  }
  fmt::print("descriptors: {}\n", last);
}

/// Where there is no /proc.
void leave_root() {
  require_right(chroot("/sys") == 0 && chdir("/") == 0, "call chroot()");
}

void become_nobody() {
  require_right(setgid(65534) == 0 && setuid(65534) == 0, "call setuid()");
}

void do_before(std::string_view what, const char* program) {
  const char* const rank = std::getenv("PMIX_RANK");
  const bool is_first = rank != nullptr && std::string_view{rank} == "0";
  if (what == "further-before" && is_first) start_further_program(program);
  if (what == "precedence") take_precedence(is_first);
  if (what == "closed") prctl(PR_SET_DUMPABLE, 0);
  if (what == "descriptors") open_descriptors();
}

void do_early(std::string_view what) {
  if (what == "chroot-early") leave_root();
  if (what == "setuid-early") become_nobody();
}

void do_late(std::string_view what, const char* program, communicator& comm) {
  if (what == "chroot") leave_root();
  if (what == "setuid") become_nobody();
  if (what == "cancel") cancel_in_call(comm);
  if (what == "clone") end_copies_in_clone(comm);
  if (what == "pthread_exit") end_thread_in_operator(comm);
  if (what == "longjmp") jump_out_of_operator(comm);
  if (what == "longjmp-wait") jump_out_of_wait(comm);
  if (what == "precedence") use_precedence(comm);
  if (comm.rank() != 0) return;
  if (what == "quick_exit") std::quick_exit(0);
  if (what == "exec-away") execlp("sleep", "sleep", "3", nullptr);
  if (what == "further-after") start_further_program(program);
  if (what == "children") start_children();
  if (what == "fork") make_one_in_child();
}

}  // namespace

int run_edge(std::string_view what, const char* program) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  std::string who = what == "further" ? "further" : "rank ?";
  try {
    do_before(what, program);
    communicator comm;
    who = fmt::format("{} {}", what == "further" ? "further" : "rank", comm.rank());
    do_early(what);
    check(comm);
    do_late(what, program, comm);
    check(comm);
    {
      auto twin = comm.duplicate();
      check(twin);
    }
    comm.barrier();
    if (what == "exec") {
      execl(program, program, "edge", "exec-again", nullptr);
      throw std::runtime_error("exec");
    }
    fmt::print("{}: right\n", who);
  } catch (const std::exception& e) {
    fmt::print("{}: {}\n", who, e.what());
  }
  std::fflush(stdout);
  return 0;
}

}  // namespace robustness
