// Last-arriver allreduce.
#pragma once

#include <cstddef>
#include <span>

#include <chorale/algorithm/allreduce/reproducible.hpp>
#include <chorale/algorithm/evaluation.hpp>
#include <chorale/algorithm/host_slots.hpp>
#include <chorale/core/chunks.hpp>
#include <chorale/core/copy_bytes.hpp>
#include <chorale/core/reduction.hpp>
#include <chorale/transport/concepts.hpp>

namespace chorale::allreduce {

/// Each rank writes its operand into a slot of its own that all ranks of the host see; whoever is last
/// combines all of them in the order of the ranks, ((x0 op x1) op x2) ..., and publishes the result. Nobody
/// waits for a leader that has no core, and each byte is combined once, so that it is the fastest for short
/// messages where ranks outnumber cores. Where ranks do not share memory it is `reproducible`, to the same
/// bits. Cost: for each block two copies and one atomic addition a rank, n - 1 combinations in all, and
/// a wait. Any n.
struct last_arriver {
  static constexpr auto implements = operation::allreduce;
  static constexpr auto evaluates = evaluation::serial;
  template <class T>
  static constexpr bool runs_on = mapping_transport<T>;
  template <class T>
  static bool suits(const T& net) noexcept {
    return net.maps_memory();
  }

  template <mapping_transport Net>
  static task<> run(Net& net, call_id now, std::span<std::byte> data, reduction op) {
    auto& host = net.template state<host_slots<Net>>();
    if (!host.is_decided()) [[unlikely]]
      co_await host.decide(net, now);
    if (!host.are_there()) [[unlikely]] {
      co_await reproducible::run(net, now, data, op);
      co_return;
    }
    shared_slots& slots = host.slots();
    for (const auto block : chunks{data, op.whole(net.block_bytes())}) {
      slots.begin(now);
      copy_bytes(slots.mine(block.size()), block.data(), block.size());
      if (co_await host.arrives_last(net, now)) {
        const auto result = slots.result(block.size());
        copy_bytes(result.data(), slots.of(0, block.size()).data(), block.size());
        for (int r = 1; r < net.size(); ++r) op.combine_left(result, slots.of(r, block.size()));
        slots.publish();
      }
      copy_bytes(block.data(), slots.result(block.size()).data(), block.size());
    }
  }
};

}  // namespace chorale::allreduce
