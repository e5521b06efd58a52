// SPDX-License-Identifier: Apache-2.0
// Boost.Asio: a timer of Asio starts a sum at each tick, and Asio's loop completes it.
#include <array>
#include <chrono>
#include <cstddef>
#include <exception>
#include <unistd.h>
#include <utility>  // Asio of Boost 1.74 needs it and does not say so

#include <boost/asio.hpp>
#include <fmt/format.h>

#include <chorale/chorale.hpp>

namespace asio = boost::asio;

namespace {

/// Lets an Asio loop on this thread drive Chorale.
class progress_in {
 public:
  // Asio closes its descriptor, so it gets a duplicate.
  explicit progress_in(asio::io_context& loop) : due_(loop, ::dup(chorale::progress_descriptor())) {}

  /// Calls `done` after each step of progress, until it returns true.
  template <class Done>
  void until(Done done) {
    due_.async_wait(asio::posix::stream_descriptor::wait_read,
                    [this, done](const boost::system::error_code& failure) {
                      if (failure) throw boost::system::system_error(failure);
                      chorale::progress();
                      if (!done()) until(done);
                    });
  }

 private:
  asio::posix::stream_descriptor due_;
};

class ticker {
 public:
  ticker(asio::io_context& loop, chorale::communicator<>& comm) : timer_(loop), comm_(comm) { tick(); }

  /// Checks the sums that are complete. @returns true if all are
  bool look() {
    for (; complete_ < started_ && sums_[complete_].test(); ++complete_) {
      const int n = comm_.size();
      if (results_[complete_] != n * static_cast<int>(complete_) + n * (n - 1) / 2) ++wrong_;
    }
    return complete_ == ticks;
  }
  [[nodiscard]] int wrong() const { return wrong_; }

  static constexpr std::size_t ticks = 50;

 private:
  void tick() {
    const std::size_t now = started_++;
    results_[now] = static_cast<int>(now) + comm_.rank();
    sums_[now] = comm_.iallreduce(chorale::in_place, results_[now], chorale::sum);
    if (started_ == ticks) return;
    timer_.expires_after(std::chrono::milliseconds{1 + (now + static_cast<std::size_t>(comm_.rank())) % 3});
    timer_.async_wait([this](const boost::system::error_code& failure) {
      if (!failure) tick();
    });
  }

  asio::steady_timer timer_;
  chorale::communicator<>& comm_;
  std::array<int, ticks> results_{};  // destroyed after the requests, which use them
  std::array<chorale::request, ticks> sums_;
  std::size_t started_ = 0;
  std::size_t complete_ = 0;
  int wrong_ = 0;
};

}  // namespace

int main() try {
  chorale::communicator<> comm;
  asio::io_context loop{1};
  ticker clock{loop, comm};
  progress_in driving{loop};
  driving.until([&] { return clock.look(); });
  loop.run();

  const int wrong = comm.allreduce(clock.wrong(), chorale::sum);
  if (comm.rank() == 0) fmt::print("{} sums on {} ranks, {} wrong\n", ticker::ticks, comm.size(), wrong);
  return wrong == 0 ? 0 : 1;
} catch (const std::exception& e) {
  fmt::print(stderr, "23_asio: {}\n", e.what());
  return 1;
}
