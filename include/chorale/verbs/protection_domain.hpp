// SPDX-License-Identifier: Apache-2.0
// Protection domain: groups memory regions, queue pairs and address handles that may be used together.
#pragma once

#include <chorale/verbs/device.hpp>
#include <chorale/verbs/handle.hpp>

namespace chorale::verbs {

/// Owns an ibv_pd. Must outlive the objects made from it; the device must outlive it.
class protection_domain {
 public:
  /// @throws error naming the device.
  explicit protection_domain(const device& owner);

  [[nodiscard]] ibv_pd* native() const noexcept { return handle_.get(); }
  [[nodiscard]] const driver& provider() const noexcept { return handle_.provider(); }

  /// Idempotent. @throws error (EBUSY) if objects made from it still exist.
  void close();

 private:
  handle<ibv_pd, &driver::dealloc_pd> handle_;
};

}  // namespace chorale::verbs
