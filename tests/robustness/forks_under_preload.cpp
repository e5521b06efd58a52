// SPDX-License-Identifier: Apache-2.0
// An unmodified program under libchorale-soft.so that forks while its threads allocate and free: no child
// hangs or crashes, and none changes a block of its parent or loses one of its own. Ends with status 0; by
// SIGALRM if anything hangs.
// Usage: forks_under_preload FORKS
#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <malloc.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

constexpr std::size_t page = 4096;
/// From this size on, the preloaded library returns the memory of freed blocks to the system.
constexpr std::size_t large = std::size_t{1} << 20;

/// A block of memory full of one value. Pages come from the preloaded library, the rest from the C library.
class block {
 public:
  block(std::size_t bytes, unsigned char value)
      : bytes_(bytes),
        value_(value),
        first_(static_cast<unsigned char*>(bytes < page ? std::malloc(bytes) : memalign(page, bytes))) {
    if (first_ == nullptr) std::abort();
    std::memset(first_, value, bytes);
  }
  block(const block&) = delete;
  block& operator=(const block&) = delete;
  ~block() { std::free(first_); }
  void fill(unsigned char value) {
    value_ = value;
    std::memset(first_, value, bytes_);
  }
  [[nodiscard]] bool is_intact() const {
    return first_[0] == value_ && std::memcmp(first_, first_ + 1, bytes_ - 1) == 0;
  }

 private:
  std::size_t bytes_;
  unsigned char value_;
  unsigned char* first_;
};

bool are_intact(unsigned round) {
  const auto value = static_cast<unsigned char>(round);
  const block small(100, value);
  const block pages(3 * page, static_cast<unsigned char>(value + 1));
  if (round % 16 != 0) return small.is_intact() && pages.is_intact();
  const block long_one(large, static_cast<unsigned char>(value + 2));
  return small.is_intact() && pages.is_intact() && long_one.is_intact();
}

/// The exit status of a child: what it finds in a block of its parent, and changes there, is its own.
int run_child(block& of_parent, unsigned round) {
  bool is_right = of_parent.is_intact();
  of_parent.fill(99);
  for (unsigned i = 0; i < 20; ++i) is_right = are_intact(round + i) && is_right;
  return is_right && of_parent.is_intact() ? 0 : 1;
}

/// The wait status of a child that fork() has returned; -1 if there is none.
int status_of(pid_t child) {
  int status = -1;
  return child > 0 && waitpid(child, &status, 0) == child ? status : -1;
}

/// The exit status of a child whose children get no memory for a copy of the heap: they keep what they write
/// into the blocks of their parent, also for children of their own.
int run_limited_child(block& of_parent) {
  const rlimit no_files{0, 0};
  if (setrlimit(RLIMIT_FSIZE, &no_files) != 0) return 1;
  const pid_t child = fork();
  if (child != 0) return status_of(child) == 0 && of_parent.is_intact() ? 0 : 1;
  of_parent.fill(98);
  const pid_t grandchild = fork();
  if (grandchild != 0) return status_of(grandchild) == 0 && of_parent.is_intact() ? 0 : 1;
  return of_parent.is_intact() && are_intact(0) ? 0 : 1;
}

}  // namespace

int main(int count, char** words) {
  if (count != 2) return 2;
  const int forks = std::atoi(words[1]);
  alarm(200);
  std::atomic<bool> stop{false};
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < 3; ++i)
    threads.emplace_back([&, i] {
      for (unsigned round = i; !stop.load(); ++round)
        if (!are_intact(round)) ++wrong;
    });
  block kept(2 * page, 7);
  for (int i = 0; i < forks; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(60);
      if (i + 1 == forks) _exit(run_limited_child(kept));
      std::exit(run_child(kept, static_cast<unsigned>(i)));
    }
    if (const int status = status_of(child); status != 0) {
      std::printf("child %d ends with status %d\n", i, status);
      ++wrong;
    }
    if (!kept.is_intact()) {
      std::printf("child %d has changed memory of its parent\n", i);
      ++wrong;
    }
  }
  stop.store(true);
  for (std::thread& one : threads) one.join();
  std::printf("%d forks: %s\n", forks, wrong.load() == 0 ? "right" : "WRONG");
  return wrong.load() == 0 ? 0 : 1;
}
