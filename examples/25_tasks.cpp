// SPDX-License-Identifier: Apache-2.0
// A small task runtime: worker threads on every rank, each with its own communicator, which connects the
// workers of the same number on all ranks. A worker with nothing to do steals from the queues of the others,
// which are in a window, so that a busy victim need not help. The tasks count the solutions of the n queens
// problem on a board of n x n squares.
//
//   25_tasks [n [workers of a rank]]
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <functional>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <chorale/chorale.hpp>

namespace {

/// The whole description of a task, which is sent as bytes.
using task = std::uint64_t;

/// One thread's part of the runtime. Its queue only grows: tasks are taken at `head` and added at `tail`.
class worker {
 public:
  /// Collective over the workers of `lane`. `run` executes a task and returns its successors.
  worker(chorale::communicator<>& lane, std::size_t room, std::function<std::vector<task>(task)> run)
      : lane_(lane), queue_(lane, first + room), room_(room), run_(std::move(run)) {
    for (std::uint64_t& one : queue_.local()) one = 0;
    queue_.fence();
  }

  /// Executes `mine`, tasks of the other workers, and all their successors, until none is left.
  void work(const std::vector<task>& mine) {
    add(mine);
    lane_.barrier();  // no worker finds the queues empty before the first tasks are added
    for (int victim = lane_.rank();;) {
      task now = 0;
      if (take(victim, now)) {
        ++executed_;
        if (victim != lane_.rank()) ++stolen_;
        add(run_(now));
        queue_.fetch_and_op(0, left, std::uint64_t{0} - 1, chorale::sum);
        victim = lane_.rank();  // its own queue first
      } else if (victim = (victim + 1) % lane_.size(); victim == lane_.rank()) {
        if (queue_.fetch_and_op(0, left, std::uint64_t{0}, chorale::sum) == 0) return;
        std::this_thread::yield();
      }
    }
  }
  [[nodiscard]] long executed() const { return executed_; }
  [[nodiscard]] long stolen() const { return stolen_; }

 private:
  /// Words of the window before the tasks; `left`, on rank 0, is the number of all unfinished tasks.
  enum word : std::size_t { head, tail, left, first };

  void add(const std::vector<task>& tasks) {
    if (tasks.empty()) return;
    if (added_ + tasks.size() > room_) throw std::runtime_error("a queue is full");
    // Counted before any worker can take one, and before the task that created them ends.
    queue_.fetch_and_op(0, left, std::uint64_t{tasks.size()}, chorale::sum);
    queue_.put(lane_.rank(), first + added_, tasks);
    queue_.flush(lane_.rank());
    added_ += tasks.size();
    queue_.fetch_and_op(lane_.rank(), tail, std::uint64_t{tasks.size()}, chorale::sum);
  }
  /// @returns whether a task was taken. The place of a task is not reused, so `now` is right if `head` has
  /// not changed.
  bool take(int victim, task& now) {
    const std::vector<std::uint64_t> ends = queue_.get_n(victim, head, 2);
    if (ends[head] >= ends[tail]) return false;
    now = queue_.get(victim, first + ends[head]);
    return queue_.compare_and_swap(victim, head, ends[head], ends[head] + 1) == ends[head];
  }

  chorale::communicator<>& lane_;
  chorale::window<std::uint64_t> queue_;
  std::size_t room_;
  std::function<std::vector<task>(task)> run_;
  std::uint64_t added_ = 0;
  long executed_ = 0;
  long stolen_ = 0;
};

/// Queens in the first rows, and the columns of the next row that they attack vertically and by the two
/// diagonals, one bit each.
struct board {
  std::uint16_t rows = 0;
  std::uint16_t straight = 0;
  std::uint16_t left = 0;
  std::uint16_t right = 0;

  template <class Use>
  void place_next(int n, const Use& use) const {
    const unsigned all = (1U << static_cast<unsigned>(n)) - 1;
    for (unsigned open = all & ~unsigned{straight} & ~unsigned{left} & ~unsigned{right}; open != 0;) {
      const unsigned queen = open & (~open + 1);
      open ^= queen;
      use(board{static_cast<std::uint16_t>(rows + 1), static_cast<std::uint16_t>(straight | queen),
                static_cast<std::uint16_t>(((left | queen) << 1U) & all),
                static_cast<std::uint16_t>((right | queen) >> 1U)});
    }
  }
};

long ways(const board& from, int n) {
  if (from.rows == n) return 1;
  long sum = 0;
  from.place_next(n, [&](const board& next) { sum += ways(next, n); });
  return sum;
}

struct totals {
  long ways;
  long executed;
  long stolen;
};

/// The work of one thread.
totals count_in(chorale::communicator<>& lane, int number, int workers, int n) {
  constexpr int rows_of_a_task = 3;
  long found = 0;
  worker me{lane, 4096, [&](task now) {
              const auto here = std::bit_cast<board>(now);
              std::vector<task> next;
              if (here.rows < std::min(rows_of_a_task, n))
                here.place_next(n, [&](const board& b) { next.push_back(std::bit_cast<task>(b)); });
              else
                found += ways(here, n);
              return next;
            }};
  // All work of a lane begins on rank 0: one queen in the first row, in every `workers`-th column.
  std::vector<task> begin;
  int column = 0;
  if (lane.rank() == 0)
    board{}.place_next(n, [&](const board& b) {
      if (column++ % workers == number) begin.push_back(std::bit_cast<task>(b));
    });
  me.work(begin);
  std::vector<long> sums{found, me.executed(), me.stolen()};
  lane.allreduce(chorale::in_place, sums, chorale::sum);
  return {sums[0], sums[1], sums[2]};
}

}  // namespace

int main(int count, char** words) try {
  const int n = count > 1 ? std::atoi(words[1]) : 12;
  const int workers = count > 2 ? std::atoi(words[2]) : 2;
  if (n < 1 || n > 15 || workers < 1) throw std::invalid_argument("n is 1 to 15, and there is a worker");
  chorale::communicator<> comm;
  // One thread at a time may use a communicator: each worker has its own, all made by this thread.
  std::vector<chorale::communicator<>> lanes;
  for (int i = 0; i < workers; ++i) lanes.push_back(comm.duplicate());
  std::vector<totals> results(lanes.size());
  std::vector<std::exception_ptr> failures(lanes.size());
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < lanes.size(); ++i)
    threads.emplace_back([&, i] {
      try {
        results[i] = count_in(lanes[i], static_cast<int>(i), workers, n);
      } catch (...) {
        failures[i] = std::current_exception();  // an exception that leaves a thread would end the program
      }
    });
  for (std::thread& one : threads) one.join();
  for (const auto& failure : failures)
    if (failure) std::rethrow_exception(failure);

  totals all{};
  for (const totals& one : results)
    all = {all.ways + one.ways, all.executed + one.executed, all.stolen + one.stolen};
  const long expected = ways({}, n);  // computed by this rank alone
  if (comm.rank() == 0)
    fmt::print("{} queens: {} ways, serially {}; {} tasks, {} of them stolen, by {} ranks of {} workers\n", n,
               all.ways, expected, all.executed, all.stolen, comm.size(), workers);
  return all.ways == expected ? 0 : 1;
} catch (const std::exception& e) {
  fmt::print(stderr, "25_tasks: {}\n", e.what());
  return 1;
}
