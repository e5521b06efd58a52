// SPDX-License-Identifier: Apache-2.0
// One rank has no memory: each allocation of its calls fails, alone or with later ones. That rank throws or
// has correct results, the others get an error or correct results, and the earlier communicator still works.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <unistd.h>
#include <vector>

#include <chorale/bootstrap/in_process.hpp>
#include <chorale/nonblocking.hpp>
#include <chorale/plan.hpp>
#include <chorale/planning.hpp>
#include <chorale/sparse_alltoall.hpp>
#include <chorale/transport/rc_send_receive.hpp>
#include <chorale/transport/ud.hpp>
#include <chorale/window.hpp>

#include "../../lib/model/built_in.hpp"
#include "../misuse/harness.hpp"
#include "memory_calls.hpp"
#include "shortage.hpp"

using robustness::buffers;
using robustness::subject;

namespace {

/// Makes calls; true if their results are correct.
template <class Comm>
bool blocking(Comm& comm, buffers& b) {
  comm.allreduce(chorale::in_place, std::span{b.sum}, chorale::sum);
  bool right = std::all_of(b.sum.begin(), b.sum.end(), [&](long x) { return x == b.size; });
  comm.alltoall(b.mine, b.theirs);
  for (std::size_t i = 0; i < b.theirs.size(); ++i)
    right = right && b.theirs[i] == static_cast<int>(i / buffers::block);
  comm.barrier();
  right = right && comm.scan(1, chorale::sum) == b.rank + 1;
  return right && comm.allreduce(1L, chorale::sum) == b.size;
}

template <class Comm>
bool nonblocking(Comm& comm, buffers& b) {
  auto first = comm.iallreduce(chorale::in_place, std::span{b.sum}, chorale::sum);
  auto second = comm.ibarrier();
  auto third = comm.iduplicate();
  second.wait();
  first.wait();
  auto made = third.take();
  return b.sum.front() == b.size && made->allreduce(1, chorale::sum) == b.size;
}

template <class Comm>
bool parts(Comm& comm, buffers& b) {
  auto part = comm.split(b.rank % 2, chorale::key{-b.rank});
  part->barrier();
  return part->allreduce(1, chorale::sum) == part->size() && comm.allreduce(1, chorale::sum) == b.size;
}

template <class Comm>
bool planned(Comm& comm, buffers& b) {
  auto plan = comm.plan_allreduce(chorale::in_place, b.sum, chorale::sum);
  plan.run();
  plan.start();
  plan.wait();
  comm.barrier();
  return b.sum.front() == static_cast<long>(b.size) * b.size;
}

template <class Comm>
bool sparse(Comm& comm, buffers& b) {
  chorale::sparse_alltoall exchange{comm};
  const auto got = exchange.template run<int>(b.sends);
  comm.barrier();
  return got.size() == 1 && got.front().data.size() == 3;
}

template <class Comm>
bool windows(Comm& comm, buffers& b) {
  if constexpr (chorale::window_transport<typename Comm::transport_type>) {
    const int next = (b.rank + 1) % b.size;
    const std::span<const long> from{b.sum.data(), 50};
    chorale::window<long, Comm> w{comm, std::size_t{200}};
    w.fence();
    const long old = w.fetch_and_op(next, 0, 1L, chorale::sum);
    w.put(next, 1, from);
    w.fence();
    long there = 0;
    w.get(next, 1, std::span{&there, 1});
    w.accumulate(next, 60, from, chorale::sum);
    w.put_notify(next, 120, 5L, 1);
    w.wait_notified((b.rank + b.size - 1) % b.size, 1);
    w.fence();
    return old == 0 && there == 1 && w.local()[60] == 1 && w.local()[120] == 5;
  } else {
    return comm.allreduce(1, chorale::sum) == b.size;
  }
}

template <class Comm>
constexpr subject<Comm> subjects[]{{"blocking", &blocking<Comm>}, {"nonblocking", &nonblocking<Comm>},
                                   {"parts", &parts<Comm>},       {"planned", &planned<Comm>},
                                   {"sparse", &sparse<Comm>},     {"windows", &windows<Comm>}};

/// The outcome of one rank. Keeps no text on the heap, which is exhausted.
struct fate {
  bool no_copy = false;  ///< no communicator for this attempt: the previous one left a failure behind
  bool failed = false;
  bool wrong = false;
  bool in_vain = false;       ///< it waited until its deadline, or until a peer had been silent for too long
  bool mismatched = false;    ///< a rank that had thrown made its next call while the others were in this one
  bool failed_later = false;  ///< in a call of the same communicator afterwards
  char text[400]{};
  char later[400]{};

