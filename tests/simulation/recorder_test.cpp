// SPDX-License-Identifier: Apache-2.0
// The records of a simulation and its critical path, against instants computed by hand.
#include <map>
#include <optional>
#include <utility>

#include <chorale/chorale.hpp>
#include <chorale/simulation/critical_path.hpp>
#include <chorale/simulation/run.hpp>

#include "simulated_hosts.hpp"

using namespace simulated;
using namespace std::chrono_literals;

namespace {

// On small_machine, for a write of 4096 bytes on an idle network.
constexpr duration posting = 80ns;   // request and doorbell
constexpr duration leaving = 450ns;  // start and fetch
constexpr duration on_wire =
    470ns + duration{80};                 // 4126 bytes at 12.5 GB/s, two links of 20 ns, a switch of 100 ns
constexpr duration placing = 200ns;       // until it is visible in memory
constexpr duration acknowledging = 70ns;  // from the last byte at the adapter
constexpr duration back_on_wire = 142ns + duration{400};  // 30 bytes of headers, links and switch
constexpr duration back_placed = 240ns;                   // placed, and its completion visible

/// Ranks on one host each, fully connected, whose bodies run at the same time.
struct ranks {
  explicit ranks(fabric& all, int count) : time(all.time()), pairs(static_cast<std::size_t>(count)) {
    for (int rank = 0; rank < count; ++rank) {
      ends.push_back(endpoint_on(all, rank));
      device::context::of(ends.back()->device.native()).rank = rank;
    }
    for (int a = 0; a < count; ++a)
      for (int b = 0; b < count; ++b) pairs[at(a)].push_back(ends[at(a)]->pair());
    for (int a = 0; a < count; ++a)
      for (int b = 0; b < count; ++b)
        if (a != b) connect(pairs[at(a)][at(b)], *ends[at(a)], pairs[at(b)][at(a)], *ends[at(b)]);
  }
  static std::size_t at(int rank) { return static_cast<std::size_t>(rank); }

  /// Writes 4096 bytes, the last of which is not zero, to `place` in another rank's memory.
  void write(int from, int to, std::size_t place) {
    ends[at(from)]->buffer.data()[4095] = std::byte{1};
    ibv_sge piece = ends[at(from)]->piece(0, 4096);
    ibv_send_wr wr = write_to(*ends[at(to)], place, piece);
    pairs[at(from)][at(to)].post_send(wr);
  }
  /// Waits until the last byte is there.
  void await(int on, std::size_t place) {
    const volatile auto& last = ends[at(on)]->buffer.data()[place + 4095];
    while (last == std::byte{}) time.give_way();
  }

  scheduler& time;
  std::vector<std::unique_ptr<endpoint>> ends;
  std::vector<std::vector<verbs::queue_pair>> pairs;
};

/// Runs the bodies as ranks of a machine once all are connected: as thread 1 of each rank, since another one
/// has opened its adapter. Returns their begin.
instant run_ranks(recorder& notes, const machine& m, std::vector<std::function<void(ranks&)>> bodies) {
  scheduler time({.record = &notes});
  wire costs(m, m.hosts);
  fabric all(time, costs, {m.hosts, 1});
  instant start{};
  time.spawn("sets up", -1, [&] {
    ranks on(all, static_cast<int>(bodies.size()));
    start = time.now();
    std::vector<fiber*> running;
    for (std::size_t rank = 0; rank < bodies.size(); ++rank)
      running.push_back(&time.spawn("rank " + std::to_string(rank), static_cast<int>(rank),
                                    [&, rank] { bodies[rank](on); }));
    for (fiber* one : running) time.join(*one);
  });
  time.run();
  return start;
}

std::vector<record> of_processor(const recorder& notes, int rank, instant since) {
  std::vector<record> found;
  for (const record& one : notes.records())
    if (!is_of_message(one.what) && one.rank == rank && one.begin >= since) found.push_back(one);
  return found;
}

std::map<activity, record> of_message(const recorder& notes, std::uint64_t number) {
  std::map<activity, record> found;
  for (const record& one : notes.records())
    if (is_of_message(one.what) && one.message == number) found[one.what] = one;
  return found;
}

void check_span(const record& one, instant begin, duration time) {
  CAPTURE(name(one.what), one.rank);
  CHECK(one.begin == begin);
  CHECK(one.end - one.begin == time);
}

/// Checks that the parts cover the window without a gap.
void check_adds_up(const critical_path& path) {
  instant at = path.of.begin;
  for (const auto& part : path.parts) {
    CHECK(part.of.begin == at);
    CHECK(part.of.end > at);
    at = part.of.end;
  }
  CHECK(at == path.of.end);
}

}  // namespace

