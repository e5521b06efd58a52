// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include <chorale/transport/ud.hpp>

namespace chorale::transport {
namespace {

/// The endpoint reduces it to the path MTU.
constexpr std::size_t largest_datagram = 4096;
constexpr std::uint32_t sends_under_way = 128;

}  // namespace

joining_plan ud_parts::plan(int ranks, const config& settings, const char* transport) {
  return {transport,
          settings,
          {.payload_bytes = largest_datagram,
           .receives = reliable::streams::receives_for(ranks),
           .sends = sends_under_way}};
}

ud_parts::ud_parts(joined_group&& group) : core_(*this, std::move(group)), streams_(core_) {
  core_.channel().start_service();
}

ud_parts::~ud_parts() {
  streams_.close();
  core_.leave();
}

void ud_parts::describe(memory_report& m) const {
  m.mailbox_bytes = streams_.memory_bytes();
  m.user_bytes = streams_.exposed_bytes();
}

}  // namespace chorale::transport
