// SPDX-License-Identifier: Apache-2.0
// Shared receive queue: receive buffers shared by many queue pairs.
#pragma once

#include <cstdint>

#include <chorale/verbs/handle.hpp>
#include <chorale/verbs/protection_domain.hpp>

namespace chorale::verbs {

/// Owns an ibv_srq. Close the queue pairs made with it first. Thread safety: as in verbs, several threads may
/// post.
class shared_receive_queue {
 public:
  /// Closed.
  shared_receive_queue() = default;
  /// Holds at least `depth` receive requests of at most `sges` scatter entries each.
  shared_receive_queue(const protection_domain& domain, std::uint32_t depth, std::uint32_t sges = 1);

  [[nodiscard]] ibv_srq* native() const noexcept { return handle_.get(); }
  /// The capacity that the device granted.
  [[nodiscard]] std::uint32_t depth() const noexcept { return depth_; }
  [[nodiscard]] std::uint32_t sges() const noexcept { return sges_; }

  /// Posts a chain of receive requests. @throws error with the errno (ENOMEM: full).
  void post_recv(ibv_recv_wr& chain) {
    const int failure = try_post_recv(chain);
    if (failure != 0) [[unlikely]]
      fail_post(failure);
  }
  /// The same without throwing: returns the errno, 0 for success, EINVAL if closed.
  [[nodiscard]] int try_post_recv(ibv_recv_wr& chain) noexcept {
    ibv_srq* const queue = handle_.get();
    ibv_recv_wr* bad = nullptr;
    return queue == nullptr ? EINVAL : errno_of(ibv_post_srq_recv(queue, &chain, &bad));
  }

  /// Arms the limit event: the device raises IBV_EVENT_SRQ_LIMIT_REACHED once, when fewer than `limit`
  /// requests are left. 0 disarms it.
  void arm_limit(std::uint32_t limit);
  /// The armed limit; 0 when disarmed, also after the event.
  [[nodiscard]] std::uint32_t limit() const;

  /// Idempotent. @throws error (EBUSY) while queue pairs use it.
  void close();

 private:
  [[noreturn]] void fail_post(int errnum) const;
  [[nodiscard]] ibv_srq* opened(const char* call) const;

  handle<ibv_srq, &driver::destroy_srq> handle_;
  std::uint32_t depth_ = 0;
  std::uint32_t sges_ = 0;
};

}  // namespace chorale::verbs