TEST_CASE("a recorder notes a write from its post until it is seen", "[recorder]") {
  recorder notes;
  const instant start = run_ranks(notes, small_machine(2),
                                  {[](ranks& on) {
                                     on.time.charge(1us);
                                     on.write(0, 1, 8192);
                                     on.time.charge(20us);
                                   },
                                   [](ranks& on) { on.await(1, 8192); }});
  const auto sender = of_processor(notes, 0, start);
  REQUIRE(sender.size() == 3);
  CHECK(sender[0].what == activity::compute);
  check_span(sender[0], start, 1us);
  CHECK(sender[1].what == activity::post);
  CHECK(sender[1].peer == 1);
  CHECK(sender[1].bytes == 4096);
  check_span(sender[1], start + 1us, posting);
  CHECK(sender[2].what == activity::compute);

  const auto stages = of_message(notes, sender[1].message);
  const instant posted = start + 1us + posting;
  check_span(stages.at(activity::leave), posted, leaving);
  check_span(stages.at(activity::wire), posted + leaving, on_wire);
  check_span(stages.at(activity::place), posted + leaving + on_wire, placing);
  for (const activity what : {activity::leave, activity::wire, activity::place}) {
    CHECK(stages.at(what).rank == 0);
    CHECK(stages.at(what).peer == 1);
    CHECK(stages.at(what).bytes == 4096);
  }
  const instant come = posted + leaving + on_wire;
  check_span(stages.at(activity::answer_wire), come + acknowledging, back_on_wire);
  check_span(stages.at(activity::answer_place), come + acknowledging + back_on_wire, back_placed);
  CHECK(stages.at(activity::answer_wire).rank == 1);
  CHECK(stages.at(activity::answer_wire).peer == 0);

  // Rank 1 polled every 50 ns, and saw the write at the next poll.
  const auto receiver = of_processor(notes, 1, start);
  REQUIRE(receiver.size() == 1);
  CHECK(receiver[0].what == activity::wait_for_message);
  CHECK(receiver[0].message == sender[1].message);
  const duration waited = stages.at(activity::place).end - start;
  CHECK(receiver[0].begin == start);
  CHECK(receiver[0].end - receiver[0].begin == (waited + 50ns - duration{1}) / 50ns * 50ns);
}

TEST_CASE("a critical path goes back over the messages that were waited for", "[recorder]") {
  recorder notes;
  const instant start = run_ranks(notes, small_machine(4),
                                  {[](ranks& on) {
                                     on.time.charge(5us);
                                     on.write(0, 1, 8192);
                                   },
                                   [](ranks& on) {
                                     on.await(1, 8192);
                                     on.time.charge(500ns);
                                     on.write(1, 2, 8192);
                                   },
                                   [](ranks& on) {
                                     on.await(2, 16384);  // which has arrived long before
                                     on.await(2, 8192);
                                     on.time.charge(200ns, activity::copy);
                                   },
                                   [](ranks& on) { on.write(3, 2, 16384); }});
  const auto last = of_processor(notes, 2, start).back();
  REQUIRE(last.what == activity::copy);
  const window whole{start, last.end};
  CHECK(last_to_work(notes, whole) == processor{2, 1});
  const auto path = find_critical_path(notes, whole, {2, 1});
  check_adds_up(path);

  using kind = critical_path_part::kind;
  const std::vector<std::tuple<kind, activity, int, std::optional<duration>>> expected{
      {kind::recorded, activity::compute, 0, 5us},   {kind::recorded, activity::post, 0, posting},
      {kind::recorded, activity::leave, 0, leaving}, {kind::recorded, activity::wire, 0, on_wire},
      {kind::recorded, activity::place, 0, placing}, {kind::notice, {}, 1, {}},
      {kind::recorded, activity::compute, 1, 500ns}, {kind::recorded, activity::post, 1, posting},
      {kind::recorded, activity::leave, 1, leaving}, {kind::recorded, activity::wire, 1, on_wire},
      {kind::recorded, activity::place, 1, placing}, {kind::notice, {}, 2, {}},
      {kind::recorded, activity::copy, 2, 200ns},
  };
  REQUIRE(path.parts.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const auto& [is, what, rank, time] = expected[i];
    const auto& part = path.parts[i];
    CAPTURE(i, name(part.of.what));
    CHECK(part.is == is);
    CHECK(part.of.rank == rank);
    if (is == kind::recorded) CHECK(part.of.what == what);
    if (time) CHECK(part.of.end - part.of.begin == *time);
    if (is == kind::notice) CHECK(part.of.end - part.of.begin < 50ns);
  }

  // A window that begins in the midst of the first message has the rest of it.
  const window late{path.parts[3].of.begin + 100ns, last.end};
  const auto rest = find_critical_path(notes, late, {2, 1});
  check_adds_up(rest);
  REQUIRE(rest.parts.size() == expected.size() - 3);
  CHECK(rest.parts[0].of.end - rest.parts[0].of.begin == on_wire - 100ns);
}

