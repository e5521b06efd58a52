// SPDX-License-Identifier: Apache-2.0
// How operations with one block per rank, scans and exchanges are timed, and how their results are checked.
// The bytes of a row are those of one block.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include <fmt/format.h>

#include <chorale/bench/trials.hpp>
#include <chorale/core/arguments.hpp>
#include <chorale/core/neighbours.hpp>
#include <chorale/core/types.hpp>

namespace chorale::bench {

/// Compares `out`, one block of out.size() / ranks elements per rank, with `expected(rank, i)`.
template <class Expected>
std::string compare_blocks(std::span<const float> out, int ranks, Expected&& expected) {
  const std::size_t n = out.size() / static_cast<std::size_t>(ranks);
  for (std::size_t at = 0; at < out.size(); ++at) {
    const int rank = static_cast<int>(at / n);
    if (const float want = expected(rank, at % n); out[at] != want)
      return fmt::format("element {} of the block of rank {} is {}, not {}", at % n, rank, out[at], want);
  }
  return {};
}

inline std::size_t of_all(std::size_t bytes, int ranks) {
  return bytes / sizeof(float) * sizeof(float) * static_cast<std::size_t>(ranks);
}

inline void fill_blocks(std::span<float> in, int from, int ranks, std::uint64_t seed) {
  const std::size_t n = in.size() / static_cast<std::size_t>(ranks);
  for (std::size_t at = 0; at < in.size(); ++at)
    in[at] = bench::letter<float>(seed, from, static_cast<int>(at / n), at % n);
}

template <>
struct trial<chorale::operation::allgather> {
  static constexpr bool rooted = false;
  static void call(auto& comm, buffers& memory, std::size_t bytes) {
    comm.allgather(std::span<const float>{memory.in(bytes)}, memory.out(bench::of_all(bytes, comm.size())));
  }
  static std::string check(auto& comm, buffers& memory, std::size_t bytes, team& all) {
    const auto seed = seed_of(bytes);
    fill_operand(memory.in(bytes), all.rank(), seed);
    memory.spoil();
    call(comm, memory, bytes);
    const std::size_t total = of_all(bytes, all.size());
    if (!memory.guard_intact(total)) return "wrote behind the result";
    return bench::compare_blocks(memory.out(total), all.size(), [seed](int rank, std::size_t i) {
      return bench::operand<float>(seed, rank, i);
    });
  }
};

template <>
struct trial<chorale::operation::alltoall> {
  static constexpr bool rooted = false;
  static void call(auto& comm, buffers& memory, std::size_t bytes) {
    const std::size_t total = bench::of_all(bytes, comm.size());
    comm.alltoall(std::span<const float>{memory.in(total)}, memory.out(total));
  }
  static std::string check(auto& comm, buffers& memory, std::size_t bytes, team& all) {
    const std::size_t total = of_all(bytes, all.size());
    const auto seed = seed_of(bytes);
    fill_blocks(memory.in(total), all.rank(), all.size(), seed);
    memory.spoil();
    call(comm, memory, bytes);
    if (!memory.guard_intact(total)) return "wrote behind the result";
    return bench::compare_blocks(memory.out(total), all.size(), [&](int rank, std::size_t i) {
      return bench::letter<float>(seed, rank, all.rank(), i);
    });
  }
};

template <>
struct trial<chorale::operation::gather> {
  static constexpr bool rooted = true;
  static void call(auto& comm, buffers& memory, std::size_t bytes, int root = 0) {
    comm.gather(std::span<const float>{memory.in(bytes)}, memory.out(bench::of_all(bytes, comm.size())),
                chorale::root{root});
  }
  static std::string check(auto& comm, buffers& memory, std::size_t bytes, team& all) {
    const std::size_t total = of_all(bytes, all.size());
    std::string wrong;
    for (const int root : some_ranks(all.size())) {
      const auto seed = seed_of(bytes, root);
      fill_operand(memory.in(bytes), all.rank(), seed);
      memory.spoil();
      call(comm, memory, bytes, root);
      const bool is_root = all.rank() == root;
      if (is_root && wrong.empty())
        wrong = bench::compare_blocks(memory.out(total), all.size(), [seed](int rank, std::size_t i) {
          return bench::operand<float>(seed, rank, i);
        });
      if (!memory.guard_intact(is_root ? total : 0) && wrong.empty())
        wrong = fmt::format("wrote outside the result with root {}", root);
    }
    return wrong;
  }
};

template <>
struct trial<chorale::operation::scatter> {
  static constexpr bool rooted = true;
  static void call(auto& comm, buffers& memory, std::size_t bytes, int root = 0) {
    comm.scatter(std::span<const float>{memory.in(bench::of_all(bytes, comm.size()))}, memory.out(bytes),
                 chorale::root{root});
  }
  static std::string check(auto& comm, buffers& memory, std::size_t bytes, team& all) {
    std::string wrong;
    for (const int root : some_ranks(all.size())) {
      const auto seed = seed_of(bytes, root);
      fill_blocks(memory.in(of_all(bytes, all.size())), all.rank(), all.size(), seed);
      memory.spoil();
      call(comm, memory, bytes, root);
      if (wrong.empty())
        wrong = bench::compare_blocks(memory.out(bytes), 1, [&](int, std::size_t i) {
          return bench::letter<float>(seed, root, all.rank(), i);
        });
      if (!memory.guard_intact(bytes) && wrong.empty())
        wrong = fmt::format("wrote behind the result with root {}", root);
    }
    return wrong;
  }
};

template <>
struct trial<chorale::operation::reduce_scatter> {
  static constexpr bool rooted = false;
  static void call(auto& comm, buffers& memory, std::size_t bytes) {
    comm.reduce_scatter(std::span<const float>{memory.in(bench::of_all(bytes, comm.size()))},
                        memory.out(bytes), chorale::sum);
  }
  static std::string check(auto& comm, buffers& memory, std::size_t bytes, team& all) {
    const auto seed = seed_of(bytes);
    const auto out = memory.out(bytes);
    fill_operand(memory.in(of_all(bytes, all.size())), all.rank(), seed);
    memory.spoil();
    call(comm, memory, bytes);
    if (!memory.guard_intact(bytes)) return "wrote behind the result";
    return compare_sums(out, all.size(), seed, out.size() * static_cast<std::size_t>(all.rank()));
  }
};

template <>
struct trial<chorale::operation::scan> {
  static constexpr bool rooted = false;
  /// The values grow with each call, which does not affect the time.
  static void call(auto& comm, buffers& memory, std::size_t bytes) {
    comm.scan(chorale::in_place, memory.out(bytes), chorale::sum);
  }
  static std::string check(auto& comm, buffers& memory, std::size_t bytes, team& all) {
    memory.spoil();
    const auto seed = seed_of(bytes);
    fill_operand(memory.out(bytes), all.rank(), seed);
    call(comm, memory, bytes);
    if (!memory.guard_intact(bytes)) return "wrote behind the result";
    return compare_sums(memory.out(bytes), all.rank() + 1, seed);
  }
};

/// A ring shift: each rank sends a message to the next rank and receives one from the previous.
template <>
struct trial<chorale::operation::exchange> {
  static constexpr bool rooted = false;
  static void call(auto& comm, buffers& memory, std::size_t bytes) {
    const int n = comm.size();
    constexpr auto type = chorale::type_tag<float>();
    comm.exchange({outgoing{(comm.rank() + 1) % n, std::as_bytes(std::span{memory.in(bytes)}), type}},
                  {incoming{(comm.rank() + n - 1) % n, std::as_writable_bytes(memory.out(bytes)), type}});
  }
  static std::string check(auto& comm, buffers& memory, std::size_t bytes, team& all) {
    const auto seed = seed_of(bytes);
    fill_operand(memory.in(bytes), all.rank(), seed);
    memory.spoil();
    call(comm, memory, bytes);
    if (!memory.guard_intact(bytes)) return "wrote behind the result";
    const int left = (all.rank() + all.size() - 1) % all.size();
    return bench::compare_blocks(memory.out(bytes), 1,
                                 [=](int, std::size_t i) { return bench::operand<float>(seed, left, i); });
  }
};

}  // namespace chorale::bench
