// SPDX-License-Identifier: Apache-2.0
// Memory of another process mapped into this one: the permissions, and its lifetime.
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include <chorale/verbs/peer_memory.hpp>

#include "soft_pair.hpp"

using namespace soft_test;

namespace {

std::atomic_ref<std::uint64_t> word(void* memory, std::size_t offset) {
  return std::atomic_ref<std::uint64_t>(
      *reinterpret_cast<std::uint64_t*>(static_cast<unsigned char*>(memory) + offset));
}

/// Whether memory can be mapped a second time: emulators of a processor lack this form of mremap.
bool maps_twice() {
  const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* const once = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (once == MAP_FAILED) return false;
  void* const twice = mremap(once, 0, bytes, MREMAP_MAYMOVE);
  munmap(once, bytes);
  if (twice == MAP_FAILED) {
    WARN("skipped: this system maps no memory twice (mremap)");
    return false;
  }
  munmap(twice, bytes);
  return true;
}

/// The errno of a mapping that must be refused; 0 if it was not.
int refusal(ibv_qp* qp, std::uint64_t address, std::uint32_t rkey, std::size_t bytes) {
  errno = 0;
  void* mapped = soft().map(qp, address, rkey, bytes);
  if (mapped == nullptr) return errno;
  soft().unmap(mapped, bytes);
  return 0;
}

}  // namespace

TEST_CASE("Mapped memory of a peer is shared with it, as long as the mapping lasts", "[soft]") {
  if (!maps_twice()) return;
  constexpr std::size_t bytes = 3 * 4096;
  constexpr std::size_t offset = 4096 + 64;  // aligned to a cache line, not to a page
  constexpr std::size_t length = 5000;
  const auto connected = [](wire& line, node& n, ibv_qp* qp, const memory& m) {
    line.send(address{qp->qp_num, m.address(), m.mr->rkey});
    const auto other = line.receive<address>();
    connect_rc(n, qp, other.qpn);
    line.meet();
    return other;
  };
  const auto report = run_pair(
      [&](wire& line) {
        node n;
        ibv_qp* qp = make_qp(n, IBV_QPT_RC);
        void* there = nullptr;
        {
          memory m(n, bytes, true);
          const auto other = connected(line, n, qp, m);
          there = soft().map(qp, other.memory + offset, other.rkey, length);
          expect(there != nullptr, "map");
          expect(reinterpret_cast<std::uintptr_t>(there) % 64 == 0, "lines stay lines");
          expect(word(there, 0).load() >= 41, "what the owner has written is seen");
          word(there, 4992).store(17);
          for (int i = 0; i < 100'000; ++i) word(there, 0).fetch_add(1);
          line.meet();
          line.meet();
        }
        // The owner has deregistered and freed its memory: the mapping touches no other memory.
        expect(word(there, 0).load() == 200'041, "what was there is still there");
        word(there, 8).store(5);
        expect(word(there, 8).load() == 5, "the mapping lasts");
        line.meet();
        expect(soft().unmap(there, length) == 0, "unmap");
        soft().destroy_qp(qp);
      },
      [&](wire& line) {
        node n;
        ibv_qp* qp = make_qp(n, IBV_QPT_RC);
        {
          memory m(n, bytes, true);
          word(m.data, offset).store(41);
          static_cast<void>(connected(line, n, qp, m));
          for (int i = 0; i < 100'000; ++i) word(m.data, offset).fetch_add(1);
          line.meet();
          expect(word(m.data, offset).load() == 200'041, "additions of both count");
          expect(word(m.data, offset + 4992).load() == 17, "what the peer has written is seen");
        }
        memory younger(n, bytes, true);
        std::memset(younger.data, 3, bytes);
        line.meet();
        line.meet();
        for (std::size_t i = 0; i < bytes; ++i) expect(younger.data[i] == 3, "younger memory is left alone");
        soft().destroy_qp(qp);
      });
  CHECK(report == "");
}

TEST_CASE("Memory of this process is mapped like another's", "[soft]") {
  if (!maps_twice()) return;
  pair p;
  const chorale::verbs::driver& driver = soft();
  void* there = driver.map(p.a, p.to.address() + 128, p.to.mr->rkey, 256);
  REQUIRE(there != nullptr);
  CHECK(there != p.to.data + 128);
  word(there, 0).store(9);
  CHECK(word(p.to.data, 128).load() == 9);
  CHECK(driver.unmap(there, 256) == 0);
}

TEST_CASE("Memory without permission is not mapped", "[soft]") {
  pair p;
  const std::uint64_t at = p.to.address();
  const std::uint32_t key = p.to.mr->rkey;
  if (maps_twice()) CHECK(refusal(p.a, at, key, 65536) == 0);
  CHECK(refusal(p.a, at, key, 0) == EINVAL);
  CHECK(refusal(p.a, at, key, 65537) == EINVAL);
  CHECK(refusal(p.a, at - 1, key, 2) == EINVAL);
  CHECK(refusal(p.a, at, key ^ 1U, 8) == EINVAL);
  CHECK(refusal(p.a, at, p.to.mr->lkey, 8) == EINVAL);
  {
    const memory read_only(p.there, 4096, true, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ);
    CHECK(refusal(p.a, read_only.address(), read_only.mr->rkey, 8) == EINVAL);
  }
  {
    const memory alone(p.there, 4096, false);
    CHECK(refusal(p.a, alone.address(), alone.mr->rkey, 8) == EOPNOTSUPP);
  }
  {
    const memory elsewhere(p.here, 4096, true);
    CHECK(refusal(p.a, elsewhere.address(), elsewhere.mr->rkey, 8) == EINVAL);
  }
  ibv_qp* datagrams = make_qp(p.here, IBV_QPT_UD);
  start_ud(datagrams);
  CHECK(refusal(datagrams, at, key, 8) == EINVAL);
  soft().destroy_qp(datagrams);
  ibv_qp* fresh = make_qp(p.here, IBV_QPT_RC);
  CHECK(refusal(fresh, at, key, 8) == ENOTCONN);
  soft().destroy_qp(fresh);
}

TEST_CASE("Memory is not mapped where the settings forbid sharing", "[soft]") {
  const std::string mode = GENERATE("vm", "bounce");
  child seeing([mode](wire& line) {
    setenv("CHORALE_SOFT_COPY", mode.c_str(), 1);
    pair p;
    line.send(refusal(p.a, p.to.address(), p.to.mr->rkey, 8));
  });
  CHECK(seeing.line().receive<int>() == EOPNOTSUPP);
  CHECK(seeing.join() == "");
}
