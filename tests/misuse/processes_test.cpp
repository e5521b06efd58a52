// SPDX-License-Identifier: Apache-2.0
// A communicator in a child of fork(), and one that ends inside its own call.
#include <optional>

#include <chorale/window.hpp>

#include "../support/other_process.hpp"
#include "harness.hpp"

using chorale::errc;

namespace {

/// True if `call` throws errc::misuse with a text that mentions fork().
template <class Call>
bool is_refused(Call&& call) {
  try {
    call();
  } catch (const chorale::error& e) {
    return e.code() == errc::misuse && std::string{e.what()}.find("fork()") != std::string::npos;
  } catch (...) {
  }
  return false;
}

}  // namespace

TEMPLATE_TEST_CASE("a child of fork() cannot use its parent's communicator", "[misuse]", MISUSE_TRANSPORTS) {
  for (const int size : misuse::group_sizes) {
    std::vector<int> refused(static_cast<std::size_t>(size), -1);
    const auto all = misuse::run<TestType>(size, [&](auto& comm) {
      chorale::window<int, std::remove_reference_t<decltype(comm)>> w{comm, 4};
      comm.barrier();
      if (comm.rank() == 0) {
        refused[0] = support::in_child([&] {
          return static_cast<int>(is_refused([&] { comm.barrier(); })) |
                 static_cast<int>(is_refused([&] { comm.ibarrier().wait(); })) << 1 |
                 static_cast<int>(is_refused([&] { (void)comm.split(0); })) << 2 |
                 static_cast<int>(is_refused([&] { w.put(1, 0, 3); })) << 3 |
                 static_cast<int>(is_refused([&] { w.fence(); })) << 4;
        });
      }
      comm.barrier();
      if (w.local()[0] != 0) throw std::runtime_error("the child's put has arrived");
      if (comm.allreduce(1, chorale::sum) != comm.size()) throw std::runtime_error("allreduce is wrong");
    });
    misuse::check_none_fails(all);
    CHECK(refused[0] == 31);
  }
}

TEMPLATE_TEST_CASE("an operator that destroys its communicator", "[misuse]", MISUSE_TRANSPORTS) {
  for (const int size : misuse::group_sizes) {
    const auto all = misuse::run<TestType>(size, [](auto& comm) {
      std::optional own{comm.duplicate()};
      std::vector<int> data(10, 1);
      std::vector<int> out(10);
      const int destroyer = 0;
      bool ended = false;
      own->reduce(
          data, out,
          [&](int a, int b) {
            if (comm.rank() == destroyer) {
              own.reset();
              ended = true;
            }
            return a + b;
          },
          chorale::root{destroyer});
      if (comm.rank() == destroyer) {
        if (!ended || out[9] != comm.size()) throw std::runtime_error("the call did not go on");
      } else {
        own->barrier();
      }
    });
    INFO(misuse::describe(all));
    // It continues as far as possible: peers that were notified may have left already.
    CHECK((!all[0].failed() || all[0].is(errc::peer_lost)));
    for (std::size_t r = 1; r < all.size(); ++r) {
      CHECK(all[r].is(errc::misuse));
      CHECK(all[r].says({"rank 0 destroyed its communicator from inside a call of it"}));
    }
  }
}
