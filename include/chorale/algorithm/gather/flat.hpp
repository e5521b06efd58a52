// Flat gather: everyone sends to the root.
#pragma once

#include <chorale/algorithm/agreed.hpp>
#include <chorale/algorithm/transfer.hpp>
#include <chorale/core/blocks.hpp>

namespace chorale::gather {

/// The root receives from the other ranks in turn, beginning with the one after it. Even and uneven blocks.
/// Cost: n - 1 messages at the root; each byte travels once, so it is best for long messages.
struct flat {
  static constexpr auto implements = operation::gather;
  static constexpr bool uneven = true;
  template <class T>
  static constexpr bool runs_on = mailbox_transport<T>;

  template <mailbox_transport Net>
  static task<> run(Net& net, call_id now, std::span<const std::byte> mine, blocks<std::byte> all, int root) {
    const bool agree = sizes_are_private(now.what);
    if (net.rank() != root) {
      if (agree)
        co_await agreed::send(net, root, now, mine);
      else
        co_await transfer::send(net, root, now, mine);
      co_return;
    }
    for (int step = 1; step < net.size(); ++step) {
      const int from = (root + step) % net.size();
      if (agree)
        co_await agreed::receive(net, from, now, all[from]);
      else
        co_await transfer::receive(net, from, now, all[from]);
    }
  }
};

}  // namespace chorale::gather
