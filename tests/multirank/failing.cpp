// SPDX-License-Identifier: Apache-2.0
// Ranks of which one misbehaves; each records what it observes. The driver is failures.py. Usage: failing
// FOLDER SCENARIO VICTIM [OPERATION]; CHORALE_TEST_TRANSPORT=rc|ud|ud_rdma|hybrid, or, for SCENARIO
// kill-among-blocks alone, rc_send_receive|collected (rc with the collective buffer of P4); SCENARIO
// kill-among-long-calls is for rc alone, its OPERATION the numbers of a block; CHORALE_TEST_SEED for the
// moment of death, CHORALE_TEST_ABSENCE_MS for how long a rank stays away.
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <functional>
#include <memory>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>

#include <chorale/algorithm/allgather/recursive_doubling.hpp>
#include <chorale/chorale.hpp>
#include <chorale/transport/hybrid.hpp>
#include <chorale/transport/rc_send_receive.hpp>
#include <chorale/transport/ud_rdma.hpp>
#include <chorale/window.hpp>

#include "../support/collectives/checks.hpp"
#include "../support/collectives/exchange_checks.hpp"
#include "../support/collectives/reducing_checks.hpp"
#include "../support/collectives/rooted_checks.hpp"
#include "journal.hpp"

using namespace std::chrono_literals;
using multirank::journal;

