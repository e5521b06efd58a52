// SPDX-License-Identifier: Apache-2.0
// Address handle: the path to the destination of a datagram.
#pragma once

#include <cstdint>

#include <chorale/verbs/handle.hpp>
#include <chorale/verbs/protection_domain.hpp>

namespace chorale::verbs {

/// Owns an ibv_ah. Must outlive the completion of sends that use it. Thread safety: const members only.
class address_handle {
 public:
  /// Leads to the destination that `path` names (see `path_to`, `path_to_group`).
  address_handle(const protection_domain& domain, const ibv_ah_attr& path);
  /// Leads back to the sender of a received datagram: `completion` of the receive, and `grh`, the first 40
  /// bytes of its buffer. `port`: the port that received it.
  static address_handle from_completion(const protection_domain& domain, const ibv_wc& completion,
                                        const ibv_grh& grh, std::uint8_t port);

  [[nodiscard]] ibv_ah* native() const noexcept { return handle_.get(); }

  /// Idempotent. @throws error if the device refuses.
  void close();

 private:
  address_handle(const driver& provider, ibv_ah* native) noexcept : handle_(provider, native) {}

  handle<ibv_ah, &driver::destroy_ah> handle_;
};

}  // namespace chorale::verbs
