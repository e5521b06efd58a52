// SPDX-License-Identifier: Apache-2.0
// The MTU: longer datagrams never arrive; messages of connections are split at the path's MTU, invisibly.
#include <algorithm>

#include "datagram.hpp"

using namespace conformance;

TEST_CASE("a datagram of the MTU arrives, one byte more never does", "[mtu]") {
  rig r;
  const auto mtu = static_cast<std::uint32_t>(mtu_bytes(r.device.port(r.port.number).active_mtu));
  INFO("MTU " << mtu);
  receiver left(r), right(r, grh_bytes + 16384, 4);
  const address_handle way(r.domain, path_to(r.port, r.port.address));
  fill(r.buffer.span(), 1);
  for (std::uint64_t id = 0; id < 4; ++id) right.post(id);
  for (const std::uint32_t bytes : {mtu + 1, mtu + 2, 2 * mtu, 3 * mtu})
    send_datagram(r, left.pair, way, right.pair.number(), 0, bytes);
  CHECK(test::stays_empty(right.queue, quiet));
  for (const std::uint32_t bytes : {mtu, mtu - 1, mtu - 3}) {
    send_datagram(r, left.pair, way, right.pair.number(), 0, bytes);
    const ibv_wc got = good(right.queue);
    CHECK(got.byte_len == grh_bytes + bytes);
    CHECK(std::equal(r.buffer.data(), r.buffer.data() + bytes, right.slot(got.wr_id) + grh_bytes));
  }
  CHECK(left.pair.state() == IBV_QPS_RTS);
}

TEST_CASE("each path MTU carries messages around its multiples", "[mtu]") {
  rig r;
  const auto type = GENERATE(IBV_QPT_RC, IBV_QPT_UC);
  for (int mtu = 256; mtu <= 4096; mtu *= 2) {
    if (mtu > mtu_bytes(r.device.port(r.port.number).active_mtu)) {
      skip("a path MTU of " + std::to_string(mtu) + " is over the port's");
      continue;
    }
    joined l(r, {.type = type,
                 .left = {.max_rd_atomic = 2},
                 .right = {.max_dest_rd_atomic = 2},
                 .mtu = mtu,
                 .send_depth = 64,
                 .recv_depth = 64});
    const auto step = static_cast<std::uint32_t>(mtu);
    for (const std::uint32_t packets : {1U, 2U, 5U})
      for (const std::uint32_t bytes : {packets * step - 1, packets * step, packets * step + 1}) {
        INFO(to_string(type) << ", path MTU " << mtu << ", " << bytes << " bytes");
        fill(r.buffer.span().first(bytes), bytes);
        std::fill_n(r.buffer.data() + remote, bytes + 8, std::byte{0});
        const auto arrived = [&] {
          return std::equal(r.buffer.data(), r.buffer.data() + bytes, r.buffer.data() + remote) &&
                 r.buffer.data()[remote + bytes] == std::byte{0};
        };
        receive(l.right, bytes, {r.piece(remote, bytes)});
        work(IBV_WR_SEND, {r.piece(0, bytes)}).post(l.left);
        CHECK(good(l.arrivals).byte_len == bytes);
        good(l.sends);
        CHECK(arrived());
        std::fill_n(r.buffer.data() + remote, bytes, std::byte{0});
        receive(l.right, bytes);
        rdma(r, IBV_WR_RDMA_WRITE_WITH_IMM, 0, bytes).post(l.left);
        CHECK(good(l.arrivals).byte_len == bytes);
        good(l.sends);
        CHECK(arrived());
        if (type == IBV_QPT_UC) continue;
        fill(r.buffer.span().subspan(remote, bytes), bytes + 1);
        rdma(r, IBV_WR_RDMA_READ, 0, bytes).post(l.left);
        good(l.sends);
        CHECK(std::equal(r.buffer.data(), r.buffer.data() + bytes, r.buffer.data() + remote));
        r.buffer.data()[remote + bytes] = std::byte{0};
      }
  }
}
