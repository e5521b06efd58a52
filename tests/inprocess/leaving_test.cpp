// SPDX-License-Identifier: Apache-2.0
// Ranks that end their communicators: their sent data is not lost, mismatching calls are named, and the
// service thread does not delay them.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <fcntl.h>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

#include <chorale/transport/rc.hpp>
#include <chorale/transport/ud.hpp>
#include <chorale/transport/wire/datagram_port.hpp>
#include <chorale/transport/wire/service.hpp>

#include "bare.hpp"
#include "policies.hpp"
#include "ranks.hpp"

using namespace inprocess;
using namespace std::chrono_literals;
using chorale::errc;
using chorale::error;
using chorale::transport::rc;
using chorale::transport::ud;

namespace {

/// Sleeps until `flag` is set or `longest` is over.
void await(const std::atomic<bool>& flag, std::chrono::milliseconds longest) {
  const auto give_up = chorale::clock::now() + longest;
  while (!flag && chorale::clock::now() < give_up) chorale::clock::sleep_for(1ms);
}

/// The process's standard error during `action`.
template <class Action>
std::string errors_during(Action&& action) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file{std::tmpfile(), &std::fclose};
  REQUIRE(file);
  const int before = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
  REQUIRE(before >= 0);
  REQUIRE(dup2(fileno(file.get()), STDERR_FILENO) >= 0);
  struct restore {
    int stream;
    ~restore() {
      dup2(stream, STDERR_FILENO);
      close(stream);
    }
  };
  {
    const restore afterwards{before};
    action();
  }
  std::string text;
  std::rewind(file.get());
  for (int c = std::fgetc(file.get()); c != EOF; c = std::fgetc(file.get())) text += static_cast<char>(c);
  return text;
}

/// The same, while each of `size` ranks runs `body(comm)` and leaves.
template <class Comm>
std::string errors_of_leaving(int size, const std::function<void(Comm&)>& body) {
  return errors_during([&] {
    run_anywhere(size, [&](auto& group) {
      Comm comm{group, settings()};
      body(comm);
    });
  });
}

bool has(const std::string& text, const std::string& words) {
  return text.find(words) != std::string::npos;
}

}  // namespace

TEST_CASE("a leaving rank waits for one that computes and cannot answer, however long", "[leaving]") {
  // Without a service thread, silence is no sign of death.
  auto c = settings();
  c.service = chorale::service_policy::off;
  c.silence = 150ms;
  std::atomic<bool> left{false};
  bool was_alone = false;
  int value = 0;
  run_anywhere(2, [&](auto& group) {
    {
      standard<ud> comm{group, c};
      int data = comm.rank() == 1 ? 4711 : 0;
      if (comm.rank() == 0) {
        await(left, 1500ms);
        was_alone = left;
      }
      comm.broadcast(data, chorale::root{1});
      if (comm.rank() == 0) value = data;
    }
    if (group.rank() == 1) left = true;
  });
  CHECK_FALSE(was_alone);
  CHECK(value == 4711);
}

TEMPLATE_TEST_CASE("ranks that only send and leave hear that their calls did not match", "[leaving]",
                   standard<rc>, standard<ud>) {
  SECTION("both are roots") {
    const std::string said = errors_of_leaving<TestType>(2, [](auto& comm) {
      int data = 1;
      comm.broadcast(data, chorale::root{comm.rank()});
    });
    INFO(said);
    CHECK(has(said, "call 1 is broadcast of 4 bytes with root"));
    CHECK((has(said, "root 0 against 1") || has(said, "root 1 against 0")));
  }
  SECTION("one makes a call more") {
    for (const int size : {2, 3, 5}) {
      const std::string said = errors_of_leaving<TestType>(size, [](auto& comm) {
        comm.barrier();
        if (comm.rank() == comm.size() - 1) comm.exchange({}, {});
      });
      INFO(size << " ranks: " << said);
      CHECK((has(said, "2 calls were made here and 1 there") || has(said, "1 calls were made here and 2")));
      CHECK(has(said, "the last of which is exchange"));
    }
  }
  SECTION("they match") {
    for (const int size : {1, 2, 3, 5}) {
      const std::string said = errors_of_leaving<TestType>(size, [](auto& comm) {
        for (int root = 0; root < comm.size(); ++root) {
          int data = 1;
          comm.broadcast(data, chorale::root{root});
          comm.ibarrier().wait();
          static_cast<void>(comm.split(comm.rank() % 2, chorale::key{0}));
        }
      });
      CHECK(said.empty());
    }
  }
  SECTION("an error has already reported it") {
    const std::string said = errors_of_leaving<TestType>(2, [](auto& comm) {
      try {
        if (comm.rank() == 0)
          comm.barrier();
        else
          static_cast<void>(comm.allreduce(1, chorale::sum));
        comm.barrier();
      } catch (const error&) {
      }
    });
    CHECK(said.empty());
  }
}

