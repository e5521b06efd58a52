// SPDX-License-Identifier: Apache-2.0
#include "async_event.hpp"

#include <cerrno>

#include <fmt/format.h>

#include "failure.hpp"
#include "text.hpp"

namespace chorale::verbs {
namespace {

struct meaning {
  enum class subject { queue_pair, completion_queue, shared_receive_queue, port, device } about;
  const char* text;
};

meaning meaning_of(ibv_event_type type) {
  using enum meaning::subject;
  switch (type) {
    case IBV_EVENT_CQ_ERR:
      return {completion_queue, "completion queue overran; nothing made with it works any more"};
    case IBV_EVENT_QP_FATAL:
      return {queue_pair, "the device failed while it processed the queue pair"};
    case IBV_EVENT_QP_REQ_ERR:
      return {queue_pair, "a peer sent an invalid request"};
    case IBV_EVENT_QP_ACCESS_ERR:
      return {queue_pair, "a peer sent a request that it has no access for"};
    case IBV_EVENT_COMM_EST:
      return {queue_pair, "the first packet arrived before the transition to RTS"};
    case IBV_EVENT_SQ_DRAINED:
      return {queue_pair, "send queue drained"};
    case IBV_EVENT_PATH_MIG:
      return {queue_pair, "moved to the alternate path"};
    case IBV_EVENT_PATH_MIG_ERR:
      return {queue_pair, "could not move to the alternate path"};
    case IBV_EVENT_QP_LAST_WQE_REACHED:
      return {queue_pair, "took its last request from the shared receive queue"};
    case IBV_EVENT_SRQ_ERR:
      return {shared_receive_queue, "shared receive queue failed"};
    case IBV_EVENT_SRQ_LIMIT_REACHED:
      return {shared_receive_queue, "fewer receive requests are left than the limit"};
    case IBV_EVENT_PORT_ACTIVE:
      return {port, "port is active"};
    case IBV_EVENT_PORT_ERR:
      return {port, "port is down: link lost"};
    case IBV_EVENT_LID_CHANGE:
      return {port, "LID changed: connections by the old one are dead"};
    case IBV_EVENT_PKEY_CHANGE:
      return {port, "partition key table changed"};
    case IBV_EVENT_SM_CHANGE:
      return {port, "another subnet manager took over"};
    case IBV_EVENT_CLIENT_REREGISTER:
      return {port, "subnet manager asks to join multicast groups again"};
    case IBV_EVENT_GID_CHANGE:
      return {port, "GID table changed"};
    case IBV_EVENT_DEVICE_FATAL:
      return {device, "device failed or was removed"};
    default:
      return {device, "event of an unknown kind"};
  }
}

async_event to_event(const ibv_async_event& raw, std::string_view name) {
  using enum meaning::subject;
  const meaning means = meaning_of(raw.event_type);
  async_event event{.type = raw.event_type};
  std::string subject;
  switch (means.about) {
    case queue_pair:
      event.object = raw.element.qp;
      event.qp_number = raw.element.qp->qp_num;
      subject = fmt::format(": QP {:#x}", event.qp_number);
      break;
    case completion_queue:
      event.object = raw.element.cq;
      break;
    case shared_receive_queue:
      event.object = raw.element.srq;
      break;
    case port:
      event.port = static_cast<std::uint8_t>(raw.element.port_num);
      subject = fmt::format(": port {}", event.port);
      break;
    case device:
      break;
  }
  event.text = fmt::format("{}{}: {} ({})", name, subject, means.text, to_string(raw.event_type));
  return event;
}

}  // namespace

std::optional<async_event> next_async_event(const device& owner, std::chrono::milliseconds longest) {
  const std::string object = fmt::format("asynchronous events of {}", owner.name());
  if (!wait_readable(owner.async_fd(), longest, object)) return std::nullopt;
  ibv_async_event raw{};
  const int failure = errno_of(owner.provider().get_async_event(owner.native(), &raw));
  // The event belonged to an object that was destroyed meanwhile.
  if (failure == EAGAIN) return std::nullopt;
  if (failure != 0) fail(failure, "ibv_get_async_event", object);
  async_event event = to_event(raw, owner.name());
  owner.provider().ack_async_event(&raw);
  return event;
}

}  // namespace chorale::verbs