namespace {

struct task {
  std::string scenario;
  int victim = -1;
  std::string operation = "barrier";
};

/// One call; `variant` makes it differ from that of the other ranks.
template <class Comm>
void call(Comm& comm, const std::string& operation, const std::string& variant = {}) {
  std::vector<int> data(variant == "bytes" ? 1001 : 1000, 1);
  const std::span all{data};
  const int root = variant == "root" ? 1 : 0;
  if (operation == "barrier") return comm.barrier();
  if (operation == "broadcast") return comm.broadcast(all, chorale::root{root});
  if (operation == "allreduce") {
    if (variant == "operator") return comm.allreduce(chorale::in_place, all, chorale::max);
    if (variant == "type") {
      std::vector<float> other(1000);
      return comm.allreduce(chorale::in_place, std::span{other}, chorale::sum);
    }
    return comm.allreduce(chorale::in_place, all, chorale::sum);
  }
  if (operation == "reduce")
    return comm.reduce(std::span<const int>{all}, all, chorale::sum, chorale::root{root});
  if (operation == "nonblocking") {
    std::vector<int> more(data);
    auto first = comm.iallreduce(chorale::in_place, all, chorale::sum);
    // Each call needs every rank: in a broadcast, the algorithm would decide whether another rank waits for a
    // leaf.
    auto second = comm.iallreduce(chorale::in_place, std::span{more}, chorale::sum);
    auto third = comm.ibarrier();
    third.wait();
    second.wait();
    return first.wait();
  }
  if (operation == "plan") {
    std::vector<int> more(data);
    auto first = comm.plan_allreduce(chorale::in_place, all, chorale::sum);
    auto second = comm.plan_allreduce(chorale::in_place, more, chorale::sum);
    auto third = comm.plan_barrier();
    for (int round = 0; round < 3; ++round) {
      if (round == 1) third.run();
      first.start();
      try {
        second.start();
      } catch (const chorale::error&) {
        // The first call has failed meanwhile, and throws the reason.
        first.wait();
        throw;
      }
      second.wait();
      first.wait();
    }
    return;
  }
  throw std::invalid_argument("no operation '" + operation + "'");
}

/// One call whose result is checked; true if it is correct.
template <class Comm>
bool is_right(Comm& comm, const std::string& operation) {
  if (operation == "allreduce")
    return comm.allreduce(comm.rank() + 1, chorale::sum) == comm.size() * (comm.size() + 1) / 2;
  if (operation == "split") {
    auto part = comm.split(comm.rank() % 2, chorale::key{-comm.rank()});
    return part->allreduce(1, chorale::sum) == (comm.size() + 1 - comm.rank() % 2) / 2;
  }
  if (operation == "fence") {
    if constexpr (chorale::atomic_transport<typename Comm::transport_type>) {
      std::vector<int> cell(1, -1);
      chorale::window window{comm, std::span{cell}};
      const int mine = comm.rank();
      window.put((comm.rank() + 1) % comm.size(), 0, std::span<const int>{&mine, 1});
      window.fence();
      return cell[0] == (comm.rank() + comm.size() - 1) % comm.size();
    }
  }
  call(comm, operation);
  return true;
}

/// How long the victim stays away from all calls.
std::chrono::milliseconds absence() {
  const char* given = std::getenv("CHORALE_TEST_ABSENCE_MS");
  return std::chrono::milliseconds{given != nullptr ? std::strtol(given, nullptr, 0) : 3000};
}

/// Kills this process after a few milliseconds, at an arbitrary point.
void die_soon() {
  const char* given = std::getenv("CHORALE_TEST_SEED");
  std::mt19937 generator{given != nullptr ? static_cast<unsigned>(std::strtoul(given, nullptr, 0))
                                          : std::random_device{}()};
  std::thread{[after = std::chrono::microseconds{20'000 + generator() % 60'000}] {
    std::this_thread::sleep_for(after);
    kill(getpid(), SIGKILL);
  }}.detach();
}

/// Stops this process until others have given up.
void stop_for(std::chrono::milliseconds time) {
  const auto command = fmt::format("(sleep {}; kill -CONT {}) </dev/null >/dev/null 2>&1 &",
                                   static_cast<double>(time.count()) / 1000, getpid());
  if (std::system(command.c_str()) != 0) throw std::runtime_error("no shell to wake this process");
  kill(getpid(), SIGSTOP);
}

template <class Comm>
void act(std::unique_ptr<Comm>& comm, const task& t, journal& book) {
  const bool is_victim = comm->rank() == t.victim;
  const auto repeat = [&] {
    for (const auto end = chorale::clock::now() + 50s; chorale::clock::now() < end;) call(*comm, t.operation);
  };
  if (t.scenario == "kill") {  // in the middle of calls
    if (is_victim) die_soon();
    repeat();
  } else if (t.scenario == "kill-first") {  // before its first call
    if (is_victim) kill(getpid(), SIGKILL);
    repeat();
  } else if (t.scenario == "never") {  // makes no calls until the others' deadline is over
    comm->barrier();
    if (is_victim)
      std::this_thread::sleep_for(comm->transport().settings().deadline + 2s);
    else
      repeat();
  } else if (t.scenario == "stop" || t.scenario == "sleep") {  // stopped, including its service thread
    comm->barrier();
    if (is_victim && t.scenario == "stop")
      stop_for(absence());
    else if (is_victim)
      std::this_thread::sleep_for(absence());
    book.note(is_right(*comm, t.operation) && is_right(*comm, "allreduce") ? "right" : "wrong");
  } else if (t.scenario == "sleep-kill") {  // one sleeps, and the next one dies in its wait
    comm->barrier();
    const auto begin = chorale::clock::now();
    if (comm->rank() == (t.victim + 1) % comm->size()) die_soon();
    if (is_victim) std::this_thread::sleep_for(absence());
    try {
      is_right(*comm, t.operation);
      // All data that the sleeping rank needs may have been sent before.
      comm->barrier();
    } catch (const chorale::error&) {
      const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(chorale::clock::now() - begin);
      book.note(fmt::format("{} {}", is_victim ? "slept" : "took", took.count()));
      throw;
    }
  } else if (t.scenario == "late") {  // the root is stopped while the others reduce and leave
    std::vector<long> data(3000, comm->rank() + 1);
    comm->barrier();
    if (is_victim) stop_for(absence());
    comm->reduce(std::span<const long>{data}, std::span{data}, chorale::sum, chorale::root{t.victim});
    const long expected = static_cast<long>(comm->size()) * (comm->size() + 1) / 2;
    if (is_victim) book.note(data == std::vector<long>(data.size(), expected) ? "right" : "wrong");
    comm.reset();
    book.note("left");
  } else if (t.scenario.starts_with("mismatch-")) {
    const auto kind = t.scenario.substr(9);
    if (kind == "operation")
      call(*comm, is_victim ? "allreduce" : t.operation);
    else
      call(*comm, t.operation, is_victim ? kind : "");
    comm->barrier();
  } else if (t.scenario == "leave") {  // destroys its communicator early
    comm->barrier();
    if (is_victim) {
      comm.reset();
      book.note("left");
      return;
    }
    repeat();
  } else if (t.scenario == "root") {
    for (const int root : {-1, comm->size()}) {
      try {
        int x = 0;
        comm->broadcast(x, chorale::root{root});
        book.note("accepted");
      } catch (const chorale::error& e) {
        book.failure(e);
      }
    }
    call(*comm, "allreduce");
  } else if (t.scenario != "nothing") {
    throw std::invalid_argument("no scenario '" + t.scenario + "'");
  }
}

/// Blocks of call number `round`: an alltoall of long blocks, each by rendezvous; or blocks of all ranks,
/// through the collective buffer.
template <class Comm>
void move_blocks(Comm& comm, int round) {
  constexpr bool by_rendezvous = chorale::message_transport<typename Comm::transport_type>;
  constexpr std::size_t block = by_rendezvous ? 25'000 : 1000;
  const auto size = static_cast<std::size_t>(comm.size());
  const auto content = [&](std::size_t rank) { return static_cast<int>(rank) + 100 * round; };
  const std::vector<int> mine(by_rendezvous ? size * block : block,
                              content(static_cast<std::size_t>(comm.rank())));
  std::vector<int> all(size * block, -1);
  if constexpr (by_rendezvous)
    comm.alltoall(std::span<const int>{mine}, std::span{all});
  else
    comm.allgather(std::span<const int>{mine}, std::span{all});
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i] != content(i / block))
      throw std::runtime_error(
          fmt::format("round {}: {} of rank {}'s block is {}", round, i % block, i / block, all[i]));
}

