// SPDX-License-Identifier: Apache-2.0
#include <cerrno>

#include <fmt/format.h>

#include <chorale/verbs/shared_receive_queue.hpp>

#include "failure.hpp"

namespace chorale::verbs {
namespace {

std::string name_of(const ibv_srq* queue) {
  return fmt::format("a shared receive queue of {}", device_name(queue->context));
}

std::string limits_remedy(const driver& provider, ibv_context* context, std::uint32_t depth,
                          std::uint32_t sges) {
  ibv_device_attr limits{};
  if (provider.query_device(context, &limits) != 0) return {};
  const auto most_requests = static_cast<std::uint32_t>(limits.max_srq_wr);
  const auto most_entries = static_cast<std::uint32_t>(limits.max_srq_sge);
  if (depth >= 1 && depth <= most_requests && sges <= most_entries) return {};
  return fmt::format("the device has shared receive queues of 1 to {} requests of up to {} scatter entries",
                     most_requests, most_entries);
}

}  // namespace

shared_receive_queue::shared_receive_queue(const protection_domain& domain, std::uint32_t depth,
                                           std::uint32_t sges) {
  if (domain.native() == nullptr) fail_closed("ibv_create_srq", "protection domain");
  ibv_context* const context = domain.native()->context;
  ibv_srq_init_attr attributes{};
  attributes.attr.max_wr = depth;
  attributes.attr.max_sge = sges;
  errno = 0;
  ibv_srq* const made = domain.provider().create_srq(domain.native(), &attributes);
  if (made == nullptr) {
    const int failure = errno;
    fail(failure, fmt::format("ibv_create_srq of {} requests, {} scatter entries each", depth, sges),
         device_name(context), limits_remedy(domain.provider(), context, depth, sges));
  }
  handle_ = {domain.provider(), made};
  depth_ = attributes.attr.max_wr;
  sges_ = attributes.attr.max_sge;
}

ibv_srq* shared_receive_queue::opened(const char* call) const {
  if (native() == nullptr) fail_closed(call, "shared receive queue");
  return native();
}

void shared_receive_queue::arm_limit(std::uint32_t limit) {
  ibv_srq_attr attributes{};
  attributes.srq_limit = limit;
  ibv_srq* const queue = opened("ibv_modify_srq");
  if (const int failure = errno_of(handle_.provider().modify_srq(queue, &attributes, IBV_SRQ_LIMIT));
      failure != 0)
    fail(failure, fmt::format("ibv_modify_srq to limit {}", limit), name_of(queue),
         failure == EINVAL ? fmt::format("the limit must be below its {} requests", depth_) : std::string{});
}

std::uint32_t shared_receive_queue::limit() const {
  ibv_srq_attr attributes{};
  ibv_srq* const queue = opened("ibv_query_srq");
  if (const int failure = errno_of(handle_.provider().query_srq(queue, &attributes)); failure != 0)
    fail(failure, "ibv_query_srq", name_of(queue));
  return attributes.srq_limit;
}

void shared_receive_queue::close() {
  if (const int failure = handle_.close(); failure != 0) fail(failure, "ibv_destroy_srq", name_of(native()));
}

void shared_receive_queue::fail_post(int errnum) const {
  const ibv_srq* const queue = opened("ibv_post_srq_recv");
  fail(errnum, "ibv_post_srq_recv", name_of(queue),
       errnum == ENOMEM   ? fmt::format("all its {} requests are posted", depth_)
       : errnum == EINVAL ? fmt::format("a request may have at most {} scatter entries", sges_)
                          : std::string{});
}

}  // namespace chorale::verbs
