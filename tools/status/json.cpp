// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <nlohmann/json.hpp>

#include "show.hpp"

namespace status {
namespace {

using json = nlohmann::ordered_json;

double seconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

json of(const place& p) {
  json j{{"rank", p.rank},
         {"pid", p.pid},
         {"thread", p.thread},
         {"state", std::string(1, state_of_thread(p.pid, p.thread))},
         {"calls_begun", p.begun},
         {"calls_ended", p.ended},
         {"more_calls", p.more_calls},
         {"call", p.begun == 0 ? json(nullptr) : json(describe_call(p))},
         {"in_call", p.is_in_call()},
         {"waits_for", p.waits_for == for_none  ? json(nullptr)
                       : p.waits_for == for_any ? json("any")
                                                : json(p.waits_for)},
         {"waited", p.waits_for == for_none ? json(nullptr) : json(seconds(p.waited))},
         {"in_call_for", p.in_call.count() < 0 ? json(nullptr) : json(seconds(p.in_call))},
         {"outside_for", p.absent.count() < 0 ? json(nullptr) : json(seconds(p.absent))},
         {"stands", p.stands},
         {"says", describe(p)}};
  if (p.failure) j["failure"] = *p.failure;
  return j;
}

json reference(const place& p) {
  return {{"communicator", p.group}, {"rank", p.rank}, {"pid", p.pid}};
}

const char* name(step::kind what) {
  switch (what) {
    case step::kind::unseen:
      return "unseen";
    case step::kind::any:
      return "any";
    default:
      return "late";
  }
}

json of(const job& j) {
  json all{{"processes", json::array()},
           {"communicators", json::array()},
           {"cycles", json::array()},
           {"ends", json::array()}};
  for (const auto* p : j.processes) {
    all["processes"].push_back({{"pid", p->pid}, {"name", p->name}, {"unpublished", p->unpublished}});
    if (!p->problem.empty()) all["processes"].back()["problem"] = p->problem;
  }
  for (const auto& c : j.communicators) {
    json ranks = json::array();
    for (const auto i : c.ranks) ranks.push_back(of(j.places[i]));
    all["communicators"].push_back({{"id", c.group},
                                    {"name", c.label},
                                    {"size", c.size},
                                    {"hosts", c.hosts},
                                    {"gone", c.gone},
                                    {"ranks", ranks}});
  }
  const graph g{j};
  for (const auto& circle : g.cycles()) {
    json one = json::array();
    for (const auto i : circle) one.push_back(reference(j.places[i]));
    all["cycles"].push_back(one);
  }
  for (const auto i : g.ends()) {
    json one = reference(j.places[i]);
    one["what"] = name(g.from(i).what);
    one["waiters"] = g.waiters(i);
    all["ends"].push_back(one);
  }
  return all;
}

}  // namespace

std::string to_json(const std::vector<job>& jobs) {
  json all{{"jobs", json::array()}};
  for (const auto& j : jobs) all["jobs"].push_back(of(j));
  return all.dump(2, ' ', true, json::error_handler_t::replace);
}

}  // namespace status
