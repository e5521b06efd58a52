// Closing all connections of a rank.
#include <algorithm>
#include <chrono>

#include <chorale/core/background.hpp>
#include <chorale/core/clock.hpp>
#include <chorale/transport/connections/connections.hpp>
#include <chorale/transport/mailbox.hpp>

namespace chorale::transport {
namespace {

constexpr auto withdrawal_time = std::chrono::milliseconds{10};

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
void connections::await_each(const IsOver& is_over) {
  const auto begin = owner_->liveness().attended_now();
  for (const int peer : table_.open_peers()) {
    connection& c = *find(peer);
    // The adapters guarantee progress: unacknowledged requests fail by themselves, unless this rank's adapter
    // has stopped.
    while (c.ready && works(peer) && !is_over(c) &&
           owner_->liveness().attended_now() - begin < owner_->settings().silence) {
      owner_->channel().read();
      poll_farewells();
      if (load_acquire(c.words + mailbox_layout::farewell_offset) != 0) owner_->liveness().leave(peer);
      reap();
      background::advance_all(attention::passes);
      clock::give_way();
    }
  }
}

void connections::settle() noexcept {
  table_.end();
  try {
    await_each([this](const connection& c) { return is_drained(c.peer); });
  } catch (...) {
    // There is nothing to wait for on a broken queue.
  }
}

void connections::close() noexcept {
  // Destroying a queue pair drops unsent requests, so first complete the last request of each connection: a
  // farewell, without which a peer that still sends would consider this rank dead.
  table_.end();
  try {
    for (const int peer : table_.open_peers()) {
      connection& c = *find(peer);
      if (c.ready && works(peer) && has_room(c))
        post_word(c, mailbox_layout::farewell_offset, 1, IBV_SEND_SIGNALED);
    }
    await_each([](const connection& c) { return c.completed == c.posted; });
  } catch (...) {
    // The queues are destroyed next, whatever their state.
  }
}

}  // namespace chorale::transport
