// SPDX-License-Identifier: Apache-2.0
// Connections that are made on demand and closed by agreement: no message is lost, none waits for ever, and
// in the end no rank exceeds its limit of connections.
#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <optional>

#include <chorale/transport/connections/connection_table.hpp>

#include "virtual_net.hpp"

using namespace chorale::transport;
using namespace protocols;

namespace {

struct job;

/// A rank: its table, and queue pairs that deliver messages if they are connected with the peer's.
class rank final : connection_port {
 public:
  rank(job& all, int number, int ranks, connection_table::options o);

  /// Queues one more message to the peer.
  void want(int peer) { to_send_[peer]++; }
  /// What a rank does in a call: sends what it can, and polls.
  void look();
  [[nodiscard]] bool is_done() const;
  [[nodiscard]] std::size_t connected() const { return table_.open_peers().size(); }

 private:
  /// A queue pair. Its number is never used again.
  struct pair {
    std::uint64_t number;
    std::uint64_t remote = 0;  ///< number of the peer's, once connected
    bool ready = false;
    std::uint64_t posted = 0;
    std::uint64_t acknowledged = 0;
  };
  struct peer_state {
    std::optional<pair> qp;
    std::uint64_t used = 0;
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
    std::uint64_t released = 0;
  };

  void open(int peer) override;
  void accept(int peer) override;
  void close(int peer) noexcept override;
  void set_ready(int peer, bool ready) noexcept override { state(peer).qp->ready = ready; }
  void send(int peer, const connect_request& m) override;
  void send(int peer, const close_message& m) override;
  bool is_drained(int peer) override;
  ledger counts(int peer) override;
  std::uint64_t used(int peer) const noexcept override { return at(peer).used; }
  bool works(int) const noexcept override { return true; }
  bool has_left(int) const noexcept override { return false; }
  bool admits(int) const noexcept override { return true; }

  peer_state& state(int peer) { return peers_[peer]; }
  const peer_state& at(int peer) const noexcept {
    static const peer_state none;
    const auto found = peers_.find(peer);
    return found == peers_.end() ? none : found->second;
  }
  void post(int peer);
  void arrive(int from, std::uint64_t by, std::uint64_t at, std::uint64_t message);

