// Multicasts of several roots over a net that loses, repeats, delays and reorders: each arrives once, in
// order and unchanged, no rank waits for ever, and a rank that leaves has sent everything.
#include "multicast_rank.hpp"

using namespace protocols;

namespace {

/// Numbers of calls just before they wrap: in 16, 32 and 48 bits.
constexpr std::uint64_t first_calls[] = {1, (1ULL << 16) - 3, (1ULL << 32) - 3, (1ULL << 48) - 3};

void choose_weather(virtual_net& net, multicast_job& job) {
  const auto weather = [&net](double most_loss) {
    return faults{.loss = net.chance(0.6) ? most_loss * static_cast<double>(net.below(4)) / 3 : 0,
                  .duplication = net.chance(0.4) ? 0.15 : 0,
                  .most_delay = net.chance(0.2) ? clock::duration{5ms} : clock::duration{150us}};
  };
  job.group_faults = weather(0.4);
  job.single_faults = weather(0.4);
  job.lost_at_once = net.chance(0.3) ? 0.2 : 0;
  job.full = net.chance(0.3) ? 0.1 : 0;
  job.busy = net.chance(0.5) ? 0.3 : 0;
  job.longest_absence = net.chance(0.2) ? clock::duration{40ms} : clock::duration{2ms};
  job.held = net.chance(0.3) ? 0.5 : 0;
  job.with_service = !net.chance(0.2);
}

void choose_calls(virtual_net& net, multicast_job& job) {
  const auto ranks = static_cast<std::uint64_t>(job.size());
  const std::uint64_t first = first_calls[net.below(4)];
  const std::uint64_t roots = 1 + net.below(std::min<std::uint64_t>(ranks, 3));
  const double signals = static_cast<double>(net.below(3)) / 2;
  // With few ranks there are enough messages to exceed the window and wrap the numbers.
  const std::uint64_t most_pieces = ranks <= 5 ? 50 : 20;
  const std::uint64_t calls = 1 + net.below(ranks <= 5 ? 20 : 8);
  for (std::uint64_t i = 0; i < calls; ++i) {
    multicast_call c;
    c.number = {first + i, static_cast<std::uint32_t>(0x5eed0001 + i)};
    c.root = static_cast<int>(net.below(roots) * (ranks / roots));
    c.is_signal = net.chance(signals);
    c.pieces = static_cast<int>(net.below(net.chance(0.3) ? most_pieces : 4));
    job.calls.push_back(c);
  }
}

/// A number of ranks in 2..16, small ones more often.
int choose_size(virtual_net& net) {
  return static_cast<int>(2 + (net.chance(0.6) ? net.below(4) : net.below(15)));
}

/// An intruder sends old datagrams again, which must have no effect, and invalid ones, which must be refused.
void intrude(multicast_job& job) {
  auto& net = *job.net;
  const int victim = static_cast<int>(net.below(static_cast<std::uint64_t>(job.size())));
  auto& rank = job[victim];
  if (!rank.is_member() || job.seen.empty()) return;
  const auto [receiver, sent] = job.seen[net.below(job.seen.size())];
  const int to = receiver;
  const letter& old = sent;
  if (old.from == victim) return;
  auto& protocol = rank.protocol();
  if (net.chance(0.5)) {
    if (to != -1 && to != victim) return;
    net.note([&] { return fmt::format("again to {}: kind {} of {}", victim, old.kind, old.from); });
    if (!rank.take(old, to == -1)) wrong(fmt::format("rank {} refuses what comes again", victim));
    return;
  }
  const auto before = protocol.statistics();
  bool taken = false;
  if (to == -1) {
    bytes damaged = *old.body;
    const auto at = [&damaged](std::size_t offset) -> std::byte& { return damaged[offset]; };
    switch (net.below(6)) {
      case 0:
        damaged.resize(net.below(damaged.size()));
        break;  // cut
      case 1:
        damaged.push_back(std::byte{7});
        break;  // longer than its header says
      case 2:
        at(net.below(4)) ^= std::byte{1};
        break;  // magic number
      case 3:
        at(4) = static_cast<std::byte>(82 + net.below(5));
        break;  // a kind of no group datagram
      case 4:
        at(8 + net.below(8)) ^= std::byte{0x10};
        break;  // secret
      default:
        at(17 + net.below(3)) ^= std::byte{0x80};
        break;  // a rank that does not exist
    }
    taken = hears(protocol, damaged);
  } else {
    // A message that cannot have been sent yet.
    const auto far = first_multicast + 100'000;
    const auto says = [&](multicast_kind kind, const auto& body) {
      return protocol.on_datagram((victim + 1) % job.size(), raw(kind), wire(body), net.now());
    };
    switch (net.below(5)) {
      case 0:
        taken = says(multicast_kind::message_missing, missing_messages{far, 0, 0});
        break;
      case 1:
        taken = says(multicast_kind::acknowledgement, message_state{far, far, 0});
        break;
      case 2:
        taken = says(multicast_kind::acknowledgement, message_state{first_multicast + 1, first_multicast, 0});
        break;
      case 3:
        taken = says(multicast_kind::question, sender_state{far, 0, 0});
        break;
      default:
        taken = says(multicast_kind::signal, std::uint64_t{1} << 16);
        break;
    }
  }
  auto expected = before;
  ++expected.refused;
  if (taken || std::memcmp(&expected, &protocol.statistics(), sizeof expected) != 0)
    wrong(fmt::format("rank {} takes what no rank of the group would send", victim));
}

void run_job(virtual_net& net) {
  multicast_job job{net, choose_size(net)};
  job.options.secret = 0x5ec4e7 + net.below(1000);
  job.options.payload_bytes = 24;
  job.options.patience = net.chance(0.3) ? clock::duration{200us} : clock::duration{1ms};
  choose_weather(net, job);
  choose_calls(net, job);
  for (int r = 0; r < job.size(); ++r) job.ranks.push_back(std::make_unique<multicast_rank>(job, r));
  for (auto& r : job.ranks)
    r->begin(net.between(1us, net.chance(0.1) ? clock::duration{30ms} : clock::duration{200us}));

  if (net.chance(0.15)) {
    const int victim = static_cast<int>(net.below(static_cast<std::uint64_t>(job.size())));
    net.after(net.between(0us, 5ms), [&job, victim] {
      if (job[victim].is_over()) return;
      job[victim].die();
      job.net->note([&] { return fmt::format("{} dies", victim); });
      for (int r = 0; r < job.size(); ++r)
        job.net->after(job.net->between(1ms, 50ms), [&job, r, victim] { job[r].learn_of_departure(victim); });
    });
  }
  if (net.chance(0.5)) {
    for (int i = 0; i < 4; ++i) net.after(net.between(0us, 5ms), [&job] { intrude(job); });
  }
  const auto over = [&job] {
    return std::all_of(job.ranks.begin(), job.ranks.end(), [](const auto& r) { return r->is_over(); });
  };
  const auto begun = net.now();
  while (!over()) {
    if (!net.step() || net.now() - begun > 60s) {
      for (auto& r : job.ranks) {
        if (!r->is_over()) wrong(fmt::format("{} after {} ms", r->where(), (net.now() - begun) / 1ms));
      }
    }
  }
  for (auto& r : job.ranks) r->check_costs();
}

}  // namespace

TEST_CASE("multicasts arrive once, in order and unchanged, and no rank waits for ever", "[protocols]") {
  run(schedules{20'000}, run_job);
}
