// SPDX-License-Identifier: Apache-2.0
#include <exception>

#include <fmt/format.h>

#include <chorale/calls/planned_call.hpp>
#include <chorale/core/error.hpp>

namespace chorale::calls {

planned_call::planned_call(detail::call_queue& queue, const call& what, std::unique_ptr<repeated_start> start)
    : queue_(&queue),
      rank_(queue.net().rank()),
      signature_(what.signature()),
      what_(what),
      start_(std::move(start)),
      call_(std::make_shared<detail::pending_call>()),
      listed_(queue.net().dependent_objects(),
              [this] {
                queue_ = nullptr;
                // Its registrations belong to the transport.
                start_.reset();
              }),
      running_(nullptr, "the plan") {
  call_->what = what;
}

void planned_call::refuse_start() const {
  if (is_running())
    refuse("has been started, and not been waited for; call wait() before it is started again");
  refuse("cannot be started, since its communicator has ended; keep the communicator for as long");
}

void planned_call::refuse(const char* why) const {
  const auto refusal = std::make_exception_ptr(error(
      errc::misuse, fmt::format("the plan of {} on rank {} {}", what_.describe(), rank_, why), {rank_}));
  std::rethrow_exception(queue_ == nullptr ? refusal : queue_->net().calls().labelled(refusal));
}

void refuse_empty_plan() {
  throw error(
      errc::misuse,
      "this plan stands for no call: it was moved from, or no plan of a communicator was assigned to it");
}

}  // namespace chorale::calls
