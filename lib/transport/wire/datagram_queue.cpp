// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <chorale/core/cache_lines.hpp>
#include <chorale/core/error.hpp>
#include <chorale/transport/wire/datagram_queue.hpp>

#include "../../verbs/text.hpp"

namespace chorale::transport {
namespace {

datagram_queue::options within(const verbs::device& device, datagram_queue::options o) {
  const auto limit =
      static_cast<std::uint32_t>(std::min(device.attributes().max_qp_wr, device.attributes().max_cqe));
  o.receives = std::min(o.receives, limit);
  o.sends = std::min(o.sends, limit);
  if (o.places == 0) o.places = o.sends;
  return o;
}

}  // namespace

datagram_queue::datagram_queue(const verbs::device& device, const verbs::protection_domain& domain,
                               const options& o)
    : options_(within(device, o)),
      stride_(in_cache_lines(grh_bytes + o.datagram_bytes)),
      buffer_(domain, (options_.receives + options_.places) * stride_, IBV_ACCESS_LOCAL_WRITE),
      send_cq_(device, static_cast<int>(options_.sends)),
      receive_cq_(device, static_cast<int>(options_.receives), options_.channel, options_.completion_vector),
      qp_(domain, {.type = IBV_QPT_UD,
                   .send = &send_cq_,
                   .recv = &receive_cq_,
                   .send_depth = options_.sends,
                   .recv_depth = options_.receives}) {}

void datagram_queue::open(const verbs::init_options& o) {
  qp_.to_init(o);
  post_all_receives();
  qp_.to_ready_to_receive();
  qp_.to_ready_to_send(0);
}

// In one chain, since there may be thousands and each post rings a doorbell.
void datagram_queue::post_all_receives() {
  std::vector<ibv_sge> rooms(options_.receives);
  std::vector<ibv_recv_wr> requests(options_.receives);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    rooms[i] = receive_room(i);
    requests[i] = {};
    requests[i].wr_id = i;
    requests[i].sg_list = &rooms[i];
    requests[i].num_sge = 1;
    requests[i].next = i + 1 < requests.size() ? &requests[i + 1] : nullptr;
  }
  if (!requests.empty()) qp_.post_recv(requests.front());
}

void datagram_queue::reap() {
  std::array<ibv_wc, 16> room;
  for (;;) {
    const auto done = send_cq_.poll(room);
    completed_ += done.size();
    for (const ibv_wc& wc : done) {
      // Flushed sends count too: they show that nothing can be sent any more.
      if (wc.status != IBV_WC_SUCCESS) fail(wc, "send");
    }
    if (done.size() < room.size()) return;
  }
}

void datagram_queue::fail(const ibv_wc& wc, const char* what) const {
  throw error(errc::completion_failed, verbs::describe(wc, std::string{options_.name} + " " + what));
}

}  // namespace chorale::transport