TEST_CASE("a critical path goes back over acknowledgements, and over the results of reads", "[recorder]") {
  recorder notes;
  const bool reads = GENERATE(false, true);
  const instant start = run_ranks(notes, small_machine(2),
                                  {[reads](ranks& on) {
                                     ibv_sge piece = on.ends[0]->piece(0, 4096);
                                     ibv_send_wr wr = write_to(*on.ends[1], 8192, piece);
                                     if (reads) wr.opcode = IBV_WR_RDMA_READ;
                                     on.pairs[0][1].post_send(wr);
                                     next(on.ends[0]->queue);
                                     on.time.charge(100ns);
                                   },
                                   [](ranks&) {}});
  const auto last = of_processor(notes, 0, start).back();
  const auto path = find_critical_path(notes, {start, last.end}, {0, 1});
  check_adds_up(path);
  std::map<activity, duration> spent;
  for (const auto& part : path.parts)
    if (part.is == critical_path_part::kind::recorded) spent[part.of.what] += part.of.end - part.of.begin;
  CHECK(spent[activity::post] == posting);
  CHECK(spent[activity::compute] == 100ns);
  CHECK(spent[activity::poll] == 24ns);
  if (reads) {
    CHECK(spent[activity::leave] == 150ns);  // nothing is fetched
    CHECK(spent[activity::wire] == back_on_wire);
    CHECK(spent[activity::place] == placing);
    // The read's 400 ns count from the arrival of the request at the adapter, 200 ns before it is in memory.
    CHECK(spent[activity::answer_leave] == 400ns - placing);
    CHECK(spent[activity::answer_wire] == on_wire);
  } else {
    CHECK(spent[activity::leave] == leaving);
    CHECK(spent[activity::wire] == on_wire);
    CHECK(spent[activity::place] == acknowledging);
    CHECK(spent[activity::answer_wire] == back_on_wire);
    CHECK(spent[activity::answer_place] == back_placed);
  }
}

TEST_CASE("a wait that no message ended is a part of the path", "[recorder]") {
  recorder notes;
  const instant start = run_ranks(notes, small_machine(1), {[](ranks& on) {
                                    on.time.sleep_until(on.time.now() + 3us);
                                    on.time.charge(1us);
                                  }});
  const auto path = find_critical_path(notes, {start, start + 4us}, {0, 1});
  check_adds_up(path);
  REQUIRE(path.parts.size() == 2);
  CHECK(path.parts[0].of.what == activity::wait);
  CHECK(path.parts[0].of.end - path.parts[0].of.begin == 3us);
}

