// SPDX-License-Identifier: Apache-2.0
// Registration: what is allowed, and overlapping regions.
#include <sys/mman.h>

#include "scene.hpp"

using namespace conformance;

namespace {

/// Mapped pages, unmapped in the destructor; a test may unmap some earlier.
struct pages {
  explicit pages(std::size_t count)
      : bytes(count * 4096),
        first(static_cast<std::byte*>(
            mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
    REQUIRE(first != MAP_FAILED);
  }
  ~pages() { munmap(first, bytes); }
  std::size_t bytes;
  std::byte* first;
};

int failure_of(const rig& r, void* first, std::size_t bytes, int access) {
  return test::error_of([&] { memory_region(r.domain, first, bytes, access); }).code().value();
}

}  // namespace

TEST_CASE("only mapped memory can be registered", "[registration]") {
  rig r;
  const pages memory(4);
  munmap(memory.first + 4096, 4096);
  CHECK(failure_of(r, memory.first, 3 * 4096, IBV_ACCESS_LOCAL_WRITE) == EFAULT);
  CHECK(failure_of(r, memory.first + 4000, 97, IBV_ACCESS_LOCAL_WRITE) == EFAULT);
  const memory_region before(r.domain, memory.first, 4096, IBV_ACCESS_LOCAL_WRITE);
  const memory_region behind(r.domain, memory.first + 8192, 8192, IBV_ACCESS_LOCAL_WRITE);
  CHECK(before.lkey() != behind.lkey());
}

TEST_CASE("read-only memory can be registered for reading", "[registration]") {
  rig r;
  const pages memory(1);
  memory.first[5] = std::byte{9};
  REQUIRE(mprotect(memory.first, 4096, PROT_READ) == 0);
#ifdef MADV_POPULATE_WRITE
  if (madvise(memory.first, 4096, MADV_POPULATE_WRITE) == 0)
    skip("this system takes memory that is only readable for writable");
  else
#endif
    CHECK(failure_of(r, memory.first, 4096, IBV_ACCESS_LOCAL_WRITE) == EFAULT);
  const memory_region readable(r.domain, memory.first, 4096, IBV_ACCESS_REMOTE_READ);
  joined l(r);
  work(IBV_WR_RDMA_READ, {r.piece(0, 8)})
      .at(reinterpret_cast<std::uint64_t>(memory.first), readable.rkey())
      .post(l.left);
  good(l.sends);
  CHECK(r.buffer.data()[5] == std::byte{9});
}

TEST_CASE("remote write access needs local write access", "[registration]") {
  rig r;
  const pages memory(1);
  for (const int access : {int{IBV_ACCESS_REMOTE_WRITE}, int{IBV_ACCESS_REMOTE_ATOMIC},
                           IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ})
    CHECK(failure_of(r, memory.first, 4096, access) == EINVAL);
}

TEST_CASE("access that the device lacks differs from invalid access", "[registration]") {
  rig r;
  const pages memory(1);
  for (const int access : {int{IBV_ACCESS_MW_BIND}, int{IBV_ACCESS_ZERO_BASED}}) {
    int failure = 0;
    try {
      const memory_region region(r.domain, memory.first, memory.bytes, all_access | access);
    } catch (const chorale::error& e) {
      failure = e.code().value();
    }
    // Adapters may have these rights.
    if (failure != 0 || r.device.is_soft() || is_simulated()) CHECK(failure == EOPNOTSUPP);
    CHECK(failure_of(r, memory.first, 4096, IBV_ACCESS_REMOTE_WRITE | access) == EINVAL);
  }
}

TEST_CASE("regions overlap, each with its own rights and bounds", "[registration]") {
  rig r;
  const pages memory(2);
  const memory_region whole(r.domain, memory.first, memory.bytes, all_access);
  const memory_region same(r.domain, memory.first, memory.bytes, IBV_ACCESS_LOCAL_WRITE);
  memory_region part(r.domain, memory.first + 3, 100, all_access);
  CHECK(whole.lkey() != same.lkey());
  CHECK(whole.rkey() != part.rkey());
  const auto at = reinterpret_cast<std::uint64_t>(memory.first);
  const auto status_of = [&](const memory_region& region, std::uint64_t where, std::uint32_t bytes) {
    joined l(r);
    work(IBV_WR_RDMA_WRITE, {r.piece(0, bytes)}).at(where, region.rkey()).post(l.left);
    return next(l.sends).status;
  };
  CHECK(status_of(whole, at, 100) == IBV_WC_SUCCESS);
  CHECK(status_of(same, at, 100) == IBV_WC_REM_ACCESS_ERR);
  CHECK(status_of(part, at + 3, 100) == IBV_WC_SUCCESS);
  CHECK(status_of(part, at + 2, 100) == IBV_WC_REM_ACCESS_ERR);
  part.close();
  CHECK(status_of(whole, at, 100) == IBV_WC_SUCCESS);  // the others stay
}

TEST_CASE("a region deregistered in the midst of requests ends them, not the device", "[registration]") {
  rig r;
  const pages memory(16);
  joined l(r, {.send_depth = 64});
  for (int round = 0; round < 5; ++round) {
    joined fresh(r, {.send_depth = 64});
    memory_region region(r.domain, memory.first, memory.bytes, all_access);
    for (int i = 0; i < 32; ++i)
      work(IBV_WR_RDMA_WRITE, {r.piece(0, 32000)})
          .at(reinterpret_cast<std::uint64_t>(memory.first), region.rkey())
          .post(fresh.left);
    region.close();
    bool failed = false;
    for (int i = 0; i < 32; ++i) {
      const ibv_wc done = next(fresh.sends);
      // Success at first, then one is refused, then all others are flushed.
      if (failed) CHECK(done.status == IBV_WC_WR_FLUSH_ERR);
      if (!failed && done.status != IBV_WC_SUCCESS) {
        CHECK(done.status == IBV_WC_REM_ACCESS_ERR);
        failed = true;
      }
    }
  }
  rdma(r, IBV_WR_RDMA_WRITE, 0, 8).post(l.left);
  good(l.sends);
}