TEMPLATE_TEST_CASE("a message that does not belong here is named though its sender has left", "[leaving]",
                   standard<rc>, standard<ud>) {
  std::atomic<bool> left{false};
  std::optional<error> failure;
  run_anywhere(2, [&](auto& group) {
    {
      TestType comm{group, settings()};
      comm.barrier();
      int data = 1;
      if (comm.rank() == 0) {
        comm.broadcast(data, chorale::root{0});
      } else {
        await(left, 10s);
        failure = support::error_of([&] { static_cast<void>(comm.allreduce(1.0, chorale::sum)); });
      }
    }
    if (group.rank() == 0) left = true;
  });
  REQUIRE(failure);
  INFO(failure->what());
  CHECK(failure->code() == errc::mismatch);
  CHECK(has(failure->what(), "broadcast of 4 bytes with root 0"));
  CHECK(has(failure->what(), "allreduce of 8 bytes"));
}

TEST_CASE("the farewell of a rank known to have left by its mark in memory is read", "[leaving]") {
  if (left_out_in_virtual_time("one thread drives all ranks")) return;
  team all{2, team::patient(), false};
  all[0].begin({.what = chorale::operation::broadcast, .root = 0, .bytes = 4});
  all[0].leave();
  const auto now = all[1].begin({.what = chorale::operation::allreduce, .bytes = 8});
  all[1].liveness().leave(0);
  const auto failure = support::error_of([&] { all[1].inquiry().mismatch(0, now); });
  REQUIRE(failure);
  INFO(failure->what());
  CHECK(has(failure->what(), "broadcast of 4 bytes with root 0"));
}

TEST_CASE("a service thread ends after an event of a destroyed queue", "[leaving]") {
  if (left_out_in_virtual_time("the service is a thread of the test")) return;
  team one{1, team::patient(), false};
  const auto& device = one[0].port().device();
  chorale::verbs::completion_channel channel{device};
  chorale::transport::device_port at{one[0].port().opened(), one[0].port().local()};
  at.add_peer(one[0].port().local().address);
  const auto make_port = [&] {
    auto port = std::make_unique<chorale::transport::datagram_port>(
        at, 1,
        chorale::transport::datagram_port::options{
            .payload_bytes = 256, .receives = 8, .sends = 8, .channel = &channel});
    port->open(0x1234);
    port->add_peer(port->number());
    return port;
  };
  const auto raise_event = [](chorale::transport::datagram_port& port) {
    port.arm();
    const std::byte byte{1};
    REQUIRE(port.send(0, {std::span{&byte, 1}}, true));
    port.drain(5s);
  };
  const auto lasting = make_port();
  {
    const auto gone = make_port();
    raise_event(*gone);
    REQUIRE(channel.wait_for(5s));
  }
  chorale::transport::service_lock lock;
  lock.share();
  std::atomic<bool> failed{false};
  std::atomic<int> served{0};
  auto thread = std::make_unique<chorale::transport::service>(
      channel, lock, chorale::service_policy::event,
      chorale::transport::service::work{[&] { lasting->arm(); }, [&] { ++served; },
                                        [&](std::exception_ptr) { failed = true; }});
  support::await("a request is served", [&] { return served != 0; });
  chorale::clock::sleep_for(50ms);
  std::atomic<bool> ended{false};
  std::thread ending{[&] {
    thread.reset();
    ended = true;
  }};
  await(ended, 5s);
  const bool in_time = ended;
  // If the thread is blocked by the event of the destroyed queue, a valid event releases it.
  if (!in_time) raise_event(*lasting);
  ending.join();
  CHECK(in_time);
  CHECK_FALSE(failed);
}
