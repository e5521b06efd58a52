// SPDX-License-Identifier: Apache-2.0
#include "play.hpp"

#include <algorithm>
#include <functional>
#include <optional>

#include <fmt/format.h>

#include <chorale/algorithm/allreduce/reduce_multicast.hpp>
#include <chorale/algorithm/barrier/gather_multicast.hpp>
#include <chorale/algorithm/broadcast/multicast.hpp>
#include <chorale/core/error.hpp>
#include <chorale/transport/hybrid.hpp>
#include <chorale/transport/rc.hpp>
#include <chorale/transport/rc_send_receive.hpp>
#include <chorale/transport/ud.hpp>
#include <chorale/transport/ud_rdma.hpp>

#include "calls.hpp"

namespace seeds {
namespace {

namespace sim = chorale::simulation;

constexpr std::size_t most_events_bytes = 16384;

void fail(fate& mine, const std::error_code& code, const std::vector<int>& names, const char* text) {
  mine.end = fate::kind::failed;
  mine.code = code.category() == chorale::category() ? code.value() : 0;
  mine.names = names;
  mine.text = text;
}

template <class Transport, class... Algorithms>
void make_calls(sim::group& group, const schedule& s, history& all) {
  const int rank = group.rank();
  fate& mine = all.ranks[static_cast<std::size_t>(rank)];
  chorale::communicator<Transport, Algorithms...> comm{group, s.settings};
  all.note(rank, "has joined", 0);
  caller calls{comm, s.longest_pause, sim::random_bits{s.seed * 64 + static_cast<std::uint64_t>(rank)}};
  const auto make_all = [&] {
    const struct noting {
      const caller<decltype(comm)>* calls;
      fate* mine;
      ~noting() { mine->in_part = calls->is_in_part(); }
    } at_end{&calls, &mine};
    for (const planned_call& call : s.calls) {
      // Asleep, so that the core is free for its service thread and for the ranks that share it.
      if (rank == s.late.rank && mine.calls == s.late.call)
        chorale::clock::sleep_for(std::chrono::duration_cast<chorale::clock::duration>(s.late.time));
      calls.make(call, mine.calls);
      all.note(rank, name_of(call.what), mine.calls++);
      mine.registered = std::max(mine.registered, comm.transport().registered_bytes());
    }
  };
  if (!s.catches) return make_all();
  try {
    make_all();
  } catch (const chorale::error& e) {
    fail(mine, e.code(), e.ranks(), e.what());
    mine.when = sim::now();
    all.note(rank, "has failed", mine.calls);
  }
}

void play_over(sim::group& group, const schedule& s, history& all) {
  switch (s.over) {
    case transport_kind::rc:
      return make_calls<chorale::transport::rc>(group, s, all);
    case transport_kind::rc_send_receive:
      return make_calls<chorale::transport::rc_send_receive>(group, s, all);
    case transport_kind::ud:
      if (s.multicasts)
        return make_calls<chorale::transport::ud, chorale::barrier::gather_multicast<>,
                          chorale::broadcast::multicast, chorale::allreduce::reduce_multicast<1>>(group, s,
                                                                                                  all);
      return make_calls<chorale::transport::ud>(group, s, all);
    case transport_kind::ud_rdma:
      return make_calls<chorale::transport::ud_rdma>(group, s, all);
    case transport_kind::hybrid:
      return make_calls<chorale::transport::hybrid<2>>(group, s, all);
  }
}

}  // namespace

void history::note(int rank, const char* what, std::size_t call) {
  const auto now = sim::now().time_since_epoch().count();
  const auto line =
      fmt::format("{:.3f} us, rank {}: {} ({})\n", static_cast<double>(now) / 1e6, rank, what, call);
  hash = hash * 1'099'511'628'211U + static_cast<std::uint64_t>(now) * 31 + std::hash<std::string>{}(line);
  events += line;
  if (events.size() > most_events_bytes)
    events.erase(0, events.find('\n', events.size() - most_events_bytes / 2));
}

void play(sim::group& group, const schedule& s, history& all) {
  const int rank = group.rank();
  fate& mine = all.ranks[static_cast<std::size_t>(rank)];
  try {
    play_over(group, s, all);
    if (mine.end == fate::kind::unfinished) mine.end = fate::kind::well;
  } catch (const chorale::error& e) {
    fail(mine, e.code(), e.ranks(), e.what());
  } catch (const std::exception& e) {
    mine.end = fate::kind::wrong;
    mine.text = e.what();
  }
  if (mine.when == sim::instant{}) mine.when = sim::now();
  all.note(rank, "has ended", mine.calls);
}

}  // namespace seeds
