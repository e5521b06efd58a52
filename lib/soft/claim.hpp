// SPDX-License-Identifier: Apache-2.0
// Takes the receive for a message of a connection.
#pragma once

#include <utility>

#include "queue_pair.hpp"

namespace chorale::soft {

inline bool reliable(const queue_pair& qp) noexcept {
  return qp.qp_type == IBV_QPT_RC;
}

/// A receive of the target for one message of `bytes`; an unreliable message that is too long gets none. A
/// receive of the QP's own queue stays in it, under the queue's lock, until it is consumed: a sender that
/// dies before that has taken nothing. A receive of a shared queue is removed at once, since other senders
/// must not wait for this copy.
class claim {
 public:
  claim(queue_pair& qp, qp_record& record, std::uint64_t bytes) noexcept : qp_(qp) {
    segment& base = *qp.target->base;
    queue_ = at<receive_queue_record>(base, record.receive_queue.load(std::memory_order_relaxed));
    if (queue_ == nullptr || !queue_->lock.lock(qp.owner->lock_name(), lock_patience_ns, &base)) return;
    locked_ = reachable_ = true;
    found_ = peek_receive(base, *queue_, receive_) && (reliable(qp) || bytes <= receive_.bytes());
    if (found_ && record.shared_receive_queue.load(std::memory_order_relaxed) != 0) {
      consume();
      unlock();
    }
  }
  ~claim() {
    unlock();
    if (limit_reached_) qp_.target->call_attention();
  }
  claim(const claim&) = delete;
  claim& operator=(const claim&) = delete;

  [[nodiscard]] bool reachable() const noexcept { return reachable_; }
  [[nodiscard]] bool found() const noexcept { return found_; }
  [[nodiscard]] const taken_receive& receive() const noexcept { return receive_; }
  /// Call it before pushing the completion.
  void consume() noexcept {
    if (!std::exchange(consumed_, true)) limit_reached_ = drop_receive(*queue_);
  }

 private:
  void unlock() noexcept {
    if (std::exchange(locked_, false)) queue_->lock.unlock();
  }
  queue_pair& qp_;
  receive_queue_record* queue_ = nullptr;
  taken_receive receive_;
  bool locked_ = false;
  bool reachable_ = false;
  bool found_ = false;
  bool consumed_ = false;
  bool limit_reached_ = false;
};

}  // namespace chorale::soft
