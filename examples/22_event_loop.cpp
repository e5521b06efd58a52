// SPDX-License-Identifier: Apache-2.0
// An event loop: samples arrive through a pipe at any time, and each full batch is summed over the ranks
// meanwhile. The loop sleeps in epoll_wait until there is something to do for either.
#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <deque>
#include <exception>
#include <sys/epoll.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include <chorale/chorale.hpp>

namespace {

constexpr int batches = 20;
constexpr std::size_t samples_of_a_batch = 16;

int checked(int result, const char* what) {
  if (result < 0) throw std::system_error(errno, std::generic_category(), what);
  return result;
}

/// Any other source of events: a thread that writes the samples 0, 1, 2, ... into a pipe.
class source {
 public:
  source() {
    checked(::pipe(ends_.data()), "pipe");
    writer_ = std::thread{[this] {
      for (long sample = 0; sample < batches * static_cast<long>(samples_of_a_batch); ++sample) {
        if (sample % 10 == 0) std::this_thread::sleep_for(std::chrono::milliseconds{1});
        if (::write(ends_[1], &sample, sizeof sample) != sizeof sample) return;
      }
    }};
  }
  source(const source&) = delete;
  source& operator=(const source&) = delete;
  ~source() {
    ::close(ends_[0]);
    writer_.join();
    ::close(ends_[1]);
  }
  [[nodiscard]] int descriptor() const { return ends_[0]; }
  [[nodiscard]] long read() const {
    long sample = 0;
    if (::read(ends_[0], &sample, sizeof sample) != sizeof sample)
      throw std::system_error(errno, std::generic_category(), "read");
    return sample;
  }

 private:
  std::array<int, 2> ends_{};
  std::thread writer_;
};

/// Must not move while its sum is in progress.
struct batch {
  std::array<long, samples_of_a_batch> data{};
  std::size_t size = 0;
  chorale::request sum;
};

void watch(int loop, int descriptor) {
  epoll_event readable{};
  readable.events = EPOLLIN;
  readable.data.fd = descriptor;
  checked(::epoll_ctl(loop, EPOLL_CTL_ADD, descriptor, &readable), "epoll_ctl");
}

/// @returns the number of wrong sums
int run(chorale::communicator<>& comm) {
  std::deque<batch> pending(1);
  const source samples;
  const int due = chorale::progress_descriptor();
  const int loop = checked(::epoll_create1(EPOLL_CLOEXEC), "epoll_create1");
  watch(loop, samples.descriptor());
  watch(loop, due);

  int wrong = 0;
  for (int complete = 0; complete < batches;) {
    epoll_event event{};
    if (::epoll_wait(loop, &event, 1, -1) != 1) continue;  // interrupted by a signal
    if (event.data.fd == due) {
      chorale::progress();
    } else {
      batch& last = pending.back();
      last.data[last.size++] = samples.read() * (comm.rank() + 1);
      if (last.size == last.data.size()) {
        // Every rank fills its batches in the same order, so the sums are the same calls everywhere.
        last.sum = comm.iallreduce(chorale::in_place, last.data, chorale::sum);
        pending.emplace_back();
      }
    }
    // Calls of one communicator end in the order in which they were started.
    for (; pending.front().sum.valid() && pending.front().sum.test(); pending.pop_front(), ++complete)
      for (std::size_t i = 0; i < samples_of_a_batch; ++i) {
        const long sample = complete * static_cast<long>(samples_of_a_batch) + static_cast<long>(i);
        if (pending.front().data[i] != sample * comm.size() * (comm.size() + 1) / 2) ++wrong;
      }
  }
  ::close(loop);
  return wrong;
}

}  // namespace

int main() try {
  chorale::communicator<> comm;
  const int wrong = comm.allreduce(run(comm), chorale::sum);
  if (comm.rank() == 0) fmt::print("{} batches on {} ranks, {} wrong sums\n", batches, comm.size(), wrong);
  return wrong == 0 ? 0 : 1;
} catch (const std::exception& e) {
  fmt::print(stderr, "22_event_loop: {}\n", e.what());
  return 1;
}
