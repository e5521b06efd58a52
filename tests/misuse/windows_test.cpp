// SPDX-License-Identifier: Apache-2.0
// Windows and device arrays: incorrect calls are rejected, and no rank accesses memory of one that has ended.
#include <atomic>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <stdexcept>
#include <thread>
#include <vector>

#include <chorale/window.hpp>

#include "window_checks.hpp"

using chorale::errc;
using chorale::error;
using chorale::window;
using namespace misuse::windows;
using namespace std::chrono_literals;

TEMPLATE_TEST_CASE("what a window cannot do is refused before anything is sent", "[misuse]",
                   MISUSE_TRANSPORTS) {
  for (const int size : misuse::group_sizes) {
    check_all_right(misuse::run<TestType>(size, [](auto& comm) {
      using comm_type = std::remove_reference_t<decltype(comm)>;
      const auto last = static_cast<std::size_t>(comm.size() - 1);
      // Rank 1 exposes nothing, the others four elements.
      std::vector<number> memory(comm.rank() == 1 ? 0 : 4, untouched);
      window w{comm, std::span{memory}, 2};
      const std::vector<number> two{1, 2};
      const std::span<const number> source{two};
      std::vector<number> into(2);
      const std::string me = "on rank " + std::to_string(comm.rank());
      const auto wrong = [&](const std::string& call, const std::string& why, auto&& action) {
        refused(errc::invalid_argument, {call, me, why}, action);
      };
      constexpr auto huge = std::numeric_limits<std::size_t>::max();
      constexpr std::size_t wraps = (std::size_t{1} << 61) + 1;  // eight times this is eight
      for (const std::size_t offset : {std::size_t{3}, std::size_t{5}, huge, huge - 1, wraps})
        wrong("put", "rank 0 exposes", [&] { w.put(0, offset, source); });
      wrong("get", "rank 0 exposes", [&] { w.get(0, wraps, std::span{into}); });
      wrong("get", "rank 1 exposes", [&] { w.get(1, 0, std::span{into}); });
      wrong("accumulate", "rank 0 exposes", [&] { w.accumulate(0, 3, source, chorale::sum); });
      wrong("get_accumulate", "old values of 2",
            [&] { w.get_accumulate(0, 0, source, std::span{into}.first(1), chorale::sum); });
      wrong("get_accumulate", "overlap", [&] {
        std::vector<number> both{1, 2, 3};
        w.get_accumulate(0, 0, std::span<const number>{both}.first(2), std::span{both}.last(2), chorale::sum);
      });
      wrong("fetch_and_op", "rank 0 exposes", [&] { w.fetch_and_op(0, 4, number{1}, chorale::sum); });
      wrong("compare_and_swap", "rank 1 exposes", [&] { w.compare_and_swap(1, 0, number{1}, number{2}); });
      wrong("put_notify", "made for 2", [&] { w.put_notify(0, 0, source, 2); });
      wrong("notified", "made for 2", [&] { static_cast<void>(w.notified(0, huge)); });
      wrong("wait_notified", "rank -2", [&] { w.wait_notified(-2, 0); });
      for (const int rank : {-1, comm.size(), std::numeric_limits<int>::min()}) {
        const std::string text = "rank " + std::to_string(rank) + " is not in 0.." + std::to_string(last);
        wrong("put", text, [&] { w.put(rank, 0, source); });
        wrong("get", text, [&] { w.get(rank, 0, std::span{into}); });
        wrong("flush", text, [&] { w.flush(rank); });
        wrong("fetch_and_op", text, [&] { w.fetch_and_op(rank, 0, number{1}, chorale::sum); });
        wrong("size", text, [&] { static_cast<void>(w.size(rank)); });
      }
      // Zero bytes at the end of the memory, and from empty memory, are valid.
      w.put(0, 4, source.first(0));
      w.put(1, 0, source.first(0));
      w.fence();
      for (const number n : memory) expect(n == untouched, "a refused call has written");
      refused(errc::invalid_argument, {"allocate", me},
              [&] { static_cast<void>(comm.template allocate<number>(huge / 8)); });
      window<float, comm_type> locked{comm, std::size_t{2}};
      locked.fence();
    }));
  }
}

