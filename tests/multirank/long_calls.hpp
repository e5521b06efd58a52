#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include <chorale/chorale.hpp>

namespace multirank {

/// Calls that are long enough for ranks to read and write each other's memory, whose results are compared
/// with closed forms: a call may fail if a rank dies, but one that returns must have the right result on this
/// rank.
template <class Comm>
class long_calls {
 public:
  /// For blocks of `count` numbers of 8 bytes.
  long_calls(Comm& comm, std::size_t count) : comm_(comm), count_(count) {}

  /// One call of each operation, `round` being part of every number. Throws std::runtime_error for a wrong
  /// result.
  void all(int round) {
    round_ = round;
    const int root = round % comm_.size();
    broadcast(root);
    reductions(root);
    gathers(root);
    alltoall();
  }

 private:
  using number = std::int64_t;
  using numbers = std::vector<number>;

  std::size_t size() const { return static_cast<std::size_t>(comm_.size()); }
  std::size_t rank() const { return static_cast<std::size_t>(comm_.rank()); }

  /// Number i of what `rank` contributes.
  number value(std::size_t rank, std::size_t i) const {
    return static_cast<number>(1000 * rank + i % 13) + round_;
  }

  /// The sum of number i over the first `ranks` ranks.
  number sum(std::size_t ranks, std::size_t i) const {
    return static_cast<number>(1000 * (ranks * (ranks - 1) / 2) + ranks * (i % 13)) +
           static_cast<number>(ranks) * round_;
  }

  numbers contribution(std::size_t rank, std::size_t count) const {
    numbers made(count);
    for (std::size_t i = 0; i < count; ++i) made[i] = value(rank, i);
    return made;
  }

  template <class Expected>
  void check(std::string_view call, const numbers& found, Expected expected) const {
    for (std::size_t i = 0; i < found.size(); ++i)
      if (found[i] != expected(i))
        throw std::runtime_error(fmt::format("{}, round {}: number {} of {} is {}, not {}", call, round_, i,
                                             found.size(), found[i], expected(i)));
  }

  void broadcast(int root) {
    numbers data(count_, -1);
    if (comm_.rank() == root) data = contribution(rank(), count_);
    comm_.broadcast(std::span{data}, root);
    check("broadcast", data, [&](std::size_t i) { return value(static_cast<std::size_t>(root), i); });
  }

  void reductions(int root) {
    const numbers mine = contribution(rank(), count_);
    numbers result(count_, -1);
    comm_.reduce(std::span{mine}, std::span{result}, chorale::sum, root);
    if (comm_.rank() == root) check("reduce", result, [&](std::size_t i) { return sum(size(), i); });
    numbers all = mine;
    comm_.allreduce(std::span{all});
    check("allreduce", all, [&](std::size_t i) { return sum(size(), i); });
    numbers prefix = mine;
    comm_.scan(std::span{prefix});
    check("scan", prefix, [&](std::size_t i) { return sum(rank() + 1, i); });
    const numbers whole = contribution(rank(), size() * count_);
    numbers share(count_, -1);
    comm_.reduce_scatter(std::span{whole}, std::span{share});
    check("reduce_scatter", share, [&](std::size_t i) { return sum(size(), rank() * count_ + i); });
  }

  void gathers(int root) {
    const numbers mine = contribution(rank(), count_);
    const auto of_all = [&](std::size_t i) { return value(i / count_, i % count_); };
    numbers all(size() * count_, -1);
    comm_.allgather(std::span{mine}, std::span{all});
    check("allgather", all, of_all);
    numbers gathered(comm_.rank() == root ? size() * count_ : 0, -1);
    comm_.gather(std::span{mine}, std::span{gathered}, root);
    check("gather", gathered, of_all);
    numbers block(count_, -1);
    comm_.scatter(std::span<const number>{comm_.rank() == root ? all : numbers{}}, std::span{block}, root);
    check("scatter", block, [&](std::size_t i) { return value(rank(), i); });
  }

  void alltoall() {
    const numbers mine = contribution(rank(), size() * count_);
    numbers all(size() * count_, -1);
    comm_.alltoall(std::span{mine}, std::span{all});
    check("alltoall", all, [&](std::size_t i) { return value(i / count_, rank() * count_ + i % count_); });
  }

  Comm& comm_;
  std::size_t count_;
  int round_ = 0;
};

}  // namespace multirank
