// SPDX-License-Identifier: Apache-2.0
// Datagrams that the device fails to send: the rank notices it even without sending another.
#include <array>
#include <cstddef>
#include <optional>

#include <catch2/catch.hpp>

#include <chorale/core/error.hpp>
#include <chorale/verbs/device.hpp>

#include "../support/anywhere.hpp"
#include "../support/expect.hpp"
#include "multicast_steps.hpp"

using namespace inprocess;

namespace {

int (*post_as_it_is)(ibv_qp*, ibv_send_wr*, ibv_send_wr**) = nullptr;

int post_from_nowhere(ibv_qp* pair, ibv_send_wr* request, ibv_send_wr** bad) {
  ibv_sge nowhere = *request->sg_list;
  nowhere.lkey += 0x100;
  ibv_send_wr wrong = *request;
  wrong.sg_list = &nowhere;
  return post_as_it_is(pair, &wrong, bad);
}

/// During its lifetime, the sources of sends on open devices count as unregistered memory.
class unregistered_sources {
 public:
  explicit unregistered_sources(ibv_context* device) : ops_(&device->ops) {
    post_as_it_is = ops_->post_send;
    ops_->post_send = &post_from_nowhere;
  }
  unregistered_sources(const unregistered_sources&) = delete;
  unregistered_sources& operator=(const unregistered_sources&) = delete;
  ~unregistered_sources() { ops_->post_send = post_as_it_is; }

 private:
  ibv_context_ops* ops_;
};

}  // namespace

TEST_CASE("a waiting rank notices a datagram that could not be sent, without sending another", "[failures]") {
  if (support::left_out_in_virtual_time("one thread drives all ranks")) return;
  team all(2, team::patient(), false);
  auto& channel = all[0].channel();
  const std::array<std::byte, 8> body{};
  constexpr std::uint16_t kind = 1;
  REQUIRE(channel.send(1, kind, body));
  for (int i = 0; i < 3; ++i) all[0].engine().progress();
  {
    const unregistered_sources broken{all[0].port().device().native()};
    // Far too few for `send` to poll the send queue by itself.
    REQUIRE(channel.send(1, kind, body));
  }
  std::optional<chorale::error> seen;
  until([&] {
    seen = support::error_of([&] { all[0].engine().progress(); });
    return seen.has_value();
  });
  CHECK(seen->code() == chorale::errc::completion_failed);
  CHECK_THAT(seen->what(), Catch::Contains("UD send"));
}