TEMPLATE_TEST_CASE("no rank has a window if one cannot make its part", "[misuse]", MISUSE_TRANSPORTS) {
  constexpr auto huge = std::numeric_limits<std::size_t>::max();
  struct mistake {
    std::size_t count;
    std::size_t notifications;
    const char* word;
  };
  for (const int size : misuse::group_sizes) {
    const int victim = size - 1;
    for (const mistake& m :
         {mistake{huge / 4, 8, "more than there can be"}, mistake{std::size_t{1} << 45, 8, "no memory"},
          mistake{4, huge / 8, "notification ids"}}) {
      const auto all = misuse::run<TestType>(size, [&](auto& comm) {
        const bool mine = comm.rank() == victim;
        window<number, std::remove_reference_t<decltype(comm)>> w{comm, mine ? m.count : 4,
                                                                  mine ? m.notifications : 8};
      });
      INFO(misuse::describe(all));
      for (int r = 0; r < size; ++r) {
        const auto& one = all[static_cast<std::size_t>(r)];
        REQUIRE(one.failure);
        CHECK(one.says({"window", m.word, "rank " + std::to_string(victim)}));
        if (r != victim) CHECK(one.names(victim));
        CHECK(!one.later);
      }
    }
    const auto all = misuse::run<TestType>(size, [&](auto& comm) {
      window<number, std::remove_reference_t<decltype(comm)>> w{comm, std::size_t{4},
                                                                comm.rank() == victim ? 3U : 8U};
    });
    misuse::check_all_refused(all, errc::mismatch,
                              {"8 notifications", "with 3", "rank " + std::to_string(victim)});
  }
}

TEMPLATE_TEST_CASE("ranks that meet at different points of windows are told which", "[misuse]",
                   MISUSE_TRANSPORTS) {
  using comm_type = chorale::communicator<TestType>;
  for (const int size : misuse::group_sizes) {
    const auto told = [&](const misuse::outcomes& all, const std::vector<std::string>& words) {
      INFO(misuse::describe(all));
      for (const auto& one : all) {
        const std::string text = one.text();
        // The next call throws an error that a destructor has detected.
        CHECK((one.is(errc::mismatch) || (one.later && one.later->code() == errc::mismatch)));
        // A peer without a core for a while cannot answer which call it is in.
        const bool unknown = text.find("it is another one") != std::string::npos;
        for (const auto& word : words) CHECK((unknown || text.find(word) != std::string::npos));
      }
    };
    told(misuse::run<TestType>(size,
                               [](auto& comm) {
                                 window<number, comm_type> w{comm, std::size_t{1}};
                                 if (comm.rank() == 0)
                                   comm.barrier();
                                 else
                                   w.fence();
                               }),
         {"fence of window 1", "barrier"});
    told(misuse::run<TestType>(size,
                               [](auto& comm) {
                                 std::optional<window<number, comm_type>> one, two;
                                 one.emplace(comm, std::size_t{1});
                                 two.emplace(comm, std::size_t{1});
                                 (comm.rank() == 1 ? one : two).reset();
                               }),
         {"end of window 1", "end of window 2"});
    // Windows of different element types are counted together.
    told(misuse::run<TestType>(size,
                               [](auto& comm) {
                                 window<number, comm_type> one{comm, std::size_t{1}};
                                 window<float, comm_type> two{comm, std::size_t{1}};
                                 if (comm.rank() == 1)
                                   one.fence();
                                 else
                                   two.fence();
                               }),
         {"fence of window 1", "fence of window 2"});
    told(misuse::run<TestType>(size,
                               [](auto& comm) {
                                 if (comm.rank() == 1)
                                   comm.barrier();
                                 else
                                   window<number, comm_type>{comm, std::size_t{1}};
                               }),
         {"making of window 1", "barrier"});
  }
}

TEMPLATE_TEST_CASE("calls from inside an operator of a window are refused, and change nothing", "[misuse]",
                   MISUSE_TRANSPORTS) {
  for (const int size : misuse::group_sizes) {
    check_all_right(misuse::run<TestType>(size, [](auto& comm) {
      using comm_type = std::remove_reference_t<decltype(comm)>;
      window<float, comm_type> locked{comm, std::size_t{2}};
      window<number, comm_type> native{comm, std::size_t{2}};
      const int target = (comm.rank() + 1) % comm.size();
      const auto inside = [&](auto& w, auto one, auto&& action) {
        const auto op = [&](auto a, auto b) {
          action();
          return static_cast<decltype(one)>(a + b);
        };
        refused(errc::misuse, {"rank " + std::to_string(comm.rank())},
                [&] { w.fetch_and_op(target, 0, one, op); });
      };
      inside(locked, 1.0F, [&] { locked.fetch_and_op(target, 1, 1.0F, chorale::sum); });
      inside(locked, 1.0F, [&] { locked.flush(target); });
      inside(locked, 1.0F, [&] { native.fetch_and_op(target, 1, number{1}, chorale::sum); });
      inside(locked, 1.0F, [&] { comm.barrier(); });
      inside(native, number{1}, [&] {
        native.put(target, 1, std::span<const number>{}.first(0));
        native.flush_all();
      });
      inside(native, number{1}, [&] { locked.fence(); });
      inside(native, number{1}, [&] { window<number, comm_type>{comm, std::size_t{1}}; });
      native.fence();
      for (const float f : locked.local()) expect(f == 0, "an operator that failed has written");
      for (const number n : native.local()) expect(n == 0, "an operator that failed has written");
      native.fence();
      // The lock is free.
      locked.fetch_and_op(target, 0, 1.0F, chorale::sum);
      locked.fence();
      expect(locked.local()[0] == 1, "an addition is lost");
    }));
  }
}

