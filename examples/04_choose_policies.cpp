// SPDX-License-Identifier: Apache-2.0
// Transport and algorithms are types: another choice changes one line, and nothing else in the program.
#include <vector>

#include <fmt/format.h>

#include <chorale/chorale.hpp>

// The defaults: reliable connections, and for each operation the algorithm that serves most programs.
using standard = chorale::communicator<>;

// Datagrams instead of connections, and algorithms of our choice, in any order.
using chosen = chorale::communicator<chorale::transport::ud, chorale::barrier::pairwise_exchange,
                                     chorale::allreduce::degree_k<7>>;

// chorale::communicator<chorale::transport::rc, chorale::allreduce::degree_k<4>> would not compile, and the
// compiler says why: the degree of a degree-k tree is 2^m - 1.

/// A program that knows nothing of the choice. Returns whether the result is right.
template <class Communicator>
bool add_up(const char* name) {
  Communicator comm;
  std::vector<int> data(3000);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = comm.rank() + static_cast<int>(i);
  comm.barrier();
  comm.allreduce(chorale::in_place, std::span{data}, chorale::max);

  bool right = true;
  for (std::size_t i = 0; i < data.size(); ++i)
    right = right && data[i] == comm.size() - 1 + static_cast<int>(i);
  if (comm.rank() == 0) {
    fmt::print("{:<8} over {}: {} ranks, rank 0 holds {} connections and {} KiB of registered memory: {}\n",
               name, Communicator::transport_type::name, comm.size(), comm.transport().connections(),
               comm.transport().registered_bytes() / 1024, right ? "right" : "WRONG");
  }
  return right;
}

int main() try {
  const bool first = add_up<standard>("standard");
  const bool second = add_up<chosen>("chosen");
  return first && second ? 0 : 1;
} catch (const std::exception& e) {
  fmt::print(stderr, "04_choose_policies: {}\n", e.what());
  return 1;
}