/// Runs `act` with a communicator; after a failure makes two more calls.
template <class Comm, class Act>
void run(journal& book, const Act& act) {
  auto comm = std::make_unique<Comm>();
  book.note(fmt::format("ready {}", comm->size()));
  book.note("launched " + comm->launcher());
  if (comm->is_singleton()) book.note("no launcher");
  const auto try_it = [&](const std::function<void()>& what) {
    try {
      what();
      return true;
    } catch (const chorale::error& e) {
      book.failure(e);
      return false;
    }
  };
  if (try_it([&] { act(comm); })) return book.note("finished");
  try_it([&] { static_cast<void>(comm->allreduce(1, chorale::sum)); });
  try_it([&] { comm->ibarrier().wait(); });
}

template <class Transport>
void run_scenario(const task& t, journal& book) {
  using comm_type = chorale::communicator<Transport>;
  run<comm_type>(book, [&](std::unique_ptr<comm_type>& comm) { act(comm, t, book); });
}

/// Moves blocks repeatedly; the victim dies in the middle.
template <class Comm>
void run_blocks(const task& t, journal& book) {
  if (t.scenario != "kill-among-blocks") throw std::invalid_argument("no scenario '" + t.scenario + "'");
  run<Comm>(book, [&](std::unique_ptr<Comm>& comm) {
    if (comm->rank() == t.victim) die_soon();
    const auto end = chorale::clock::now() + 50s;
    for (int round = 1; chorale::clock::now() < end; ++round) move_blocks(*comm, round);
  });
}

/// One call of each operation on blocks of `count` numbers, long enough for ranks to read and write each
/// other's memory. A call may fail if a rank dies, but a call that returns must have the correct result on
/// this rank.
template <class Comm>
void check_all(Comm& comm, std::size_t count, int round) {
  using number = std::uint64_t;
  const int root = round % comm.size();
  const auto seed = static_cast<std::uint64_t>(round);
  collectives::check_broadcast<number>(comm, count, root, seed);
  collectives::check_reduce<number>(comm, count, root, chorale::sum, seed);
  collectives::check_allreduce<number>(comm, count, chorale::sum, seed);
  collectives::check_scan<number>(comm, count, chorale::sum, true, seed);
  collectives::check_reduce_scatter<number>(comm, count, chorale::sum, seed);
  collectives::check_allgather<number>(comm, count, seed);
  collectives::check_gather<number>(comm, count, root, seed);
  collectives::check_scatter<number>(comm, count, root, seed);
  collectives::check_alltoall<number>(comm, count, seed);
}

/// Moves blocks in one operation after another; the victim dies meanwhile.
template <class Comm>
void run_long_calls(const task& t, journal& book) {
  run<Comm>(book, [&](std::unique_ptr<Comm>& comm) {
    if (comm->rank() == t.victim) die_soon();
    const std::size_t count = std::stoul(t.operation);
    const auto end = chorale::clock::now() + 50s;
    for (int round = 1; chorale::clock::now() < end; ++round) check_all(*comm, count, round);
  });
}

}  // namespace

int main(int count, char** words) {
  if (count < 4) return 2;
  journal book{words[1]};
  task t{words[2], std::atoi(words[3])};
  if (count > 4) t.operation = words[4];
  try {
    const char* transport = std::getenv("CHORALE_TEST_TRANSPORT");
    const std::string_view name = transport != nullptr ? transport : "rc";
    if (name == "ud")
      run_scenario<chorale::transport::ud>(t, book);
    else if (name == "ud_rdma")
      run_scenario<chorale::transport::ud_rdma>(t, book);
    else if (name == "hybrid")
      run_scenario<chorale::transport::hybrid<2>>(t, book);
    else if (name == "rc_send_receive")
      run_blocks<chorale::communicator<chorale::transport::rc_send_receive>>(t, book);
    else if (name == "collected")
      run_blocks<
          chorale::communicator<chorale::transport::rc, chorale::allgather::recursive_doubling_at<65'536>>>(
          t, book);
    else if (t.scenario == "kill-among-long-calls")
      run_long_calls<chorale::communicator<>>(t, book);
    else
      run_scenario<chorale::transport::rc>(t, book);
  } catch (const chorale::error& e) {
    book.failure(e);
  } catch (const std::exception& e) {
    book.note(fmt::format("exception {}", e.what()));
  }
  book.note("end");
  return 0;
}
