// SPDX-License-Identifier: Apache-2.0
// How each operation is called when it is timed, and how its result is checked.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <chorale/bench/aligned_floats.hpp>
#include <chorale/bench/contestant.hpp>
#include <chorale/bench/oracle.hpp>
#include <chorale/core/arguments.hpp>
#include <chorale/core/call.hpp>
#include <chorale/core/clock.hpp>
#include <chorale/core/operators.hpp>

namespace chorale::bench {

/// The memory of the calls: operand and result, each with room for `bytes` of every rank, and a guard after
/// the result. There are `places` copies of these, whole pages apart.
class buffers {
 public:
  buffers(std::size_t bytes, int ranks, std::size_t places = 1) {
    const std::size_t elements = (bytes / sizeof(float) + 1) * static_cast<std::size_t>(ranks);
    for (std::size_t i = 0; i < places; ++i)
      places_.push_back({aligned_floats{elements}, aligned_floats{elements + guard}});
  }

  /// Selects the copy for the following calls, in [0, places).
  void go_to(std::size_t which) noexcept { at_ = which; }

  [[nodiscard]] std::span<float> in(std::size_t bytes) {
    return {places_[at_].in.data(), bytes / sizeof(float)};
  }
  [[nodiscard]] std::span<float> out(std::size_t bytes) {
    return {places_[at_].out.data(), bytes / sizeof(float)};
  }
  [[nodiscard]] std::span<std::byte> raw(std::size_t bytes) {
    return std::as_writable_bytes(places_[at_].out.span()).first(bytes);
  }
  /// Fills the result and the guard with a value that no call produces.
  void spoil() { std::ranges::fill(places_[at_].out.span(), -77.0F); }
  /// Whether everything after the first `bytes` still has the value written by `spoil`.
  [[nodiscard]] bool guard_intact(std::size_t bytes) const {
    const auto out = places_[at_].out.span();
    const auto first = (bytes + sizeof(float) - 1) / sizeof(float);
    return std::all_of(out.begin() + static_cast<std::ptrdiff_t>(first), out.end(),
                       [](float f) { return f == -77.0F; });
  }

 private:
  static constexpr std::size_t guard = 16;
  struct place {
    aligned_floats in;
    aligned_floats out;
  };
  std::vector<place> places_;
  std::size_t at_ = 0;
};

/// The data of a check, which differ from call to call.
inline std::uint64_t seed_of(std::size_t bytes, int root = 0) {
  return bytes * 64 + static_cast<std::uint64_t>(root);
}

inline void fill_operand(std::span<float> in, int rank, std::uint64_t seed) {
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = bench::operand<float>(seed, rank, i);
}
/// Compares `out` with elements [first, first + out.size()) of the sum over `ranks` ranks.
inline std::string compare_sums(std::span<const float> out, int ranks, std::uint64_t seed,
                                std::size_t first = 0) {
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (const auto want = bench::expected_reduction<float>(seed, ranks, first + i, sum); out[i] != want)
      return fmt::format("element {} of {} is {}, not {}", i, out.size(), out[i], want);
  }
  return {};
}

/// The first, middle and last rank, without duplicates.
inline std::set<int> some_ranks(int size) {
  return {0, size / 2, size - 1};
}

/// How operation `What` is timed and checked. A check makes all its collective calls even after an error,
/// since the other ranks make them too.
template <chorale::operation What>
struct trial;

template <>
struct trial<chorale::operation::barrier> {
  static constexpr bool rooted = false;

  static void call(auto& comm, buffers&, std::size_t) { comm.barrier(); }

  /// No rank may leave before the last one, which is delayed on purpose, has entered. The clocks of ranks are
  /// comparable only on one host.
  static std::string check(auto& comm, buffers&, std::size_t, team& all) {
    const bool comparable_clocks = all.one_host();
    std::string wrong;
    for (const int late : some_ranks(all.size())) {
      all.max(0);
      if (all.rank() == late) clock::sleep_for(std::chrono::milliseconds{2});
      const double entered = std::chrono::duration<double>(timer::now().time_since_epoch()).count();
      comm.barrier();
      const double left = std::chrono::duration<double>(timer::now().time_since_epoch()).count();
      const double last = all.max(entered);
      if (comparable_clocks && left < last && wrong.empty())
        wrong = fmt::format("left {:.1f} us before the last rank had entered", 1e6 * (last - left));
    }
    return wrong;
  }
};

template <>
struct trial<chorale::operation::broadcast> {
  static constexpr bool rooted = true;

  static void call(auto& comm, buffers& memory, std::size_t bytes) {
    comm.broadcast(memory.raw(bytes), chorale::root{0});
  }

  static std::string check(auto& comm, buffers& memory, std::size_t bytes, team& all) {
    std::string wrong;
    for (const int root : some_ranks(all.size())) {
      memory.spoil();
      const auto data = memory.raw(bytes);
      const auto want = [seed = seed_of(bytes, root), root](std::size_t i) {
        return bench::operand<std::byte>(seed, root, i);
      };
      if (all.rank() == root)
        for (std::size_t i = 0; i < bytes; ++i) data[i] = want(i);
      comm.broadcast(data, chorale::root{root});
      for (std::size_t i = 0; i < bytes && wrong.empty(); ++i) {
        if (data[i] != want(i)) wrong = fmt::format("byte {} of {} from root {}", i, bytes, root);
      }
      if (!memory.guard_intact(bytes) && wrong.empty())
        wrong = fmt::format("wrote behind {} bytes from root {}", bytes, root);
    }
    return wrong;
  }
};

template <>
struct trial<chorale::operation::reduce> {
  static constexpr bool rooted = true;

  static void call(auto& comm, buffers& memory, std::size_t bytes) {
    comm.reduce(std::span<const float>{memory.in(bytes)}, memory.out(bytes), chorale::sum, chorale::root{0});
  }

  static std::string check(auto& comm, buffers& memory, std::size_t bytes, team& all) {
    const auto in = memory.in(bytes);
    std::string wrong;
    for (const int root : some_ranks(all.size())) {
      const auto seed = seed_of(bytes, root);
      fill_operand(in, all.rank(), seed);
      memory.spoil();
      comm.reduce(std::span<const float>{in}, memory.out(bytes), chorale::sum, chorale::root{root});
      if (all.rank() == root && wrong.empty()) wrong = compare_sums(memory.out(bytes), all.size(), seed);
      if (!memory.guard_intact(all.rank() == root ? bytes : 0) && wrong.empty())
        wrong = fmt::format("wrote outside the result with root {}", root);
    }
    return wrong;
  }
};

template <>
struct trial<chorale::operation::allreduce> {
  static constexpr bool rooted = false;

  static void call(auto& comm, buffers& memory, std::size_t bytes) {
    comm.allreduce(std::span<const float>{memory.in(bytes)}, memory.out(bytes), chorale::sum);
  }

  static std::string check(auto& comm, buffers& memory, std::size_t bytes, team& all) {
    const auto in = memory.in(bytes);
    const auto seed = seed_of(bytes);
    fill_operand(in, all.rank(), seed);
    memory.spoil();
    call(comm, memory, bytes);
    for (std::size_t i = 0; i < in.size(); ++i) {
      if (in[i] != bench::operand<float>(seed, all.rank(), i))
        return fmt::format("changed element {} of the operand", i);
    }
    if (!memory.guard_intact(bytes)) return "wrote behind the result";
    return compare_sums(memory.out(bytes), all.size(), seed);
  }
};

}  // namespace chorale::bench