TEST_CASE("a recorder keeps the newest records, and tells since when they are complete", "[recorder]") {
  recorder notes(10);
  for (int i = 1; i <= 25; ++i)
    notes.add(
        {.what = activity::compute, .rank = 0, .begin = instant{1us * (i - 1)}, .end = instant{1us * i}});
  CHECK(notes.made() == 25);
  CHECK(notes.records().size() == 10);
  CHECK(notes.complete_since() == instant{15us});
  check_adds_up(find_critical_path(notes, {instant{15us}, instant{25us}}, {0, 0}));
  CHECK_THROWS_AS(find_critical_path(notes, {instant{14us}, instant{25us}}, {0, 0}), chorale::error);
  CHECK_THROWS_AS(find_critical_path(notes, {instant{25us}, instant{24us}}, {0, 0}), chorale::error);
  CHECK_THROWS_AS(notes.last_phases("step"), chorale::error);
  CHECK_THROWS_AS(recorder{0}, chorale::error);
}

namespace {

run_result allreduce_on(const machine& m, int ranks, recorder* notes) {
  run_options options;
  options.record = notes;
  return run(
      ranks, m,
      [](group& group) {
        chorale::communicator<> comm{group, {}};
        std::vector<double> values(512, comm.rank());
        for (int step = 0; step < 3; ++step) {
          const phase all{"step", 4096};
          compute(std::chrono::nanoseconds{100 * comm.rank()});
          comm.allreduce(chorale::in_place, values, std::plus<>{});
        }
      },
      options);
}

}  // namespace

TEST_CASE("records of a run have no gap, and do not change the run", "[recorder]") {
  // A machine on which copies of received bytes do not cost more: otherwise addresses would matter, which the
  // records, on the same heap, change.
  const auto m = read_machine("clan2003");
  recorder notes;
  const auto noted = allreduce_on(m, 5, &notes);
  const auto plain = allreduce_on(m, 5, nullptr);
  CHECK(noted.events == plain.events);
  CHECK(noted.elapsed == plain.elapsed);

  std::map<std::pair<int, int>, instant> ends;
  std::map<std::uint64_t, std::uint64_t> bytes;
  for (const record& one : notes.records()) {
    CHECK(one.begin <= one.end);
    if (is_of_message(one.what)) continue;
    const auto [before, first] = ends.try_emplace({one.rank, one.thread}, one.begin);
    if (!first) CHECK(before->second == one.begin);
    before->second = one.end;
  }
  std::map<std::pair<std::uint64_t, int>, instant> wires;
  for (const record& one : notes.records())
    if (one.what == activity::wire)
      wires[{one.message, one.peer}] = one.end;
    else if (one.what == activity::place)
      CHECK(wires.at({one.message, one.peer}) == one.begin);
  CHECK(wires.size() > 20);

  const auto steps = notes.phases();
  CHECK(steps.size() == 15);
  const auto last = notes.last_phases("step");
  REQUIRE(last.size() == 5);
  const auto path = find_critical_path(notes, last);
  check_adds_up(path);
  CHECK(path.of.end == window_of(last).end);
  // It begins where one rank's phase does, with its compute; rank 0 does not compute.
  const int first = path.parts.front().of.rank;
  CHECK(path.of.begin == last[static_cast<std::size_t>(first)].begin);
  check_adds_up(find_critical_path(notes, window_of(last), last_to_work(notes, window_of(last))));
  // At least one message is on it, and no wait without a message.
  int wires_on_it = 0;
  for (const auto& part : path.parts) {
    CHECK(part.is != critical_path_part::kind::unknown);
    if (part.is == critical_path_part::kind::recorded) {
      CHECK_FALSE(is_wait(part.of.what));
      if (part.of.what == activity::wire) ++wires_on_it;
    }
  }
  CHECK(wires_on_it >= 1);
}

TEST_CASE("a phase is noted only within a run", "[recorder]") {
  CHECK_THROWS_AS(phase("outside"), chorale::error);
  const auto m = read_machine("infinihost-pcix-8");
  recorder notes;
  run_options options;
  options.record = &notes;
  run(
      2, m,
      [](group& group) {
        const phase outer{"outer"};
        compute(1us * (group.rank() + 1));
        const phase inner{"inner", 7};
        compute(2us);
      },
      options);
  CHECK(notes.phases().size() == 4);
  const auto inner = window_of(notes.last_phases("inner"));
  CHECK(inner.begin == instant{1us});
  CHECK(inner.end == instant{4us});
  CHECK(window_of(notes.last_phases("outer")).begin == instant{});
  CHECK(notes.phases().front().bytes == 7);
}