TEMPLATE_TEST_CASE("windows and arrays may be kept longer than their communicator", "[misuse]",
                   MISUSE_TRANSPORTS) {
  for (const int size : misuse::group_sizes) {
    check_all_right(misuse::run<TestType>(size, [](auto& comm) {
      using comm_type = std::remove_reference_t<decltype(comm)>;
      for (const bool array_first : {true, false}) {
        std::vector<number> memory(4, 3);
        std::optional other{comm.duplicate()};
        auto array = other->template allocate<number>(1000);
        std::optional<window<number, comm_type>> given, own;
        given.emplace(*other, std::span{memory});
        own.emplace(*other, std::size_t{4});
        const int target = (comm.rank() + 1) % comm.size();
        own->fetch_and_op(target, 1, number{5}, chorale::sum);
        given->put(target, 0, array.span().first(1));
        own->fence();
        comm.barrier();
        other.reset();
        comm.barrier();
        array[999] = 7;
        expect(own->local()[1] == 5, "memory of a window has changed");
        own->local()[0] = 1;
        const std::string me = "rank " + std::to_string(comm.rank());
        for (auto* w : {&*given, &*own}) {
          refused(errc::misuse, {"window", me, "communicator has ended"}, [&] { w->fence(); });
          refused(errc::misuse, {"window", me, "communicator has ended"}, [&] { w->flush(target); });
          refused(errc::misuse, {"communicator has ended"},
                  [&] { w->put(target, 0, std::span<const number>{memory}); });
          refused(errc::misuse, {"communicator has ended"},
                  [&] { w->fetch_and_op(target, 0, number{1}, chorale::sum); });
          refused(errc::misuse, {"communicator has ended"},
                  [&] { static_cast<void>(w->notified(target, 0)); });
        }
        // A new communicator may use the array like any memory.
        comm.broadcast(array.span(), chorale::root{0});
        if (array_first) array = {};
        own.reset();
        given.reset();
      }
    }));
  }
}

TEMPLATE_TEST_CASE("peers reach the exposed bytes of a window and no other byte of their pages", "[misuse]",
                   MISUSE_TRANSPORTS) {
  // An access that the library's checks would prevent: the sent region was enlarged.
  for (const int beyond : {-8, 8}) {
    std::vector<number> memory(64, untouched);
    const auto all = misuse::run<TestType>(2, [&](auto& comm) {
      std::vector<number> own(64, 1);
      auto& net = comm.transport();
      const auto exposed = net.expose_alone(
          std::as_writable_bytes((comm.rank() == 0 ? std::span{memory} : std::span{own}).subspan(16, 16)));
      chorale::remote_region mine = exposed.region();
      std::vector<chorale::remote_region> regions(2);
      comm.allgather(std::span<const chorale::remote_region>{&mine, 1}, std::span{regions});
      if (comm.rank() == 1) {
        auto& target = regions[0];
        if (beyond < 0) target.address -= 8;
        target.bytes += 8;
        std::vector<number> source(17, 5);
        const auto bytes = std::as_bytes(std::span{source});
        const auto lent = net.lend(bytes);
        auto put = net.put(target, 0, lent, bytes, net.current());
        put.await_ready();
        auto flush = net.flush(0, net.current());
        flush.await_ready();
      }
      comm.barrier();
    });
    INFO(misuse::describe(all));
    CHECK(all[1].failed());
    for (std::size_t i = 0; i < memory.size(); ++i)
      if (i < 16 || i >= 32) CHECK(memory[i] == untouched);
  }
}
