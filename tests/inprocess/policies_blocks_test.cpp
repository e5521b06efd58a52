// SPDX-License-Identifier: Apache-2.0
// The calls with a block for each rank, with messages through the mailbox and directly between the users'
// buffers, compared with known operands. tests/fake has tests of the algorithms alone.
#include <array>
#include <string>
#include <sys/mman.h>
#include <vector>

#include <chorale/transport/rc.hpp>
#include <chorale/transport/ud.hpp>

#include "../support/collectives/checks.hpp"
#include "policies.hpp"
#include "ranks.hpp"

using namespace inprocess;
using namespace collectives;
using chorale::transport::rc;
using chorale::transport::ud;

namespace {

constexpr std::array group_sizes{1, 2, 3, 5, 8, 12};

/// Sizes around zero, one word, one block and several blocks; smaller on large groups, which have many
/// blocks.
template <class Comm>
std::vector<std::size_t> counts(Comm& comm, std::size_t element) {
  const std::size_t block = comm.transport().block_bytes() / element;
  if (comm.size() > 8) return {0, 7, block + 1};
  return {0, 1, 7, 8, 100, block - 1, block, block + 1, 5 * block + 3};
}

auto variations(std::uint64_t& s) {
  return [&s] {
    const std::uint64_t n = mixed(++s);
    return manner{
        .nonblocking = n % 3 == 0, .in_place = n % 2 == 0, .misalignment = n / 8 % 4 == 0 ? n / 64 % 24 : 0};
  };
}

template <class Comm>
void all_exchanges(Comm& comm) {
  std::uint64_t s = seed();
  const auto vary = variations(s);
  for (const auto count : counts(comm, 1)) {
    check_allgather<std::byte>(comm, count, s, vary());
    check_allgatherv<std::byte>(comm, count, s, vary());
    check_alltoall<std::byte>(comm, count, s, vary());
    check_alltoallv<std::byte>(comm, count, s, vary());
  }
  for (const auto count : counts(comm, sizeof(triangle))) {
    check_allgather<triangle>(comm, count, s, vary());
    check_alltoall<triangle>(comm, count, s, vary());
    check_reduce_scatter<triangle>(comm, count, multiply{}, s, vary());
    check_reduce_scatter_uneven<triangle>(comm, count, multiply{}, s, vary());
    check_scan<triangle>(comm, count, multiply{}, true, s, vary());
    check_scan<triangle>(comm, count, multiply{}, false, s, vary());
  }
}

template <class Comm>
void all_roots(Comm& comm) {
  std::uint64_t s = seed();
  const auto vary = variations(s);
  for (const auto count : counts(comm, 1)) {
    const int step = count <= 8 ? 1 : std::max(1, comm.size() / 2);
    for (int root = 0; root < comm.size(); root += step) {
      check_gather<std::byte>(comm, count, root, s, vary());
      check_gatherv<std::byte>(comm, count, root, s, vary());
      check_scatter<std::byte>(comm, count, root, s, vary());
      check_scatterv<std::byte>(comm, count, root, s, vary());
    }
  }
}

/// The same buffers repeatedly, then others, to test state kept between calls.
template <class Comm>
void same_buffers(Comm& comm) {
  const auto ranks = static_cast<std::size_t>(comm.size());
  for (const std::size_t count : {std::size_t{3}, comm.transport().block_bytes() / 4 + 5}) {
    std::vector<std::uint32_t> in(ranks * count);
    std::array<std::vector<std::uint32_t>, 2> outs{in, in};
    for (std::uint32_t call = 0; call < 12; ++call) {
      // Some ranks change their buffer, others keep it.
      auto& out = outs[call % 5 == 4 && comm.rank() % 2 == 1 ? 1 : 0];
      for (std::size_t to = 0; to < ranks; ++to)
        for (std::size_t i = 0; i < count; ++i)
          in[to * count + i] = operand<std::uint32_t>(seed() + call + mixed(to), comm.rank(), i);
      comm.alltoall(std::span<const std::uint32_t>{in}, std::span{out});
      for (std::size_t from = 0; from < ranks; ++from)
        for (std::size_t i = 0; i < count; ++i)
          if (out[from * count + i] !=
              operand<std::uint32_t>(seed() + call + mixed(static_cast<std::uint64_t>(comm.rank())),
                                     static_cast<int>(from), i))
            throw wrong("call " + std::to_string(call) + " of alltoall: element " + std::to_string(i) +
                        " from rank " + std::to_string(from) + " on rank " + std::to_string(comm.rank()));
      comm.allgather(std::span<const std::uint32_t>{in}.first(count), std::span{out});
      for (std::size_t from = 0; from < ranks; ++from)
        if (out[from * count + count / 2] !=
            operand<std::uint32_t>(seed() + call + mixed(0), static_cast<int>(from), count / 2))
          throw wrong("call " + std::to_string(call) + " of allgather: block " + std::to_string(from));
    }
  }
}

/// Copied and, if the transport supports it, zero copy from few bytes on.
template <class Comm>
void with_both_paths(void (*body)(Comm&), const std::vector<int>& sizes) {
  for (const int size : sizes) {
    if (too_large(size)) continue;
    auto c = settings();
    run_ranks<Comm>(size, c, body);
    if (!chorale::one_sided_transport<typename Comm::transport_type>) continue;
    c.zero_copy_bytes = size % 2 == 0 ? 100 : 1;
    run_ranks<Comm>(size, c, body);
  }
}

}  // namespace

TEMPLATE_TEST_CASE("exchanges of blocks bring each to its place", "[blocks]", standard<rc>, standard<ud>,
                   by_rank<rc>) {
  with_both_paths<TestType>(&all_exchanges<TestType>, {group_sizes.begin(), group_sizes.end()});
}

TEMPLATE_TEST_CASE("gather and scatter serve every root", "[blocks]", standard<rc>, standard<ud>,
                   by_rank<rc>) {
  with_both_paths<TestType>(&all_roots<TestType>, {1, 2, 3, 5, 8});
}

TEMPLATE_TEST_CASE("buffers may stay the same from call to call, or change on some ranks", "[blocks]",
                   degree_1<rc>, standard<ud>) {
  with_both_paths<TestType>(&same_buffers<TestType>, {1, 2, 3, 5, 8, 13});
}

TEMPLATE_TEST_CASE("what is only sent may lie in memory that nobody may write", "[blocks]", reading<rc>,
                   by_rank<rc>) {
  constexpr std::size_t count = 50'000;
  auto c = settings();
  c.zero_copy_bytes = 1000;
  run_ranks<TestType>(3, c, [](auto& comm) {
    const std::size_t bytes = 3 * count * sizeof(std::uint32_t);
    void* const place = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (place == MAP_FAILED) throw wrong("mmap");
    const std::span<std::uint32_t> all{static_cast<std::uint32_t*>(place), 3 * count};
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = operand<std::uint32_t>(seed(), comm.rank(), i);
    mprotect(place, bytes, PROT_READ);
    std::vector<std::uint32_t> mine(count);
    for (int root = 0; root < 3; ++root) {
      comm.scatter(std::span<const std::uint32_t>{all}, std::span{mine}, chorale::root{root});
      for (std::size_t i = 0; i < count; ++i)
        if (mine[i] !=
            operand<std::uint32_t>(seed(), root, static_cast<std::size_t>(comm.rank()) * count + i))
          throw wrong("scatter from rank " + std::to_string(root) + ": element " + std::to_string(i));
    }
    comm.barrier();
    munmap(place, bytes);
  });
}