  job& job_;
  int number_;
  connection_table table_;
  std::map<int, peer_state> peers_;
  std::map<int, int> to_send_;
  std::uint64_t heard_ = 0;  ///< the queue pair of the request being handled
};

struct job {
  explicit job(virtual_net& n) : net(n) {}
  virtual_net& net;
  faults wrong;
  clock::duration longest_absence = 1ms;
  std::vector<std::unique_ptr<rank>> ranks;
  std::uint64_t queue_pairs = 0;
};

[[noreturn]] void wrong(const std::string& what) {
  throw std::runtime_error(what);
}

rank::rank(job& all, int number, int ranks, connection_table::options o)
    : job_(all), number_(number), table_(*this, ranks, o) {}

void rank::open(int peer) {
  if (state(peer).qp) wrong(fmt::format("rank {} opens a second queue pair to {}", number_, peer));
  state(peer).qp = pair{++job_.queue_pairs};
  job_.net.note([&] { return fmt::format("{} opens {} to {}", number_, job_.queue_pairs, peer); });
}

void rank::accept(int peer) {
  state(peer).qp->remote = heard_;
  job_.net.note(
      [&] { return fmt::format("{} connects {} with {}", number_, state(peer).qp->number, heard_); });
}

void rank::close(int peer) noexcept {
  job_.net.note([&] { return fmt::format("{} closes {}", number_, state(peer).qp->number); });
  state(peer).qp.reset();
}

void rank::send(int peer, const connect_request& m) {
  const std::uint64_t mine = state(peer).qp->number;
  job_.net.note([&] {
    return fmt::format("{} -> {}: connect {}, generation {}, hears {}, asks {}", number_, peer, mine,
                       m.generation, m.hears_you, m.wants_answer);
  });
  job_.net.send(job_.wrong, [this, peer, m, mine] {
    rank& there = *job_.ranks[static_cast<std::size_t>(peer)];
    there.heard_ = mine;
    there.table_.on_connect(number_, m, job_.net.now());
  });
}

void rank::send(int peer, const close_message& m) {
  job_.net.note([&] {
    constexpr const char* says[] = {"asks to close", "agrees to close", "refuses to close",
                                    "would agree to close"};
    return fmt::format("{} -> {}: {}, generation {}, attempt {}", number_, peer,
                       says[static_cast<int>(m.what)], m.generation, m.attempt);
  });
  job_.net.send(job_.wrong, [this, peer, m] {
    job_.ranks[static_cast<std::size_t>(peer)]->table_.on_close(number_, m, job_.net.now());
  });
}

bool rank::is_drained(int peer) {
  const auto& qp = state(peer).qp;
  return qp->posted == qp->acknowledged;
}

ledger rank::counts(int peer) {
  const peer_state& s = state(peer);
  ledger l{};
  l.sent = s.sent;
  l.received = s.received;
  l.released = s.released;
  return l;
}

void rank::post(int peer) {
  peer_state& s = state(peer);
  ++s.used;
  ++s.qp->posted;
  const std::uint64_t message = ++s.sent;
  job_.net.note([&] { return fmt::format("{} -> {}: message {}", number_, peer, message); });
  rank& there = *job_.ranks[static_cast<std::size_t>(peer)];
  // Adapters keep order, so every message takes the same time.
  job_.net.after(3us, [this, &there, by = s.qp->number, at = s.qp->remote, message] {
    there.arrive(number_, by, at, message);
  });
}

void rank::arrive(int from, std::uint64_t by, std::uint64_t at, std::uint64_t message) {
  peer_state& s = state(from);
  if (!s.qp || s.qp->number != at || s.qp->remote != by)
    wrong(fmt::format("message {} of rank {} to rank {} comes to a queue pair that is not there", message,
                      from, number_));
  if (message != ++s.received) wrong(fmt::format("message {} comes after {}", message, s.received - 1));
  job_.net.after(job_.net.between(0us, 500us), [this, from] { ++state(from).released; });
  rank& sender = *job_.ranks[static_cast<std::size_t>(from)];
  job_.net.after(3us, [&sender, by, me = number_] {
    auto& qp = sender.state(me).qp;
    if (!qp || qp->number != by) wrong("an acknowledgement comes to a queue pair that is not there");
    ++qp->acknowledged;
  });
}

void rank::look() {
  const auto now = job_.net.now();
  for (auto& [peer, left] : to_send_) {
    if (left == 0) continue;
    const auto& qp = state(peer).qp;
    if (!qp || !qp->ready) {
      table_.request(peer);
      table_.progress(now);
      if (!table_.advance(peer, now)) continue;
    }
    post(peer);
    --left;
  }
  table_.progress(now);
}

bool rank::is_done() const {
  for (const auto& [peer, left] : to_send_) {
    if (left != 0 || job_.ranks[static_cast<std::size_t>(peer)]->at(number_).released != at(peer).sent)
      return false;
  }
  return true;
}

void run_job(virtual_net& net) {
  job all{net};
  const int ranks = 2 + static_cast<int>(net.below(5));
  connection_table::options o;
  o.limit = net.below(4);
  all.wrong = {.loss = net.chance(0.5) ? 0.3 * static_cast<double>(net.below(3)) / 2 : 0,
               .duplication = net.chance(0.5) ? 0.2 : 0,
               .most_delay = net.chance(0.3) ? clock::duration{5ms} : clock::duration{200us}};
  all.longest_absence = net.chance(0.3) ? clock::duration{30ms} : clock::duration{300us};
  for (int r = 0; r < ranks; ++r) all.ranks.push_back(std::make_unique<rank>(all, r, ranks, o));

  // Each rank polls and queues messages at random times.
  const int messages = 4 + static_cast<int>(net.below(30));
  for (int m = 0; m < messages; ++m) {
    const int from = static_cast<int>(net.below(static_cast<std::uint64_t>(ranks)));
    const int to = (from + 1 + static_cast<int>(net.below(static_cast<std::uint64_t>(ranks - 1)))) % ranks;
    net.after(net.between(0us, 20ms),
              [&all, from, to] { all.ranks[static_cast<std::size_t>(from)]->want(to); });
  }
  bool over = false;
  for (int r = 0; r < ranks; ++r) {
    std::function<void()> turn = [&all, r] { all.ranks[static_cast<std::size_t>(r)]->look(); };
    struct repeat {
      job& all;
      std::function<void()> turn;
      bool& over;
      void operator()() const {
        turn();
        const auto pause = all.net.chance(0.02) ? all.longest_absence : clock::duration{100us};
        if (!over) all.net.after(all.net.between(1us, pause), *this);
      }
    };
    net.after(net.between(0us, 1ms), repeat{all, turn, over});
  }
  const auto begun = net.now();
  std::optional<clock::time_point> done;
  while (net.step()) {
    if (net.now() - begun > 20s) wrong("ranks still wait for connections after 20 s");
    const bool all_done = net.now() - begun > 20ms && std::all_of(all.ranks.begin(), all.ranks.end(),
                                                                  [](const auto& r) { return r->is_done(); });
    if (!all_done) continue;
    if (!done) done = net.now();
    const bool within = std::all_of(all.ranks.begin(), all.ranks.end(),
                                    [&](const auto& r) { return o.limit == 0 || r->connected() <= o.limit; });
    if (within) over = true;
    if (!within && net.now() - *done > 20s) wrong("a rank keeps more connections than it may");
    if (over) break;
  }
  for (const auto& r : all.ranks) {
    if (!r->is_done()) wrong("nothing happens any more, and something has not arrived");
  }
}

}  // namespace

TEST_CASE("connections are made and closed without losing a message", "[protocols]") {
  run(schedules{20'000}, run_job);
}
