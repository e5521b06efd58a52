// SPDX-License-Identifier: Apache-2.0
// Data through memory that is freed, unmapped, remapped, emptied and forked between the calls that use it.
// Usage: registration [ROUNDS]; CHORALE_REGISTRATION and related variables determine how registrations are
// kept.
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <random>
#include <stdexcept>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>

#include <chorale/communicator.hpp>

#include "../support/seed.hpp"

namespace {

using communicator = chorale::communicator<>;
using words = std::span<std::uint64_t>;

void expect(bool right, const char* what) {
  if (!right) throw std::runtime_error(what);
}

std::byte* map(std::byte* where, std::size_t bytes) {
  void* at = mmap(where, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | (where ? MAP_FIXED : 0),
                  -1, 0);
  expect(at != MAP_FAILED, "mmap failed");
  return static_cast<std::byte*>(at);
}

/// One call that moves `data` zero copy, and the check of every word of it.
void transfer(communicator& comm, words data, std::uint64_t number) {
  const auto value = [&](int rank, std::size_t i) {
    return number * 1000003U + static_cast<unsigned>(rank) * 17U + i;
  };
  const int root = static_cast<int>(number % static_cast<unsigned>(comm.size()));
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = comm.rank() == root ? value(root, i) : ~0ULL;
  comm.broadcast(data, chorale::root{root});
  for (std::size_t i = 0; i < data.size(); ++i)
    expect(data[i] == value(root, i), "a broadcast has reached other pages, or come from them");
}

}  // namespace

int main(int count, char** arguments) try {
  const int rounds = count > 1 ? std::atoi(arguments[1]) : 40;
  chorale::config settings = chorale::config::from_environment();
  settings.zero_copy_bytes = 4096;
  settings.registration_entries = 16;
  // Some algorithms do not register the memory that they move: the choice must not depend on measured times.
  settings.trials = chorale::trial_policy::all;
  communicator comm{settings};
  const auto seed = support::common_seed(comm);
  const auto kept = comm.transport().registration_kept();
  if (comm.rank() == 0) fmt::print("registrations: {}\n", describe(kept));
  std::mt19937_64 plan{seed};

  constexpr std::size_t area = std::size_t{1} << 20;
  std::byte* at = map(nullptr, area);
  std::vector<pid_t> children;
  for (int round = 0; round < rounds; ++round) {
    const auto number = static_cast<std::uint64_t>(round);
    // malloc and free, in sizes that are mapped and in sizes that are not.
    std::vector<std::uint64_t> heap(600 + plan() % 60'000);
    transfer(comm, heap, number);
    // Part of an area that is remapped between the calls.
    const std::size_t first = plan() % (area / 4) / 8 * 8;
    const std::size_t bytes = 8192 + plan() % (area / 2) / 8 * 8;
    const words part{reinterpret_cast<std::uint64_t*>(at + first), bytes / 8};
    transfer(comm, part, number + 1);
    switch (plan() % 5) {
      case 0:
        munmap(at, area);
        at = map(at, area);
        break;
      case 1:
        map(at + area / 4 / 4096 * 4096, 65536);
        break;
      case 2:
        expect(madvise(at, area, MADV_DONTNEED) == 0, "madvise failed");
        break;
      case 3: {
        // Moved away page by page, since watching may have divided it, and replaced by other pages.
        std::byte* away = map(nullptr, area);
        for (std::size_t i = 0; i < area; i += 4096)
          expect(mremap(at + i, 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, away + i) != MAP_FAILED,
                 "mremap failed");
        map(at, area);
        munmap(away, area);
        break;
      }
      default:
        break;
    }
    // A child that writes where this rank receives, unmaps part of it and exits while this rank continues.
    if (round % 8 == 3) {
      const pid_t child = fork();
      expect(child >= 0, "fork failed");
      if (child == 0) {
        for (auto& word : part) word = 0xdeadbeef;
        munmap(at, area / 2);
        _exit(0);
      }
      children.push_back(child);
    }
    transfer(comm, part, number + 2);
  }
  for (const pid_t child : children) {
    int status = 0;
    expect(waitpid(child, &status, 0) == child && status == 0, "a child has failed");
  }
  // Communicators of a process find each other's registrations. Both try the same algorithms in turn.
  auto first = comm.split(0, chorale::key{comm.rank()});
  auto again = comm.split(0, chorale::key{comm.rank()});
  std::vector<std::uint64_t> heap(60'000);
  for (std::uint64_t number = 0; number < 12; ++number) {  // by different algorithms
    transfer(*first, heap, number);
    transfer(*again, heap, number);
  }
  if (comm.size() > 1 && kept != chorale::transport::registration_guarantee::per_operation) {
    const auto found = again->transport().registrations();
    expect(found.hits > 0 && found.misses == 0,
           fmt::format("a part has registered the same memory anew: {} hits, {} misses", found.hits,
                       found.misses)
               .c_str());
  }
  const auto counts = comm.transport().registrations();
  expect(counts.entries <= settings.registration_entries, "more registrations are kept than may be");
  if (comm.size() > 1) {
    using enum chorale::transport::registration_guarantee;
    expect(counts.misses > 0, "nothing was registered: the test tests nothing");
    if (kept == watched) expect(counts.invalidations > 0, "nothing was seen to be unmapped");
    if (kept == per_operation) expect(counts.entries == 0, "a registration is kept");
  }
  return 0;
} catch (const std::exception& e) {
  fmt::print(stderr, "registration: {}\n", e.what());
  return 1;
}
