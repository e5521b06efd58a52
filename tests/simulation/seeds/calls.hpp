// The calls of a schedule, whose results are compared with those computed here.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <chorale/communicator.hpp>
#include <chorale/core/error.hpp>
#include <chorale/simulation/run.hpp>
#include <chorale/window.hpp>

#include "schedule.hpp"
#include "simulation/random_bits.hpp"

namespace seeds {

/// A result is wrong.
struct wrong_result : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// x -> a * x + b modulo 2^32. Composition is associative but does not commute.
struct affine {
  std::uint32_t a = 1;
  std::uint32_t b = 0;
  friend bool operator==(const affine&, const affine&) = default;
};
struct after {
  affine operator()(const affine& first, const affine& second) const noexcept {
    return {first.a * second.a, second.a * first.b + second.b};
  }
};

/// A rank's input at index `i` of call `c`.
inline std::uint64_t value(int rank, std::size_t i, std::size_t c) {
  std::uint64_t z = (static_cast<std::uint64_t>(rank) << 40) + (std::uint64_t{c} << 32) + i;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  return z ^ (z >> 27);
}
inline affine factor(int rank, std::size_t i, std::size_t c) {
  const std::uint64_t z = value(rank, i, c);
  return {static_cast<std::uint32_t>(z) | 1U, static_cast<std::uint32_t>(z >> 32)};
}

using values = std::vector<std::uint64_t>;

inline values given(int rank, std::size_t count, std::size_t c, std::size_t from = 0) {
  values all(count);
  for (std::size_t i = 0; i < count; ++i) all[i] = value(rank, from + i, c);
  return all;
}
/// Sums over the ranks from `first` to `end` - 1.
inline values sums(int first, int end, std::size_t count, std::size_t c, std::size_t from = 0) {
  values all(count);
  for (int r = first; r < end; ++r)
    for (std::size_t i = 0; i < count; ++i) all[i] += value(r, from + i, c);
  return all;
}

template <class T>
void require_equal(const std::vector<T>& got, const std::vector<T>& wanted, const char* what) {
  if (got == wanted) return;
  const auto at = std::mismatch(got.begin(), got.end(), wanted.begin(), wanted.end()).first - got.begin();
  throw wrong_result{std::string{what} + ": element " + std::to_string(at) + " of " +
                     std::to_string(wanted.size()) + " is wrong"};
}

/// One rank's side of the calls. `c` is the number of a call, which determines its data.
template <class Comm>
class caller {
 public:
  caller(Comm& comm, std::uint64_t longest_pause, chorale::simulation::random_bits random)
      : comm_(comm), longest_pause_(longest_pause), random_(random) {}

  /// Whether the rank is in a call on a part of the communicator, or has failed in one.
  [[nodiscard]] bool is_in_part() const noexcept { return in_part_; }

  void make(const planned_call& call, std::size_t c) {
    pause();
    const std::size_t n = call.count;
    const int root = call.root % size();
    switch (call.what) {
      case call_kind::barrier:
        return comm_.barrier();
      case call_kind::broadcast:
        return broadcast(n, root, c);
      case call_kind::reduce:
        return reduce(n, root, c);
      case call_kind::allreduce:
        return allreduce(n, c);
      case call_kind::ordered_allreduce:
        return ordered_allreduce(n, c);
      case call_kind::allgather:
        return allgather(n, c);
      case call_kind::allgatherv:
        return allgatherv(n, c);
      case call_kind::alltoall:
        return alltoall(n, c);
      case call_kind::gather:
        return gather(n, root, c);
      case call_kind::scatter:
        return scatter(n, root, c);
      case call_kind::reduce_scatter:
        return reduce_scatter(n, c);
      case call_kind::scan:
        return scan(n, c);
      case call_kind::exscan:
        return exscan(n, c);
      case call_kind::exchange:
        return exchange(n, call.shift, c);
      case call_kind::window:
        return window(n, call.shift, c);
      case call_kind::nonblocking:
        return nonblocking(n, root, c);
      case call_kind::split:
        return split(call, c);
    }
  }

