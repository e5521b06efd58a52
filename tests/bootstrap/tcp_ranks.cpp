// SPDX-License-Identifier: Apache-2.0
// A rank of a job without a launcher: makes several communicators and checks a sum on each. Usage: tcp_ranks
// [WHAT [HOSTS]], where "says" prints a line at the beginning, "kills" kills rank 1 between two
// communicators, "starts0" and "starts1" start further programs on that rank there, and "alone" expects a
// singleton; HOSTS is the expected number of hosts (1).
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

#include <chorale/chorale.hpp>

namespace {

template <class Communicator>
void compare(Communicator& comm) {
  const int size = comm.size();
  std::vector<long> all(1000);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = comm.rank() + static_cast<long>(i);
  comm.allreduce(chorale::in_place, all, chorale::sum);
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i] != size * (size - 1) / 2 + size * static_cast<long>(i))
      throw std::runtime_error("a wrong sum");
}

/// One with the variables of this rank, and one without.
void start_further_programs(const std::string& program) {
  const std::string both =
      "CHORALE_DEADLINE_MS=2000 '" + program + "'; env -u RANK -u CHORALE_BOOTSTRAP '" + program + "' alone";
  if (std::system(both.c_str()) != 0) throw std::runtime_error("the singleton has failed");
}

}  // namespace

int main(int count, char** words) {
  const std::string_view what = count > 1 ? words[1] : "";
  const std::string hosts = count > 2 ? words[2] : "1";
  try {
    if (what == "says") {
      std::puts("begins");
      std::fflush(stdout);
    }
    chorale::communicator<> first;
    compare(first);
    if (std::to_string(first.hosts().count()) != hosts || first.is_singleton() != (what == "alone"))
      throw std::runtime_error("the ranks are not those of so many hosts: " + hosts);
    if (what == "kills" && first.rank() == 1) ::raise(SIGKILL);
    if (what == "starts" + std::to_string(first.rank())) start_further_programs(words[0]);
    chorale::communicator<chorale::transport::ud> second;
    compare(second);
    auto half = first.split(first.rank() % 2);
    compare(*half);
    std::printf("rank %d of %d: all right\n", first.rank(), first.size());
    return 0;
  } catch (const std::exception& e) {
    std::printf("%s\n", e.what());
    return 1;
  }
}
