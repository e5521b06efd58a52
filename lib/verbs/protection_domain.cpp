// SPDX-License-Identifier: Apache-2.0
#include <cerrno>

#include <fmt/format.h>

#include <chorale/verbs/protection_domain.hpp>

#include "failure.hpp"

namespace chorale::verbs {

protection_domain::protection_domain(const device& owner) {
  if (owner.native() == nullptr) fail_closed("ibv_alloc_pd", "device");
  errno = 0;
  ibv_pd* const made = owner.provider().alloc_pd(owner.native());
  if (made == nullptr) fail(errno, "ibv_alloc_pd", owner.name());
  handle_ = {owner.provider(), made};
}

void protection_domain::close() {
  if (const int failure = handle_.close(); failure != 0)
    fail(failure, "ibv_dealloc_pd", fmt::format("a protection domain of {}", device_name(native()->context)));
}

}  // namespace chorale::verbs
