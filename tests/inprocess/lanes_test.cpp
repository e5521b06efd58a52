// SPDX-License-Identifier: Apache-2.0
// Ranks with two lanes: soft0 within a place, another device between places.
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <chorale/algorithm/levels.hpp>
#include <chorale/chorale.hpp>

#include "adapter.hpp"
#include "beside_adapter.hpp"
#include "ranks.hpp"

using namespace inprocess;
using chorale::errc;
using chorale::transport::rc;

namespace {

std::uint64_t number_of(int from, int to, std::size_t i) {
  return seed() ^
         ((static_cast<std::uint64_t>(from) * 64 + static_cast<std::uint64_t>(to)) * 1'000'003 + i * 7);
}

template <class Comm>
void check_blocks(Comm& comm, std::size_t count) {
  const auto size = static_cast<std::size_t>(comm.size());
  std::vector<std::uint64_t> to(count * size);
  std::vector<std::uint64_t> from(to.size());
  for (std::size_t r = 0; r < size; ++r)
    for (std::size_t i = 0; i < count; ++i)
      to[r * count + i] = number_of(comm.rank(), static_cast<int>(r), i);
  comm.alltoall(std::span<const std::uint64_t>{to}, std::span{from});
  for (std::size_t r = 0; r < size; ++r)
    for (std::size_t i = 0; i < count; ++i)
      expect(from[r * count + i] == number_of(static_cast<int>(r), comm.rank(), i), "alltoall");
  std::vector<std::uint64_t> sum(count, static_cast<std::uint64_t>(comm.rank()) + 1);
  comm.allreduce(chorale::in_place, std::span{sum}, chorale::sum);
  for (const std::uint64_t one : sum) expect(one == size * (size + 1) / 2, "allreduce");
}

/// Puts and gets among all ranks, and atomic operations of all on one word.
template <class Comm>
void check_window(Comm& comm) {
  constexpr std::uint64_t rounds = 50;
  const int size = comm.size();
  std::vector<std::uint64_t> memory(static_cast<std::size_t>(size) + 1);
  chorale::window w{comm, std::span{memory}};
  for (int r = 0; r < size; ++r) {
    const std::uint64_t mine = number_of(comm.rank(), r, 0);
    w.put(r, static_cast<std::size_t>(comm.rank()) + 1, std::span{&mine, 1});
    w.flush(r);
  }
  for (std::uint64_t i = 0; i < rounds; ++i)
    for (int r = 0; r < size; ++r) w.fetch_and_op(r, 0, std::uint64_t{1}, chorale::sum);
  w.fence();
  for (int r = 0; r < size; ++r)
    expect(memory[static_cast<std::size_t>(r) + 1] == number_of(r, comm.rank(), 0), "put");
  expect(memory[0] == rounds * static_cast<std::uint64_t>(size), "atomic operations of ranks of two lanes");
  std::vector<std::uint64_t> seen(1);
  const int next = (comm.rank() + 1) % size;
  w.get(next, 1, std::span{seen});
  expect(seen[0] == number_of(0, next, 0), "get");
  w.fence();
}

}  // namespace

TEST_CASE("ranks of a place use soft0 among themselves and the adapter to others", "[lanes]") {
  if (left_out_in_virtual_time("it has no soft0")) return;
  struct layout {
    const char* places;
    int size;
  };
  for (const auto& [places, size] :
       {layout{"2x2", 4}, layout{"1,3", 4}, layout{"2x3c", 6}, layout{"4,1,2", 7}}) {
    if (too_large(size)) continue;
    for (const std::uint32_t limit : {0U, 2U}) {
      auto c = with_places(places);
      c.zero_copy_bytes = 4096;
      c.connections = limit;
      run_beside_adapter(size, c, [](chorale::communicator<>& comm) {
        const auto& layout = comm.hosts();
        const auto of_place = layout.members(layout.of(comm.rank())).size();
        expect((near_port(comm) != nullptr) == (of_place > 1), "a lane to the place");
        expect(comm.transport().chosen().device.name == adapter::name, "the adapter leads to other places");
        if (near_port(comm) != nullptr)
          expect(near_port(comm)->device().is_soft(), "soft0 leads to the place");
        expect(!comm.transport().maps_memory(), "no rank maps the memory of all");
        expect(comm.transport().maps_within_place(), "a rank maps that of its place");
        for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{100}, std::size_t{3000}})
          check_blocks(comm, count);
        // More messages from each rank than any mailbox has blocks.
        for (int i = 0; i < 600; ++i) check_blocks(comm, 1);
        check_window(comm);
        const auto m = comm.transport().memory();
        expect(m.total_bytes() - m.queue_bytes == comm.transport().registered_bytes(),
               "the report covers all registered memory");
        // No rank waits for the others before it leaves.
        double last = comm.rank() == 0 ? 1.5 : 0;
        comm.broadcast(last, chorale::root{0});
        expect(last == 1.5, "the last broadcast");
      });
    }
  }
}

