// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <fcntl.h>

#include <fmt/format.h>

#include <chorale/verbs/completion_channel.hpp>

#include "failure.hpp"

namespace chorale::verbs {

completion_channel::completion_channel(const device& owner) {
  if (owner.native() == nullptr) fail_closed("ibv_create_comp_channel", "device");
  errno = 0;
  ibv_comp_channel* const made = owner.provider().create_comp_channel(owner.native());
  if (made == nullptr) fail(errno, "ibv_create_comp_channel", owner.name());
  handle_ = {owner.provider(), made};
}

ibv_comp_channel* completion_channel::opened(const char* call) const {
  if (native() == nullptr) fail_closed(call, "completion channel");
  return native();
}

bool completion_channel::wait_for(std::chrono::milliseconds longest) const {
  const ibv_comp_channel* const channel = opened("wait_for");
  return wait_readable(channel->fd, longest,
                       fmt::format("a completion channel of {}", device_name(channel->context)));
}

ibv_cq* completion_channel::get_event() const {
  ibv_comp_channel* const channel = opened("ibv_get_cq_event");
  ibv_cq* queue = nullptr;
  void* unused = nullptr;
  for (;;) {
    const int failure = errno_of(provider().get_cq_event(channel, &queue, &unused));
    if (failure == 0) break;
    if (failure == EAGAIN) return nullptr;
    if (failure != EINTR)
      fail(failure, "ibv_get_cq_event",
           fmt::format("a completion channel of {}", device_name(channel->context)));
  }
  provider().ack_cq_events(queue, 1);
  return queue;
}

void completion_channel::set_nonblocking() {
  const ibv_comp_channel* const channel = opened("set_nonblocking");
  const int flags = fcntl(channel->fd, F_GETFL);
  if (flags < 0 || fcntl(channel->fd, F_SETFL, flags | O_NONBLOCK) != 0)
    fail(errno, "fcntl", fmt::format("a completion channel of {}", device_name(channel->context)));
}

void completion_channel::close() {
  if (const int failure = handle_.close(); failure != 0)
    fail(failure, "ibv_destroy_comp_channel",
         fmt::format("a completion channel of {}", device_name(native()->context)));
}

}  // namespace chorale::verbs
