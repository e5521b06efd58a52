// Recursive doubling allgather with a switch from copying to zero copy.
#pragma once

#include <cstddef>
#include <vector>

#include <chorale/algorithm/allgather/within.hpp>
#include <chorale/algorithm/transfer.hpp>
#include <chorale/core/blocks.hpp>
#include <chorale/topology/recursive_doubling.hpp>

namespace chorale::allgather {

/// In step m a rank and its partner at distance 2^m exchange all they hold, 2^m blocks. Exchanges below
/// `SwitchBytes` (the paper's M; 0: the transport's `zero_copy_bytes()`) go through the mailbox, longer ones
/// straight between the users' buffers, with one registration and one exchange of addresses for the whole
/// operation. Even blocks. Cost: log2 n steps, n - 1 blocks; where n is no power of two, neighbours fold
/// first, and two steps more, the last of all n blocks, bring those back in: then `bruck` is cheaper.
/// Source: P4 sections 2.3, 4.1 and 4.2.  T = ts log2 p + (p - 1) m tw.
///
/// What is sent is never written again in this call. A peer writes straight into `all` only when it has this
/// rank's address of this call, and the call is over when all of that has been announced and all of its own
/// puts have been placed.
template <std::size_t SwitchBytes>
struct recursive_doubling_at {
  static constexpr auto implements = operation::allgather;
  static constexpr bool uneven = false;
  template <class T>
  static constexpr bool runs_on = mailbox_transport<T>;

  template <mailbox_transport Net>
  static task<> run(Net& net, epoch now, blocks<std::byte> all) {
    const std::size_t total = all.layout().total();
    const bool copied = SwitchBytes == 0 ? !transfer::is_zero_copy(net, total) : total < SwitchBytes;
    if (copied && total <= net.block_bytes()) return in_one_block(net, now, all);
    return in_steps(net, now, all);
  }

 private:
  /// All blocks together fit into a message: nothing to divide.
  template <mailbox_transport Net>
  static task<> in_one_block(Net& net, epoch now, blocks<std::byte> all) {
    if (all.layout().largest() == 0) co_return;
    for (const auto s : topology::recursive_doubling{net.rank(), net.size()}) {
      if (s.sent.count > 0) co_await net.send(s.peer, now, all.range(s.sent.first, s.sent.count));
      if (s.received.count == 0) continue;
      const auto message = co_await net.receive(s.peer, now);
      transfer::place(net, s.peer, now, message, all.range(s.received.first, s.received.count));
    }
  }
  template <mailbox_transport Net>
  static task<> in_steps(Net& net, epoch now, blocks<std::byte> all) {
    std::vector<within::step> steps;
    for (const auto s : topology::recursive_doubling{net.rank(), net.size()})
      steps.push_back({s.peer, {s.sent.first, s.sent.count}, s.peer, {s.received.first, s.received.count}});
    co_await within::run(net, now, all, steps, SwitchBytes);
  }
};

/// With the transport's threshold as the switch.
struct recursive_doubling : recursive_doubling_at<0> {};

}  // namespace chorale::allgather
