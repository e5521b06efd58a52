// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include <chorale/transport/hybrid.hpp>

namespace chorale::transport {
namespace {

constexpr std::size_t largest_datagram = 4096;
constexpr std::uint32_t sends_under_way = 64;

std::string name_of(int limit, path_choice choice) {
  return "hybrid " + std::to_string(limit) + "/" + std::to_string(static_cast<int>(choice));
}

}  // namespace

joining_plan hybrid_parts::plan(int ranks, const config& settings, int limit, path_choice choice) {
  joining_plan made{name_of(limit, choice),
                    settings,
                    {.payload_bytes = largest_datagram,
                     .receives = reliable::streams::receives_for(ranks),
                     .sends = sends_under_way}};
  // This transport's limit is part of its type; it does not evict connections.
  made.settings.connections = 0;
  made.has_lanes = true;
  return made;
}

hybrid_parts::hybrid_parts(joined_group&& group, int limit, path_choice choice)
    : core_(*this, std::move(group)),
      rail_(
          core_, core_.ports().front(), 0, [this](int peer) { return router_.admits(peer); },
          core_.near_port()),
      streams_(core_),
      router_(rail_.links(), rail_.mailbox(), streams_, limit, choice),
      memory_(router_, rail_.one_sided(), streams_) {
  core_.channel().start_service();
}

hybrid_parts::~hybrid_parts() {
  streams_.close();
  core_.multicast().settle();
  rail_.close();
  core_.leave();
}

void hybrid_parts::on_progress() {
  rail_.on_progress();
  streams_.progress();
  if (!core_.failures().is_withdrawn()) router_.on_progress();
}

void hybrid_parts::withdraw() noexcept {
  rail_.withdraw();
  streams_.withdraw();
  router_.withdraw();
}

void hybrid_parts::describe(memory_report& m) const {
  rail_.describe(m);
  m.mailbox_bytes += streams_.memory_bytes();
}

}  // namespace chorale::transport
