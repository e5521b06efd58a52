// SPDX-License-Identifier: Apache-2.0
// Long messages from and into memory that the device refuses to register.
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <chorale/algorithm/broadcast/flat.hpp>
#include <chorale/algorithm/transfer.hpp>
#include <chorale/transport/hybrid.hpp>
#include <chorale/transport/rc.hpp>
#include <chorale/transport/rc_send_receive.hpp>
#include <chorale/window.hpp>

#include "../misuse/harness.hpp"
#include "../support/in_call.hpp"
#include "../support/mapped_file.hpp"
#include "../verbs/soft_environment.hpp"
#include "ranks.hpp"

using namespace inprocess;
using chorale::long_send_policy;
using support::in_call;
using over_messages = chorale::communicator<chorale::transport::rc_send_receive>;
using over_hybrid = chorale::communicator<chorale::transport::hybrid<2>>;
/// A communicator in which only the size of a message determines how it is transferred.
using by_size = chorale::communicator<chorale::transport::rc, chorale::broadcast::flat>;

namespace {

chorale::config with(long_send_policy how) {
  auto c = settings();
  c.send_receive_eager_bytes = 1000;
  c.send_receive_block_bytes = 256;
  c.send_receive_long = how;
  c.blocks = 2;
  return c;
}

/// With these variables, devices refuse to register files.
const std::map<std::string, std::string> refused_files{{"CHORALE_SOFT_PROFILE", "refuse_registration=files"}};

std::byte value(int from, std::size_t length, std::size_t i) {
  return static_cast<std::byte>(i * 7 + length + static_cast<std::size_t>(from));
}

/// The outcome of a broadcast into memory that the device refuses at rank 1.
template <class Comm>
std::vector<misuse::outcome> into_a_file(const chorale::config& c, std::size_t count) {
  return misuse::run<Comm>(2, c, [count](Comm& comm) {
    const support::mapped_file file{count * sizeof(int)};
    std::vector<int> plain(count, 7);
    const std::span<int> there{reinterpret_cast<int*>(file.bytes().data()), count};
    comm.broadcast(comm.rank() == 0 ? std::span<int>{plain} : there, chorale::root{0});
    if (comm.rank() == 1 && there.back() != 7) throw std::runtime_error("it did not come");
  });
}

}  // namespace

TEST_CASE("memory that a device refuses is sent from and received into through blocks", "[baseline]") {
  if (left_out_in_virtual_time("sim0's profile is that of its machine")) return;
  const soft_test::variables set{refused_files};
  const std::vector<std::size_t> lengths{40'000, 700, 8193, 1001, 40'000};
  // The refused memory: that of the senders, of the receivers, or of every other rank.
  for (const auto way : {0, 1, 2}) {
    for (const auto short_ones : {chorale::eager_policy::receive_queue, chorale::eager_policy::rdma_write}) {
      auto c = with(long_send_policy::rendezvous);
      c.send_receive_eager = short_ones;
      INFO("way " << way << ", short ones " << static_cast<int>(short_ones));
      run_ranks<over_messages>(3, c, [&](over_messages& comm) {
        std::deque<support::mapped_file> files;
        std::deque<std::vector<std::byte>> plain;
        const auto place = [&](std::size_t bytes, int kind) -> std::span<std::byte> {
          const bool is_refused = way == 2 ? comm.rank() % 2 == 0 : way == kind;
          return is_refused ? files.emplace_back(bytes).bytes() : std::span{plain.emplace_back(bytes)};
        };
        const int next = (comm.rank() + 1) % 3;
        const int last = (comm.rank() + 2) % 3;
        std::vector<chorale::transfer::outbound_message> sends;
        std::vector<chorale::transfer::inbound_message> receives;
        for (const std::size_t length : lengths) {
          const auto source = place(length, 0);
          for (std::size_t i = 0; i < length; ++i) source[i] = value(comm.rank(), length, i);
          sends.push_back({next, source});
          receives.push_back({last, place(length, 1)});
        }
        in_call(comm, [&](auto& net, auto now) {
          return chorale::transfer::exchange_all(net, now, sends, receives);
        });
        for (const auto& one : receives)
          for (std::size_t i = 0; i < one.bytes.size(); ++i)
            if (one.bytes[i] != value(last, one.bytes.size(), i))
              throw std::runtime_error("byte " + std::to_string(i) + " of " +
                                       std::to_string(one.bytes.size()));
        comm.barrier();
      });
    }
  }
}