TEST_CASE("each message takes the lane of its receiver", "[lanes]") {
  if (left_out_in_virtual_time("it has no soft0")) return;
  run_beside_adapter(5, with_places("2,3"), [](chorale::communicator<>& comm) {
    const auto& links = comm.transport().parts().links();
    for (int r = 0; r < comm.size(); ++r)
      if (r != comm.rank())
        expect(links.is_near(r) == (comm.hosts().of(r) == comm.hosts().of(comm.rank())),
               "the lane to a rank");
    check_blocks(comm, 10);
    for (int r = 0; r < comm.size(); ++r) {
      const auto* c = r == comm.rank() ? nullptr : links.find(r);
      if (c == nullptr || !c->qp) continue;
      const auto& over = links.is_near(r) ? *near_port(comm) : comm.transport().core().port();
      expect(c->qp->native()->context == over.device().native(), "the device of a connection");
    }
  });
}

TEST_CASE("a message to ranks of both lanes is staged once for each lane", "[lanes]") {
  if (left_out_in_virtual_time("it has no soft0")) return;
  using flat = chorale::communicator<rc, chorale::broadcast::flat>;
  auto c = with_places("3,2");
  // Longer messages than soft0 takes inline.
  c.block_bytes = 32768;
  c.zero_copy_bytes = std::size_t{1} << 30;
  run_beside_adapter<flat>(5, c, [](flat& comm) {
    constexpr std::uint64_t calls = 40;
    std::vector<std::uint64_t> all(2500);
    for (std::uint64_t call = 0; call < calls; ++call) {
      for (std::size_t i = 0; i < all.size(); ++i) all[i] = comm.rank() == 0 ? number_of(0, 1, i + call) : 0;
      comm.broadcast(std::span{all}, chorale::root{0});
      for (std::size_t i = 0; i < all.size(); ++i)
        expect(all[i] == number_of(0, 1, i + call), "broadcast over two lanes");
    }
    expect(comm.transport().parts().mailbox().figures().staged_copies == (comm.rank() == 0 ? 2 * calls : 0),
           "a copy for each lane");
  });
}

