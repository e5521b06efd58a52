// SPDX-License-Identifier: Apache-2.0
// Windows compared with a model that each rank computes by itself. For ranks that are processes or threads.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include <chorale/core/clock.hpp>
#include <chorale/core/error.hpp>
#include <chorale/window.hpp>

#include "expect.hpp"

namespace windows {

using support::expect;

/// Three bytes of any alignment.
struct triple {
  std::array<std::uint8_t, 3> bytes;
  friend bool operator==(const triple&, const triple&) = default;
  friend triple operator+(const triple& a, const triple& b) {
    return {{static_cast<std::uint8_t>(a.bytes[0] + b.bytes[0]),
             static_cast<std::uint8_t>(a.bytes[1] ^ b.bytes[1]),
             static_cast<std::uint8_t>(a.bytes[2] + b.bytes[2])}};
  }
};

/// Whether the devices of all ranks support atomic operations. Collective.
template <class Comm>
bool have_atomics(Comm& comm) {
  bool mine = true;
  if constexpr (requires { comm.transport().one_sided_port(); })
    mine = comm.transport().one_sided_port().device().attributes().atomic_cap != IBV_ATOMIC_NONE;
  return comm.allreduce(mine ? 1 : 0, chorale::min) == 1;
}

template <class T>
T value_of(std::uint64_t number) {
  number *= 0x9e3779b97f4a7c15ULL;
  number ^= number >> 29;
  if constexpr (std::is_arithmetic_v<T>)
    return static_cast<T>(number % 1000);
  else
    return {{static_cast<std::uint8_t>(number), static_cast<std::uint8_t>(number >> 8),
             static_cast<std::uint8_t>(number >> 16)}};
}

/// The number of elements that `rank` exposes: none, few, or some pages.
inline std::size_t elements_of(int rank) {
  return rank % 4 == 2 ? 0 : 10 + static_cast<std::size_t>(rank % 3) * 3000;
}

/// Rounds of random puts, in which at most one rank writes each element, then random gets; every rank keeps a
/// model of all memories.
template <class T, class Comm>
void puts_and_gets(Comm& comm, std::uint64_t seed, int rounds) {
  const int size = comm.size();
  std::vector<T> memory(elements_of(comm.rank()), value_of<T>(0));
  std::vector<std::vector<T>> model;
  for (int r = 0; r < size; ++r) model.emplace_back(elements_of(r), value_of<T>(0));
  chorale::window w{comm, std::span{memory}};
  for (int r = 0; r < size; ++r) expect(w.size(r) == elements_of(r), "a window has another size");
  std::mt19937_64 plan{seed};
  std::vector<std::vector<T>> sources;
  for (int round = 0; round < rounds; ++round) {
    sources.clear();
    sources.reserve(64);
    for (int target = 0; target < size; ++target) {
      // The target's elements are divided into ranges for the ranks.
      std::size_t at = 0;
      const std::size_t room = elements_of(target);
      for (int stretch = 0; stretch < 8 && at < room; ++stretch) {
        const std::size_t count = plan() % (room - at + 1);
        const int origin = static_cast<int>(plan() % static_cast<unsigned>(size));
        const std::uint64_t number = plan();
        std::vector<T> values(count);
        for (std::size_t i = 0; i < count; ++i) values[i] = value_of<T>(number + i);
        std::copy(values.begin(), values.end(),
                  model[static_cast<std::size_t>(target)].begin() + static_cast<std::ptrdiff_t>(at));
        if (origin == comm.rank()) {
          sources.push_back(std::move(values));
          w.put(target, at, std::span<const T>{sources.back()});
          if (number % 5 == 0) w.flush(target);
        }
        at += count;
      }
    }
    w.fence();
    for (int i = 0; i < 6; ++i) {
      const auto target = static_cast<std::size_t>((comm.rank() + i) % size);
      const std::size_t room = model[target].size();
      const std::size_t at = plan() % (room + 1);
      std::vector<T> got(plan() % (room - at + 1), value_of<T>(99));
      w.get(static_cast<int>(target), at, std::span{got});
      expect(std::equal(got.begin(), got.end(), model[target].begin() + static_cast<std::ptrdiff_t>(at)),
             "a get from rank " + std::to_string(target) + " brought something else");
    }
    expect(memory == model[static_cast<std::size_t>(comm.rank())], "puts have left something else");
    w.fence();
  }
}

/// All ranks add to the elements of all, including their own, during collectives; no addition may be lost.
template <class T, class Comm>
void sums(Comm& comm, int additions) {
  chorale::window<T, Comm> w{comm, std::size_t{5}};
  auto pending = comm.ibarrier();
  const auto ranks = static_cast<std::uint64_t>(comm.size());
  for (int i = 0; i < additions; ++i) {
    for (int target = 0; target < comm.size(); ++target) {
      const std::array<T, 3> ones{value_of<T>(1), value_of<T>(1), value_of<T>(1)};
      w.accumulate(target, 1, std::span<const T>{ones}, chorale::sum);
    }
  }
  pending.wait();
  w.fence();
  T expected = w.local()[0];
  for (std::uint64_t i = 0; i < ranks * static_cast<std::uint64_t>(additions); ++i)
    expected = chorale::sum(expected, value_of<T>(1));
  for (const std::size_t i : {1U, 2U, 3U})
    expect(std::memcmp(&w.local()[i], &expected, sizeof(T)) == 0, "an addition was lost or made twice");
  expect(std::memcmp(&w.local()[0], &w.local()[4], sizeof(T)) == 0, "neighbours were changed");
}

/// Each ticket is drawn once; another operator finds the maximum; exchanges form a permutation.
template <class T, class Comm>
void tickets(Comm& comm, int count) {
  std::vector<T> memory(comm.rank() == 0 ? 3U : 0U, T{0});
  const auto all = static_cast<std::size_t>(count * comm.size());
  std::vector<T> mine;
  {
    chorale::window w{comm, std::span{memory}};
    T largest{0};
    for (int i = 0; i < count; ++i) {
      mine.push_back(w.fetch_and_op(0, 0, T{1}, chorale::sum));
      const T before = w.fetch_and_op(0, 1, mine.back(), chorale::max);
      largest = std::max(largest, before);
    }
    expect(largest <= static_cast<T>(all), "the maximum was never so large");
    w.fence();
    T now{7};
    w.get(0, 1, std::span{&now, 1});
    expect(now == static_cast<T>(all - 1), "the maximum is another");
  }
  std::vector<T> taken(all);
  comm.allgather(std::span<const T>{mine}, std::span{taken});
  std::sort(taken.begin(), taken.end());
  for (std::size_t i = 0; i < all; ++i)
    expect(taken[i] == static_cast<T>(i), "a ticket is missing or there twice");
}

/// A lock made of compare_and_swap protects a counter that is read and written by plain gets and puts.
template <class T, class Comm>
void spin_lock(Comm& comm, int rounds) {
  chorale::window<T, Comm> w{comm, std::size_t{comm.rank() == 0 ? 2U : 0U}};
  const T me = static_cast<T>(comm.rank() + 1);
  for (int i = 0; i < rounds; ++i) {
    // A rank close to the memory that retried at once could starve the others.
    for (int tries = 1; w.compare_and_swap(0, 0, T{0}, me) != T{0}; ++tries)
      chorale::clock::sleep_for(std::chrono::microseconds{tries % 8 * (comm.rank() + 1)});
    T value{};
    w.get(0, 1, std::span{&value, 1});
    value = static_cast<T>(value + 1);
    w.put(0, 1, std::span<const T>{&value, 1});
    w.flush(0);
    expect(w.compare_and_swap(0, 0, me, T{0}) == me, "somebody else has the lock");
  }
  w.fence();
  if (comm.rank() == 0)
    expect(w.local()[1] == static_cast<T>(rounds * comm.size()), "two ranks had the lock at once");
}

/// Hundreds of notifications in flight; data put before a notification has arrived with it.
template <class Comm>
void notifications(Comm& comm, std::uint64_t seed, int messages) {
  const int size = comm.size();
  const int me = comm.rank();
  const int left = (me + size - 1) % size;
  const int right = (me + 1) % size;
  const auto n = static_cast<std::size_t>(messages);
  constexpr std::size_t length = 129;
  std::vector<std::uint64_t> inbox(n * length, ~0ULL);
  std::vector<std::uint64_t> out(n * length);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = seed + static_cast<unsigned>(me) * 1000000U + i;
  chorale::window w{comm, std::span{inbox}, 3};
  const std::span<const std::uint64_t> source{out};
  for (std::size_t i = 0; i < n; ++i) w.put_notify(right, i * length, source.subspan(i * length, length), 1);
  for (std::size_t i = 0; i < n; ++i) {
    i % 2 == 0 ? w.wait_notified(left, 1) : w.wait_notified(chorale::any_rank, 1);
    for (const std::size_t k : {std::size_t{0}, length / 2, length - 1})
      expect(inbox[i * length + k] == seed + static_cast<unsigned>(left) * 1000000U + i * length + k,
             "a notification has come before its data");
  }
  expect(w.notified(left, 1) == 0 && w.notified(chorale::any_rank, 0) == 0,
         "there are too many notifications");
  // From all to all, without data, consumed together.
  for (int r = 0; r < size; ++r) w.put_notify(r, 0, {}, 2);
  w.wait_notified(chorale::any_rank, 2, static_cast<std::uint64_t>(size));
  w.fence();
  expect(w.notified(chorale::any_rank, 2) == 0, "more came than were sent");
}

/// Ranges of any kind, values that may change as soon as their put returns, and returned results.
template <class Comm>
void forms(Comm& comm, bool with_atomics) {
  std::vector<double> cells(100, -1);
  double plain[4] = {};
  chorale::window w{comm, cells};
  chorale::window of_array{comm, plain, 1};
  const int left = (comm.rank() + comm.size() - 1) % comm.size();
  const int right = (comm.rank() + 1) % comm.size();
  const std::array<double, 2> ends{1.5, comm.rank() + 0.5};
  auto device = comm.template allocate<double>(3);
  device[2] = comm.rank();
  w.put(right, 0, ends);
  w.put(right, 2, device);
  w.put(right, 5, {});
  of_array.put(right, 3, comm.rank());
  w.fence();
  of_array.fence();
  expect(cells[0] == 1.5 && cells[1] == left + 0.5 && cells[4] == left && cells[5] == -1, "a range was lost");
  expect(plain[3] == left, "a value was lost");
  std::vector<double> into(5);
  w.get(right, 0, into);
  expect(into == w.get_n(right, 0, 5) && into[4] == comm.rank(), "a get brought something else");
  expect(w.get(right, 1) == comm.rank() + 0.5, "an element that is returned is another");
  double one = 0;
  w.get(right, 1, one);
  expect(one == comm.rank() + 0.5, "a variable received another element");
  expect(w.get_n(right, 100, 0).empty(), "nothing is something");
  w.fence();
  // More values than are copied at once; each variable changes as soon as its put returns.
  for (int round = 0; round < 30; ++round) {
    for (std::size_t i = 0; i < cells.size(); ++i) {
      double value = round * 1000.0 + static_cast<double>(i);
      w.put(right, i, value);
      value = -7;
    }
  }
  if (with_atomics) {
    w.accumulate(right, 0, std::vector<double>{1, 2}, chorale::sum);
    w.accumulate(right, 0, 1, chorale::sum);
  }
  w.put_notify(right, 2, 5, 1);
  w.wait_notified(left, 1);
  expect(cells[2] == 5, "a notification has come before its value");
  w.fence();
  expect(cells[3] == 29'003 && cells[99] == 29'099, "a value that was copied is another");
  w.fence();
}

/// Invalid arguments are rejected without effect, with the ranks and sizes in the text.
template <class Comm>
void refusals(Comm& comm) {
  std::vector<int> memory(elements_of(comm.rank()), 5);
  chorale::window w{comm, std::span{memory}, 2};
  const std::vector<int> two{1, 2};
  const auto refused = [&](const std::string& part, auto&& call) {
    support::refused(chorale::errc::invalid_argument, {part}, call);
  };
  const std::span<const int> source{two};
  const std::size_t room = elements_of(0);
  refused("that rank 0 exposes", [&] { w.put(0, room - 1, source); });
  refused("that rank 0 exposes", [&] { w.put(0, room + 1, source.first(0)); });
  refused("that rank 0 exposes", [&] { w.put(0, std::numeric_limits<std::size_t>::max(), source); });
  refused("is not in 0..", [&] { w.put(comm.size(), 0, source); });
  refused("is not in 0..", [&] { w.flush(-1); });
  refused("exposes", [&] { w.accumulate(0, room, source, chorale::sum); });
  refused("made for 2", [&] { w.put_notify(0, 0, source, 2); });
  refused("made for 2", [&] { w.wait_notified(0, 7); });
  refused("rank -1 is not in 0..", [&] { w.wait_notified(-1, 0); });
  refused("rank -1 is not in 0..", [&] { static_cast<void>(w.notified(-1, 0)); });
  chorale::window<std::uint8_t, Comm> small{comm, 1};
  refused("put: 256 is no number", [&] { small.put(0, 0, 256); });
  refused("put: -1 is no number", [&] { small.put_notify(0, 0, -1, 0); });
  small.put(comm.rank(), 0, 255);
  small.fence();
  expect(small.local()[0] == 255, "the largest number is another");
  // Zero elements at the end, and from empty memory, are valid.
  w.put(0, room, source.first(0));
  w.fence();
  expect(std::all_of(memory.begin(), memory.end(), [](int i) { return i == 5; }),
         "a refused put has written");
}

/// Windows of different elements are rejected on all ranks, without other effects.
template <class Comm>
void mismatches(Comm& comm) {
  if (comm.size() == 1) return;
  std::vector<int> whole(4);
  std::vector<float> broken(4);
  support::refused(chorale::errc::mismatch, {}, [&] {
    if (comm.rank() == comm.size() - 1)
      chorale::window{comm, std::span{broken}};
    else
      chorale::window{comm, std::span{whole}};
  });
  comm.barrier();
}

template <class Comm>
void all_checks(Comm& comm, std::uint64_t seed, int effort) {
  puts_and_gets<std::uint64_t>(comm, seed, effort);
  puts_and_gets<triple>(comm, seed + 1, effort);
  const bool with_atomics = have_atomics(comm);
  if (with_atomics) {
    sums<std::int64_t>(comm, 4 * effort);
    sums<double>(comm, effort);
    sums<triple>(comm, effort);
    tickets<std::uint64_t>(comm, 4 * effort);
    tickets<int>(comm, effort);
    spin_lock<std::int64_t>(comm, effort);
    spin_lock<short>(comm, std::max(effort / 2, 1));
  }
  notifications(comm, seed, 30 * effort);
  forms(comm, with_atomics);
  refusals(comm);
  mismatches(comm);
}

}  // namespace windows
