// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>

#include <fmt/format.h>

#include <chorale/core/error.hpp>
#include <chorale/verbs/completion_queue.hpp>

#include "failure.hpp"

namespace chorale::verbs {
namespace {

std::string name_of(const ibv_cq* queue) {
  return fmt::format("a completion queue of {} entries of {}", queue->cqe, device_name(queue->context));
}

std::string entries_remedy(const driver& provider, ibv_context* context, int entries) {
  ibv_device_attr limits{};
  if (provider.query_device(context, &limits) != 0 || (entries >= 1 && entries <= limits.max_cqe)) return {};
  return fmt::format("the device has queues of 1 to {} entries", limits.max_cqe);
}

}  // namespace

completion_queue::completion_queue(const device& owner, int entries, completion_channel* channel,
                                   int vector) {
  if (owner.native() == nullptr) fail_closed("ibv_create_cq", "device");
  if (channel != nullptr && channel->native() == nullptr) fail_closed("ibv_create_cq", "completion channel");
  errno = 0;
  ibv_cq* const made = owner.provider().create_cq(owner.native(), entries, nullptr,
                                                  channel == nullptr ? nullptr : channel->native(),
                                                  vector % std::max(owner.native()->num_comp_vectors, 1));
  if (made == nullptr) {
    const int failure = errno;
    fail(failure, fmt::format("ibv_create_cq of {} entries", entries), owner.name(),
         entries_remedy(owner.provider(), owner.native(), entries));
  }
  handle_ = {owner.provider(), made};
}

void completion_queue::resize(int entries) {
  if (native() == nullptr) fail_closed("ibv_resize_cq", "completion queue");
  if (const int failure = errno_of(provider().resize_cq(native(), entries)); failure != 0)
    fail(failure, fmt::format("ibv_resize_cq to {} entries", entries), name_of(native()),
         failure == EINVAL ? entries_remedy(provider(), native()->context, entries) : std::string{});
}

void completion_queue::close() {
  if (const int failure = handle_.close(); failure != 0) fail(failure, "ibv_destroy_cq", name_of(native()));
}

void completion_queue::fail_poll(int result) const {
  if (native() == nullptr) fail_closed("ibv_poll_cq", "completion queue");
  throw error(errc::verbs_failed,
              fmt::format("ibv_poll_cq on {} returned {}: it overran, because more work requests were "
                          "outstanding than it has entries, or the device was removed",
                          name_of(native()), result));
}

void completion_queue::fail_request(int result) const {
  if (native() == nullptr) fail_closed("ibv_req_notify_cq", "completion queue");
  fail(errno_of(result), "ibv_req_notify_cq", name_of(native()));
}

}  // namespace chorale::verbs
