// SPDX-License-Identifier: Apache-2.0
// Broadcast: one rank has data, and all need it. The elements may be of any type that can be copied as bytes.
#include <vector>

#include <fmt/format.h>

#include <chorale/chorale.hpp>

struct settings {
  double time_step;
  int cells;
  bool periodic;
};

int main() try {
  chorale::communicator<> comm;

  // A single value, from rank 0, which alone knows it. Here it was written; often it was read from a file.
  settings run{};
  if (comm.rank() == 0) run = {0.25, 1000, true};
  comm.broadcast(run);

  // An array, from the last rank. Every rank passes a span of the same length; the count may well be odd.
  const int root = comm.size() - 1;
  std::vector<long> table(static_cast<std::size_t>(run.cells) + 1);
  if (comm.rank() == root)
    for (std::size_t i = 0; i < table.size(); ++i) table[i] = static_cast<long>(i * i);
  comm.broadcast(std::span{table}, chorale::root{root});

  // Has everything arrived here?
  bool right = run.time_step == 0.25 && run.cells == 1000 && run.periodic;
  for (std::size_t i = 0; i < table.size(); ++i) right = right && table[i] == static_cast<long>(i * i);
  fmt::print("rank {}: {} cells, table of {} from rank {}: {}\n", comm.rank(), run.cells, table.size(), root,
             right ? "right" : "WRONG");
  return right ? 0 : 1;
} catch (const std::exception& e) {
  fmt::print(stderr, "02_broadcast: {}\n", e.what());
  return 1;
}