TEST_CASE("memory for ranks of one lane is registered with its device alone", "[lanes]") {
  if (left_out_in_virtual_time("it has no soft0")) return;
  run_beside_adapter(4, with_places("2x2"), [](chorale::communicator<>& comm) {
    auto& net = comm.transport();
    auto& of = chorale::levels<rc>::of(net);
    const auto has_keys = [](const auto& memory, bool far, bool near) {
      const chorale::remote_region region = memory.region();
      expect((region.key != 0) == far, "a key of the adapter");
      expect((region.near_key != 0) == near, "a key of soft0");
    };
    std::vector<std::byte> bytes(40'000);
    // Registrations asked of the adapter: its cache is what the transport reports.
    const auto asked = [&] { return net.registrations().hits + net.registrations().misses; };
    const auto before = asked();
    has_keys(of.inside().expose(bytes), false, true);
    has_keys(of.inside().offer(bytes), false, true);
    has_keys(of.inside().lend(bytes), false, true);
    has_keys(of.inside().keep(bytes.size()), false, true);
    expect(asked() == before, "the adapter is not asked for memory of a place");
    has_keys(of.between().expose(bytes), true, false);
    has_keys(of.between().keep(bytes.size()), true, false);
    expect(asked() == before + 1, "the adapter is asked for memory between places");
    has_keys(net.expose(bytes), true, true);
    comm.barrier();
  });
}

TEST_CASE("a job of one place uses soft0 alone, and says so", "[lanes]") {
  if (left_out_in_virtual_time("it has no soft0")) return;
  for (const int size : {2, 3, 5})
    run_beside_adapter(size, with_places(""), [](chorale::communicator<>& comm) {
      expect(near_port(comm) == nullptr, "one lane");
      expect(comm.transport().chosen().device.name == "soft0", "soft0");
      expect(comm.transport().chosen().why.find(adapter::name) != std::string::npos, "the adapter is named");
      expect(comm.transport().maps_memory(), "all ranks map each other's memory");
      expect(comm.transport().maps_within_place(), "and so those of the place");
      check_blocks(comm, 100);
      check_window(comm);
    });
}

TEST_CASE("a job with one rank in each place, and one without near lanes, use the adapter alone", "[lanes]") {
  if (left_out_in_virtual_time("it has no soft0")) return;
  for (const char* places : {"4x1", "2x2"}) {
    auto c = with_places(places);
    if (std::string{places} == "2x2") c.near = chorale::near_policy::off;
    run_beside_adapter(4, c, [](chorale::communicator<>& comm) {
      expect(near_port(comm) == nullptr, "one lane");
      expect(comm.transport().chosen().device.name == adapter::name, "the adapter");
      expect(!comm.transport().maps_within_place(), "an adapter maps nothing");
      check_blocks(comm, 100);
    });
  }
}

TEST_CASE("parts of a communicator have the lanes of their own ranks", "[lanes]") {
  if (left_out_in_virtual_time("it has no soft0")) return;
  run_beside_adapter(5, with_places("2,3"), [](chorale::communicator<>& comm) {
    auto host = comm.split_by_host();
    expect(host.transport().chosen().device.name == "soft0", "a place uses soft0");
    check_blocks(host, 100);
    // Ranks 0 and 2 and 4, of which the last two are neighbours.
    auto even = comm.split(comm.rank() % 2);
    if (comm.rank() % 2 == 0) expect((near_port(*even) != nullptr) == (comm.rank() > 0), "lanes of a part");
    check_blocks(*even, 100);
    check_window(*even);
  });
}

TEST_CASE("over hybrid, ranks of a place have connections beyond its limit", "[lanes]") {
  if (left_out_in_virtual_time("it has no soft0")) return;
  using over_hybrid = chorale::communicator<chorale::transport::hybrid<1>>;
  for (const char* const places : {"3,2", "1,3,1"}) {
    run_beside_adapter<over_hybrid>(5, with_places(places), [](over_hybrid& comm) {
      const auto& layout = comm.hosts();
      const auto neighbours = static_cast<int>(layout.members(layout.of(comm.rank())).size()) - 1;
      expect((near_port(comm) != nullptr) == (neighbours > 0), "a lane to the place");
      // Datagrams carry its atomic operations, so that there are no connections for these.
      const std::uint64_t each = comm.transport().memory().bytes_per_peer;
      std::uint64_t all = each;
      comm.allreduce(chorale::in_place, std::span{&all, 1}, chorale::max);
      expect(each == all, "a peer costs a rank with two lanes as much as one that is alone in its place");
      for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{3000}})
        check_blocks(comm, count);
      check_window(comm);
      comm.barrier();
      expect(comm.transport().connections() >= neighbours, "connections to all ranks of the place");
    });
  }
}

TEST_CASE("a rank that cannot open soft0 is alone in its place", "[lanes]") {
  if (left_out_in_virtual_time("it has no soft0")) return;
  std::array<std::string, 4> remarks;
  run_anywhere(4, [&](auto& group) {
    const adapter::present devices{group.rank() != 2};
    chorale::communicator<> comm{group, with_places("")};
    const bool is_alone = comm.hosts().members(comm.hosts().of(comm.rank())).size() == 1;
    expect(is_alone == (comm.rank() == 2), "the places");
    check_blocks(comm, 100);
    for (const std::string& text : comm.transport().chosen().remarks)
      remarks[static_cast<std::size_t>(comm.rank())] += text;
  });
  CHECK(remarks[2].find("rank 2 is alone in its place") != std::string::npos);
  CHECK(remarks[1].empty());
}

TEST_CASE("ranks that do not agree on near lanes are told so", "[lanes]") {
  if (left_out_in_virtual_time("it has no soft0")) return;
  std::array<std::optional<chorale::error>, 3> seen;
  run_anywhere(3, [&](auto& group) {
    auto c = with_places("1,2");
    if (group.rank() == 1) c.near = chorale::near_policy::off;
    const adapter::present both;
    seen[static_cast<std::size_t>(group.rank())] = support::error_of([&] {
      chorale::communicator<>{group, c};
    });
  });
  for (const auto& one : seen) {
    REQUIRE(one);
    INFO(one->what());
    CHECK(std::string{one->what()}.find("CHORALE_NEAR") != std::string::npos);
  }
}
