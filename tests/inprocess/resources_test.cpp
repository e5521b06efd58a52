// SPDX-License-Identifier: Apache-2.0
// The resources of transports, compared with the formulas of the model.
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include <chorale/algorithm/alltoall/direct.hpp>
#include <chorale/model/resources.hpp>
#include <chorale/transport/hybrid.hpp>
#include <chorale/transport/rc.hpp>
#include <chorale/transport/ud.hpp>

#include "all_calls.hpp"
#include "ranks.hpp"

using namespace inprocess;
using chorale::model::resources;

namespace {

/// With as many blocks as on an adapter.
chorale::config as_on_adapters() {
  auto c = settings();
  c.blocks = chorale::config::usual_blocks;
  return c;
}

template <class Transport, class Expected>
void check(int size, Expected&& expected) {
  const auto c = as_on_adapters();
  run_ranks<chorale::communicator<Transport, chorale::alltoall::direct>>(size, c, [&](auto& comm) {
    std::vector<word> out(static_cast<std::size_t>(size), 7);
    std::vector<word> in(out.size());
    for (int i = 0; i < 60; ++i) comm.alltoall(std::span<const word>{out}, std::span{in});
    const resources wanted = expected(comm.transport().chosen().mtu_bytes);
    const auto registered = static_cast<double>(comm.transport().registered_bytes());
    const int queue_pairs = 1 + comm.transport().memory().peak_connections;
    if (queue_pairs > wanted.queue_pairs)
      throw std::runtime_error(std::to_string(queue_pairs) + " queue pairs, not " +
                               std::to_string(wanted.queue_pairs));
    // Slabs begin on separate pages; connections to the busiest peers take effect once both sides have
    // progressed.
    if (registered > 1.005 * static_cast<double>(wanted.registered_bytes))
      throw std::runtime_error(std::to_string(registered) + " bytes, not " +
                               std::to_string(wanted.registered_bytes));
    if (queue_pairs == wanted.queue_pairs &&
        registered < 0.995 * static_cast<double>(wanted.registered_bytes))
      throw std::runtime_error(std::to_string(registered) + " bytes, not " +
                               std::to_string(wanted.registered_bytes));
    comm.barrier();
  });
}

}  // namespace

TEST_CASE("resources are what the formula says", "[resources]") {
  const auto c = as_on_adapters();
  for (const int n : {2, 5, 9, 17}) {
    check<chorale::transport::rc>(n, [&](int) { return chorale::model::resources_of_rc(n, n - 1, c); });
    check<chorale::transport::ud>(n, [&](int mtu) { return chorale::model::resources_of_ud(n, mtu); });
    check<chorale::transport::hybrid<3>>(
        n, [&](int mtu) { return chorale::model::resources_of_hybrid(n, n - 1, 3, c, mtu); });
  }
}

namespace {

int open_descriptors() {
  int found = 0;
  for ([[maybe_unused]] const auto& one : std::filesystem::directory_iterator{"/proc/self/fd"}) ++found;
  return found;
}

/// File descriptors that a duplicate costs a rank once all ranks have communicated with each other.
template <class Transport>
double descriptors_of_duplicate(int size) {
  gate all{size};
  int before = 0;
  int after = 0;
  run_ranks<chorale::communicator<Transport, chorale::alltoall::direct>>(size, settings(), [&](auto& comm) {
    const auto talk = [size](auto& to) {
      std::vector<word> out(static_cast<std::size_t>(size), 7);
      std::vector<word> in(out.size());
      for (int i = 0; i < 60; ++i) to.alltoall(std::span<const word>{out}, std::span{in});
      to.barrier();
    };
    talk(comm);
    all.arrive_and_wait();
    if (comm.rank() == 0) before = open_descriptors();
    all.arrive_and_wait();
    auto copy = comm.duplicate();
    talk(copy);
    all.arrive_and_wait();
    if (comm.rank() == 0) after = open_descriptors();
    all.arrive_and_wait();
  });
  return static_cast<double>(after - before) / size;
}

}  // namespace

TEST_CASE("a duplicate has as many descriptors as the formula says", "[resources]") {
  if (left_out_in_virtual_time("sim0 is no file")) return;
  const auto c = settings();
  for (const int n : {4, 10}) {
    // One more if the duplicate's service thread has slept and been woken, and another if that of the first
    // communicator did so only after its descriptors were counted.
    const auto check = [](double found, std::int64_t formula) {
      CHECK(found > static_cast<double>(formula) - 0.5);
      CHECK(found < static_cast<double>(formula) + 2.5);
    };
    check(descriptors_of_duplicate<chorale::transport::rc>(n),
          chorale::model::resources_of_rc(n, n - 1, c).descriptors);
    check(descriptors_of_duplicate<chorale::transport::ud>(n),
          chorale::model::resources_of_ud(n, 4096).descriptors);
  }
}

TEST_CASE("the cost of datagrams does not depend on the number of ranks", "[resources]") {
  const auto c = settings();
  const auto few = chorale::model::resources_of_ud(64, 4096);
  const auto many = chorale::model::resources_of_ud(100'000, 4096);
  CHECK(few.registered_bytes == many.registered_bytes);
  CHECK(many.queue_pairs == 1);
  const auto hybrid = chorale::model::resources_of_hybrid(100'000, 99'999, 8, c, 4096);
  CHECK(hybrid.queue_pairs == 9);
  CHECK(hybrid.registered_bytes < 2 * many.registered_bytes);
  CHECK(chorale::model::resources_of_rc(100'000, 99'999, c).registered_bytes > 1000 * many.registered_bytes);
}