TEST_CASE("windows copy what they put from and get into memory that the device refuses", "[baseline]") {
  if (left_out_in_virtual_time("sim0's profile is that of its machine")) return;
  const soft_test::variables set{refused_files};
  run_ranks<over_hybrid>(2, settings(), [](over_hybrid& comm) {
    const int other = 1 - comm.rank();
    std::uint64_t refusals = 0;
    // Short memory is never registered; more than 1 MiB is copied in pieces.
    for (const std::size_t bytes : {8U, 257U, 10'000U, 2'500'003U}) {
      const support::mapped_file source{bytes};
      const support::mapped_file returned{bytes};
      std::vector<std::byte> plain(bytes);
      chorale::window<std::byte, over_hybrid> open{comm, std::span{plain}};
      for (std::size_t i = 0; i < bytes; ++i) source.bytes()[i] = value(comm.rank(), bytes, i);
      open.put(other, 0, std::span<const std::byte>{source.bytes()});
      open.fence();
      open.get(other, 0, returned.bytes());
      for (std::size_t i = 0; i < bytes; ++i) {
        expect(plain[i] == value(other, bytes, i), "byte " + std::to_string(i) + " was put wrong");
        expect(returned.bytes()[i] == value(comm.rank(), bytes, i),
               "byte " + std::to_string(i) + " was got wrong");
      }
      open.fence();
      if (bytes > 256) refusals += 2;
      expect(comm.transport().registrations().refusals == refusals, "another number of refusals");
    }
  });
  const auto refused = misuse::run<by_size>(2, misuse::settings(), [](by_size& comm) {
    const support::mapped_file file{4096};
    const chorale::window<std::byte, by_size> open{comm, file.bytes()};
  });
  INFO(misuse::describe(refused));
  CHECK(refused[0].says({"Bad address", "is no window: use elements"}));
}

TEST_CASE("if refused memory is an error, its remedy works", "[baseline]") {
  if (left_out_in_virtual_time("sim0's profile is that of its machine")) return;
  auto set = std::make_unique<soft_test::variables>(refused_files);
  const auto check = [](const std::vector<misuse::outcome>& refused, const std::string& remedy,
                        const std::vector<misuse::outcome>& mended) {
    INFO(misuse::describe(refused) << "\nmended:\n" << misuse::describe(mended));
    CHECK(refused[0].failed());
    CHECK(refused[1].says({"Bad address", remedy}));
    CHECK_FALSE((mended[0].failed() || mended[1].failed()));
  };
  check(into_a_file<over_messages>(with(long_send_policy::serial), 10'000),
        "CHORALE_SEND_RECEIVE_LONG=rendezvous",
        into_a_file<over_messages>(with(long_send_policy::rendezvous), 10'000));
  auto straight = misuse::settings();
  straight.zero_copy_bytes = 65536;
  auto copied = straight;
  copied.zero_copy_bytes = 1'099'511'627'776;
  // Nor does the device take a copy, since no more memory can be locked.
  set.reset();
  const soft_test::variables limited{
      std::map<std::string, std::string>{{"CHORALE_SOFT_PROFILE", "refuse_registration=files,locked=8M"}}};
  check(into_a_file<by_size>(straight, 3'000'000), "CHORALE_ZERO_COPY_BYTES=1099511627776",
        into_a_file<by_size>(copied, 3'000'000));
}
