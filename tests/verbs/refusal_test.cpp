// SPDX-License-Identifier: Apache-2.0
// The errors of the classes when a real device refuses. (Whether it refuses is tested in `conformance/`.)
#include <catch2/catch.hpp>

#include "../../lib/verbs/text.hpp"
#include "support.hpp"

using Catch::Contains;
using namespace chorale::verbs;
using test::error_of;
using test::next_completion;

TEST_CASE("the error of a refused request names request and cause", "[device]") {
  test::connected c;
  ibv_sge piece = c.piece(0, 8);
  std::vector<char> large(c.left.inline_bytes() + 1);
  ibv_sge too_large{.addr = reinterpret_cast<std::uint64_t>(large.data()),
                    .length = static_cast<std::uint32_t>(large.size()),
                    .lkey = 0};
  ibv_send_wr wanted = test::request(IBV_WR_SEND, too_large);
  wanted.send_flags |= IBV_SEND_INLINE;
  CHECK_THAT(error_of([&] { c.left.post_send(wanted); }).what(), Contains("inline bytes"));

  // There are no receives, so all requests wait.
  wanted = test::request(IBV_WR_SEND, piece);
  std::uint32_t posted = 0;
  while (posted < 4 * c.left.send_depth() && c.left.try_post_send(wanted) == 0) ++posted;
  CHECK_THAT(error_of([&] { c.left.post_send(wanted); }).what(), Contains("send requests are outstanding"));
  c.left.to_error();
}

TEST_CASE("a peer that does not answer is named in the completion's text", "[device]") {
  test::rig r;
  queue_pair left(r.domain, r.options(IBV_QPT_RC));
  queue_pair right(r.domain, r.options(IBV_QPT_RC));
  r.connect(left, right, 0, {.timeout = 8, .retry = 1});
  right.close();
  ibv_sge piece = r.piece(0, 8);
  ibv_send_wr wanted = test::request(IBV_WR_SEND, piece);
  left.post_send(wanted);
  CHECK_THAT(describe(next_completion(r.queue), "send"),
             Contains("send on QP") && Contains("does not answer"));
}
