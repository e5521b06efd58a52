// Allreduce: every rank gives a value, every rank gets the sum, and rank 0 says what a call costs.
#include <fmt/format.h>

#include <chrono>
#include <chorale/chorale.hpp>

int main() try {
  chorale::communicator<> comm;
  const double sum = comm.allreduce(1.0 + comm.rank(), chorale::sum);
  const double expected = comm.size() * (comm.size() + 1) / 2.0;

  constexpr int calls = 10'000;
  comm.barrier();
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < calls; ++i) static_cast<void>(comm.allreduce(1.0));
  const std::chrono::duration<double, std::micro> spent = std::chrono::steady_clock::now() - begin;
  if (comm.rank() == 0) {
    fmt::print("allreduce over {} ranks on {}: sum {} ({}), {:.2f} us a call of 8 bytes\n", comm.size(),
               comm.transport().chosen().device.name, sum, sum == expected ? "right" : "WRONG", spent.count() / calls);
  }
  return sum == expected ? 0 : 1;
} catch (const std::exception& e) {
  fmt::print(stderr, "03_allreduce: {}\n", e.what());
  return 1;
}