 private:
  [[nodiscard]] int size() const { return comm_.size(); }
  [[nodiscard]] int me() const { return comm_.rank(); }
  [[nodiscard]] std::size_t ranks() const { return static_cast<std::size_t>(size()); }

  void pause() {
    if (longest_pause_ != 0)
      chorale::simulation::compute(std::chrono::nanoseconds{
          static_cast<std::int64_t>(random_.below((longest_pause_ >> random_.below(10)) + 1))});
  }
  /// All ranks' blocks, concatenated.
  [[nodiscard]] values blocks(std::size_t n, std::size_t c) const {
    values all;
    for (int r = 0; r < size(); ++r) {
      const values one = given(r, n, c);
      all.insert(all.end(), one.begin(), one.end());
    }
    return all;
  }

  void broadcast(std::size_t n, int root, std::size_t c) {
    values data = given(me(), n, c);
    comm_.broadcast(data, root);
    require_equal(data, given(root, n, c), "broadcast");
  }
  void reduce(std::size_t n, int root, std::size_t c) {
    const values in = given(me(), n, c);
    values out(n);
    comm_.reduce(in, out, std::plus<>{}, root);
    require_equal(out, me() == root ? sums(0, size(), n, c) : values(n), "reduce");
  }
  void allreduce(std::size_t n, std::size_t c) {
    values data = given(me(), n, c);
    comm_.allreduce(data, std::plus<>{});
    require_equal(data, sums(0, size(), n, c), "allreduce");
  }
  void ordered_allreduce(std::size_t n, std::size_t c) {
    std::vector<affine> data(n);
    std::vector<affine> wanted(n);
    for (std::size_t i = 0; i < n; ++i) {
      data[i] = factor(me(), i, c);
      for (int r = 0; r < size(); ++r) wanted[i] = after{}(wanted[i], factor(r, i, c));
    }
    comm_.allreduce(data, after{});
    require_equal(data, wanted, "ordered allreduce");
  }
  void allgather(std::size_t n, std::size_t c) {
    values out(n * ranks());
    comm_.allgather(given(me(), n, c), out);
    require_equal(out, blocks(n, c), "allgather");
  }
  void allgatherv(std::size_t n, std::size_t c) {
    std::vector<std::size_t> counts(ranks());
    values wanted;
    for (int r = 0; r < size(); ++r) {
      const std::size_t count = value(r, 0, c) % (n + 1);
      counts[static_cast<std::size_t>(r)] = count;
      const values one = given(r, count, c);
      wanted.insert(wanted.end(), one.begin(), one.end());
    }
    values out(wanted.size());
    comm_.allgatherv(given(me(), counts[static_cast<std::size_t>(me())], c), out, counts);
    require_equal(out, wanted, "allgatherv");
  }
  void alltoall(std::size_t n, std::size_t c) {
    values out(n * ranks());
    comm_.alltoall(given(me(), n * ranks(), c), out);
    values wanted;
    for (int r = 0; r < size(); ++r) {
      const values one = given(r, n, c, n * static_cast<std::size_t>(me()));
      wanted.insert(wanted.end(), one.begin(), one.end());
    }
    require_equal(out, wanted, "alltoall");
  }
  void gather(std::size_t n, int root, std::size_t c) {
    values out(n * ranks());
    comm_.gather(given(me(), n, c), out, root);
    require_equal(out, me() == root ? blocks(n, c) : values(n * ranks()), "gather");
  }
  void scatter(std::size_t n, int root, std::size_t c) {
    values out(n);
    comm_.scatter(given(me(), n * ranks(), c), out, root);
    require_equal(out, given(root, n, c, n * static_cast<std::size_t>(me())), "scatter");
  }
  void reduce_scatter(std::size_t n, std::size_t c) {
    values out(n);
    comm_.reduce_scatter(given(me(), n * ranks(), c), out, std::plus<>{});
    require_equal(out, sums(0, size(), n, c, n * static_cast<std::size_t>(me())), "reduce_scatter");
  }
  void scan(std::size_t n, std::size_t c) {
    values data = given(me(), n, c);
    comm_.scan(data, std::plus<>{});
    require_equal(data, sums(0, me() + 1, n, c), "scan");
  }
  void exscan(std::size_t n, std::size_t c) {
    values data = given(me(), n, c);
    comm_.exscan(data, std::plus<>{});
    require_equal(data, me() == 0 ? given(0, n, c) : sums(0, me(), n, c), "exscan");
  }
  /// `n` elements to one neighbour, `n / 3` to the other.
  void exchange(std::size_t n, int shift, std::size_t c) {
    const int next = (me() + shift) % size();
    const int before = (me() + size() - shift % size()) % size();
    const values far = given(me(), n, c);
    const values near = given(me(), n / 3, c, n);
    values from_before(n);
    values from_next(n / 3);
    comm_.exchange({chorale::to(next, far), chorale::to(before, near)},
                   {chorale::from(before, from_before), chorale::from(next, from_next)});
    require_equal(from_before, given(before, n, c), "exchange");
    require_equal(from_next, given(next, n / 3, c, n), "exchange, the other way");
  }
  void window(std::size_t n, int shift, std::size_t c) {
    if constexpr (chorale::window_transport<typename Comm::transport_type>) {
      const int next = (me() + shift) % size();
      const int before = (me() + size() - shift % size()) % size();
      values memory(n + 2);
      const values out = given(me(), n, c);
      chorale::window<std::uint64_t, Comm> shared{comm_, memory};
      if (n != 0) shared.put(next, 0, out);
      pause();
      shared.fetch_and_op(0, n, std::uint64_t{1}, std::plus<>{});
      shared.put_notify(next, n + 1, value(me(), n, c), 0);
      shared.wait_notified(before, 0);
      // Data written before the notification are there.
      if (memory[n + 1] != value(before, n, c))
        throw wrong_result{"window: what was put with a notification"};
      require_equal(values(memory.begin(), memory.begin() + static_cast<std::ptrdiff_t>(n)),
                    given(before, n, c), "window: put");
      shared.flush(next);
      if (n != 0) {
        values back(n);
        shared.get(next, 0, back);
        require_equal(back, out, "window: get");
      }
      shared.fence();
      if (me() == 0 && memory[n] != ranks()) throw wrong_result{"window: fetch_and_op"};
    } else {
      allreduce(n, c);
    }
  }
  /// Three at once, completed in any order.
  void nonblocking(std::size_t n, int root, std::size_t c) {
    values data = given(me(), n, c);
    values summed = given(me(), n, c);
    std::array<chorale::request, 3> all;
    all[0] = comm_.ibroadcast(data, root);
    all[1] = comm_.iallreduce(summed, std::plus<>{});
    all[2] = comm_.ibarrier();
    pause();
    const std::size_t first = random_.below(all.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[(first + i) % all.size()].wait();
    require_equal(data, given(root, n, c), "ibroadcast");
    require_equal(summed, sums(0, size(), n, c), "iallreduce");
  }
  void split(const planned_call& call, std::size_t c) {
    const auto part = comm_.split(me() % call.colours, size() - me());
    if (!part) throw wrong_result{"split: no communicator"};
    const int mates = (size() - me() % call.colours + call.colours - 1) / call.colours;
    if (part->size() != mates) throw wrong_result{"split: size"};
    if (part->rank() != mates - 1 - me() / call.colours) throw wrong_result{"split: rank"};
    caller inside{*part, longest_pause_, random_.split()};
    const std::size_t n = std::min<std::size_t>(call.count, 100);
    in_part_ = true;
    try {
      inside.allreduce(n, c);
      inside.allgather(n / 4, c);
      in_part_ = false;
    } catch (const chorale::error& e) {
      // The error names ranks of the part, whose order is the reverse of that in the whole.
      std::vector<int> names;
      for (const int r : e.ranks()) names.push_back(me() % call.colours + (mates - 1 - r) * call.colours);
      throw chorale::error{e.code(), e.what(), names};
    }
  }

  Comm& comm_;
  std::uint64_t longest_pause_;
  bool in_part_ = false;
  chorale::simulation::random_bits random_;
};

}  // namespace seeds
