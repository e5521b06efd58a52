// SPDX-License-Identifier: Apache-2.0
// When memory may be reused although a peer is still writing. The library relies on the first two ways to end
// a call whose buffers are about to be freed.
#include <algorithm>
#include <atomic>

#include "beside.hpp"
#include "scene.hpp"

using namespace conformance;

namespace {

constexpr std::size_t mebibyte = std::size_t{1} << 20;
constexpr std::byte of_others{0x55};
constexpr const char* unfinished =
    "Soft-RoCE waits for a packet that it is writing only when the queue pair is destroyed (rxe_qp.c: "
    "rxe_qp_error, rxe_qp_reset; rxe_task.c: rxe_cleanup_task)";

/// A peer writes into `target` without pause while `let_go(pair, region)` is called; true if the memory does
/// not change from then on.
template <class LetGo>
bool stays_after(rig& r, LetGo&& let_go) {
  std::vector<std::byte> source(mebibyte), target(mebibyte);
  const memory_region local(r.domain, source.data(), mebibyte, IBV_ACCESS_LOCAL_WRITE);
  memory_region region(r.domain, target.data(), mebibyte, all_access);
  joined l(r);
  const auto place = reinterpret_cast<std::uintptr_t>(target.data());
  const std::uint32_t key = region.rkey();
  std::atomic<bool> writes{false};
  std::atomic<bool> ends{false};
  beside peer{[&] {
    while (!ends) {
      const ibv_sge piece{reinterpret_cast<std::uintptr_t>(source.data()), mebibyte, local.lkey()};
      if (work(IBV_WR_RDMA_WRITE, {piece}).at(place, key).try_post(l.left) != 0) chorale::clock::give_way();
      std::vector<ibv_wc> done(8);
      static_cast<void>(l.sends.poll(done));
      writes = true;
    }
  }};
  while (!writes) chorale::clock::give_way();
  chorale::clock::sleep_for(1ms);
  let_go(l.right, region);
  std::fill(target.begin(), target.end(), of_others);
  chorale::clock::sleep_for(quiet);
  const bool stayed = std::all_of(target.begin(), target.end(), [](std::byte b) { return b == of_others; });
  ends = true;
  peer.join();
  return stayed;
}

}  // namespace

TEST_CASE("memory that has been released is not written any more", "[registration][state]") {
  rig r;
  for (int round = 0; round < 5; ++round) {
    CHECK(stays_after(r, [](queue_pair&, memory_region& region) { region.close(); }));
    CHECK(stays_after(r, [](queue_pair& pair, memory_region&) { pair.close(); }));
    holds("memory is not written any more when its queue pair is in ERR",
          stays_after(r, [](queue_pair& pair, memory_region&) { pair.to_error(); }),
          {{"rxe", false, unfinished}});
    holds("memory is not written any more when its queue pair is in RESET",
          stays_after(r, [](queue_pair& pair, memory_region&) { pair.to_reset(); }),
          {{"rxe", false, unfinished}});
  }
}
