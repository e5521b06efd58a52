// SPDX-License-Identifier: Apache-2.0
// Reading the memory of a rank that computes: by the adapter, and emulated over datagrams, where a thread of
// that rank answers, woken by an event or polling.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include <chorale/chorale.hpp>

namespace {

constexpr int reads = 300;

/// Makes no call for that long: requests that arrive meanwhile must be served without this rank.
void compute(std::chrono::milliseconds time) {
  std::this_thread::sleep_for(time);
}

/// Median in microseconds of reading `count` words of rank 1 by rank 0 while rank 1 computes; -1 if one was
/// wrong.
template <class Communicator>
double median_of_reads(Communicator& comm, std::size_t count) {
  auto w = comm.template make_window<std::uint64_t>(1024);
  for (std::size_t i = 0; i < w.local().size(); ++i) w.local()[i] = i * 3;
  w.fence();
  std::vector<double> microseconds;
  bool right = true;
  if (comm.rank() == 0) {
    std::vector<std::uint64_t> seen(count);
    for (int i = 0; i < reads; ++i) {
      const std::size_t offset = static_cast<std::size_t>(i) % (1024 - count);
      const auto begin = std::chrono::steady_clock::now();
      w.get(1, offset, std::span{seen});
      const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begin;
      microseconds.push_back(took.count());
      for (std::size_t k = 0; k < count; ++k) right = right && seen[k] == (offset + k) * 3;
    }
  } else if (comm.rank() == 1) {
    compute(std::chrono::milliseconds{100});
  }
  w.fence();
  if (!right || microseconds.empty()) return right ? 0 : -1;
  std::nth_element(microseconds.begin(), microseconds.begin() + reads / 2, microseconds.end());
  return microseconds[reads / 2];
}

template <class Transport>
bool report(const char* what, const chorale::config& settings) {
  chorale::communicator<Transport> comm{settings};
  if (comm.size() < 2) {
    fmt::print("{}: a rank alone has nobody to read from; start two\n", what);
    return true;
  }
  const double word = median_of_reads(comm, 1);
  const double mtu = median_of_reads(comm, 500);
  if (comm.rank() == 0)
    fmt::print("{:<30} {:>8.2f} us for 8 bytes, {:>8.2f} us for 4000: {}\n", what, word, mtu,
               word >= 0 && mtu >= 0 ? "right" : "WRONG");
  return word >= 0 && mtu >= 0;
}

}  // namespace

int main() try {
  auto settings = chorale::config::from_environment();
  bool right = report<chorale::transport::rc>("rc", settings);
  settings.service = chorale::service_policy::event;
  right = report<chorale::transport::ud_rdma>("ud_rdma, service by events", settings) && right;
  settings.service = chorale::service_policy::polling;
  right = report<chorale::transport::ud_rdma>("ud_rdma, service by polling", settings) && right;
  return right ? 0 : 1;
} catch (const std::exception& e) {
  fmt::print(stderr, "09_emulated_read: {}\n", e.what());
  return 1;
}
