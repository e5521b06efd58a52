// SPDX-License-Identifier: Apache-2.0
// Allreduce: every rank gives a value, every rank gets the result, and rank 0 says what a call costs.
#include <chrono>

#include <fmt/format.h>

#include <chorale/chorale.hpp>

// The map x -> a * x + b. Doing one after the other is associative, but not commutative.
struct affine {
  long a;
  long b;
  friend bool operator==(const affine&, const affine&) = default;
};
// A reduction operator is a function object. Give it a name: ranks must agree on it.
struct then_t {
  affine operator()(const affine& first, const affine& second) const {
    return {second.a * first.a, second.a * first.b + second.b};
  }
};

int main() try {
  chorale::communicator<> comm;

  // A sum of numbers.
  const double sum = comm.allreduce(1.0 + comm.rank(), chorale::sum);
  bool right = sum == comm.size() * (comm.size() + 1) / 2.0;

  // An operator of our own. The operands are taken in the order of the ranks, whatever arrives first.
  const auto map_of = [](int rank) { return affine{rank % 2 == 0 ? 1 : -1, rank}; };
  const affine all = comm.allreduce(map_of(comm.rank()), then_t{});
  affine expected = map_of(0);
  for (int rank = 1; rank < comm.size(); ++rank) expected = then_t{}(expected, map_of(rank));
  right = right && all == expected;

  constexpr int calls = 10'000;
  comm.barrier();
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < calls; ++i) static_cast<void>(comm.allreduce(1.0, chorale::sum));
  const std::chrono::duration<double, std::micro> spent = std::chrono::steady_clock::now() - begin;
  if (comm.rank() == 0) {
    fmt::print("allreduce over {} ranks on {}: sum {} ({}), {:.2f} us a call of 8 bytes\n", comm.size(),
               comm.transport().chosen().device.name, sum, right ? "right" : "WRONG", spent.count() / calls);
  }
  return right ? 0 : 1;
} catch (const std::exception& e) {
  fmt::print(stderr, "03_allreduce: {}\n", e.what());
  return 1;
}