  void note(const std::exception& e, char (&where)[400]) noexcept {
    std::snprintf(where, sizeof where, "%s", e.what());
    const auto* ours = dynamic_cast<const chorale::error*>(&e);
    mismatched = mismatched || (ours != nullptr && ours->code() == chorale::errc::mismatch);
    in_vain = in_vain || (ours != nullptr &&
                          (ours->code() == chorale::errc::deadline ||
                           std::string_view{e.what()}.find("no sign of life") != std::string_view::npos));
  }
};

/// With CHORALE_TEST_EVERY=1 each allocation fails in turn, which takes long; otherwise a decreasing share of
/// the later ones.
bool every() {
  static const bool is_wanted = std::getenv("CHORALE_TEST_EVERY") != nullptr;
  return is_wanted;
}

/// The attempts of one subject: its allocations fail from the `first` on, on rank `first % ranks`.
template <class Comm>
void try_all(const subject<Comm>& what, int ranks, long in_a_row, const chorale::config& settings) {
  std::vector<fate> all(static_cast<std::size_t>(ranks));
  support::gate meeting(ranks);
  bool is_reached = true;
  bool is_over = false;
  chorale::bootstrap::run_in_process(ranks, [&](auto& group) {
    const int rank = group.rank();
    buffers memory(rank, ranks);
    Comm parent{group, settings};
    parent.barrier();
    for (long first = 1;; first += every() ? 1 : 1 + first / 2) {
      const bool unlucky = rank == static_cast<int>(first % ranks);
      fate& mine = all[static_cast<std::size_t>(rank)];
      mine = {};
      memory.begin();
      {
        std::optional<Comm> comm;
        try {
          comm.emplace(parent.duplicate());
          comm->barrier();
        } catch (const std::exception& e) {
          mine.no_copy = true;
          mine.note(e, mine.text);
        }
        meeting.arrive_and_wait();
        if (!mine.no_copy) {
          std::optional<shortage::failing> armed;
          if (unlucky) armed.emplace(shortage::call::allocate, first, in_a_row);
          try {
            mine.wrong = !what.calls(*comm, memory);
          } catch (const std::exception& e) {
            mine.failed = true;
            mine.note(e, mine.text);
          }
          if (unlucky) is_reached = shortage::failing::has_failed();
        }
        if (!mine.no_copy) {
          try {
            comm->barrier();
          } catch (const std::exception& e) {
            mine.failed_later = true;
            mine.note(e, mine.later);
          }
        }
        // The unlucky rank's destructor would also notify the others.
        meeting.arrive_and_wait();
      }
      if (rank == 0) {
        is_over = !is_reached || all.front().no_copy;
        std::string text;
        for (const fate& one : all)
          text += std::string{"\n  "} + (one.failed ? one.text : "no failure") + "\n    later: " + one.later;
        INFO(what.name << " on " << ranks << " ranks, allocation " << first << ", " << in_a_row
                       << " in a row: " << text);
        for (const fate& one : all) {
          CHECK_FALSE(one.no_copy);
          CHECK_FALSE(one.wrong);
          CHECK_FALSE(one.in_vain);
          // A rank that could not make its part makes its next call while the others are still in this one.
          if (std::string_view{what.name} != "parts") CHECK_FALSE(one.mismatched);
          // A part or a window that cannot be made affects no other call; any other failure fails the
          // communicator.
          CHECK(one.failed_later == all.front().failed_later);
        }
      }
      meeting.arrive_and_wait();
      if (is_over) break;
    }
  });
}

constexpr int sizes[]{2, 3, 5};
/// How many allocations fail in a row.
constexpr long lengths[]{shortage::without_end, 4, 2, 1};

/// All subjects on 2, 3 and 5 ranks, with 1, 2, 4 and all allocations failing in a row, or a sixth of these
/// cases.
template <class Comm>
void try_subjects(const chorale::config& settings) {
  std::size_t turn = 0;
  for (const subject<Comm>& what : subjects<Comm>) {
    for (const long in_a_row : lengths) {
      const std::size_t now = turn++;
      if (every())
        for (const int ranks : sizes) try_all(what, ranks, in_a_row, settings);
      else if (now % 2 == 0)
        try_all(what, sizes[now / 2 % std::size(sizes)], in_a_row, settings);
    }
    ++turn;  // the other half of them for the next subject
  }
}

using transports = std::tuple<MISUSE_TRANSPORTS, chorale::transport::rc_send_receive, chorale::transport::ud>;

template <class Transport, class... Tried>
constexpr std::size_t place_among(std::type_identity<std::tuple<Tried...>>) {
  const bool is_it[]{std::is_same_v<Transport, Tried>...};
  return static_cast<std::size_t>(std::find(std::begin(is_it), std::end(is_it), true) - std::begin(is_it));
}

/// Each transport tries one of so many calls in a row.
constexpr std::size_t stride = 3;

/// The same with each collective call; or, over transport t, one of these cases with each call c for which
/// c + t is a multiple of `stride`.
template <class Transport>
void try_calls(const chorale::config& settings) {
  static_assert(std::tuple_size_v<transports> >= stride, "each call is tried over at least one transport");
  using comm = chorale::communicator<Transport>;
  std::size_t turn = place_among<Transport>(std::type_identity<transports>{});
  for (const subject<comm>& what : robustness::collective_calls<comm>) {
    const std::size_t now = turn++;
    if (every())
      for (const long in_a_row : lengths)
        for (const int ranks : sizes) try_all(what, ranks, in_a_row, settings);
    else if (now % stride == 0)
      try_all(what, sizes[now / stride % std::size(sizes)], lengths[now / stride % std::size(lengths)],
              settings);
  }
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("A rank without memory throws and the others are told", "[robustness][memory]",
                        transports) {
  try_subjects<chorale::communicator<TestType>>(misuse::settings());
  try_calls<TestType>(misuse::settings());
}

TEST_CASE("The first nonblocking call of a thread may lack memory", "[robustness][memory]") {
  bool is_reached = true;
  for (long first = 1; is_reached; ++first) {
    CAPTURE(first);
    chorale::bootstrap::run_in_process(1, [&](auto& group) {
      misuse::over_rc comm{group, misuse::settings()};
      const shortage::failing armed(shortage::call::allocate, first);
      try {
        comm.ibarrier().wait();
      } catch (const std::bad_alloc&) {
        // It did not begin.
      }
      is_reached = shortage::failing::has_failed();
    });
    REQUIRE(first < 1000);
  }
}

TEST_CASE("Without memory the built-in tuning table is not read in part", "[robustness][memory]") {
  const std::size_t rows = chorale::model::measurements_of(chorale::model::soft_rows()).size();
  bool is_reached = true;
  for (long first = 1; is_reached; first += every() ? 1 : 1 + first / 2) {
    CAPTURE(first);
    std::size_t read = rows;
    {
      const shortage::failing armed(shortage::call::allocate, first);
      try {
        read = chorale::model::measurements_of(chorale::model::soft_rows()).size();
      } catch (const std::bad_alloc&) {
        // The caller gets the exception.
      }
      is_reached = shortage::failing::has_failed();
    }
    CHECK(read == rows);
  }
}

TEST_CASE("A rank without memory throws while its calls are counted and traced", "[robustness][memory]") {
  const auto folder = std::filesystem::temp_directory_path() / ("chorale-memory-" + std::to_string(getpid()));
  std::filesystem::create_directory(folder);
  chorale::config settings = misuse::settings();
  settings.statistics = chorale::statistics_policy::to_file(folder / "calls.csv");
  settings.trace = (folder / "calls.json").string();
  settings.trace_records = 1000;
  try_subjects<misuse::over_rc>(settings);
  std::filesystem::remove_all(folder);
}
