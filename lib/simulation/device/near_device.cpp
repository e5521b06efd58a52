// SPDX-License-Identifier: Apache-2.0
#include "near_device.hpp"

#include "hca.hpp"

namespace chorale::simulation::device {
namespace {

/// The hosts of `on` with an adapter that does nothing but let the other core see what a core has written.
machine without_adapters(const machine& on, int hosts) {
  machine made;
  made.hosts = hosts;
  posting_costs& posting = made.adapter.posting;
  posting.request = on.near->post;
  posting.inline_bytes = near_inline_bytes;
  posting.receive = on.adapter.posting.receive;
  posting.poll = on.adapter.posting.poll;
  posting.completion = on.adapter.posting.completion;
  made.adapter.sending.start = on.near->line;
  made.adapter.wake = on.adapter.wake;
  made.network.shape = one_switch{hosts};
  made.network.packets.payload = 4096;
  return made;
}

}  // namespace

near_device::near_device(scheduler& time, const machine& on, const host_layout& ranks, memory_costs& memory,
                         const disturbance& chance)
    : costs_(without_adapters(on, ranks.hosts()), ranks.hosts()),
      copies_(memory),
      fabric_(time, costs_, ranks, {.reaches = fabric::scope::host, .chance = chance, .copies = &copies_}) {}

}  // namespace chorale::simulation::device
