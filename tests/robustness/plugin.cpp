// SPDX-License-Identifier: Apache-2.0
// A plug-in that uses Chorale, for a program that does not.
#include <cstdio>
#include <exception>
#include <optional>
#include <stdexcept>
#include <vector>

#include <chorale/chorale.hpp>

/// Makes a communicator and calls; false, with a line on standard output, on any error.
extern "C" bool use_chorale();
/// The same, but the communicator ends when the plug-in is unloaded; `is_over` is set afterwards.
extern "C" bool keep_chorale(bool* is_over);

namespace {

using communicator = chorale::communicator<>;

/// Its destructor runs in dlclose().
struct kept_communicator {
  kept_communicator() = default;
  kept_communicator(const kept_communicator&) = delete;
  kept_communicator& operator=(const kept_communicator&) = delete;
  ~kept_communicator() {
    comm.reset();
    if (is_over != nullptr) *is_over = true;
  }

  std::optional<communicator> comm;
  bool* is_over = nullptr;
} kept;

void check(communicator& comm) {
  std::vector<double> sums(100'000, 1.0);
  comm.allreduce(chorale::in_place, sums, chorale::sum);
  auto twin = comm.duplicate();
  twin.barrier();
  if (sums.back() != comm.size()) throw std::runtime_error("a wrong sum");
}

template <class Body>
bool succeeds(const Body& body) {
  try {
    body();
    return true;
  } catch (const std::exception& e) {
    std::printf("%s\n", e.what());
    return false;
  }
}

}  // namespace

extern "C" bool use_chorale() {
  return succeeds([] {
    communicator comm;
    check(comm);
  });
}

extern "C" bool keep_chorale(bool* is_over) {
  return succeeds([&] {
    kept.is_over = is_over;
    check(kept.comm.emplace());
  });
}
