// SPDX-License-Identifier: Apache-2.0
// CHORALE_CHECK=buffers: memory that this process cannot use, such as a GPU's, is reported as an error.
#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

#include <catch2/catch.hpp>

#include <chorale/communicator.hpp>
#include <chorale/core/host_memory.hpp>

#include "ranks.hpp"

namespace {

/// Three pages, of which the last cannot be used, or only be read.
class pages {
 public:
  explicit pages(int protection)
      : first_(mmap(nullptr, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    if (first_ == MAP_FAILED || mprotect(bytes() + 2 * page, page, protection) != 0)
      throw std::runtime_error("no memory is mapped");
  }
  pages(const pages&) = delete;
  pages& operator=(const pages&) = delete;
  ~pages() { munmap(first_, 3 * page); }

  [[nodiscard]] char* bytes() const { return static_cast<char*>(first_); }
  /// The last `count` ints before the last page, and `more` in it.
  [[nodiscard]] std::span<int> around(std::size_t count, std::size_t more) const {
    return {reinterpret_cast<int*>(bytes() + 2 * page) - count, count + more};
  }

 private:
  static inline const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* first_;
};

}  // namespace

TEST_CASE("whether memory can be used is found without changing it", "[buffers]") {
  namespace detail = chorale::detail;
  const pages none{PROT_NONE};
  const pages constant{PROT_READ};
  for (const std::size_t count : {1U, 4U, 1500U}) {
    const auto inside = none.around(count, 0);
    for (int& i : inside) i = 77;
    CHECK(detail::can_read(std::as_bytes(inside)));
    CHECK(detail::can_write(std::as_bytes(inside)));
    for (const int i : inside) CHECK(i == 77);
    CHECK_FALSE(detail::can_read(std::as_bytes(none.around(count, 1))));
    CHECK_FALSE(detail::can_write(std::as_bytes(none.around(count, 1))));
    CHECK(detail::can_read(std::as_bytes(constant.around(count, 1))));
    CHECK_FALSE(detail::can_write(std::as_bytes(constant.around(count, 1))));
  }
  CHECK(detail::can_read({}));
  CHECK_FALSE(detail::can_read({reinterpret_cast<const std::byte*>(8), 1}));
}

TEST_CASE("of large memory a check examines at most 256 pages, the first and the last among them",
          "[buffers]") {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  for (const std::size_t count : {1U, 255U, 256U, 257U, 511U, 512U, 5000U}) {
    void* const memory =
        mmap(nullptr, count * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(memory != MAP_FAILED);
    // A huge page would make pages present that nobody has examined. A kernel without them refuses.
    madvise(memory, count * page, MADV_NOHUGEPAGE);
    CHECK(chorale::detail::can_write({static_cast<const std::byte*>(memory), count * page}));
    std::vector<unsigned char> present(count);
    REQUIRE(mincore(memory, count * page, present.data()) == 0);
    munmap(memory, count * page);
    const auto examined = std::count_if(present.begin(), present.end(), [](auto p) { return (p & 1) != 0; });
    CHECK(examined <= 256);
    CHECK(examined >= static_cast<std::ptrdiff_t>(std::min<std::size_t>(count, 128)));
    if (count <= 256) CHECK(examined == static_cast<std::ptrdiff_t>(count));
    CHECK((present.front() & present.back() & 1) != 0);
  }
}

TEST_CASE("with CHORALE_CHECK=buffers a call refuses memory that is not the host's", "[buffers]") {
  auto c = inprocess::settings();
  c.check = chorale::check_policy::buffers;
  inprocess::run_ranks<chorale::communicator<>>(2, c, [](auto& comm) {
    const pages none{PROT_NONE};
    const pages constant{PROT_READ};
    std::vector<int> good(20, comm.rank());
    std::vector<int> both(40);
    const auto refused = [](const std::string& call, const std::string& does, auto&& f) {
      support::refused(chorale::errc::invalid_argument, {call, "cannot " + does, "GPU", "rank"}, f);
    };
    const auto bad = none.around(10, 10);
    refused("allreduce", "read", [&] { comm.allreduce(bad, good, chorale::sum); });
    refused("allreduce", "write", [&] { comm.allreduce(good, bad, chorale::sum); });
    refused("broadcast", "write", [&] { comm.broadcast(constant.around(10, 10)); });
    refused("gather", "read", [&] { comm.gather(bad, both); });
    refused("alltoall", "write", [&] { comm.ialltoall(good, bad).wait(); });
    const int other = 1 - comm.rank();
    refused("exchange", "read", [&] { comm.exchange({chorale::to(other, bad)}, {}); });
    refused("exchange", "write", [&] { comm.exchange({}, {chorale::from(other, bad)}); });
    refused("exchange", "write", [&] {
      comm.exchange({}, {chorale::from(other, chorale::strided{&bad[0], 2, 1, 15})});
    });
    refused("broadcast", "write", [&] { comm.broadcast(chorale::strided{&bad[0], 2, 1, 15}); });
    // Calls of several steps refuse it before the first one, so that one rank can make the call again.
    if (comm.rank() == 0) {
      const std::vector<std::span<int>> parts{good, bad};
      refused("allgatherv", "read", [&] { static_cast<void>(comm.allgatherv(bad)); });
      refused("alltoallv", "read", [&] { static_cast<void>(comm.alltoallv(parts)); });
      refused("gatherv", "read", [&] { static_cast<void>(comm.gatherv(bad)); });
      refused("scatterv", "read", [&] { static_cast<void>(comm.scatterv(parts)); });
    }
    const std::vector<std::span<int>> parts{std::span{good}.first(3), std::span{good}.first(5)};
    inprocess::expect(comm.allgatherv(good).data.size() == 40, "allgatherv");
    inprocess::expect(comm.alltoallv(parts).data.size() == (comm.rank() == 0 ? 6 : 10), "alltoallv");
    inprocess::expect(comm.gatherv(good).has_value() == (comm.rank() == 0), "gatherv");
    inprocess::expect(comm.scatterv(parts).size() == (comm.rank() == 0 ? 3 : 5), "scatterv");
    // Usable memory still works, including memory that can only be read, as an input.
    const auto source = constant.around(10, 10);
    std::vector<int> sums(20, -1);
    comm.allreduce(source, sums, chorale::sum);
    if (sums != std::vector<int>(20, 0)) throw std::runtime_error("sums of zeros");
    comm.exchange({chorale::to(other, good)}, {chorale::from(other, sums)});
    if (sums != std::vector<int>(20, other)) throw std::runtime_error("what the other rank sent");
  });
}
