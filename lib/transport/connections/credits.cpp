// SPDX-License-Identifier: Apache-2.0
#include <chorale/transport/connections/credits.hpp>

namespace chorale::transport {

void credits::acknowledge(account& a) noexcept {
  // The released messages arrived by this connection, so the peer knows that this side receives, even if the
  // announcement of that was lost.
  connection& c = *a.link;
  if (!links_->is_open(c)) return;
  try {
    links_->note_heard(c);
    if (c.ready && links_->has_room(c)) {
      links_->post_word(c, mailbox_layout::notification_offset, a.released);
      a.acknowledged = a.released;
      ++notifications_;
      return;
    }
  } catch (...) {
    // A connection that rejects work has failed or will fail: the next wait reports it.
  }
  if (!std::exchange(a.is_due, true)) a.next_due = std::exchange(due_, &a);
}

void credits::on_progress() noexcept {
  for (account* a = std::exchange(due_, nullptr); a != nullptr;) {
    account& due = *std::exchange(a, a->next_due);
    due.is_due = false;
    if (due.acknowledged != due.released && due.link->broken.empty()) acknowledge(due);
  }
}

void credits::on_closed(account& a) const noexcept {
  // All messages of both sides have been released, whether or not they were acknowledged.
  std::memcpy(a.link->words + mailbox_layout::notification_offset, &a.sent, sizeof a.sent);
  a.acknowledged = a.released;
}

}  // namespace chorale::transport
