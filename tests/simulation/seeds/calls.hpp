// SPDX-License-Identifier: Apache-2.0
// The calls of a schedule, whose results are compared with those computed here.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <chorale/communicator.hpp>
#include <chorale/core/error.hpp>
#include <chorale/simulation/run.hpp>
#include <chorale/window.hpp>

#include "../../support/collectives/checks.hpp"
#include "schedule.hpp"
#include "simulation/random_bits.hpp"

namespace seeds {

using collectives::operand;
using values = std::vector<std::uint64_t>;

inline values given(int rank, std::size_t count, std::size_t c, std::size_t from = 0) {
  values all(count);
  for (std::size_t i = 0; i < count; ++i) all[i] = operand<std::uint64_t>(c, rank, from + i);
  return all;
}

inline void require_equal(const values& got, const values& wanted, const char* what) {
  if (got == wanted) return;
  const auto at = std::mismatch(got.begin(), got.end(), wanted.begin(), wanted.end()).first - got.begin();
  throw collectives::wrong{std::string{what} + ": element " + std::to_string(at) + " of " +
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
        return collectives::check_broadcast<std::uint64_t>(comm_, n, root, c);
      case call_kind::reduce:
        return collectives::check_reduce<std::uint64_t>(comm_, n, root, std::plus<>{}, c);
      case call_kind::allreduce:
        return allreduce(n, c);
      case call_kind::ordered_allreduce:
        return collectives::check_allreduce<collectives::affine>(comm_, n, collectives::then{}, c,
                                                                 {.in_place = true});
      case call_kind::allgather:
        return collectives::check_allgather<std::uint64_t>(comm_, n, c);
      case call_kind::allgatherv:
        return collectives::check_allgatherv<std::uint64_t>(comm_, n, c);
      case call_kind::alltoall:
        return collectives::check_alltoall<std::uint64_t>(comm_, n, c);
      case call_kind::gather:
        return collectives::check_gather<std::uint64_t>(comm_, n, root, c);
      case call_kind::scatter:
        return collectives::check_scatter<std::uint64_t>(comm_, n, root, c);
      case call_kind::reduce_scatter:
        return collectives::check_reduce_scatter<std::uint64_t>(comm_, n, std::plus<>{}, c);
      case call_kind::scan:
        return collectives::check_scan<std::uint64_t>(comm_, n, std::plus<>{}, true, c);
      case call_kind::exscan:
        return collectives::check_scan<std::uint64_t>(comm_, n, std::plus<>{}, false, c);
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

  void pause() {
    if (longest_pause_ != 0)
      chorale::simulation::compute(std::chrono::nanoseconds{
          static_cast<std::int64_t>(random_.below((longest_pause_ >> random_.below(10)) + 1))});
  }
  void allreduce(std::size_t n, std::size_t c) {
    collectives::check_allreduce<std::uint64_t>(comm_, n, std::plus<>{}, c, {.in_place = true});
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
      shared.put_notify(next, n + 1, operand<std::uint64_t>(c, me(), n), 0);
      shared.wait_notified(before, 0);
      // Data written before the notification are there.
      if (memory[n + 1] != operand<std::uint64_t>(c, before, n))
        throw collectives::wrong{"window: what was put with a notification"};
      require_equal(values(memory.begin(), memory.begin() + static_cast<std::ptrdiff_t>(n)),
                    given(before, n, c), "window: put");
      shared.flush(next);
      if (n != 0) {
        values back(n);
        shared.get(next, 0, back);
        require_equal(back, out, "window: get");
      }
      shared.fence();
      if (me() == 0 && memory[n] != static_cast<std::uint64_t>(size()))
        throw collectives::wrong{"window: fetch_and_op"};
    } else {
      allreduce(n, c);
    }
  }
  /// Three at once, completed in any order.
  void nonblocking(std::size_t n, int root, std::size_t c) {
    collectives::broadcast_case<std::uint64_t> data{collectives::of(comm_, c, {}), n, root};
    collectives::reduction_case<std::uint64_t, std::plus<>> summed{
        collectives::of(comm_, c, {.in_place = true}), n, {0, n, size()}, std::plus<>{}};
    std::array<chorale::request, 3> all;
    all[0] = comm_.ibroadcast(data.data.span(), chorale::root{root});
    all[1] = comm_.iallreduce(chorale::in_place, summed.in.span(), std::plus<>{});
    all[2] = comm_.ibarrier();
    pause();
    const std::size_t first = random_.below(all.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[(first + i) % all.size()].wait();
    data.verify("ibroadcast");
    summed.verify("iallreduce");
  }
  void split(const planned_call& call, std::size_t c) {
    auto part = comm_.split(me() % call.colours, chorale::key{size() - me()});
    if (!part) throw collectives::wrong{"split: no communicator"};
    const int mates = (size() - me() % call.colours + call.colours - 1) / call.colours;
    if (part->size() != mates) throw collectives::wrong{"split: size"};
    if (part->rank() != mates - 1 - me() / call.colours) throw collectives::wrong{"split: rank"};
    caller inside{*part, longest_pause_, random_.split()};
    const std::size_t n = std::min<std::size_t>(call.count, 100);
    in_part_ = true;
    try {
      inside.allreduce(n, c);
      collectives::check_allgather<std::uint64_t>(*part, n / 4, c);
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
