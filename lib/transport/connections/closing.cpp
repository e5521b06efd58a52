// SPDX-License-Identifier: Apache-2.0
// Closing all connections of a rank.
#include <algorithm>
#include <chrono>

#include <chorale/core/background.hpp>
#include <chorale/core/clock.hpp>
#include <chorale/transport/connections/connections.hpp>
#include <chorale/transport/wire/mailbox.hpp>

namespace chorale::transport {
namespace {

constexpr auto withdrawal_time = std::chrono::milliseconds{10};
/// A peer that is in a call answers a request to close at once.
constexpr auto answer_time = std::chrono::milliseconds{10};

}  // namespace

void connections::withdraw() noexcept {
  // Data sent before the failure must still arrive: it may complete a call that succeeds on the peers. Its
  // requests complete in microseconds if the peer is alive.
  table_.end();
  try {
    const auto give_up = clock::now() + withdrawal_time;
    const auto is_under_way = [this](int peer) {
      return find(peer)->ready && works(peer) && !is_drained(peer);
    };
    while (clock::now() < give_up &&
           std::any_of(table_.open_peers().begin(), table_.open_peers().end(), is_under_way))
      clock::give_way();
  } catch (...) {
    // There is nothing to wait for on a broken queue.
  }
  table_.close_all();
}

template <class IsOver>
void connections::await_each(clock::duration within, const IsOver& is_over) {
  const auto begin = owner_->liveness().attended_now();
  const auto& open = table_.open_peers();
  // From the end, since a peer's agreement takes its connection out of the list.
  for (std::size_t i = open.size(); i-- > 0;) {
    if (i >= open.size()) continue;
    connection& c = *find(open[i]);
    while (c.qp && works(c.peer) && !is_over(c) && owner_->liveness().attended_now() - begin < within) {
      owner_->channel().read();
      poll_farewells();
      if (load_acquire(c.words + mailbox_layout::farewell_offset) != 0) owner_->liveness().leave(c.peer);
      reap();
      table_.progress(clock::now());
      background::advance_all(attention::passes);
      clock::give_way();
    }
  }
}

void connections::settle() noexcept {
  table_.end();
  try {
    // The adapters guarantee progress: unacknowledged requests fail by themselves, unless this rank's adapter
    // has stopped.
    await_each(owner_->settings().silence, [this](const connection& c) { return is_drained(c.peer); });
  } catch (...) {
    // There is nothing to wait for on a broken queue.
  }
}

void connections::close() noexcept {
  // Destroying a queue pair drops unsent requests, so first complete the last request of each connection: a
  // farewell, without which a peer that still sends would consider this rank dead.
  table_.end();
  try {
    // A peer that has agreed to close has no queue pair for a farewell; one that does not answer has one.
    await_each(answer_time, [this](const connection& c) { return !table_.awaits_answer(c.peer); });
    for (const int peer : table_.open_peers()) {
      connection& c = *find(peer);
      if (c.there.inbox != 0 && works(peer) && has_room(c))
        post_word(c, mailbox_layout::farewell_offset, 1, IBV_SEND_SIGNALED);
    }
    await_each(owner_->settings().silence, [](const connection& c) { return c.completed == c.posted; });
  } catch (...) {
    // The queues are destroyed next, whatever their state.
  }
}

}  // namespace chorale::transport
