// SPDX-License-Identifier: Apache-2.0
// Measures the adapter by bare verbs between ranks 0 and 1.
#include <algorithm>
#include <array>
#include <cstring>
#include <sched.h>
#include <vector>

#include <chorale/bench/aligned_floats.hpp>
#include <chorale/bench/statistics.hpp>
#include <chorale/core/error.hpp>
#include <chorale/verbs/memory_region.hpp>

#include "../wires.hpp"
#include "facts.hpp"
#include "line.hpp"

namespace points::calibration {
namespace {

/// The time of `wires` for a message of 8 bytes.
double send_and_receive(const job& in, ibv_qp_type type) {
  wires way{in, type, 1, 64};
  std::uint64_t number = 0;
  return one_way(in, [&](int rounds) {
    for (int i = 0; i < rounds; ++i, ++number) {
      if (in.control.rank() == 1) way.receive(number);
      way.send(number, 8);
      if (in.control.rank() == 0) way.receive(number);
    }
  });
}

double write_and_see(const job& in, line& way) {
  std::uint64_t number = way.word();
  return one_way(in, [&](int rounds) {
    for (int i = 0; i < rounds; ++i) {
      ++number;
      // Yields the core occasionally: on a busy host the other rank may wait for it.
      const auto await = [&] {
        for (int look = 1; way.word() != number; ++look)
          if (look % 4096 == 0) sched_yield();
      };
      if (in.control.rank() == 1) await();
      way.set_own(number);
      ibv_sge local;
      const bool is_signalled = number % burst == 0;
      auto one = way.request(IBV_WR_RDMA_WRITE, 8, local,
                             IBV_SEND_INLINE | (is_signalled ? unsigned{IBV_SEND_SIGNALED} : 0U));
      way.post(one);
      if (is_signalled) way.await(1);
      if (in.control.rank() == 0) await();
    }
  });
}

/// Seconds per request while `burst` requests are posted, `each_call` at a time.
double posting(line& way, int each_call) {
  std::vector<double> times;
  std::array<ibv_sge, burst> local;
  std::array<ibv_send_wr, burst> all;
  for (int sample = 0; sample < 101; ++sample) {
    for (int i = 0; i < burst; ++i) {
      const auto at = static_cast<std::size_t>(i);
      all[at] = way.request(IBV_WR_RDMA_WRITE, 8, local[at],
                            IBV_SEND_INLINE | (i == burst - 1 ? unsigned{IBV_SEND_SIGNALED} : 0U));
      if ((i + 1) % each_call != 0) all[at].next = &all[at + 1];
    }
    const auto begin = chorale::bench::timer::now();
    for (int i = 0; i < burst; i += each_call) way.post(all[static_cast<std::size_t>(i)]);
    times.push_back((chorale::bench::seconds_since(begin) - chorale::bench::clock_cost()) / burst);
    way.await(1);
  }
  return std::max(0.0, chorale::bench::median(times));
}

double completion_time(line& way) {
  std::vector<double> times;
  for (int sample = 0; sample < 101; ++sample) {
    ibv_sge local;
    for (int i = 0; i < burst; ++i) {
      auto one = way.request(IBV_WR_RDMA_WRITE, 8, local, IBV_SEND_INLINE | IBV_SEND_SIGNALED);
      way.post(one);
    }
    chorale::clock::sleep_for(std::chrono::microseconds{50});
    const auto begin = chorale::bench::timer::now();
    const auto found = way.look(burst);
    const double time = chorale::bench::seconds_since(begin) - chorale::bench::clock_cost();
    times.push_back(time / static_cast<double>(std::max<std::size_t>(1, found)));
    way.await(burst - static_cast<int>(found));
  }
  return std::max(0.0, chorale::bench::median(times));
}

void measure_registration(const job& in, adapter_facts& found) {
  constexpr std::size_t page = 4096;
  constexpr std::size_t pages = 256;
  chorale::bench::aligned_floats memory{pages * page / sizeof(float)};
  std::memset(memory.data(), 0, pages * page);
  const auto times = [&](std::size_t bytes) {
    std::array<std::vector<double>, 2> all;
    for (int i = 0; i < 51; ++i) {
      const auto begin = chorale::clock::now();
      verbs::memory_region region{in.control.transport().domain(), memory.data(), bytes, access};
      const auto middle = chorale::clock::now();
      region.close();
      all[1].push_back(chorale::bench::seconds_since(middle));
      all[0].push_back(std::chrono::duration<double>(middle - begin).count());
    }
    return std::array{chorale::bench::median(all[0]), chorale::bench::median(all[1])};
  };
  const auto few = times(page);
  const auto many = times(pages * page);
  const auto each = [](double one, double all) { return std::max(0.0, (all - one) / (pages - 1)); };
  found.registration_page = each(few[0], many[0]);
  found.registration_call = std::max(0.0, few[0] - found.registration_page);
  found.end_page = each(few[1], many[1]);
  found.end_call = std::max(0.0, few[1] - found.end_page);
}

void measure_requests(line& way, adapter_facts& found) {
  const double single = posting(way, 1);
  found.request = std::max(0.0, (posting(way, burst) * burst - single) / (burst - 1));
  found.doorbell = std::max(0.0, single - found.request);
  found.poll = time_of(10000, [&](int n) {
    for (int i = 0; i < n; ++i) static_cast<void>(way.look(1));
  });
  found.completion = std::max(0.0, completion_time(way) - found.poll / burst);
  found.receive = time_of(32, [&](int n) {
    for (int i = 0; i < n; ++i) way.post_receive();
  });
}

/// The largest power of two in bytes that the device takes inline, which only the creation of a queue pair
/// reveals.
std::uint32_t most_inline(const job& in) {
  verbs::completion_queue completions{in.control.transport().device(), 16};
  verbs::queue_pair_options wanted;
  wanted.send = wanted.recv = &completions;
  for (wanted.inline_bytes = 1U << 16; wanted.inline_bytes > 16; wanted.inline_bytes /= 2) {
    try {
      return verbs::queue_pair{in.control.transport().domain(), wanted}.inline_bytes();
    } catch (const chorale::error&) {
      // Too much: try half.
    }
  }
  return 0;
}

}  // namespace

adapter_facts measure_adapter(const job& in, const host_facts& host) {
  adapter_facts found;
  found.mtu = static_cast<std::uint32_t>(in.control.transport().chosen().mtu_bytes);
  line way{in};
  const double write = write_and_see(in, way);
  const double connected = send_and_receive(in, IBV_QPT_RC);
  found.datagram = std::max(0.0, send_and_receive(in, IBV_QPT_UD) - connected);
  measure_payloads(in, way, found);
  if (in.control.rank() == 0) {
    measure_requests(way, found);
    found.inline_bytes = most_inline(in);
    const double posted = found.request + found.doorbell;
    const double seen = host.notice + host.look;
    found.start = std::max(0.0, write - posted - seen);
    found.take = std::max(0.0, connected - write - found.poll - found.completion - found.receive);
    const auto answer = [&](ibv_wr_opcode what, unsigned flags) {
      const double all = until_complete(way, what, 8, flags, 1000);
      return std::max(0.0, all - posted - found.start - found.poll - found.completion);
    };
    found.acknowledge = answer(IBV_WR_RDMA_WRITE, IBV_SEND_INLINE);
    found.read = answer(IBV_WR_RDMA_READ, 0);
    found.atomic = answer(IBV_WR_ATOMIC_FETCH_AND_ADD, 0);
    measure_registration(in, found);
  }
  in.control.barrier();
  return found;
}

}  // namespace points::calibration
