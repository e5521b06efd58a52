// SPDX-License-Identifier: Apache-2.0
// Reductions give the same bits on every rank and in every call, also for NaNs and for operators in which a
// compiler may contract a product and a sum. Compiled for this processor, since others may lack an
// instruction for that.
#include <bit>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <limits>
#include <random>
#include <span>
#include <type_traits>
#include <vector>

#include <fmt/format.h>

#include <chorale/chorale.hpp>

#include "../support/seed.hpp"

namespace {

int failures = 0;

struct pair {
  double a, b;
};
const auto times = [](const pair& x, const pair& y) {
  return pair{x.a * y.a - x.b * y.b, x.a * y.b + x.b * y.a};
};
const auto after = [](const pair& x, const pair& y) { return pair{x.a * y.a, x.b * y.a + y.b}; };
const auto blend = [](double a, double b) { return a * 0.3 + b * 0.7; };
const auto length = [](double a, double b) { return std::sqrt(a * a + b * b); };

template <class Element>
bool same(std::span<const Element> one, std::span<const Element> other) {
  return std::memcmp(one.data(), other.data(), one.size_bytes()) == 0;
}

/// Numbers between -1 and 1.
template <class Element>
std::vector<Element> numbers(std::mt19937_64& random, std::size_t n) {
  std::vector<Element> all(n);
  std::uniform_real_distribution<double> number{-1, 1};
  for (auto& one : all) {
    double parts[sizeof(Element) / sizeof(double)];
    for (double& part : parts) part = number(random);
    std::memcpy(static_cast<void*>(&one), parts, sizeof one);
  }
  return all;
}

/// Checks every position, with either operand overwritten, aligned or not.
template <class Element, class Op>
void check_loops(const char* name, std::mt19937_64& random, Op op) {
  const auto made = chorale::reduction::of<Element>(op);
  constexpr std::size_t n = 203;
  const auto left = numbers<Element>(random, n), right = numbers<Element>(random, n);
  auto expected = left;
  for (std::size_t i = 0; i < n; ++i)
    made.combine_left(std::as_writable_bytes(std::span{expected}.subspan(i, 1)),
                      std::as_bytes(std::span{right}.subspan(i, 1)));
  std::vector<std::byte> room(2 * n * sizeof(Element) + 16);
  for (std::size_t first = 0; first < n; first += 7) {
    for (const std::size_t off : {0U, 1U, 8U}) {
      const std::size_t bytes = (n - first) * sizeof(Element);
      const std::span l{room.data() + off, bytes}, r{room.data() + n * sizeof(Element) + 8, bytes};
      for (const bool to_left : {false, true}) {
        std::memcpy(l.data(), left.data() + first, bytes);
        std::memcpy(r.data(), right.data() + first, bytes);
        if (to_left)
          made.combine_left(l, r);
        else
          made.combine_right(l, r);
        if (std::memcmp(to_left ? l.data() : r.data(), expected.data() + first, bytes) == 0) continue;
        ++failures;
        fmt::print(stderr, "{}: elements {}.. at {} bytes have other bits than one by one\n", name, first,
                   off);
        return;
      }
    }
  }
}

/// Checks every call, with every algorithm that is tried, on every rank.
template <class Element, class Op>
void check_calls(chorale::communicator<>& comm, const char* name, std::span<const Element> mine, Op op) {
  std::vector<Element> first;
  for (int call = 0; call < 16; ++call) {
    std::vector<Element> room(mine.size() + 1);
    const std::span out{room.data() + call % 2, mine.size()};
    comm.allreduce(mine, out, op);
    if (call == 0) first.assign(out.begin(), out.end());
    const auto all = comm.allgather(out);
    for (int r = 0; r < comm.size(); ++r) {
      const std::span of{all.data() + static_cast<std::size_t>(r) * mine.size(), mine.size()};
      if (same<Element>(of, first)) continue;
      ++failures;
      fmt::print(stderr, "{} of {}: call {} has other bits on rank {} than call 0 on rank {}\n", name,
                 mine.size(), call, r, comm.rank());
      return;
    }
  }
}

/// A NaN with a sign and a payload.
template <class Number>
Number nan_of(std::uint64_t number) {
  using bits = std::conditional_t<sizeof(Number) == 4, std::uint32_t, std::uint64_t>;
  const auto given = static_cast<bits>(number % 1024 | (number & 1024) << (8 * sizeof(Number) - 11));
  return std::bit_cast<Number>(std::bit_cast<bits>(std::numeric_limits<Number>::quiet_NaN()) | given);
}

template <class Number>
void check_nans(chorale::communicator<>& comm, std::mt19937_64& random) {
  for (const std::size_t n : {1U, 5U, 300U, 20001U}) {
    std::vector<Number> mine(n);
    for (auto& one : mine) {
      const auto kind = random() % 8;
      one = kind < 4 ? nan_of<Number>(random()) : kind == 4 ? Number{0} : kind == 5 ? -Number{0} : Number{3};
    }
    const std::span<const Number> all{mine};
    check_calls(comm, "sum of NaNs", all, chorale::sum);
    check_calls(comm, "product of NaNs", all, chorale::prod);
    check_calls(comm, "minimum of NaNs", all, chorale::min);
    check_calls(comm, "maximum of NaNs", all, chorale::max);
    std::vector<std::complex<Number>> pairs(n);
    for (std::size_t i = 0; i < n; ++i) pairs[i] = {mine[i], mine[n - 1 - i]};
    check_calls(comm, "sum of complex NaNs", std::span<const std::complex<Number>>{pairs}, chorale::sum);
    const auto sum = comm.allreduce(mine.front(), [](Number a, Number b) { return b + a; });
    const bool any = comm.allreduce(std::isnan(mine.front()), chorale::logical_or);
    if (std::isnan(sum) != any) {
      ++failures;
      fmt::print(stderr, "a NaN of one rank is one in the result of an operator of the program's own\n");
    }
  }
}

template <class Element, class Op>
void check_operator(chorale::communicator<>& comm, const char* name, std::mt19937_64& random, Op op) {
  check_loops<Element>(name, random, op);
  for (const std::size_t n : {1U, 3U, 10U, 63U, 500U, 3001U, 20001U}) {
    const auto mine = numbers<Element>(random, n);
    check_calls<Element>(comm, name, mine, op);
  }
}

}  // namespace

int main() try {
  chorale::communicator comm;
  std::mt19937_64 random{support::common_seed(comm) + static_cast<std::uint64_t>(comm.rank())};
  check_nans<float>(comm, random);
  check_nans<double>(comm, random);
#if !defined(__FP_FAST_FMA) && !defined(__FMA__) && !defined(__ARM_FEATURE_FMA)
  if (comm.rank() == 0) fmt::print("skipped: this processor has no fused multiply-add that compilers use\n");
#endif
  check_operator<pair>(comm, "complex product", random, times);
  check_operator<pair>(comm, "composition", random, after);
  check_operator<double>(comm, "blend", random, blend);
  check_operator<double>(comm, "length", random, length);
  check_operator<std::complex<double>>(comm, "product of std::complex", random, chorale::prod);
  return comm.allreduce(failures, chorale::sum) == 0 ? 0 : 1;
} catch (const std::exception& e) {
  fmt::print(stderr, "bits: {}\n", e.what());
  return 1;
}
