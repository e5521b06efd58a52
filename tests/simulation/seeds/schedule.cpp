// SPDX-License-Identifier: Apache-2.0
#include "schedule.hpp"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "simulation/random_bits.hpp"

namespace seeds {
namespace {

using namespace std::chrono_literals;
namespace sim = chorale::simulation;
using sim::random_bits;

constexpr std::array call_names{"barrier",        "broadcast",  "reduce",   "allreduce", "ordered allreduce",
                                "allgather",      "allgatherv", "alltoall", "gather",    "scatter",
                                "reduce_scatter", "scan",       "exscan",   "exchange",  "window",
                                "nonblocking",    "split"};
static_assert(call_names.size() == call_kinds);
constexpr std::array transport_names{"rc", "rc_send_receive", "ud", "ud_rdma", "hybrid<2>"};

int between(random_bits& random, int least, int most) {
  return least + static_cast<int>(random.below(static_cast<std::uint64_t>(most - least + 1)));
}
bool in_hundred(random_bits& random, std::uint64_t share) {
  return random.below(100) < share;
}

/// A log-uniform number up to `most`.
std::uint64_t up_to(random_bits& random, std::uint64_t most) {
  int bits = 0;
  while (most >> bits != 0) ++bits;
  return random.below((most >> random.below(static_cast<std::uint64_t>(bits))) + 1);
}

int draw_ranks(random_bits& random) {
  const std::uint64_t share = random.below(200);
  if (share < 130) return between(random, 2, 4);
  if (share < 180) return between(random, 5, 8);
  if (share < 195) return between(random, 9, 16);
  if (share < 198) return between(random, 17, 32);
  if (share < 199) return between(random, 33, 64);
  return 1;
}

planned_call draw_call(random_bits& random, int ranks, const chorale::config& settings) {
  planned_call call;
  call.what = static_cast<call_kind>(random.below(call_kinds));
  call.root = between(random, 0, ranks - 1);
  call.shift = between(random, 0, ranks - 1);
  call.colours = between(random, 1, std::min(ranks, 3));
  // Usually a few hundred bytes; sometimes long enough for zero copy.
  const auto n = static_cast<std::size_t>(ranks);
  const bool has_blocks = call.what >= call_kind::allgather && call.what <= call_kind::reduce_scatter;
  const bool is_long = ranks <= 16 && in_hundred(random, 6);
  // Or several times as long as all blocks together, so that the sender waits for them.
  const bool fills_blocks = ranks <= 8 && !has_blocks && in_hundred(random, 15);
  std::size_t most = is_long ? 40'000 : ranks <= 16 ? 400 : 40;
  if (fills_blocks)
    most = std::min<std::size_t>(4 * settings.least_blocks() * settings.block_bytes / sizeof(std::uint64_t),
                                 8'000);
  call.count = up_to(random, has_blocks || call.what == call_kind::window ? most / n + 1 : most);
  return call;
}

void draw_settings(random_bits& random, chorale::config& c) {
  c.silence = 2s;
  c.on_stall = [](const chorale::stall_report&) {};
  c.qp_timeout = 10;
  c.blocks = static_cast<std::uint32_t>(2 << random.below(4));
  c.block_bytes = std::size_t{256} << random.below(6);
  c.zero_copy_bytes = in_hundred(random, 50) ? 65536 : std::size_t{512} << random.below(8);
  if (in_hundred(random, 20)) c.connections = static_cast<std::uint32_t>(between(random, 2, 6));
  c.send_receive_long = static_cast<chorale::long_send_policy>(random.below(3));
  c.send_receive_block_bytes = std::size_t{512} << random.below(5);
  c.send_receive_eager_bytes = in_hundred(random, 50) ? 8192 : 256;
  c.registration = in_hundred(random, 30) ? chorale::registration_policy::per_operation
                                          : chorale::registration_policy::automatic;
}

sim::instant draw_instant(random_bits& random) {
  // From the first steps of making a communicator to long after the end of most runs.
  return sim::instant{1us + sim::duration{static_cast<std::int64_t>(up_to(random, 10'000'000'000))}};
}

void draw_chances(random_bits& random, sim::faults& wrong) {
  if (in_hundred(random, 25)) return;
  const auto chance = [&](std::uint64_t most) { return static_cast<std::uint32_t>(up_to(random, most)); };
  wrong.lost = chance(150'000);
  wrong.repeated = chance(100'000);
  wrong.delayed = chance(300'000);
  wrong.held_up = in_hundred(random, 20) ? 100'000 : chance(300'000);
  wrong.longest_delay = sim::duration{1us} * static_cast<std::int64_t>(1 + up_to(random, 5'000));
}

void draw_events(random_bits& random, const schedule& s, sim::faults& wrong) {
  const int hosts = (s.ranks + s.ranks_per_host - 1) / s.ranks_per_host;
  wrong.hidden_processes = in_hundred(random, 30);
  const std::uint64_t share = random.below(100);
  if (share < 15)
    for (int i = between(random, 1, 2); i > 0; --i)
      wrong.stops.push_back({between(random, 0, s.ranks - 1), draw_instant(random),
                             sim::duration{1us} * static_cast<std::int64_t>(up_to(random, 900'000))});
  if (s.ranks == 1) return;
  if (share >= 15 && share < 40)
    for (int i = in_hundred(random, 15) ? 2 : 1; i > 0; --i)
      wrong.deaths.push_back({between(random, 0, s.ranks - 1), draw_instant(random)});
  if (share >= 40 && share < 48)
    wrong.adapter_failures.push_back({between(random, 0, hosts - 1), draw_instant(random)});
}

/// A rank is late while others have left, and some ranks miss the farewells.
void draw_lateness(random_bits& random, schedule& s) {
  s.late = {between(random, 0, s.ranks - 1),
            s.calls.size() - 1 - random.below(std::min<std::uint64_t>(s.calls.size(), 2)),
            1s + sim::duration{1us} * static_cast<std::int64_t>(random.below(9'000'000))};
  for (int r = 0; r < s.ranks; ++r)
    if (r != s.late.rank && in_hundred(random, 40))
      s.wrong.deafnesses.push_back(
          {r, sim::instant{50us + sim::duration{static_cast<std::int64_t>(up_to(random, 1'000'000'000))}},
           sim::duration{1us} * static_cast<std::int64_t>(100'000 + random.below(800'000))});
}

/// Many calls by multicast, of more messages than a window holds.
void draw_multicasts(random_bits& random, schedule& s) {
  constexpr std::array by_multicast{call_kind::barrier, call_kind::broadcast, call_kind::allreduce,
                                    call_kind::nonblocking};
  s.multicasts = true;
  const std::uint64_t most = (1 + up_to(random, 49)) * s.mtu / sizeof(std::uint64_t);
  const int roots = between(random, 1, std::min(s.ranks, 3));
  for (int i = between(random, 1, 20); i > 0; --i) {
    planned_call call = draw_call(random, s.ranks, s.settings);
    call.what = by_multicast[random.below(by_multicast.size())];
    call.root = between(random, 0, roots - 1);
    call.count = up_to(random, most);
    s.calls.push_back(call);
  }
}

}  // namespace

schedule draw(std::uint64_t seed) {
  random_bits random{seed};
  schedule s;
  s.seed = seed;
  s.over = static_cast<transport_kind>(random.below(transport_names.size()));
  s.ranks = draw_ranks(random);
  s.ranks_per_host = 1 << random.below(3);
  s.longest_pause = in_hundred(random, 40) ? 0 : up_to(random, in_hundred(random, 10) ? 50'000'000 : 200'000);
  s.catches = in_hundred(random, 50);
  draw_settings(random, s.settings);
  for (int i = between(random, 1, s.ranks > 16 ? 3 : 8); i > 0; --i)
    s.calls.push_back(draw_call(random, s.ranks, s.settings));
  draw_chances(random, s.wrong);
  draw_events(random, s, s.wrong);
  s.mtu = std::uint32_t{512} << random.below(4);
  s.shortest_gap = in_hundred(random, 10) ? sim::duration{} : sim::duration{500ns} * (1 << random.below(6));
  // Later additions are drawn last, so that seeds that have found errors keep the rest of their schedules.
  s.settings.send_receive_eager =
      in_hundred(random, 50) ? chorale::eager_policy::rdma_write : chorale::eager_policy::receive_queue;
  if (in_hundred(random, 25)) s.cores = 1;
  // Where ranks fail, a rank that also misses the notice may blame the wrong one.
  const bool some_fail = !s.wrong.deaths.empty() || !s.wrong.adapter_failures.empty();
  if (s.ranks > 1 && !some_fail && in_hundred(random, 20)) draw_lateness(random, s);
  // All hosts, or some.
  if (in_hundred(random, 35)) {
    const std::uint64_t share = in_hundred(random, 50) ? 100 : 50;
    for (int host = 0; host * s.ranks_per_host < s.ranks; ++host)
      if (in_hundred(random, share)) s.wrong.disorders.push_back({host, in_hundred(random, 60)});
  }
  if (s.over == transport_kind::ud && s.ranks <= 16 && in_hundred(random, 50)) draw_multicasts(random, s);
  // Silence then means nothing, so a death or departure that only silence shows would never be noticed.
  if (!some_fail && s.wrong.deafnesses.empty() && random.below(7) == 3)
    s.settings.service = chorale::service_policy::off;
  s.near = s.ranks_per_host > 1 && in_hundred(random, 50);
  return s;
}

const char* name_of(call_kind what) noexcept {
  return call_names[static_cast<std::size_t>(what)];
}
const char* name_of(transport_kind over) noexcept {
  return transport_names[static_cast<std::size_t>(over)];
}

std::string describe(const schedule& s) {
  const auto us = [](sim::instant when) {
    return static_cast<double>(when.time_since_epoch().count()) / 1e6;
  };
  std::string text = fmt::format(
      "seed {}: {} ranks, {} a host of {} cores{}, over {}; packets of {} bytes; pauses up to {} ns, looks "
      "after {} ns\n",
      s.seed, s.ranks, s.ranks_per_host, s.cores, s.near ? " with soft0" : "", name_of(s.over), s.mtu,
      s.longest_pause, s.shortest_gap.count() / 1000);
  const chorale::config& c = s.settings;
  text += fmt::format(
      "  {} blocks of {} bytes, zero copy from {}, connections {}, long sends {}, blocks of sends {}, "
      "eager {} by {}{}{}{}{}\n",
      c.least_blocks(), c.block_bytes, c.zero_copy_bytes.value(), c.connections,
      static_cast<int>(c.send_receive_long), c.send_receive_block_bytes, c.send_receive_eager_bytes,
      c.send_receive_eager == chorale::eager_policy::rdma_write ? "RDMA write" : "send",
      c.registration == chorale::registration_policy::automatic ? "" : ", registers each time",
      c.service == chorale::service_policy::off ? ", without service threads" : "",
      s.multicasts ? ", multicasts" : "", s.catches ? ", catches" : "");
  const auto& w = s.wrong;
  text += fmt::format("  of a million: {} lost, {} repeated, {} delayed, {} held up, by {} us at most{}\n",
                      w.lost, w.repeated, w.delayed, w.held_up, w.longest_delay.count() / 1'000'000,
                      w.hidden_processes ? "; processes are hidden" : "");
  for (const auto& one : w.deaths) text += fmt::format("  rank {} dies at {} us\n", one.rank, us(one.when));
  for (const auto& one : w.stops)
    text += fmt::format("  rank {} stops at {} us for {} us\n", one.rank, us(one.when),
                        one.time.count() / 1'000'000);
  for (const auto& one : w.deafnesses)
    text += fmt::format("  rank {} hears no datagrams from {} us on, for {} us\n", one.rank, us(one.when),
                        one.time.count() / 1'000'000);
  if (s.late.rank >= 0)
    text += fmt::format("  rank {} is late in call {} by {} us\n", s.late.rank, s.late.call,
                        s.late.time.count() / 1'000'000);
  for (const auto& one : w.disorders)
    text += fmt::format("  memory of host {} keeps no order of writes{}\n", one.host,
                        one.of_bytes ? ", nor of their bytes" : "");
  for (const auto& one : w.adapter_failures)
    text += fmt::format("  the adapter of host {} fails at {} us\n", one.host, us(one.when));
  int number = 0;
  for (const planned_call& call : s.calls)
    text += fmt::format("  {}: {} of {} elements, root {}, shift {}, colours {}\n", number++,
                        name_of(call.what), call.count, call.root, call.shift, call.colours);
  return text;
}

}  // namespace seeds
