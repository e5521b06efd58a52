// The adapter, by bare verbs between ranks 0 and 1.
#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstring>
#include <functional>
#include <memory>
#include <sched.h>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>

#include <chorale/bench/aligned_floats.hpp>
#include <chorale/bench/statistics.hpp>
#include <chorale/core/error.hpp>
#include <chorale/core/reduction.hpp>
#include <chorale/verbs/memory_region.hpp>

#include "../wires.hpp"
#include "facts.hpp"

namespace points::calibration {
namespace {

namespace verbs = chorale::verbs;

constexpr int burst = 32;
constexpr std::size_t longest = std::size_t{1} << 20;
constexpr int access =
    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;

/// Memory of the other rank that one may write, read and count in.
struct card {
  verbs::endpoint_address where;
  std::uint64_t address = 0;
  std::uint32_t key = 0;
  std::uint64_t apart = 0;  ///< memory that the device has not allocated
  std::uint32_t apart_key = 0;
  std::uint32_t queue_pair = 0;
};

/// A connection between the two ranks with a place for each direction.
class line {
 public:
  explicit line(const job& in) : completions_(in.control.transport().device(), 4096) {
    auto& control = in.control;
    card mine{.where = port_of(control).address};
    memory_.emplace(control.transport().domain(), 2 * longest, access);
    verbs::queue_pair_options wanted;
    wanted.send = wanted.recv = &completions_;
    wanted.send_depth = 4 * burst;
    wanted.recv_depth = 2048;
    wanted.inline_bytes = 64;
    qp_.emplace(control.transport().domain(), wanted);
    mine.address = reinterpret_cast<std::uintptr_t>(memory_->data());
    mine.key = memory_->rkey();
    mine.queue_pair = qp_->number();
    std::memset(apart_.data(), 0, longest);
    apart_region_.emplace(control.transport().domain(), apart_.data(), longest, access);
    mine.apart = reinterpret_cast<std::uintptr_t>(apart_.data());
    mine.apart_key = apart_region_->rkey();
    const auto cards = control.allgather(mine);
    there_ = cards[static_cast<std::size_t>(1 - control.rank())];
    connect(*qp_, control, there_.queue_pair, there_.where, access);
  }

  /// A request on the first `bytes` here and there.
  [[nodiscard]] ibv_send_wr request(ibv_wr_opcode what, std::size_t bytes, ibv_sge& local,
                                    unsigned flags) const {
    local = {reinterpret_cast<std::uintptr_t>(memory_->data() + longest), static_cast<std::uint32_t>(bytes),
             memory_->lkey()};
    ibv_send_wr made{};
    made.sg_list = &local;
    made.num_sge = 1;
    made.opcode = what;
    made.send_flags = flags;
    if (what == IBV_WR_ATOMIC_FETCH_AND_ADD) {
      made.wr.atomic.remote_addr = there_.address;
      made.wr.atomic.rkey = there_.key;
      made.wr.atomic.compare_add = 1;
    } else {
      made.wr.rdma.remote_addr = there_.address;
      made.wr.rdma.rkey = there_.key;
    }
    return made;
  }
  /// The same on memory there that the device has not allocated.
  void go_apart(ibv_send_wr& one) const {
    one.wr.rdma.remote_addr = there_.apart;
    one.wr.rdma.rkey = there_.apart_key;
  }
  void post(ibv_send_wr& chain) { qp_->post_send(chain); }
  void post_receive() {
    ibv_sge into{reinterpret_cast<std::uintptr_t>(memory_->data()), 64, memory_->lkey()};
    ibv_recv_wr one{};
    one.sg_list = &into;
    one.num_sge = 1;
    qp_->post_recv(one);
  }
  /// Waits for so many completions.
  void await(int count) {
    std::array<ibv_wc, burst> room;
    while (count > 0)
      for (const auto& done : completions_.poll(room)) {
        if (done.status != IBV_WC_SUCCESS)
          throw std::runtime_error(
              fmt::format("calibrate: a request has failed with status {} of ibv_wc_status",
                          static_cast<int>(done.status)));
        --count;
      }
  }
  /// Looks once, with room for so many; @returns how many there were.
  std::size_t look(std::size_t most) {
    std::array<ibv_wc, burst> room;
    return completions_.poll(std::span{room}.first(most)).size();
  }

  /// The word that the peer writes.
  [[nodiscard]] std::uint64_t word() const {
    return std::atomic_ref{*reinterpret_cast<std::uint64_t*>(memory_->data())}.load(
        std::memory_order_acquire);
  }
  [[nodiscard]] std::span<const std::byte> received() const { return {memory_->data(), longest}; }
  void set_own(std::uint64_t value) { std::memcpy(memory_->data() + longest, &value, sizeof value); }

