// SPDX-License-Identifier: Apache-2.0
// Algorithms without a necessary co_await, or with an awaitable of no transport: the call throws an error
// that says so.
#include <coroutine>

#include "harness.hpp"

using chorale::errc;

namespace {

/// A barrier that forgets to await one of its awaitables.
template <int Forgotten>
struct forgetful {
  static constexpr auto implements = chorale::operation::barrier;
  template <class T>
  static constexpr bool runs_on = chorale::mailbox_transport<T>;

  template <chorale::mailbox_transport T>
  static chorale::task<> signal_all(T& net, chorale::call_id now) {
    for (int to = 0; to < net.size(); ++to)
      if (to != net.rank()) co_await net.signal(to, now);
  }
  template <chorale::mailbox_transport T>
  static chorale::task<> run(T& net, chorale::call_id now) {
    if constexpr (Forgotten == 0) {
      for (int to = 0; to < net.size(); ++to)
        if (to != net.rank()) static_cast<void>(net.signal(to, now));
    } else if constexpr (Forgotten == 1) {
      static_cast<void>(signal_all(net, now));
    } else {
      co_await signal_all(net, now);
    }
    for (int from = 0; from < net.size(); ++from) {
      if (from == net.rank()) continue;
      if constexpr (Forgotten == 2)
        static_cast<void>(net.signalled(from, now));
      else
        co_await net.signalled(from, now);
    }
  }
};

/// A barrier that continues after a failed await: to its end, or to the next await.
template <bool AwaitsMore>
struct stubborn {
  static constexpr auto implements = chorale::operation::barrier;
  template <class T>
  static constexpr bool runs_on = chorale::mailbox_transport<T>;

  template <chorale::mailbox_transport T>
  static chorale::task<> run(T& net, chorale::call_id now) {
    for (int to = 0; to < net.size(); ++to)
      if (to != net.rank()) co_await net.signal(to, now);
    for (int from = 0; from < net.size(); ++from) {
      if (from == net.rank()) continue;
      try {
        co_await net.signalled(from, now);
      } catch (const chorale::error&) {
        if (!AwaitsMore) co_return;
      }
    }
    // No rank sends this message.
    if (AwaitsMore) static_cast<void>(co_await net.receive((net.rank() + 1) % net.size(), now));
  }
};

/// A barrier with its own awaitable.
struct suspended {
  static constexpr auto implements = chorale::operation::barrier;
  template <class T>
  static constexpr bool runs_on = chorale::mailbox_transport<T>;
  template <chorale::mailbox_transport T>
  static chorale::task<> run(T&, chorale::call_id) {
    co_await std::suspend_always{};
  }
};

template <class Comm>
void check_forgotten(int size) {
  for (const bool blocking : {true, false}) {
    const auto all = misuse::run<Comm>(size, misuse::settings(), [&](auto& comm) {
      if (blocking)
        comm.barrier();
      else
        comm.ibarrier().wait();
    });
    INFO(misuse::describe(all));
    for (const auto& one : all) {
      CHECK(one.is(errc::misuse));
      CHECK(one.says({"barrier", "forgetful<", "never awaited", "co_await"}));
      CHECK(one.later.has_value());
    }
  }
}

}  // namespace

TEMPLATE_TEST_CASE("a forgotten co_await fails the call", "[misuse][awaits]", MISUSE_TRANSPORTS) {
  for (const int size : misuse::group_sizes) {
    check_forgotten<chorale::communicator<TestType, forgetful<0>>>(size);
    check_forgotten<chorale::communicator<TestType, forgetful<1>>>(size);
    check_forgotten<chorale::communicator<TestType, forgetful<2>>>(size);
  }
  const auto right =
      misuse::run<chorale::communicator<TestType, forgetful<3>>>(3, misuse::settings(), [](auto& comm) {
        comm.barrier();
        comm.ibarrier().wait();
      });
  for (const auto& one : right) CHECK(one.text() == "no failure");
}

TEMPLATE_TEST_CASE("a call whose algorithm goes on after a failed await fails by what it was",
                   "[misuse][awaits]", MISUSE_TRANSPORTS) {
  const auto check = [](auto algorithm) {
    for (const bool blocking : {true, false}) {
      for (const int size : {2, 4}) {
        const auto all = misuse::run<chorale::communicator<TestType, decltype(algorithm)>>(
            size, misuse::settings(), [&](auto& comm) {
              const int value = 1;
              if (comm.rank() == 1)
                static_cast<void>(comm.allreduce(value, chorale::sum));
              else if (blocking)
                comm.barrier();
              else
                comm.ibarrier().wait();
            });
        // Some ranks may receive the failure notice before they detect the error.
        misuse::check_all_fail(all, errc::mismatch, {"barrier", "allreduce"});
      }
    }
  };
  check(stubborn<false>{});
  check(stubborn<true>{});
}

TEMPLATE_TEST_CASE("a call that something foreign suspends fails", "[misuse][awaits]",
                   chorale::transport::rc) {
  for (const bool blocking : {true, false}) {
    const auto all =
        misuse::run<chorale::communicator<TestType, suspended>>(2, misuse::settings(), [&](auto& comm) {
          if (blocking)
            comm.barrier();
          else
            comm.ibarrier().wait();
        });
    misuse::check_all_fail(all, errc::misuse);
  }
}
