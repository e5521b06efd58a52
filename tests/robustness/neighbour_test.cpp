// SPDX-License-Identifier: Apache-2.0
// Obstacles that other processes, of this user or of others, can create for a process that joins a fabric.
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <string>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <vector>

#include <catch2/catch.hpp>

#include <chorale/verbs/device.hpp>

#include "../../lib/soft/fabric.hpp"
#include "programs.hpp"

using namespace soft_test;
using chorale::soft::name_prefix;
using chorale::soft::unique_fd;

#ifdef __SANITIZE_THREAD__
TEST_CASE("Neighbours", "[robustness]") {
  WARN("skipped: ThreadSanitizer cannot start threads in the forked child of a process with threads");
}
#else

namespace {

/// Takes an abstract socket name, as any process may.
unique_fd take_name(const std::string& name) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  expect(name.size() < sizeof address.sun_path, "a name that fits");
  name.copy(address.sun_path + 1, name.size());
  unique_fd fd{socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  expect(bind(fd.get(), reinterpret_cast<const sockaddr*>(&address),
              static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size())) == 0,
         "bind " + name);
  return fd;
}

/// The fabric that the calling process will join.
std::string prefix() {
  return name_prefix(std::getenv("CHORALE_SOFT_FABRIC"));
}

std::string member_name(unsigned slot, pid_t pid, int fd) {
  return prefix() + "/" + std::to_string(slot) + "/" + std::to_string(pid) + "/" + std::to_string(fd);
}

/// A FIFO that detects when a process opens it.
class watched_fifo {
 public:
  watched_fifo() {
    expect(mkdtemp(folder_) != nullptr, "mkdtemp");
    expect(mkfifo(path().c_str(), 0600) == 0, "mkfifo");
    watch_.reset(inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
    expect(inotify_add_watch(watch_.get(), path().c_str(), IN_OPEN) >= 0, "inotify_add_watch");
  }
  ~watched_fifo() { std::filesystem::remove_all(folder_); }
  watched_fifo(const watched_fifo&) = delete;
  watched_fifo& operator=(const watched_fifo&) = delete;

  [[nodiscard]] std::string path() const { return std::string(folder_) + "/fifo"; }
  [[nodiscard]] bool opened() const {
    alignas(inotify_event) char events[4096];
    return read(watch_.get(), events, sizeof events) > 0;
  }

 private:
  char folder_[64] = "/tmp/chorale-neighbour-XXXXXX";
  unique_fd watch_;
};

/// Continuously exchanges the file of a descriptor, to which socket names refer.
void swap_for_ever(wire& line, const std::string& fifo) {
  const unique_fd memory{memfd_create("neighbour", MFD_CLOEXEC)};
  const unique_fd other{open(fifo.c_str(), O_PATH | O_CLOEXEC)};
  expect(memory.get() >= 0 && other.get() >= 0 && ftruncate(memory.get(), 1 << 30) == 0, "open");
  const unique_fd shown{dup(memory.get())};
  std::vector<unique_fd> names;
  for (unsigned slot = 0; slot < 300; ++slot)
    names.push_back(take_name(member_name(slot, getpid(), shown.get())));
  line.send(char{1});
  while (!line.readable()) {
    for (int i = 0; i < 1000; ++i) {
      dup2(memory.get(), shown.get());
      dup2(other.get(), shown.get());
    }
  }
}

}  // namespace

TEST_CASE("A neighbour cannot make a process open arbitrary files", "[robustness]") {
  const watched_fifo bait;
  child neighbour([&](wire& line) { swap_for_ever(line, bait.path()); });
  neighbour.line().receive<char>();
  for (int i = 0; i < 10; ++i) {
    child victim([](wire&) { const auto device = chorale::verbs::device::open("soft0"); });
    CHECK(victim.join() == "");
  }
  CHECK_FALSE(bait.opened());
  neighbour.line().send(char{1});
  CHECK(neighbour.join() == "");
}

TEST_CASE("Another process has the name of the start-up lock", "[robustness]") {
  const unique_fd taken = take_name(prefix() + "/lock");
  const auto victim = [](wire&) { const auto device = chorale::verbs::device::open("soft0"); };
  child one(victim);
  child other(victim);
  CHECK(one.join() == "");
  CHECK(other.join() == "");
}

TEST_CASE("Names taken by other processes are no obstacle", "[robustness]") {
  struct place {
    pid_t pid;
    int registry_fd;
  };
  const auto neighbour = [](wire& line) {
    const auto victim = line.receive<place>();
    std::vector<unique_fd> taken;
    for (unsigned slot = 0; slot < chorale::soft::slot_count; slot += 2)
      taken.push_back(take_name(member_name(slot, victim.pid, victim.registry_fd)));
    line.meet();
    line.meet();
  };
  const auto victim = [](wire& line) {
    place mine{getpid(), -1};
    {
      const auto device = chorale::verbs::device::open("soft0");
      std::ifstream names("/proc/net/unix");
      for (std::string text; std::getline(names, text);) {
        chorale::soft::member_name found{};
        if (chorale::soft::read_member_name(text, prefix(), found)) mine.registry_fd = found.registry_fd;
      }
    }
    line.send(mine);
    line.meet();
    for (int i = 0; i < 20; ++i) {
      const auto device = chorale::verbs::device::open("soft0");
      expect(device.is_soft(), "open");
    }
    line.meet();
  };
  CHECK(run_pair(neighbour, victim) == "");
}
#endif