 private:
  verbs::completion_queue completions_;
  std::optional<verbs::registered_buffer> memory_;  ///< what the peer writes, then what is written from
  chorale::bench::aligned_floats apart_{longest / sizeof(float)};
  std::optional<verbs::memory_region> apart_region_;
  std::optional<verbs::queue_pair> qp_;
  card there_;
};

/// What `wires` take for a message of 8 bytes.
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
      // The core is given away now and then: on a busy host the other rank may wait for it.
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

/// What a message costs the rank that writes it and the rank that reads it where it came to, by turns: each
/// has in its caches what the other is to write.
struct way_and_use {
  double write = 0;
  double use = 0;
};
way_and_use write_and_use(const job& in, line& way, std::size_t bytes,
                          const std::function<void(const std::byte*)>& use) {
  constexpr int rounds = 101;
  std::vector<double> writes;
  std::vector<double> uses;
  const auto since = [](chorale::bench::timer::time_point begin) {
    return std::max(0.0, chorale::bench::seconds_since(begin) - chorale::bench::clock_cost());
  };
  in.control.barrier();
  for (int turn = 0; turn < 2 * rounds; ++turn) {
    if (turn % 2 == in.control.rank()) {
      const auto begin = chorale::bench::timer::now();
      ibv_sge local;
      auto one = way.request(IBV_WR_RDMA_WRITE, bytes, local, IBV_SEND_SIGNALED);
      way.post(one);
      way.await(1);
      writes.push_back(since(begin));
    }
    in.control.barrier();
    if (turn % 2 == 1 - in.control.rank()) {
      const auto begin = chorale::bench::timer::now();
      use(way.received().data());
      uses.push_back(since(begin));
    }
    in.control.barrier();
  }
  return {chorale::bench::median(std::move(writes)), chorale::bench::median(std::move(uses))};
}

/// Seconds from posting one signalled request to its completion.
double until_complete(line& way, ibv_wr_opcode what, std::size_t bytes, unsigned flags, int calls,
                      bool apart = false) {
  return time_of(calls, [&](int n) {
    for (int i = 0; i < n; ++i) {
      ibv_sge local;
      auto one = way.request(what, bytes, local, flags | IBV_SEND_SIGNALED);
      if (apart) way.go_apart(one);
      way.post(one);
      way.await(1);
    }
  });
}

/// Seconds a request while `burst` of them are posted, `each_call` at a time.
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

/// Powers of two and what lies half-way: at the size of a cache costs change within a factor of 1.5.
std::size_t next_size(std::size_t bytes) noexcept {
  return std::has_single_bit(bytes) ? bytes / 2 * 3 : bytes / 3 * 4;
}

/// Payloads of ascending sizes: what copying them takes the core that posts them, and using them the other.
void measure_payloads(const job& in, line& way, adapter_facts& found) {
  chorale::bench::aligned_floats memory{longest / sizeof(float)};
  const auto mine = std::as_writable_bytes(memory.span());
  std::memset(mine.data(), 0, longest);
  const auto add = chorale::reduction::of<double>(std::plus<>{});
  const bool measures = in.control.rank() == 0;
  // Ranks of a collective call copy to each other at once, and the system's copies hinder each other: those
  // to memory apart are made by both.
  const auto posted = [&](std::size_t bytes, unsigned flags, bool apart) {
    const int calls = static_cast<int>(std::clamp<std::size_t>((std::size_t{1} << 22) / bytes, 1, 1000));
    const double time =
        measures || apart ? until_complete(way, IBV_WR_RDMA_WRITE, bytes, flags, calls, apart) : 0;
    in.control.barrier();
    return time;
  };
  const double without_payload = posted(8, IBV_SEND_INLINE, false);
  // The line that others have touched is in the time of every message.
  const double without_touched = write_and_use(in, way, 8, [](const std::byte*) {}).write;
  found.reach.push_back({8, std::max(0.0, posted(8, 0, true) - posted(8, 0, false))});
  for (std::size_t bytes = 256; bytes <= longest; bytes = next_size(bytes)) {
    const auto copied =
        write_and_use(in, way, bytes, [&](const std::byte* from) { std::memcpy(mine.data(), from, bytes); });
    const auto combined = write_and_use(in, way, bytes, [&](const std::byte* from) {
      add.combine_left(mine.first(bytes), {from, bytes});
    });
    const double shared = posted(bytes, 0, false);
    found.copy.push_back({bytes, shared - without_payload});
    found.reach.push_back({bytes, std::max(0.0, posted(bytes, 0, true) - shared)});
    found.copy_touched.push_back({bytes, std::max(0.0, copied.write - without_touched)});
    found.copy_received.push_back({bytes, copied.use});
    found.combine_received.push_back({bytes, combined.use});
  }
}

/// The longest payload that the device takes inline, of powers of two. How much that is it only says when a
/// queue pair is made.
std::uint32_t most_inline(const job& in) {
  verbs::completion_queue completions{in.control.transport().device(), 16};
  verbs::queue_pair_options wanted;
  wanted.send = wanted.recv = &completions;
  for (wanted.inline_bytes = 1U << 16; wanted.inline_bytes > 16; wanted.inline_bytes /= 2) {
    try {
      return verbs::queue_pair{in.control.transport().domain(), wanted}.inline_bytes();
    } catch (const chorale::error&) {
      // Too much: half of it may do.
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
