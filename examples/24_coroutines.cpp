// SPDX-License-Identifier: Apache-2.0
// Coroutines of the program that await requests: two computations, each on a communicator of its own, take
// turns on one thread, which sleeps while neither can go on.
#include <cmath>
#include <coroutine>
#include <exception>
#include <numbers>
#include <optional>
#include <poll.h>
#include <utility>

#include <fmt/format.h>

#include <chorale/awaiting.hpp>
#include <chorale/chorale.hpp>

namespace {

/// Any coroutine type will do; this one begins at once and keeps its result.
template <class Result>
class job {
 public:
  struct promise_type {
    std::optional<Result> value;
    std::exception_ptr failure;
    job get_return_object() { return job{std::coroutine_handle<promise_type>::from_promise(*this)}; }
    static std::suspend_never initial_suspend() noexcept { return {}; }
    static std::suspend_always final_suspend() noexcept { return {}; }
    void return_value(Result result) { value = std::move(result); }
    void unhandled_exception() { failure = std::current_exception(); }
  };

  explicit job(std::coroutine_handle<promise_type> frame) : frame_(frame) {}
  job(job&& other) noexcept : frame_(std::exchange(other.frame_, {})) {}
  job& operator=(job&&) = delete;
  ~job() {
    if (frame_) frame_.destroy();
  }

  /// The value of a completed coroutine; throws its exception.
  Result result() const {
    if (frame_.promise().failure) std::rethrow_exception(frame_.promise().failure);
    return frame_.promise().value.value();
  }

 private:
  std::coroutine_handle<promise_type> frame_;
};

/// Adds 1 / i^2 until the sum of a block on all ranks is less than `least`.
job<double> basel(chorale::communicator<>& comm, double least) {
  constexpr long block = 1000;
  double total = 0;
  for (long first = 1;; first += block * comm.size()) {
    double sum = 0;
    for (long i = first + block * comm.rank(); i < first + block * (comm.rank() + 1); ++i)
      sum += 1.0 / (static_cast<double>(i) * static_cast<double>(i));
    co_await comm.iallreduce(chorale::in_place, sum, chorale::sum);
    total += sum;
    if (sum < least) co_return total;
  }
}

/// Each rank broadcasts a number, and each half of the ranks counts its members.
job<int> messages(chorale::communicator<>& comm) {
  int wrong = 0;
  for (int root = 0; root < comm.size(); ++root) {
    int number = comm.rank() == root ? 7 * root : -1;
    co_await comm.ibroadcast(number, chorale::root{root});
    if (number != 7 * root) ++wrong;
  }
  // Awaiting a call that makes a communicator returns the communicator.
  auto half = co_await comm.isplit(comm.rank() % 2);
  int count = 1;
  co_await half->iallreduce(chorale::in_place, count, chorale::sum);
  if (count != half->size()) ++wrong;
  co_return wrong;
}

}  // namespace

int main() try {
  chorale::communicator<> comm;
  auto other = comm.duplicate();
  const auto series = basel(comm, 1e-8);
  const auto sent = messages(other);

  // The loop of a program with nothing else to do: `progress` returns false when every call is over.
  pollfd due{chorale::progress_descriptor(), POLLIN, 0};
  while (chorale::progress()) ::poll(&due, 1, -1);

  const double limit = std::numbers::pi * std::numbers::pi / 6;
  const bool is_right = std::abs(series.result() - limit) < 1e-4 && sent.result() == 0;
  if (comm.rank() == 0)
    fmt::print("{} ranks: {:.6f}, pi^2 / 6 is {:.6f}\n", comm.size(), series.result(), limit);
  return comm.allreduce(is_right, chorale::logical_and) ? 0 : 1;
} catch (const std::exception& e) {
  fmt::print(stderr, "24_coroutines: {}\n", e.what());
  return 1;
}
